"""The instructor's kit: exercises and lessons as assignments for nbgrader."""

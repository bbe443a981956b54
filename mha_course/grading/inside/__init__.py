"""What runs beside a learner's code. It imports nothing of the course or the library."""

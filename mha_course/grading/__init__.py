"""Runs learners' answers in limited processes of their own, and marks them from outside."""

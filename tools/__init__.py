"""What run.py runs: the set-up, the words it knows, and the care of the notebooks."""

"""Our attention timed side by side with what a user would pick instead: python -m benchmarks."""

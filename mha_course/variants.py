"""Worked cases for a variant: other sizes and numbers, the same question."""


def worked_case(exercise: str, variant: str, function: str) -> str:
    """Return a worked case in Markdown; "" where there is no variant."""
    if variant:
        raise ValueError(f"variants cannot be built yet, got {variant!r} for {exercise} {function}")
    return ""

"""Right answers to the exercises, each written in another way: none may be failed.

They are written as learners write: loops, einsum, other orders, other dtypes, torch's own layers.
"""

from importlib import import_module

LESSONS = (
    "lesson_01",
    "lesson_02",
    "lesson_03",
    "lesson_04",
    "lesson_05",
    "lesson_06",
    "lesson_07",
    "lesson_08",
    "lesson_09",
    "lesson_10",
)


def right_answers():
    """Return all pairs of an exercise's name and a right answer."""
    return [
        (name, answer)
        for lesson in LESSONS
        for name, answers in import_module(f"tests.right_answers.{lesson}").RIGHT.items()
        for answer in answers
    ]

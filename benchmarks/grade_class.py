"""Grade one made-up class and print what it took, as JSON: called by grading.py.

python -m benchmarks.grade_class COURSE WORKERS
"""

import io
import json
import sys
import time
import warnings
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from sqlalchemy.exc import SAWarning

from mha_course.grading.booking import book_all
from mha_course.grading.class_run import mark_all, works
from mha_course.grading.results import students_of

ASSIGNMENT = "ps1"


def grade(course: Path, workers: int) -> dict[str, float]:
    """Mark and book a whole class, as `mha-course grade` does.

    Returns:
        Seconds for marking and for booking, and the number of notebooks.

    Raises:
        RuntimeError: A notebook could not be marked or a student not booked.
    """
    warnings.simplefilter("ignore", SAWarning)
    todo = works(course, ASSIGNMENT, students_of(course, ASSIGNMENT))
    with Progress(console=Console(file=io.StringIO())) as progress:
        start = time.perf_counter()
        troubles = {str(work): text for work, text in mark_all(todo, workers, progress).items()}
        marked = time.perf_counter()
        troubles |= book_all(todo, progress)
        booked = time.perf_counter()
    if troubles:
        raise RuntimeError(f"not graded: {troubles}")
    return {"marking": marked - start, "booking": booked - marked, "notebooks": len(todo)}


if __name__ == "__main__":
    print(json.dumps(grade(Path(sys.argv[1]).resolve(), int(sys.argv[2]))))

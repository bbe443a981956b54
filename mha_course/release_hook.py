"""Called by nbgrader after it made the release of an assignment."""

import logging
from pathlib import Path


def keep_only_notebooks(assignment: str, student: str, notebooks: list[str]) -> None:
    """Take out of release/ASSIGNMENT what is no notebook.

    nbgrader copies every other file of the source folder: a solution left lying there, too.

    Args:
        assignment: Its name; nbgrader has gone into the course folder.
        student: Always ".": nobody.
        notebooks: The sources that were converted.
    """
    for path in sorted(Path("release", assignment).rglob("*")):
        if path.is_symlink() or (path.is_file() and path.suffix != ".ipynb"):
            logging.getLogger(__name__).warning("not handed out: %s", path)
            path.unlink()

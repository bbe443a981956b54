"""For `nbgrader zip_collect`: whose the files are that were downloaded from Canvas or Moodle."""

import re
import unicodedata
import zipfile
from functools import cached_property
from pathlib import Path
from typing import Any

from nbgrader.api import Student
from nbgrader.plugins.zipcollect import ExtractorPlugin, FileNameCollectorPlugin

from mha_course.gradebook import opened

MOST_NAME = 50  # characters; a file system takes some 250 bytes
HIDDEN = (".", "__MACOSX")  # what editors and macOS put beside the files


class OpenDownload(ExtractorPlugin):
    """Opens the zip file that a learning system makes, and no archive inside it.

    nbgrader's own opens the archives that learners uploaded, too: one that is damaged stops
    it for all, and one that is small may become very large.
    """

    def extract(self, archive_path: str, extracted_path: str) -> None:
        paths = sorted(Path(archive_path).glob("*.zip"))
        if not paths:
            self.log.warning(f"there is no zip file in {archive_path}")
        for path in paths:
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    try:
                        archive.extract(name, Path(extracted_path) / path.stem)
                    except OSError as error:  # a name that is too long, for example
                        self.log.warning(f"{name[:80]} could not be unpacked: {error.strerror}")


class _FromLearningSystem(FileNameCollectorPlugin):
    """Finds the student of a file by its path inside the downloaded zip file."""

    pattern: re.Pattern[str]

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.download = ""  # the zip file that was met first
        self.numbers: dict[str, str] = {}  # student -> number of who hands in
        self.taken: set[tuple[str, str]] = set()  # students with the names of their files

    def is_of(self, student: Student, found: re.Match[str]) -> bool:
        """Say whether a file can be this student's."""
        raise NotImplementedError

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """Return the id of the student and the name of the file; None for a file left out.

        Raises:
            ValueError: Two people hand in for one student.
        """
        app: Any = self.parent
        folder = Path(app.coursedir.root, app.downloaded_directory, app.coursedir.assignment_id)
        download, *names = Path(submitted_file).relative_to(folder / app.extracted_directory).parts
        self.download = self.download or download
        if self.download != download:
            raise ValueError(
                f"there are two zip files in {folder / app.archive_directory}, "
                f"{self.download}.zip and {download}.zip; leave the one that counts"
            )
        found = self.pattern.fullmatch("/".join(names))
        if not found or any(name.startswith(HIDDEN) for name in names):
            return None
        ids = sorted(student.id for student in self.students if self.is_of(student, found))
        if len(ids) != 1:
            who = f"{len(ids)} students ({', '.join(ids)})" if ids else "nobody in the gradebook"
            self.log.warning(f"{who} can be the one who handed in {names[0]}")
            return None
        number = self.numbers.setdefault(ids[0], found["number"])
        if number != found["number"]:
            raise ValueError(
                f"two people hand in as {ids[0]}: numbers {number} and {found['number']} of the "
                "download. Nothing was collected; take both out of the zip file and put their "
                "notebooks into submitted/ by hand"
            )
        return {"student_id": ids[0], "file_id": self.own_name(ids[0], found["file"])}

    def own_name(self, student: str, file: str) -> str:
        """Return a name that no other file of this student has: nbgrader would stop for all."""
        name = file.replace("/", "_")[-MOST_NAME:]  # a folder could be called like a file
        while (student, name) in self.taken:
            name = f"_{name}"
        self.taken.add((student, name))
        return name

    @cached_property
    def students(self) -> list[Student]:
        app: Any = self.parent
        with opened(Path(app.coursedir.root)) as gradebook:
            return list(gradebook.students)


class FromCanvas(_FromLearningSystem):
    """Canvas: exampleada_LATE_123_456_04_splitting_heads.ipynb.

    The first number is the learner's in Canvas: lms_user_id in nbgrader's list of students.
    """

    pattern = re.compile(r"[^/]*?_(?P<number>\d+)_\d+_(?P<file>[^/]+\.ipynb)")

    def is_of(self, student: Student, found: re.Match[str]) -> bool:
        return bool(student.lms_user_id == found["number"])


class FromMoodle(_FromLearningSystem):
    """Moodle: Ada Example_123_assignsubmission_file/04_splitting_heads.ipynb.

    A learner has another number in each assignment, so it is the name that counts.
    """

    pattern = re.compile(
        r"(?P<name>[^/]+?)_(?P<number>\d+)_assignsubmission_file(?:_/|/|_)(?P<file>.+\.ipynb)"
    )

    def is_of(self, student: Student, found: re.Match[str]) -> bool:
        both = [student.first_name or "", student.last_name or ""]
        name = letters(found["name"])
        return bool(name) and name in (letters("".join(both)), letters("".join(both[::-1])))


def letters(name: str) -> str:
    """Return what Moodle keeps of a name in that of a folder, in small letters.

    >>> letters("Ada_Maria  O'Neil"), letters("Ada Maria ONeil")
    ('adamariaoneil', 'adamariaoneil')
    """
    plain = unicodedata.normalize("NFKC", name).casefold()
    return "".join(character for character in plain if character.isalnum())

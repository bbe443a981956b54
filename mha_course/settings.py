"""How nbgrader is set for our courses; nbgrader_config.py calls `apply`."""

from pathlib import Path

from nbgrader.converters import Autograde, GenerateFeedback
from nbgrader.preprocessors import Execute
from traitlets.config import Config

CONFIG = "nbgrader_config.py"
# What nbgrader's exchange writes beside a hand-in: when it came, and how to find its feedback.
KEPT = ("timestamp.txt", "submission_secret.txt")
TEXT = """\
# Made once by mha-course build. Settings of your own go below the last line.
from pathlib import Path

from mha_course import settings

c = get_config()
settings.apply(c, Path(__file__).resolve().parent, {course_id!r})
"""


def apply(c: Config, course: Path, course_id: str) -> None:
    """Set what our assignments need.

    Args:
        c: nbgrader's configuration.
        course: The course folder.
        course_id: Names the course.
    """
    c.CourseDirectory.course_id = course_id
    c.CourseDirectory.root = str(course)
    # Stubs are left exactly as in the lessons: `check` knows them as "not attempted".
    c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}
    c.ClearSolutions.text_stub = "*Write your answer here, in place of this line.*"
    # By itself nbgrader hands out every file of the source folder, solutions included.
    c.CourseDirectory.include = ["*.ipynb", *KEPT]
    c.ZipCollectApp.extractor_plugin = "mha_course.collecting.OpenDownload"
    c.GenerateAssignment.post_convert_hook = "mha_course.release_hook.keep_only_notebooks"
    _grading(c)


def _grading(c: Config) -> None:
    """Set what runs while grading and what feedback shows."""
    parts = "mha_course.grading.nbgrader_parts"
    c.Autograde.exporter_class = f"{parts}.HandInExporter"
    execute, *others = Autograde.autograde_preprocessors.default_args[0]
    assert execute is Execute  # nbgrader would run the notebook here; we make the marks
    c.Autograde.autograde_preprocessors = [f"{parts}.MakeMarks", *others]
    feedback = GenerateFeedback.preprocessors.default_args[0]
    c.GenerateFeedback.preprocessors = [f"{parts}.ShowFeedback", *feedback]

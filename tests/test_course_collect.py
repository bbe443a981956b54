"""Collecting with nbgrader's own commands: from Canvas, from Moodle, through its exchange."""

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from nbgrader.utils import get_username

from mha_course.build import build
from mha_course.gradebook import opened
from mha_course.plan import Plan
from mha_course.settings import KEPT

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
GUIDE = (Path(__file__).resolve().parent.parent / "instructor" / "GUIDE.md").read_text("utf-8")
FIRST, SECOND = "04_splitting_heads", "06_merging_heads"
# id -> first name, last name, number in Canvas
CLASS = {
    "s1": ("Ada", "Example", "123"),
    "s2": ("Björn", "O'Neil-Ng", "7"),
    "s3": ("学", "生", "99"),
    "s4": ("Eve", "Two", "55"),
    "s5": ("Two", "Eve", "55"),
    "s6": (None, None, None),
}


def typed(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = os.environ | {"PATH": path} | more
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = tmp_path_factory.mktemp("a_1_2_b") / "attention"  # reads like a name from Canvas
    build(course, Plan("ps", lessons=("4", "6")))
    assert typed(course, "nbgrader", "generate_assignment", "ps").returncode == 0
    with opened(course) as gradebook:
        for id, (first, last, lms) in CLASS.items():
            gradebook.add_student(id, first_name=first, last_name=last, lms_user_id=lms)
    return course


def zip_collect(course: Path, system: str) -> subprocess.CompletedProcess[str]:
    """Call what the guide says."""
    (command,) = re.findall(rf"^nbgrader zip_collect .*{system}.*$", GUIDE, re.M)
    return typed(course, *command.replace("ps1", "ps").split())


def collect(course: Path, system: str, files: Mapping[str, str], name: str) -> tuple[str, int]:
    """Put a download where nbgrader looks for it, and collect; return log and status."""
    archive = course / "downloaded" / "ps" / "archive"
    archive.mkdir(parents=True, exist_ok=True)
    for old in archive.iterdir():
        old.unlink()
    with zipfile.ZipFile(archive / name, "w") as download:
        for path, text in files.items():
            download.writestr(path, text)
    done = zip_collect(course, system)
    return done.stdout + done.stderr, done.returncode


def collected(course: Path) -> dict[str, str]:
    return {
        str(path.relative_to(course / "submitted")): path.read_text(encoding="utf-8")
        for path in (course / "submitted").rglob("*")
        if path.is_file()
    }


@pytest.fixture
def course(made: Path) -> Path:
    for path in sorted((made / "submitted").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    return made


CANVAS = {
    f"exampleada_123_9001_{FIRST}.ipynb": "a",
    f"exampleada_123_9002_{SECOND}-1.ipynb": "b",  # handed in a second time
    f"oneilngbjörn_LATE_7_9003_{FIRST}.ipynb": "c",
    "生学_99_9004_my_55_1_answer.ipynb": "d",  # the learner's own name for it
    "生学_99_9005_notes.txt": "e",
    "twoeve_55_9006_x.ipynb": "two students have this number",
    "guest_4711_9007_x.ipynb": "nobody has it",
    "oneilngbjörn_7_9008_damaged.zip": "no zip file at all",
}
MOODLE = {
    f"Ada Example_1_assignsubmission_file/{FIRST}.ipynb": "a",
    f"Ada Example_1_assignsubmission_file/.ipynb_checkpoints/{FIRST}-checkpoint.ipynb": "old",
    f"Ada Example_1_assignsubmission_file/mine/{FIRST}.ipynb": "b",
    f"Björn ONeil-Ng_2_assignsubmission_file_{FIRST}.ipynb": "c",  # not as folders
    "生 学_3_assignsubmission_file_/Ada Example_1_assignsubmission_file/x.ipynb": "d",
    "Ada Example_1_assignsubmission_onlinetext/onlinetext.html": "e",
    "Eve Two_4_assignsubmission_file/x.ipynb": "s4, or s5 with the last name first",
    "..._5_assignsubmission_file/x.ipynb": "not the student without a name",
    "Zoe Nobody_6_assignsubmission_file/x.ipynb": "nobody",
    f"__MACOSX/Ada Example_1_assignsubmission_file/._{FIRST}.ipynb": "macOS",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("system", "files", "name", "mine", "theirs"),
    [
        (
            "Canvas",
            CANVAS,
            "attention-ps_1_2_x submissions.zip",
            (f"{SECOND}-1.ipynb", "my_55_1_answer.ipynb"),
            ("twoeve_55_9006_x.ipynb", "guest_4711_9007_x.ipynb"),
        ),
        (
            "Moodle",
            MOODLE,
            "Attention-ps1-17.zip",
            (f"mine_{FIRST}.ipynb", "Ada Example_1_assignsubmission_file_x.ipynb"),
            ("Eve Two_4_assignsubmission_file", "Zoe Nobody_6_assignsubmission_file"),
        ),
    ],
)
def test_files_go_to_whom_the_number_or_the_name_names(
    course: Path,
    system: str,
    files: Mapping[str, str],
    name: str,
    mine: tuple[str, str],
    theirs: tuple[str, str],
) -> None:
    log, status = collect(course, system, files, name)
    assert status == 0, log
    assert collected(course) == {
        f"s1/ps/{FIRST}.ipynb": "a",
        f"s1/ps/{mine[0]}": "b",
        f"s2/ps/{FIRST}.ipynb": "c",
        f"s3/ps/{mine[1]}": "d",
    }
    assert f"2 students (s4, s5) can be the one who handed in {theirs[0]}" in log
    assert f"nobody in the gradebook can be the one who handed in {theirs[1]}" in log


@pytest.mark.slow
def test_no_learners_file_names_stop_it_for_others(course: Path) -> None:
    mine, long = "Ada Example_1_assignsubmission_file", "ü" * 120 + ".ipynb"
    files = {
        f"{mine}/x.ipynb": "a",
        f"{mine}/_x.ipynb": "b",
        f"{mine}/y/z.ipynb": "c",
        f"{mine}/y_z.ipynb": "d",
        f"{mine}/{long}": "e",
        f"{mine}/{'x' * 300}.ipynb": "too long to be unpacked",
        f"生 学_3_assignsubmission_file/{FIRST}.ipynb": "f",
    }
    log, status = collect(course, "Moodle", files, "Attention-ps1-17.zip")
    assert status == 0, log
    assert collected(course) == {
        "s1/ps/x.ipynb": "a",
        "s1/ps/_x.ipynb": "b",
        "s1/ps/y_z.ipynb": "c",
        "s1/ps/_y_z.ipynb": "d",
        f"s1/ps/{long[-50:]}": "e",
        f"s3/ps/{FIRST}.ipynb": "f",
    }
    assert "could not be unpacked: File name too long" in log


@pytest.mark.slow
def test_two_attachments_of_one_name_are_both_kept(course: Path) -> None:
    files = {"exampleada_123_1_x.ipynb": "a", "exampleada_123_2_x.ipynb": "b"}
    log, status = collect(course, "Canvas", files, "submissions.zip")
    assert status == 0, log
    assert collected(course) == {"s1/ps/x.ipynb": "a", "s1/ps/_x.ipynb": "b"}


@pytest.mark.slow
def test_two_people_of_one_name_stop_it_before_anything_is_collected(course: Path) -> None:
    files = {
        f"{name}_{number}_assignsubmission_file/{FIRST}.ipynb": number
        for name, number in (("Björn ONeil-Ng", "1"), ("Ada Example", "2"), ("Ada Example", "3"))
    }
    log, status = collect(course, "Moodle", files, "Attention-ps1-17.zip")
    assert status != 0
    assert "two people hand in as s1: numbers 2 and 3 of the download. Nothing was" in log
    assert collected(course) == {}


@pytest.mark.slow
def test_two_downloads_stop_it_before_anything_is_collected(course: Path) -> None:
    archive = course / "downloaded" / "ps" / "archive"
    collect(course, "Moodle", {f"Ada Example_1_assignsubmission_file/{FIRST}.ipynb": "a"}, "x.zip")
    with zipfile.ZipFile(archive / "older.zip", "w") as download:
        download.writestr(f"Ada Example_1_assignsubmission_file/{FIRST}.ipynb", "old")
    done = zip_collect(course, "Moodle")
    assert done.returncode != 0
    assert "two zip files in" in done.stderr
    assert "older.zip and x.zip; leave the one that counts" in done.stderr
    assert collected(course) == {f"s1/ps/{FIRST}.ipynb": "a"}


@pytest.mark.slow
def test_without_a_zip_file_it_says_so(course: Path) -> None:
    log, _ = collect(course, "Moodle", {}, "download.rar")
    assert "there is no zip file in" in log


@pytest.mark.slow
def test_through_the_exchange_as_the_guide_says(course: Path, tmp_path: Path) -> None:
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    exchange.chmod(0o777)
    (config,) = re.findall(r"```python\n( +c = get_config\(\)\n.*?)```", GUIDE, re.S)
    text = "\n".join(line.strip() for line in config.splitlines())
    assert "/srv/nbgrader/exchange" in text
    text = text.replace("/srv/nbgrader/exchange", str(exchange))
    shared = tmp_path / "config"
    shared.mkdir()
    (shared / "nbgrader_config.py").write_text(text, encoding="utf-8")
    own = course / "nbgrader_config.py"
    own.write_text(
        own.read_text(encoding="utf-8") + f"c.Exchange.root = {str(exchange)!r}\n", encoding="utf-8"
    )
    learner = tmp_path / "learner"
    learner.mkdir()
    more = {"JUPYTER_CONFIG_PATH": str(shared)}
    for folder, *words in (
        (course, "nbgrader", "release_assignment", "ps"),
        (learner, "nbgrader", "fetch_assignment", "ps"),
        (learner, "nbgrader", "submit", "ps"),
        (course, "nbgrader", "collect", "ps"),
        (course, "mha-course", "grade", ".", "ps"),
        (course, "mha-course", "feedback", ".", "ps"),
        (course, "nbgrader", "release_feedback", "ps"),
        (learner, "nbgrader", "fetch_feedback", "ps"),
    ):
        done = typed(folder, *words, **more)
        assert done.returncode == 0, done.stderr
    found = collected(course)
    name = get_username()
    assert set(found) == {f"{name}/ps/{x}" for x in (f"{FIRST}.ipynb", f"{SECOND}.ipynb", *KEPT)}
    released = (course / "release" / "ps" / f"{FIRST}.ipynb").read_text(encoding="utf-8")
    assert json.loads(found[f"{name}/ps/{FIRST}.ipynb"]) == json.loads(released)
    pages = sorted(learner.rglob("*.html"))
    assert [page.stem for page in pages] == [FIRST, SECOND]
    assert "0 of 5 points" in pages[0].read_text(encoding="utf-8")

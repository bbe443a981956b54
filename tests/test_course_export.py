"""The mark sheet: what counts, and the forms that it is written in."""

import csv
import io
from pathlib import Path

import pytest
from course_by_hand import MAXIMUM, NOTEBOOKS, book, hand_in, make_gradebook, make_record

from mha_course import commands
from mha_course.export import text_of
from mha_course.export_forms import amount, harmless, is_formula
from mha_course.gradebook import opened
from mha_course.mark_sheet import Sheet, read_sheet

# nbgrader 0.9.6 with SQLAlchemy 2: where a gradebook is made here.
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
FULL = {"split_heads": 5.0, "split_heads_view": 10.0, "merge_heads": 5.0}
FIRST, LAST = NOTEBOOKS


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ann: a manual mark and a penalty; Bob: late by more than he has; Eve: graded, no question.

    Kim handed in and is not graded; Zoe, whom the gradebook knows, did nothing.
    """
    course = tmp_path_factory.mktemp("course")
    make_record(course)
    make_gradebook(course)
    hand_in(course, "ann")
    hand_in(course, "kim")
    odd = {"split_heads": 3.62, "split_heads_view": 10.0, "merge_heads": 5.0}
    # The instructor gave 4 instead of 3.62, and 3.1 of 4 for the question.
    book(course, "ann", odd, {"why": 3.1, "split_heads-marks": 4.0}, {FIRST: 1.5, LAST: 0.25})
    book(course, "bob", FULL | {"split_heads_view": 0.0}, {"why": 0.0}, {FIRST: 99.0})
    book(course, "eve", {"split_heads": 0.1, "split_heads_view": 0.2, "merge_heads": 5.0})
    with opened(course) as gradebook:
        gradebook.update_or_create_student("zoe", first_name="Zoë", last_name="Zander")
    return course


@pytest.fixture(scope="module")
def sheet(course: Path) -> Sheet:
    return read_sheet(course, "ps1")


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def by_id(sheet: Sheet) -> dict[str, dict[str, str]]:
    return {row["student id"]: row for row in read(text_of(sheet, "csv").removeprefix("\ufeff"))}


def test_a_manual_mark_and_penalties_count(sheet: Sheet) -> None:
    assert by_id(sheet)["ann"] == {
        "student id": "ann",
        "last name": "",
        "first name": "",
        "state": "graded",
        "split_heads": "4.00",
        "split_heads_view": "10.00",
        "merge_heads": "5.00",
        "question why": "3.10",
        "penalty": "1.75",
        "total": "20.35",
        "maximum": "24.00",
        "needs manual marking": "no",
    }


def test_a_penalty_never_makes_a_total_negative(sheet: Sheet) -> None:
    assert (by_id(sheet)["bob"]["penalty"], by_id(sheet)["bob"]["total"]) == ("99.00", "0.00")


def test_an_answer_that_waits_for_a_mark_is_told(sheet: Sheet) -> None:
    eve = by_id(sheet)["eve"]
    assert (eve["question why"], eve["needs manual marking"]) == ("0.00", "yes")
    assert eve["total"] == "5.30"  # 0.1 + 0.2 + 5 is 5.300000000000001 or so


def test_who_is_not_graded_has_no_total_and_who_did_nothing_has_zero(sheet: Sheet) -> None:
    kim, zoe = by_id(sheet)["kim"], by_id(sheet)["zoe"]
    assert (kim["state"], kim["split_heads"], kim["total"]) == ("not graded yet", "", "")
    assert (zoe["state"], zoe["split_heads"], zoe["total"]) == ("nothing handed in", "", "0.00")
    assert (zoe["last name"], zoe["first name"]) == ("Zander", "Zoë")


def test_the_sheet_is_quoted_and_a_spreadsheet_knows_its_encoding(sheet: Sheet) -> None:
    text = text_of(sheet, "csv")
    assert text.startswith('\ufeff"student id","last name","first name","state",')
    assert all(line.startswith('"') and line.endswith('"') for line in text[1:].splitlines())
    assert "e-mail" not in text  # nobody has one


def test_canvas_form(sheet: Sheet) -> None:
    rows = list(csv.reader(io.StringIO(text_of(sheet, "canvas"), newline="")))
    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "ps1"],
        ["Points Possible", "", "", "", "", "24.00"],
        ["ann", "", "ann", "ann", "", "20.35"],
        ["bob", "", "bob", "bob", "", "0.00"],
        ["eve", "", "eve", "eve", "", "5.30"],
        ["Zander, Zoë", "", "zoe", "zoe", "", "0.00"],
    ]
    assert read(text_of(sheet, "canvas", "Heads (42)"))[1]["Heads (42)"] == "20.35"


def test_moodle_form(sheet: Sheet) -> None:
    rows = list(csv.reader(io.StringIO(text_of(sheet, "moodle"), newline="")))
    assert rows == [
        ["ID number", "Username", "ps1"],
        ["ann", "ann", "20.35"],
        ["bob", "bob", "0.00"],
        ["eve", "eve", "5.30"],
        ["zoe", "zoe", "0.00"],
    ]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    make_record(tmp_path)
    make_gradebook(tmp_path)
    book(tmp_path, "ann", FULL, {"why": 4.0})
    return tmp_path


def test_ids_of_the_learning_system_and_addresses(small: Path) -> None:
    with opened(small) as gradebook:
        gradebook.update_or_create_student("ann", email="ann@uni.example", lms_user_id="4711")
    sheet = read_sheet(small, "ps1")
    assert read(text_of(sheet, "canvas"))[1]["ID"] == "4711"
    assert read(text_of(sheet, "moodle"))[0]["Email address"] == "ann@uni.example"
    with opened(small) as gradebook:
        # Canvas would read 12 and take it for somebody's number.
        gradebook.update_or_create_student("ann", lms_user_id="12abc")
        gradebook.update_or_create_student("ben", lms_user_id="4712")
    sheet = read_sheet(small, "ps1")
    assert [row["ID"] for row in read(text_of(sheet, "canvas"))] == ["", "", "4712"]
    assert "Email address" not in read(text_of(sheet, "moodle"))[0]  # ben has none
    assert [row["e-mail"] for row in by_id(sheet).values()] == ["ann@uni.example", ""]


@pytest.mark.parametrize("id", ['=HYPERLINK("http://x")', "+1", "-1", "@x", "\t=1", " =1", "＝1"])
def test_a_cell_never_becomes_a_formula(id: str) -> None:
    assert is_formula(id)
    assert harmless(id) == f"'{id}"
    assert harmless("s-1=+@") == "s-1=+@"


def test_an_id_like_a_formula_is_quoted_or_left_out(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book(small, "=1+1", FULL, {"why": 0.0})
    with opened(small) as gradebook:
        gradebook.update_or_create_student("ann", last_name="@SUM(A1)", first_name='A, "B"')
    assert commands.main(["export", str(small), "ps1"]) == 0
    text = (small / "ps1-marks.csv").read_text(encoding="utf-8-sig")
    assert [(row["student id"], row["last name"]) for row in read(text)] == [
        ("'=1+1", ""),
        ("ann", "'@SUM(A1)"),
    ]
    for form in ("canvas", "moodle"):
        capsys.readouterr()
        assert commands.main(["export", str(small), "ps1", "--format", form]) == 1
        out = capsys.readouterr()
        assert "'=1+1' is left out: a spreadsheet would run this id as a formula" in out.err
        assert out.out.startswith("1 of 2 students: ")
        text = (small / f"ps1-{form}.csv").read_bytes().decode("utf-8")
        assert "=1+1" not in text
        assert not text.startswith("\ufeff")
    text = (small / "ps1-canvas.csv").read_text(encoding="utf-8")
    assert read(text)[1]["Student"] == '\'@SUM(A1), A, "B"'


def test_what_is_open_is_said(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.main(["export", str(course), "ps1"]) == 0
    out = capsys.readouterr()
    assert out.out == f"5 of 5 students: {course / 'ps1-marks.csv'}\n"
    assert out.err == (
        "WARNING: not graded yet, so without a total: kim\n"
        "WARNING: 1 of 5 students have answers that wait for you in formgrader; "
        "an answer without a mark counts as 0\n"
    )
    assert commands.main(["export", str(course), "ps1", "--format", "moodle"]) == 1  # without kim
    assert capsys.readouterr().out.startswith("4 of 5 students: ")


def test_only_the_usual_file_is_written_over(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = small / "mine.csv"
    mine.write_text("mine", encoding="utf-8")
    words = ["export", str(small), "ps1", "--out", str(mine)]
    assert commands.main(words) == 2
    assert mine.read_text(encoding="utf-8") == "mine"
    assert "mine.csv is there already; --again writes over it" in capsys.readouterr().err
    assert commands.main([*words, "--again"]) == 0
    assert read(mine.read_text(encoding="utf-8-sig"))[0]["total"] == f"{MAXIMUM:.2f}"
    assert mine.stat().st_mode & 0o077 == 0
    assert commands.main(words[:3]) == 0
    capsys.readouterr()
    assert commands.main(words[:3]) == 0
    assert "ps1-marks.csv (in place of the older one)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["ps2"], "there is no assignment 'ps2'"),
        (["ps1", "--out", "nowhere/a.csv"], "there is no folder nowhere"),
        (["ps1", "--out", "."], "--out must name a file, and . is a folder"),
        (["ps1", "--column", "x"], "--column is a heading for canvas or moodle, got 'x'"),
        (["ps1", "--format", "moodle", "--column", " "], "got ' '"),
    ],
)
def test_what_is_refused(
    course: Path, words: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert commands.main(["export", str(course), *words]) == 2
    assert text in capsys.readouterr().err


def test_nothing_graded_is_no_sheet(tmp_path: Path) -> None:
    make_record(tmp_path)
    with pytest.raises(ValueError, match=r"nobody is graded in 'ps1' yet; first: mha-course grade"):
        read_sheet(tmp_path, "ps1")
    assert not (tmp_path / "gradebook.db").exists()
    make_gradebook(tmp_path)
    with pytest.raises(ValueError, match="nobody is graded"):
        read_sheet(tmp_path, "ps1")


def test_a_cell_that_an_instructor_added_has_a_column(small: Path) -> None:
    with opened(small) as gradebook:
        gradebook.add_grade_cell("bonus", FIRST, "ps1", max_score=1.0, cell_type="code")
    assert list(read_sheet(small, "ps1").columns.values()) == [
        *FULL,
        "question why",
        f"{FIRST}: bonus",
    ]


def test_moodle_is_told_of_large_totals(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with opened(small) as gradebook:
        grade = gradebook.find_grade("why", LAST, "ps1", "ann")
        grade.manual_score = 90.0
        gradebook.db.commit()
    assert commands.main(["export", str(small), "ps1", "--format", "moodle"]) == 0
    assert "there are totals above 100" in capsys.readouterr().err
    assert commands.main(["export", str(small), "ps1", "--format", "canvas"]) == 0
    assert "100" not in capsys.readouterr().err


def test_amounts() -> None:
    assert [amount(n) for n in (0.1 + 0.2, 35.620000000000005, -1e-9, 7)] == [
        "0.30",
        "35.62",
        "0.00",
        "7.00",
    ]

"""The class report: its numbers against marks made by hand, and what it must not hold."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from course_by_hand import NOTEBOOKS, hand_in, make_record, mark, store

from mha_course import commands, report_parts
from mha_course.class_counts import (
    ExerciseCount,
    MistakeCount,
    StageCount,
    exercise_counts,
    mistake_counts,
    stage_counts,
    suspects,
)
from mha_course.class_marks import ClassMarks, read_class
from mha_course.report_page import page
from mha_course.report_plots import binned, edges, exercises_plot, totals_plot
from mha_lib.exercises.mistakes import known

ALL = {"One word": True, "A batch": True}
NONE = dict.fromkeys(ALL, False)
BATCH = ALL | {"A batch": False}
EXERCISES = ("split_heads", "split_heads_view", "merge_heads")
IDS = ("ann-1", "bob-2", "cat-3", "dan-4", "eve-5")


def fill(course: Path) -> None:
    """Five students; dan's last notebook and all of eve's are not marked yet."""
    make_record(course)
    right, blank = mark(1.0, ALL), mark(0.0, NONE, status="not attempted")
    straight = mark(0.0, NONE, ["SPLIT-01"])
    alike = mark(0.25, BATCH, ["SPLIT-A", "SPLIT-01"])
    by_heart = mark(0.0, ALL, suspect=True)
    for id, *marks in (
        ("ann-1", right, right, right),
        ("bob-2", straight, straight, blank),
        ("cat-3", alike, mark(0.5, BATCH), by_heart),
        ("dan-4", straight, right),
    ):
        hand_in(course, id)
        store(course, id, dict(zip(EXERCISES, marks, strict=False)))
    hand_in(course, "eve-5")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = tmp_path_factory.mktemp("course")
    fill(course)
    return course


@pytest.fixture(scope="module")
def marks(course: Path) -> ClassMarks:
    return read_class(course, "ps1")


@pytest.fixture(scope="module")
def text(marks: ClassMarks) -> str:
    return page(marks)


class Reader(HTMLParser):
    """Takes a page apart: its tables as rows of text, its plain text, its pictures."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.images: list[str] = []
        self.words, self.open, self.caption = "", [], ""
        self.feed(text)
        self.words = " ".join(self.words.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            self.images.append(dict(attrs)["alt"] or "")
        elif tag not in ("meta", "link"):
            self.open.append(tag)
        if tag == "caption":
            self.caption = ""
        if tag == "tr":
            self.tables.setdefault(self.caption, []).append([])
        if tag in ("td", "th"):
            self.tables[self.caption][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" in self.open:
            return
        self.words += data
        if "caption" in self.open:
            self.caption += data
        if self.open and self.open[-1] in ("td", "th"):
            self.tables[self.caption][-1][-1] += data


# The counts


def test_who_handed_in_and_what_is_marked(marks: ClassMarks) -> None:
    assert (marks.handed_in, marks.marked, marks.maximum) == (5, 4, 20.0)
    assert marks.totals == (20.0, 0.0, 6.25)  # dan is not marked to the end


def test_exercises(marks: ClassMarks) -> None:
    assert exercise_counts(marks) == [
        ExerciseCount("split_heads", 4, (1, 1, 2, 0), 0.3125, 0),
        ExerciseCount("split_heads_view", 4, (2, 1, 1, 0), 0.625, 1),
        ExerciseCount("merge_heads", 3, (1, 0, 1, 1), pytest.approx(1 / 3), 1),
    ]


def test_mistakes_count_students_once_and_alike_ones_together(marks: ClassMarks) -> None:
    assert mistake_counts(marks) == [
        MistakeCount("SPLIT-01", 2, {"split_heads": 2, "split_heads_view": 1}, ()),
        MistakeCount("SPLIT-A", 1, {"split_heads": 1}, ("SPLIT-01",)),
    ]


def test_stages(marks: ClassMarks) -> None:
    assert stage_counts(marks) == [
        StageCount("split_heads", "One word", 2, 2, 4),
        StageCount("split_heads", "A batch", 3, 1, 4),
        StageCount("split_heads_view", "A batch", 2, 1, 4),
        StageCount("split_heads_view", "One word", 1, 1, 4),
    ]


def test_suspects(marks: ClassMarks) -> None:
    assert [(answer.student, answer.exercise) for answer in suspects(marks)] == [
        ("cat-3", "merge_heads")
    ]


def test_a_total_on_an_edge_belongs_above_it() -> None:
    totals = (0.0, 5.99, 6.0, 17.999, 18.0, 54.0, 60.0)
    marks = ClassMarks("ps1", 7, {"a": 60.0}, (), totals)
    assert binned(marks) == [2, 1, 1, 1, 0, 0, 0, 0, 0, 2]
    tenths = tuple(n * 0.7 for n in range(11))  # 3 * 0.7 is 2.0999999999999996
    assert binned(ClassMarks("ps1", 11, {"a": 7.0}, (), tenths)) == [1] * 9 + [2]
    assert edges(ClassMarks("ps1", 0, {"a": 7.0}, (), ()))[:3] == ["0", "0.7", "1.4"]


def test_a_damaged_store_is_not_marked(tmp_path: Path) -> None:
    make_record(tmp_path)
    store(tmp_path, "ann", dict.fromkeys(NOTEBOOKS["04_splitting_heads"], mark(1.0, ALL)))
    store(tmp_path, "bob", {"merge_heads": mark(1.0, ALL), "left_out_since": mark(1.0)})
    (tmp_path / ".marks/ps1/ann/04_splitting_heads.json").write_text('{"key', encoding="utf-8")
    marks = read_class(tmp_path, "ps1")
    assert [(a.student, a.exercise) for a in marks.answers] == [("bob", "merge_heads")]
    assert (marks.handed_in, marks.totals) == (2, ())


# The page


def test_the_page_says_the_numbers(text: str) -> None:
    read = Reader(text)
    assert read.open == []
    for sentence in (
        "5 students handed in. All exercises are marked for 3 of them; the rest is not in the "
        "totals. To mark it: mha-course grade COURSE ps1",
        "3 students, of 20 points for exercises: mean 8.75, median 6.25, lowest 0.00, "
        "highest 20.00. Full marks: 1.",
        "4 answers showed a known mistake; 2 answers lost points without one.",
        "1 answer is right on the inputs of the visible check and wrong on others, so without "
        "points. Which: mha-course report with --ids.",
        "With marks of 4 students, counts can tell who did what.",
    ):
        assert sentence in read.words
    assert read.tables["How each exercise went"] == [
        ["Exercise", "Points", "Marked", "Right", "Partly right", "Wrong", "Not attempted"]
        + ["Mean share"],
        ["split_heads", "5", "4", "1", "1", "2", "0", "31 %"],
        ["split_heads_view", "10", "4", "2", "1", "1", "0", "62 %"],
        ["merge_heads", "5", "3", "1", "0", "1", "1", "33 %"],
    ]
    assert read.tables["How many made which mistake, most frequent first"][1:] == [
        ["SPLIT-01", "2", "3", "split_heads 2, split_heads_view 1"],
        ["SPLIT-A", "1", "1", "split_heads 1"],
    ]
    assert read.tables["4 of 4 stages that failed"][1:] == [
        ["One word", "split_heads", "2 of 4", "2"],
        ["A batch", "split_heads", "3 of 4", "1"],
        ["A batch", "split_heads_view", "2 of 4", "1"],
        ["One word", "split_heads_view", "1 of 4", "1"],
    ]


def test_the_page_explains_the_mistakes(text: str) -> None:
    words = Reader(text).words
    for id, count in (("SPLIT-01", "2 students"), ("SPLIT-A", "1 student")):
        what, why = (part.replace("`", "") for part in (known(id).what, known(id).why))
        assert f"{id} ({count}): {what} {why}" in words
    assert "Public reports of it: hyunwoongko/transformer#15, " in words
    what = known("SPLIT-01").what.replace("`", "")
    assert f"On the inputs of the check, SPLIT-01 can't be told from it: {what}" in words


def test_pictures_say_in_words_what_they_show(text: str) -> None:
    assert Reader(text).images == [
        "Bars: how many students have which total. 0 to under 2 points: 1; "
        "6 to under 8 points: 1; 18 to 20 points: 1.",
        "A bar for each exercise, by how it went. "
        "split_heads: 1 right, 1 partly right, 2 wrong; "
        "split_heads_view: 2 right, 1 partly right, 1 wrong; "
        "merge_heads: 1 right, 1 wrong, 1 not attempted.",
        "Bars: how many students made which known mistake. SPLIT-01: 2; SPLIT-A: 1.",
    ]


def test_the_page_needs_no_other_file(text: str) -> None:
    assert not re.search(r"<(script|link|iframe)|url\(|@import|https?:", text)
    assert all(s.startswith("data:image/png;base64,") for s in re.findall(r'src="([^"]*)"', text))


def test_the_page_holds_no_id_and_no_code(marks: ClassMarks, text: str) -> None:
    assert not any(id in text for id in IDS)
    assert "SECRET_CODE" not in text
    with_ids = page(marks, with_ids=True)
    assert Reader(with_ids).tables["Right on the visible inputs only"][1:] == [
        ["merge_heads", "cat-3"]
    ]
    assert "<details><summary>Which, with student ids</summary>" in with_ids
    assert "This page names students: it is not for showing." in with_ids
    assert "SECRET_CODE" not in with_ids


def test_an_id_is_no_html(tmp_path: Path) -> None:
    make_record(tmp_path)
    store(tmp_path, "<b>x", {"merge_heads": mark(0.0, ALL, suspect=True)})
    assert "&lt;b&gt;x" in page(read_class(tmp_path, "ps1"), with_ids=True)


def test_nobody_handed_in(tmp_path: Path) -> None:
    make_record(tmp_path)
    read = Reader(page(read_class(tmp_path, "ps1")))
    assert read.words.startswith("ps1: class report ps1: class report Nobody has handed in yet.")
    assert (read.images, read.tables, read.open) == ([], {}, [])


def test_nobody_is_marked(tmp_path: Path) -> None:
    make_record(tmp_path)
    hand_in(tmp_path, "ann")
    read = Reader(page(read_class(tmp_path, "ps1")))
    assert "1 student handed in. All exercises are marked for 0 of them" in read.words
    assert (read.images, read.tables) == ([], {})


def test_one_student_with_everything_right(tmp_path: Path) -> None:
    make_record(tmp_path)
    store(tmp_path, "ann", {n: mark(1.0, ALL) for names in NOTEBOOKS.values() for n in names})
    read = Reader(page(read_class(tmp_path, "ps1")))
    for sentence in (
        "1 student handed in, and all that they handed in is marked.",
        "1 student, of 20 points for exercises: mean 20.00, median 20.00",
        "0 answers showed a known mistake; 0 answers lost points without one.",
        "No stage failed in any answer that ran.",
        "0 answers are right on the inputs of the visible check and wrong on others",
    ):
        assert sentence in read.words
    assert (len(read.images), list(read.tables)) == (2, ["How each exercise went"])


def test_many_mistakes_are_drawn_in_part_and_listed_in_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_parts, "IN_PLOT", 1)
    fill(tmp_path)
    read = Reader(page(read_class(tmp_path, "ps1")))
    assert "The picture shows 1 of 2 mistakes, the table all." in read.words
    assert read.images[-1].endswith("known mistake. SPLIT-01: 2.")
    assert "The other 1 SPLIT-A (1 student)" in read.words
    assert len(read.tables["How many made which mistake, most frequent first"]) == 3
    assert len(read.tables["The other stages that failed"]) == 4


def test_a_mistake_of_another_release_is_named(tmp_path: Path) -> None:
    make_record(tmp_path)
    store(tmp_path, "ann", {"merge_heads": mark(0.0, NONE, ["GONE-1"])})
    words = Reader(page(read_class(tmp_path, "ps1"))).words
    assert "GONE-1 (1 student): This release does not describe it." in words


def test_a_large_class_can_be_drawn() -> None:
    counts = [ExerciseCount(f"exercise_{n}", 200, (180, 12, 1, 7), 0.9, 0) for n in range(20)]
    assert exercises_plot(counts).count("180 right, 12 partly right, 1 wrong") == 20
    marks = ClassMarks("ps1", 200, {"a": 37.5}, (), tuple(n * 0.15 for n in range(200)))
    assert "26.25 to under 30 points: 25" in totals_plot(marks)


# The command


def test_the_command_writes_two_pages(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.main(["report", str(course), "ps1"]) == 0
    said = f"Report on 4 of 5 students who handed in: {course / 'ps1-report.html'}\n"
    assert capsys.readouterr().out == said
    assert commands.main(["report", str(course), "ps1", "--ids"]) == 0
    names = ["ps1-report.html", "ps1-report-ids.html"]
    assert ["cat-3" in (course / name).read_text(encoding="utf-8") for name in names] == [0, 1]
    assert commands.main(["report", str(course), "ps1", "--out", str(course / names[0])]) == 2
    assert commands.main(["report", str(course), "ps2"]) == 2
    assert "there is no assignment 'ps2'" in capsys.readouterr().err

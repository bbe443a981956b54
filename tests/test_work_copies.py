"""The learner's copies in work/."""

import pytest

from tools import work_copies


@pytest.fixture
def lessons(tmp_path):
    folder = tmp_path / "notebooks"
    folder.mkdir()
    for name in ("01_a.ipynb", "02_b.ipynb"):
        (folder / name).write_bytes(b"the series' own\n")
    return folder


def test_copies_are_made_once(lessons, tmp_path):
    work = tmp_path / "work"
    assert len(work_copies.make_copies(lessons, work)) == 2
    assert (work / "02_b.ipynb").read_bytes() == b"the series' own\n"
    assert work_copies.make_copies(lessons, work) == []
    assert sorted(p.name for p in work.iterdir()) == [".copied.json", "01_a.ipynb", "02_b.ipynb"]


def test_a_copy_is_never_written_over(lessons, tmp_path):
    work = tmp_path / "work"
    work_copies.make_copies(lessons, work)
    (work / "01_a.ipynb").write_bytes(b"my answer\n")
    assert work_copies.make_copies(lessons, work) == []
    (lessons / "01_a.ipynb").write_bytes(b"bettered\n")
    (line,) = work_copies.make_copies(lessons, work)
    assert line.startswith("work/01_a.ipynb: the series has a newer version; yours was left")
    assert (work / "01_a.ipynb").read_bytes() == b"my answer\n"
    (work / "01_a.ipynb").rename(work / "mine.ipynb")
    assert work_copies.make_copies(lessons, work) == ["work/01_a.ipynb: your own copy, made now."]
    assert (work / "01_a.ipynb").read_bytes() == b"bettered\n"
    assert (work / "mine.ipynb").read_bytes() == b"my answer\n"
    assert work_copies.make_copies(lessons, work) == []


def test_a_later_lesson_is_copied_too(lessons, tmp_path):
    work = tmp_path / "work"
    work_copies.make_copies(lessons, work)
    (lessons / "03_c.ipynb").write_bytes(b"new\n")
    assert work_copies.make_copies(lessons, work) == ["work/03_c.ipynb: your own copy, made now."]


@pytest.mark.parametrize("damage", [None, "{", "[1]"])
def test_a_lost_record_costs_no_copy(lessons, tmp_path, damage):
    work = tmp_path / "work"
    work_copies.make_copies(lessons, work)
    (work / "01_a.ipynb").write_bytes(b"my answer\n")
    (work / ".copied.json").unlink()
    if damage:
        (work / ".copied.json").write_text(damage, encoding="utf-8")
    assert work_copies.make_copies(lessons, work) == []
    assert (work / "01_a.ipynb").read_bytes() == b"my answer\n"
    assert set(work_copies.read_record(work)) == {"01_a.ipynb", "02_b.ipynb"}

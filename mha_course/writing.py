"""Writes the files of an assignment, and refuses where something would be lost."""

from pathlib import Path
from typing import Any

from mha_course.plan import Plan
from mha_course.record import digest, write_private
from mha_course.settings import CONFIG, TEXT

Entry = dict[str, Any]


def refuse_to_lose(folder: Path, before: Entry, entry: Entry, handed_in: int) -> None:
    """Raise a ValueError where writing would lose something.

    Args:
        folder: Of the source notebooks.
        before: What the record says of the assignment; empty where it is new.
        entry: What the record will say.
        handed_in: How many students have handed in.
    """
    old, new = before.get("files", {}), entry["files"]
    for name in sorted(old.keys() | new.keys()):
        path = folder / name
        if not path.exists():
            continue
        on_disk = digest(path.read_text(encoding="utf-8"))
        if on_disk not in (old.get(name), new.get(name)):
            raise ValueError(f"{path} was edited by hand; with --again it is written over")
    if before and before["variant"] != entry["variant"]:
        raise ValueError(
            f"{folder.name} was built as variant {before['variant']!r}, now {entry['variant']!r}; "
            "give each variant an assignment of its own, or add --again"
        )
    if handed_in and old != new:
        raise ValueError(
            f"{handed_in} student(s) handed in {folder.name}, and it would change; "
            "give it a new name, or add --again: then it is graded by what is built now"
        )


def write_sources(folder: Path, texts: dict[str, str], before: Entry) -> None:
    """Write the notebooks; those that the assignment had before and has no longer go."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in before.get("files", {}).keys() - texts.keys():
        (folder / name).unlink(missing_ok=True)
    for name, text in texts.items():
        part = folder / f".{name}.part"
        part.write_text(text, encoding="utf-8", newline="\n")
        part.replace(folder / name)


def write_config(course: Path) -> None:
    """Write nbgrader's settings once; after that the file is the instructor's."""
    path = course / CONFIG
    if not path.exists():
        path.write_text(TEXT.format(course_id=course.resolve().name), encoding="utf-8")


def write_rubric(course: Path, plan: Plan) -> None:
    """Write a page for whoever marks the free-text questions. It lies outside source/."""
    if not plan.questions:
        return
    lines = [f"# {plan.assignment}: how the questions are marked", ""]
    for question in plan.questions:
        lines += [f"## {question.id} ({question.points:g} points)", "", question.text, ""]
        lines += ["**Rubric**", "", question.rubric, ""]
    (course / "rubrics").mkdir(exist_ok=True)
    write_private(course / "rubrics" / f"{plan.assignment}.md", "\n".join(lines))

"""Write tests/data/failing_stages.json: which stages each known mistake fails.

    python -m tools.make_failing_stages

The test beside it asks with other seeds whether exactly these stages lose their marks.
"""

import json
from pathlib import Path

from mha_course.grading.marking import stage_marks
from mha_lib.exercises import names
from mha_lib.exercises.mistakes import Mistake, mistakes_of
from mha_lib.exercises.registry import find

TARGET = Path(__file__).resolve().parent.parent / "tests" / "data" / "failing_stages.json"
SEEDS = (11, 222_222, 3_333_333_333, 5, 60_606)


def labelled(exercise: str) -> dict[str, Mistake]:
    """Return the known mistakes of an exercise under names of their own: id, id#2, id#3 ..."""
    found: dict[str, Mistake] = {}
    for mistake in mistakes_of(exercise):
        same = sum(1 for other in found.values() if other.id == mistake.id)
        found[f"{mistake.id}#{same + 1}" if same else mistake.id] = mistake
    return found


def failing(mistake: Mistake, seed: int) -> list[str]:
    """Return the titles of the stages that a mistake fails on one student's inputs."""
    marks = stage_marks(find(mistake.exercise), mistake.build(), seed)
    return [mark.title for mark in marks if not mark.passed]


def row(mistake: Mistake) -> dict[str, list[str]]:
    """Return the stages that fail with every seed, and those that fail with some."""
    runs = [failing(mistake, seed) for seed in SEEDS]
    always = [title for title in runs[0] if all(title in run for run in runs)]
    some = sorted({title for run in runs for title in run} - set(always))
    return {"always": always, **({"some": some} if some else {})}


def main() -> None:
    table = {}
    for name in names():
        table[name] = {label: row(mistake) for label, mistake in labelled(name).items()}
        print(f"{name}: {len(table[name])} mistakes")
    TARGET.parent.mkdir(exist_ok=True)
    text = json.dumps(table, indent=1, ensure_ascii=False) + "\n"
    TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

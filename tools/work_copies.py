"""Gives the learner a copy of every lesson in work/, and never writes over one.

    python -m tools.work_copies

work/.copied.json records the hash of each lesson as it was when it was copied. So we can tell
when the series' own notebook has changed since, say it, and leave the learner's copy alone.
"""

import hashlib
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = ".copied.json"


def read_record(work: Path) -> dict[str, str]:
    """Return {notebook: hash when copied}, or {} where the file is missing or damaged."""
    try:
        record = json.loads((work / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def copy_new(source: Path, target: Path) -> None:
    """Copy through a file beside it, so that an interrupted copy leaves no half notebook."""
    part = target.with_name(f".{target.name}.part")
    part.write_bytes(source.read_bytes())
    part.rename(target)


def make_copies(lessons: Path, work: Path) -> list[str]:
    """Copy the lessons that work/ lacks.

    Args:
        lessons: The folder of the series' own notebooks.
        work: The learner's folder; made where it is missing.

    Returns:
        The lines to print: what was copied, and which lessons have changed since.
    """
    work.mkdir(exist_ok=True)
    record, lines = read_record(work), []
    for source in sorted(lessons.glob("*.ipynb")):
        target, now = work / source.name, hashlib.sha256(source.read_bytes()).hexdigest()
        if not target.exists():
            copy_new(source, target)
            record[source.name] = now
            lines.append(f"work/{source.name}: your own copy, made now.")
        elif record.setdefault(source.name, now) != now:
            lines.append(
                f"work/{source.name}: the series has a newer version; yours was left as it is. "
                "To get the newer one, rename yours."
            )
    (work / RECORD).write_text(json.dumps(record, indent=1, sort_keys=True), encoding="utf-8")
    return lines


def main() -> None:
    lines = make_copies(ROOT / "notebooks", ROOT / "work")
    if not list((ROOT / "work").glob("*.ipynb")):
        sys.exit("notebooks/ holds no notebook: is this folder complete?")
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main()

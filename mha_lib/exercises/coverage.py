"""Which known mistakes do the checks catch and name? `python -m mha_lib.exercises.coverage`.

Every piece of wrong code in the table is given to `check` as if a learner had written it.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from mha_lib.exercises.checking import check
from mha_lib.exercises.mistakes import Mistake, all_known, mistakes_of
from mha_lib.exercises.registry import names


@dataclass(frozen=True)
class Line:
    """What became of one mistake in one exercise."""

    id: str
    exercise: str
    codes: int  # how many different pieces of wrong code
    caught: int  # how many of them failed
    named: int  # how many of them were recognised, alone or in a group
    group: tuple[str, ...]


def coverage(exercises: Iterable[str]) -> list[Line]:
    """Give every mistake of these exercises to `check`.

    >>> coverage(["head_dim"])[0]
    Line(id='DIM-A', exercise='head_dim', codes=1, caught=1, named=1, group=('DIM-A',))
    """
    return [
        _line(id, exercise, codes)
        for exercise in exercises
        for id, codes in _by_id(mistakes_of(exercise)).items()
    ]


def _by_id(mistakes: Iterable[Mistake]) -> dict[str, list[Mistake]]:
    found: dict[str, list[Mistake]] = defaultdict(list)
    for mistake in mistakes:
        found[mistake.id].append(mistake)
    return found


def _line(id: str, exercise: str, codes: list[Mistake]) -> Line:
    verdicts = [check(mistake.build(), exercise) for mistake in codes]
    caught = sum(v.status == "failed" for v in verdicts)
    named = sum(id in v.group for v in verdicts)
    group = tuple(dict.fromkeys(name for v in verdicts for name in v.group))
    return Line(id, exercise, len(codes), caught, named, group)


def is_public(id: str) -> bool:
    """Was this mistake reported in public, or is it one of ours?"""
    return "title" in all_known()[id]


def report(lines: list[Line]) -> str:
    """Write the table, the sums, and the public reports that no exercise can meet."""
    rows = [f"{'mistake':<18} {'exercise':<30} {'codes':>5} {'caught':>6} {'named':>5}  group"]
    for line in sorted(lines, key=lambda line: (not is_public(line.id), line.id)):
        others = " ".join(name for name in line.group if name != line.id)
        numbers = f"{line.codes:>5} {line.caught:>6} {line.named:>5}"
        rows.append(f"{line.id:<18} {line.exercise:<30} {numbers}  {others}".rstrip())
    public = {line.id for line in lines if is_public(line.id)}
    codes, caught = sum(line.codes for line in lines), sum(line.caught for line in lines)
    rows += ["", f"{codes} pieces of wrong code, {caught} caught, "]
    rows[-1] += f"{sum(line.named for line in lines)} named."
    rows.append(f"{len(public)} of the mistakes that were reported in public.")
    rows += ["", "Public reports that no exercise can meet:"]
    rows += [f"{id:<10} {e['title']}: {e['not_met']}" for id, e in _not_met().items()]
    return "\n".join(rows)


def _not_met() -> dict[str, dict[str, str]]:
    return {id: entry for id, entry in all_known().items() if "not_met" in entry}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("exercises", nargs="*", help="names of exercises; all by default")
    print(report(coverage(parser.parse_args().exercises or names())))


if __name__ == "__main__":
    main()

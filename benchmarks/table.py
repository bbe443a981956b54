"""The table of the benchmark, and what it says about the bars."""

from typing import NamedTuple

from benchmarks.contestants import FLOOR, NAMES, OURS, THREE, TORCH
from benchmarks.problems import LARGE, SIZES, SMALL, Size
from benchmarks.rounds import Quartiles, quartiles, ratios

RIVALS = tuple(name for name in NAMES if name != OURS)


class Row(NamedTuple):
    """What was timed, and seconds a call for each contestant, round by round."""

    size: Size
    mask_kind: str
    which: str
    times: dict[str, list[float]]

    def ratio(self, rival: str) -> Quartiles:
        """Return ours / rival."""
        return ratios(self.times[OURS], self.times[rival])

    def title(self) -> str:
        return f"{str(tuple(self.size)):<18} {self.mask_kind:<8} {self.which:<8}"


class Bar(NamedTuple):
    """Ours must take at most `limit` times as long as the rival."""

    rival: str
    limit: float
    sizes: tuple[Size, ...]


# 5 % for noise; nearer to the floor where arithmetic costs more than the calls.
BARS = (
    Bar(TORCH, 1.05, SIZES),
    Bar(THREE, 1.05, SIZES),
    Bar(FLOOR, 1.15, LARGE),
    Bar(FLOOR, 1.35, (SMALL,)),
)


def header() -> str:
    """Return the head of the table, two lines."""
    times = " ".join(f"{name:>9}" for name in NAMES)
    over = " ".join(f"{'ours / ' + rival:^16}" for rival in RIVALS)
    columns = f"{'B, L, E, H':<18} {'mask':<8} {'pass':<8} {times}  {over}  rounds"
    return f"{columns}\n{'-' * len(columns)}"


def line(row: Row) -> str:
    """Return one row: median milliseconds, then median ratios and their quartiles."""
    times = " ".join(f"{1e3 * quartiles(row.times[name]).median:>9.3f}" for name in NAMES)
    over = " ".join(spread(row.ratio(rival)) for rival in RIVALS)
    return f"{row.title()} {times}  {over}  {len(row.times[OURS]):>6}"


def spread(ratio: Quartiles) -> str:
    """Return a ratio as 1.00 [0.98-1.02]."""
    return f"{ratio.median:.2f} [{ratio.low:.2f}-{ratio.high:.2f}]"


def verdicts(rows: list[Row]) -> list[str]:
    """Return a line for each bar and each row that misses it, and one line for all."""
    lines, missed = [], 0
    for bar in BARS:
        judged = [row for row in rows if row.size in bar.sizes]
        above = [row for row in judged if row.ratio(bar.rival).median > bar.limit]
        missed += bool(above)
        where = "all sizes" if bar.sizes == SIZES else ", ".join(str(tuple(s)) for s in bar.sizes)
        lines.append(
            f"ours / {bar.rival} <= {bar.limit} at {where}: "
            f"met in {len(judged) - len(above)} of {len(judged)} rows"
        )
        lines += [f"    missed: {row.title()} {judge(row, bar)}" for row in above]
    return [*lines, f"Bars not met: {missed} of {len(BARS)}." if missed else "All bars are met."]


def judge(row: Row, bar: Bar) -> str:
    """Return the ratio, and whether half of the rounds could have gone either way."""
    ratio = row.ratio(bar.rival)
    unclear = ", but the quartiles lie on both sides of the bar" if ratio.low <= bar.limit else ""
    return spread(ratio) + unclear

"""The pictures of the class report; each says in its alt text all that it shows."""

import textwrap

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from mha_course.class_counts import STATUSES, ExerciseCount
from mha_course.class_marks import ClassMarks
from mha_lib.figures.palette import FAINT, HATCHES, HEADS, INK, LINE, PANEL, ink_on
from mha_lib.figures.pictures import new_figure, picture_html

BINS = 10
WIDTH = 9.0
COLOURS = (HEADS[2], HEADS[4], HEADS[1], PANEL)  # in the order of STATUSES


def binned(marks: ClassMarks) -> list[int]:
    """Count the totals in ten parts of the same width; the last holds full marks, too."""
    counts = [0] * BINS
    for total in marks.totals:
        # Two digits are all a total has: a tenth of the maximum must not fall below itself.
        counts[min(BINS - 1, int(round(total * BINS / marks.maximum, 6)))] += 1
    return counts


def edges(marks: ClassMarks) -> list[str]:
    return [f"{n * marks.maximum / BINS:.4g}" for n in range(BINS + 1)]


def totals_plot(marks: ClassMarks) -> str:
    counts, ends = binned(marks), edges(marks)
    figure = new_figure(WIDTH, 3.2)
    axes = figure.add_subplot()
    bars = axes.bar(range(BINS), counts, width=1, align="edge", color=HEADS[0], edgecolor=PANEL)
    axes.bar_label(bars, [str(n) if n else "" for n in counts], color=INK, padding=2)
    axes.set_xticks(range(BINS + 1), ends)
    axes.set_xlabel(f"points, of {ends[-1]}")
    axes.set_ylabel("students")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(y=0.15)
    _plain(axes)
    said = "; ".join(
        f"{ends[n]} to {'' if n == BINS - 1 else 'under '}{ends[n + 1]} points: {count}"
        for n, count in enumerate(counts)
        if count
    )
    return picture_html(figure, f"Bars: how many students have which total. {said}.")


def exercises_plot(counts: list[ExerciseCount]) -> str:
    figure = new_figure(WIDTH, 1.2 + 0.42 * len(counts))
    axes = figure.add_subplot()
    left = [0] * len(counts)
    narrow = max(count.marked for count in counts) / 40  # no room for a number; the table has it
    for n, status in enumerate(STATUSES):
        widths = [count.statuses[n] for count in counts]
        bars = axes.barh(range(len(counts)), widths, 0.72, left, label=status, edgecolor=INK)
        for bar in bars:
            bar.set(facecolor=COLOURS[n], hatch=HATCHES[n], linewidth=0.8, hatch_linewidth=0.4)
        texts = [str(w) if w > narrow else "" for w in widths]
        for label in axes.bar_label(bars, texts, label_type="center"):
            box = {"facecolor": COLOURS[n], "edgecolor": "none", "pad": 1.5}
            label.set(color=ink_on(COLOURS[n]))
            if label.get_text():
                label.set_bbox(box)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    axes.set_yticks(range(len(counts)), [count.exercise for count in counts])
    axes.invert_yaxis()
    axes.set_xlabel("students")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.legend(loc="outside upper center", ncols=len(STATUSES), frameon=False)
    _plain(axes)
    said = "; ".join(f"{count.exercise}: {in_words(count)}" for count in counts)
    return picture_html(figure, f"A bar for each exercise, by how it went. {said}.")


def in_words(count: ExerciseCount) -> str:
    pairs = zip(count.statuses, STATUSES, strict=True)
    return ", ".join(f"{n} {status}" for n, status in pairs if n) or "not marked yet"


def mistakes_plot(students: dict[str, int], texts: dict[str, str]) -> str:
    """Draw how many students made which mistake.

    Args:
        students: Mistake -> how many, in the order to draw.
        texts: Mistake -> what it does.
    """
    labels = [_label(id, texts[id]) for id in students]
    figure = new_figure(WIDTH, 0.9 + 0.52 * len(labels))
    axes = figure.add_subplot()
    bars = axes.barh(range(len(labels)), list(students.values()), 0.7, color=HEADS[1])
    axes.bar_label(bars, color=INK, padding=3)
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set_xlabel("students")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.margins(x=0.08)
    _plain(axes)
    said = "; ".join(f"{id}: {count}" for id, count in students.items())
    return picture_html(figure, f"Bars: how many students made which known mistake. {said}.")


def _label(id: str, text: str) -> str:
    lines = textwrap.wrap(f"{id}: {text.replace('`', '')}", 46, max_lines=2, placeholder=" …")
    return "\n".join(lines)


def _plain(axes: Axes) -> None:
    """Take away the frame; leave a thin base line."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(LINE)
    axes.tick_params(color=LINE, labelcolor=INK)
    axes.xaxis.label.set_color(FAINT)
    axes.yaxis.label.set_color(FAINT)

"""A verdict as plain text."""

import textwrap
from collections.abc import Iterator

from mha_lib.exercises.showing import Example
from mha_lib.exercises.verdict import HEADLINES, SIGNS, Known, Verdict

WIDTH = 88


def as_text(verdict: Verdict) -> str:
    """Write the verdict for a terminal, and for whoever reads a notebook without HTML."""
    parts = [f"{SIGNS[verdict.status]} {verdict.exercise}: {HEADLINES[verdict.status]}"]
    parts[0] += "." if not verdict.stages or verdict.status != "passed" else ", every stage."
    reached = [s for s in verdict.stages if s.outcome != "not reached"]
    parts += [f"  {SIGNS[s.outcome]} {s.outcome}: {s.title}" for s in reached]
    rest = len(verdict.stages) - len(reached)
    if rest:
        parts.append(f"  {SIGNS['not reached']} not reached: {rest} more")
    if verdict.problem:
        parts += ["", *(_wrapped(line) for line in verdict.problem.splitlines())]
    if verdict.known:
        parts += ["", *_known(verdict.known)]
    if verdict.example:
        parts += ["", *_example(verdict.example)]
    if verdict.printed:
        parts += ["", "Your function printed:", textwrap.indent(verdict.printed, "  ")]
    return "\n".join(parts)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH)


def _known(known: tuple[Known, ...]) -> Iterator[str]:
    for position, mistake in enumerate(known):
        if position == 1:
            yield _wrapped("On these inputs the following would behave in the same way.")
        yield _wrapped(f"Known mistake {mistake.id}: {mistake.what}")
        yield _wrapped(f"Why it is wrong: {mistake.why}")
        if mistake.seen:
            yield _wrapped(f"Others made it too: {', '.join(mistake.seen)}")


def _example(example: Example) -> Iterator[str]:
    yield "A small input on which it shows:"
    names = max((len(name) for name, _ in example.inputs), default=0)
    for name, text in example.inputs:
        yield f"  {name:<{names}} = {text}"
    if example.says:
        yield _wrapped(f"Compared is {example.says}.")
    if example.rows:
        left = max(len(row.place) for row in example.rows)
        right = max(5, *(len(row.right) for row in example.rows))
        yield f"  {'':<{left}}  {'right':<{right}}   yours"
        for row in example.rows:
            yield f"  {row.place:<{left}}  {row.right:<{right}}   {row.yours}".rstrip()

"""A verdict as HTML: real tables with headers, no colours of its own.

Text and borders take the page's colour, so that it can be read on light and on dark. What went
wrong is said by words and signs.
"""

import html
import re
from collections.abc import Iterable

from mha_lib.exercises.showing import Example
from mha_lib.exercises.verdict import HEADLINES, SIGNS, Known, Verdict

_BOX = "border:1px solid currentColor;border-left-width:6px;padding:0.5em 1em;color:inherit"
_CELL = "border:1px solid currentColor;padding:0.15em 0.7em;text-align:left;color:inherit"
_TABLE = "border-collapse:collapse;background:transparent;color:inherit;margin:0.6em 0"
_MONO = f"{_CELL};font-family:monospace;white-space:pre"


def as_html(verdict: Verdict) -> str:
    """Write the verdict for a notebook."""
    title = f"{verdict.exercise}: {HEADLINES[verdict.status]}"
    parts = [f"<p>{SIGNS[verdict.status]} <strong>{html.escape(title)}</strong></p>"]
    parts += [
        f"<p>{SIGNS['failed']} failed: {_marked(stage.title)}</p>"
        for stage in verdict.stages
        if stage.outcome == "failed"
    ]
    parts += [f"<p>{_marked(line)}</p>" for line in verdict.problem.splitlines()]
    parts += _known(verdict.known)
    if verdict.example:
        parts += _example(verdict.example)
    if verdict.printed:
        text = html.escape(verdict.printed)
        parts.append(f"<p>Your function printed:</p><pre>{text}</pre>")
    if verdict.stages:
        parts.append(_stages(verdict))
    return f'<div style="{_BOX}">{"".join(parts)}</div>'


def _stages(verdict: Verdict) -> str:
    """Write the stages, folded away: what is wrong is said above."""
    outcomes = [stage.outcome for stage in verdict.stages]
    counts = [f"{outcomes.count(o)} {o}" for o in ("passed", "failed", "not reached")]
    summary = ", ".join(count for count in counts if not count.startswith("0 "))
    rows = [
        f'<tr>{_th(s.title, "row")}<td style="{_CELL}">{SIGNS[s.outcome]} {s.outcome}</td></tr>'
        for s in verdict.stages
    ]
    table = _table("What was checked", ("Stage", "Result"), rows)
    return f"<details><summary>Stages: {summary}</summary>{table}</details>"


def _known(known: tuple[Known, ...]) -> list[str]:
    parts = []
    for position, mistake in enumerate(known):
        if position == 1:
            parts.append("<p>On these inputs the following would behave in the same way.</p>")
        lead = f"<strong>Known mistake {mistake.id}:</strong>"
        parts.append(f"<p>{lead} {_marked(mistake.what)}</p>")
        parts.append(f"<p><strong>Why it is wrong:</strong> {_marked(mistake.why)}</p>")
        if mistake.seen:
            parts.append(f"<p>Others made it too: {', '.join(map(_link, mistake.seen))}</p>")
    return parts


def _example(example: Example) -> list[str]:
    inputs = [
        f'<tr>{_th(name, "row")}<td style="{_MONO}">{html.escape(text)}</td></tr>'
        for name, text in example.inputs
    ]
    parts = [_table("A small input on which it shows", ("Argument", "Value"), inputs)]
    if example.rows:
        rows = [
            f'<tr>{_th(row.place or "result", "row")}<td style="{_MONO}">{html.escape(row.right)}'
            f'</td><td style="{_MONO}">{html.escape(row.yours)}</td></tr>'
            for row in example.rows
        ]
        caption = f"Compared is {example.says}" if example.says else "What comes out (≠ differs)"
        parts.append(_table(caption, ("Place", "Right", "Yours"), rows))
    return parts


def _table(caption: str, headers: Iterable[str], rows: list[str]) -> str:
    head = "".join(_th(header, "col") for header in headers)
    return (
        f'<table style="{_TABLE}"><caption style="text-align:left;color:inherit">'
        f"{_marked(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _th(text: str, scope: str) -> str:
    return f'<th scope="{scope}" style="{_CELL}">{_marked(text)}</th>'


def _marked(text: str) -> str:
    """Escape a text; what stands between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def _link(reference: str) -> str:
    """Link `owner/repo#12` (an issue) or `owner/repo!12` (a pull request) on GitHub."""
    found = re.fullmatch(r"([\w.-]+/[\w.-]+)([#!])(\d+)", reference)
    if not found:
        return html.escape(reference)
    repository, kind, count = found.groups()
    page = "issues" if kind == "#" else "pull"
    return f'<a style="color:inherit" href="https://github.com/{repository}/{page}/{count}">{reference}</a>'

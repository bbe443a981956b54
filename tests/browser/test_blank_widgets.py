"""What leaves a widget blank, or shows an error in its place: one guard for each cause.

The numbers are those of the list of mistakes that this project collected.
"""

import ast
import importlib.metadata
import json
import re
import sys
from pathlib import Path

import ipywidgets as widgets
import matplotlib.pyplot
import nbformat
import pytest
from matplotlib.figure import Figure
from packaging.requirements import Requirement
from test_lessons_run import every_lesson, tags

from mha_lib.figures import explorer, new_figure
from mha_lib.figures.explorers import FALLBACK
from tools.navigation import ROOT

WIDGET_CODE = sorted((ROOT / "mha_lib").rglob("*.py"))
MANAGER = Path(sys.prefix, "share/jupyter/labextensions/@jupyter-widgets/jupyterlab-manager")


def number_of(control: widgets.IntSlider) -> widgets.VBox:
    """An explorer of one control."""
    return explorer(lambda n: (new_figure(1, 1), f"n is {n}"), {"n": control})


def test_e06_the_widget_manager_fits_ipywidgets() -> None:
    """'Error displaying widget: model not found' comes from a manager that does not fit."""
    requirements = map(Requirement, importlib.metadata.requires("ipywidgets") or [])
    (wanted,) = [r.specifier for r in requirements if r.name == "jupyterlab_widgets"]
    assert wanted.contains(importlib.metadata.version("jupyterlab_widgets"))
    about = json.loads((MANAGER / "package.json").read_text(encoding="utf-8"))
    assert about["jupyterlab"]["extension"], "JupyterLab would not load it"


@every_lesson
def test_e07_a_figure_shows_it_without_a_kernel(path: Path) -> None:
    """A widget is dead on GitHub and in a saved page: a figure of its section or of the steps
    that the section names shows the same, and a line stands in place of the widget."""
    cells = nbformat.read(path, as_version=4).cells
    (place,) = [i for i, cell in enumerate(cells) if "widget" in tags(cell)]
    assert [dict(o.data) for o in cells[place].outputs] == [{"text/plain": FALLBACK}]
    start = next(i for i in range(place) if re.search("(?m)^## See it", cells[i].source))
    if figures(cells[start:place]):
        return
    prose = " ".join(cell.source for cell in cells[start:place])
    named = re.search(r"[Ss]teps? (\d)(?: and (\d))?", prose)
    assert named, "no figure in this section, and no step with one is named"
    assert "without a kernel" in prose.lower()
    for step in filter(None, named.groups()):
        first = next(i for i in range(place) if re.search(f"(?m)^### {step}[.] ", cells[i].source))
        after = (i for i in range(first + 1, place) if re.search("(?m)^##", cells[i].source))
        assert figures(cells[first : next(after)]), f"step {step} has no figure"


def figures(cells: list[nbformat.NotebookNode]) -> list[str]:
    """Return the stored pictures with alt text."""
    shown = [o.get("data", {}).get("text/html", "") for c in cells for o in c.get("outputs", [])]
    return [html for html in shown if re.search(r'<img alt="[^"]{40,}"', html)]


@every_lesson
def test_e08_no_widget_state_is_stored(path: Path) -> None:
    """GitHub calls a notebook invalid whose `metadata.widgets` has no state."""
    text = path.read_text(encoding="utf-8")
    assert "widgets" not in json.loads(text)["metadata"]
    assert "application/vnd.jupyter.widget" not in text


def test_e26_forty_moves_leave_no_figure_open() -> None:
    """'More than 20 figures have been opened' comes from figures that pyplot keeps."""
    slider = widgets.IntSlider(0, 0, 40, description="n")
    canvas = number_of(slider).children[1]
    for value in range(1, 41):
        slider.value = value
    assert 'alt="n is 40"' in canvas.value
    assert matplotlib.pyplot.get_fignums() == []


@pytest.mark.parametrize("path", WIDGET_CODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_e26_no_module_draws_through_pyplot_or_output(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {part for alias in node.names for part in alias.name.split(".")}
            names |= set((getattr(node, "module", "") or "").split("."))
    assert not names & {"pyplot", "pylab", "interact", "interactive", "interactive_output"}
    assert not ("ipywidgets" in names and "Output" in names)


def test_a_control_needs_words_and_waits_for_the_release() -> None:
    slider = widgets.IntSlider(0, 0, 9, description="n", continuous_update=True)
    number_of(slider)
    assert slider.continuous_update is False
    assert slider.tooltip == "n"
    with pytest.raises(ValueError, match=r"controls\['n'\] must have a description, got ''"):
        number_of(widgets.IntSlider(0, 0, 9))


def test_a_refused_value_keeps_the_controls_alive() -> None:
    def refuse(n: int) -> tuple[Figure, str]:
        if n == 1:
            raise ValueError("n must not be 1")
        return new_figure(1, 1), f"n is {n}"

    slider = widgets.IntSlider(0, 0, 9, description="n")
    canvas = explorer(refuse, {"n": slider}).children[1]
    slider.value = 1
    assert canvas.value == '<p role="alert">n must not be 1</p>'
    slider.value = 2
    assert 'alt="n is 2"' in canvas.value

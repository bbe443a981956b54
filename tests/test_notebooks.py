"""The lessons keep to their template: sections, budget, alt text, links, names, exercises."""

import ast
import json
import re
import statistics
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

import mha_lib
from tools.navigation import lessons, nav_line

ROOT = Path(__file__).resolve().parent.parent
LESSONS = lessons(ROOT / "notebooks")
SECTIONS = [
    "What you'll do",
    "The question",
    "Build it",
    "Check against PyTorch",
    "See it",
    "What goes wrong",
    "In the library",
    "Summary",
]
EXERCISE_PARTS = ["exercise", "stub", "check", "hint", "solution"]

every_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)


def load(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def tags(cell: NotebookNode) -> list[str]:
    return list(cell.metadata.get("tags", []))


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def prose(notebook: NotebookNode) -> str:
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def headings(notebook: NotebookNode, level: int) -> list[str]:
    return re.findall(rf"(?m)^{'#' * level} (.+)$", prose(notebook))


def test_there_are_lessons() -> None:
    assert [path.stem[:2] for path in LESSONS] == [f"{n:02}" for n in range(1, len(LESSONS) + 1)]
    assert len(LESSONS) >= 6


@every_lesson
def test_sections_stand_in_order(path: Path) -> None:
    notebook = load(path)
    assert headings(notebook, 2) == SECTIONS
    number, text = notebook.cells[0].source.split(" · ", 1)
    assert number == f"# {int(path.stem[:2])}"
    assert text.split()[0][0].isupper()
    assert {"On your own", "Further reading"} <= set(headings(notebook, 3))
    for word in ("**Do.**", "**Learn.**", "**Need.**"):
        assert word in prose(notebook)
    assert "Predict first" in prose(notebook)


@every_lesson
def test_nav_lines_are_the_built_ones(path: Path) -> None:
    notebook = load(path)
    nav = [i for i, cell in enumerate(notebook.cells) if "nav" in tags(cell)]
    assert nav == [1, len(notebook.cells) - 1]
    assert all(notebook.cells[i].source == nav_line(path) for i in nav)


@every_lesson
def test_budget(path: Path) -> None:
    notebook = load(path)
    code = code_cells(notebook)
    lengths = [len(cell.source.splitlines()) for cell in code]
    words = len(re.sub(r"```.*?```|<[^>]+>|\]\([^)]*\)", " ", prose(notebook), flags=re.S).split())
    assert len(notebook.cells) <= 45
    assert words <= 2000
    assert statistics.median(lengths) <= 8
    assert max(lengths) <= 25
    assert path.stat().st_size <= 400_000


@every_lesson
def test_one_set_up_cell(path: Path) -> None:
    notebook = load(path)
    set_up = [cell for cell in notebook.cells if "setup" in tags(cell)]
    assert len(set_up) == 1
    assert set_up[0] is code_cells(notebook)[0]
    assert len(set_up[0].source.splitlines()) <= 12


@every_lesson
def test_a_step_reads_in_one_go(path: Path) -> None:
    for cell in load(path).cells:
        if cell.cell_type == "markdown" and not tags(cell):
            for part in re.split(r"(?m)^#+ .*$", cell.source):
                text = re.sub(r"<details>.*?</details>", " ", part, flags=re.S)
                assert len(text.split()) <= 130, (cell.id, len(text.split()))


@every_lesson
def test_outputs_are_stored_and_clean(path: Path) -> None:
    notebook = load(path)
    counts = [cell.execution_count for cell in code_cells(notebook)]
    assert counts == list(range(1, len(counts) + 1)), "run `make notebooks`"
    assert "widgets" not in notebook.metadata
    for cell in code_cells(notebook):
        for output in cell.outputs:
            assert output.output_type != "error", cell.id
            assert output.get("name") != "stderr", cell.id
            assert "image/png" not in output.get("data", {}), (
                f"{cell.id}: a picture without alt text"
            )


@every_lesson
def test_every_picture_has_alt_text(path: Path) -> None:
    pictures = []
    for cell in load(path).cells:
        html = cell.source if cell.cell_type == "markdown" else ""
        for output in cell.get("outputs", []):
            html += "".join(output.get("data", {}).get("text/html", ""))
        assert not re.search(r"!\[\]\(", html), cell.id
        pictures += [(cell.id, tag) for tag in re.findall(r"<img[^>]*>", html)]
    assert pictures, "a lesson has at least one figure"
    for where, tag in pictures:
        alt = re.search(r'alt="([^"]*)"', tag)
        assert alt, where
        assert len(alt.group(1).split()) >= 8, (where, alt.group(1))


@every_lesson
def test_a_widget_and_its_static_twin(path: Path) -> None:
    notebook = load(path)
    widgets = [cell for cell in notebook.cells if "widget" in tags(cell)]
    assert widgets
    for cell in widgets:
        assert [list(output.get("data", {})) for output in cell.outputs] == [["text/plain"]], (
            cell.id
        )
        assert "Interactive" in cell.outputs[0].data["text/plain"]


@every_lesson
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(load(path))):
        if not target.startswith(("https://", "#")):
            assert (path.parent / target).exists(), target
        assert not target.startswith("http://"), target


@every_lesson
def test_nothing_that_breaks_elsewhere(path: Path) -> None:
    for cell in code_cells(load(path)):
        assert not re.search(r"(?m)^\s*[!%]", cell.source), cell.id
        for banned in ("sys.path", "pip install", "/tmp", "/home", "os.environ", "%timeit"):
            assert banned not in cell.source, (cell.id, banned)
        assert not re.search(r"\b(Output|interact|clear_output)\(", cell.source), cell.id


def names_bound(source: str) -> set[str]:
    """Every name that a cell defines, by assignment, def, class, for or import."""
    bound = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).split(".")[0])
    return bound


@every_lesson
def test_no_name_of_the_library_is_redefined(path: Path) -> None:
    slug = path.stem[3:]
    own = {n for n in mha_lib.__all__ if getattr(mha_lib, n).__module__ == f"mha_lib.{slug}"}
    for cell in code_cells(load(path)):
        allowed = own if "stub" in tags(cell) else set()
        clash = names_bound(cell.source) & set(mha_lib.__all__) - allowed
        assert not clash, (cell.id, clash)


@every_lesson
def test_later_cells_call_the_library_not_the_learner(path: Path) -> None:
    learner: set[str] = set()
    for cell in code_cells(load(path)):
        if "stub" in tags(cell):
            learner |= {n for n in names_bound(cell.source) if n in cell.metadata.exercise}
        elif "check" not in tags(cell):
            used = {n.id for n in ast.walk(ast.parse(cell.source)) if isinstance(n, ast.Name)}
            assert not used & learner, cell.id


@every_lesson
def test_exercises_have_their_parts(path: Path) -> None:
    parts: dict[str, list[str]] = {}
    for cell in load(path).cells:
        if "exercise" in cell.metadata:
            parts.setdefault(cell.metadata.exercise, []).append(tags(cell)[0])
            check_exercise_cell(cell)
    assert len(parts) >= 2
    assert all(found == EXERCISE_PARTS for found in parts.values()), parts


def check_exercise_cell(cell: NotebookNode) -> None:
    kind = tags(cell)[0]
    if kind == "exercise":
        assert re.search(r"^### Exercise \d+\.\d · .+ ★+ \d+ min$", cell.source, re.M), cell.id
    elif kind == "stub":
        function = ast.parse(cell.source).body[-1]
        assert isinstance(function, ast.FunctionDef | ast.ClassDef), cell.id
        assert "raise NotImplementedError" in cell.source, cell.id
    elif kind == "check":
        assert re.fullmatch(r"check\(\w+(, \"\w+\")?\)", cell.source), cell.id
        assert "not attempted" in json.dumps(cell.outputs).lower(), cell.id
    else:
        assert cell.source.startswith("<details><summary>"), cell.id
        assert cell.source.count("<details>") == cell.source.count("</details>")


@every_lesson
def test_the_folded_solution_passes_the_check(path: Path) -> None:
    from mha_lib.exercises import check

    for cell in load(path).cells:
        if "solution" in tags(cell):
            code = re.search(r"```python\n(.*?)```", cell.source, re.S)
            assert code, cell.id
            # The solution may use what the lesson's set-up cell imports.
            names: dict[str, object] = {}
            exec(code_cells(load(path))[0].source, names)
            before = set(names)
            exec(code.group(1), names)
            answer = next(n for n in names if n not in before and n in code.group(1))
            verdict = check(names[answer], cell.metadata.exercise)
            assert verdict.status == "passed", (cell.metadata.exercise, str(verdict))

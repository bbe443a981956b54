"""How notebooks are run and what is stored of them."""

import json
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools import store_notebooks

WIDGET = "import ipywidgets\nipywidgets.IntSlider(value=3)"
PRINTS = "import sys\nprint('a', flush=True)\nprint('b')\n1 + 1"
PLOT = "import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\n_ = axes.plot([1, 3, 2])"


def write_notebook(path: Path, *sources: str) -> Path:
    cells = [new_markdown_cell("# Ü"), *(new_code_cell(source) for source in sources)]
    cells[-1].metadata.update(
        {"execution": {"shell.execute_reply": "now"}, "scrolled": True, "tags": ["kept"]}
    )
    notebook = new_notebook(cells=cells, metadata={"widgets": {"state": {}}, "title": "kept"})
    notebook.metadata["language_info"] = {
        "name": "python",
        "version": "3.99",
        "nbconvert_exporter": "",
    }
    nbformat.write(notebook, path)
    return path


def test_storing_twice_gives_the_same_bytes(tmp_path):
    path = write_notebook(tmp_path / "01_a.ipynb", PRINTS, WIDGET, PLOT)
    ids = [cell.id for cell in nbformat.read(path, 4).cells]
    store_notebooks.store(path)
    first = path.read_bytes()
    store_notebooks.store(path)
    assert path.read_bytes() == first
    assert first.endswith(b"}\n")
    assert "# Ü" in first.decode("utf-8")
    assert [cell.id for cell in nbformat.read(path, 4).cells] == ids
    assert [p.name for p in tmp_path.iterdir()] == ["01_a.ipynb"]


def test_what_is_stored_and_what_is_not(tmp_path):
    path = write_notebook(tmp_path / "01_a.ipynb", PRINTS, WIDGET)
    store_notebooks.store(path)
    notebook = nbformat.read(path, 4)
    prints, widget = notebook.cells[1:]
    assert [out.get("text") or out.data["text/plain"] for out in prints.outputs] == ["a\nb\n", "2"]
    assert dict(widget.outputs[0].data) == {"text/plain": "IntSlider(value=3)"}
    assert dict(widget.metadata) == {"tags": ["kept"]}
    assert [cell.execution_count for cell in notebook.cells[1:]] == [1, 2]
    assert json.loads(json.dumps(notebook.metadata)) == {
        "kernelspec": store_notebooks.KERNELSPEC,
        "language_info": {"name": "python", "version": "3.11"},
        "title": "kept",
    }


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("1 / 0", r"cell 2: (?s:.)*ZeroDivisionError"),
        ("import warnings\nwarnings.warn('old')", "cell 2 writes to stderr: (?s:.)*old"),
        ("import os\nprint(os.getcwd())", "cell 2: an output names this machine's"),
        ("import sys\nsys.prefix", "cell 2: an output names this machine's"),
        ("import os\nos._exit(1)", "cell 2: "),
    ],
)
def test_a_faulty_notebook_is_not_stored(tmp_path, source, reason):
    path = write_notebook(tmp_path / "01_a.ipynb", "1 + 1", source)
    before = path.read_bytes()
    with pytest.raises(store_notebooks.NotStoredError, match=reason):
        store_notebooks.store(path)
    assert path.read_bytes() == before


def test_a_cell_that_shows_an_error_on_purpose_is_stored(tmp_path):
    path = write_notebook(tmp_path / "01_a.ipynb", "1 / 0")
    notebook = nbformat.read(path, 4)
    notebook.cells[1].metadata.tags = ["raises-exception"]
    nbformat.write(notebook, path)
    store_notebooks.store(path)
    assert nbformat.read(path, 4).cells[1].outputs[0].ename == "ZeroDivisionError"


@pytest.mark.parametrize(
    "name", ["04", "4", "splitting_heads", "notebooks/04_splitting_heads.ipynb"]
)
def test_notebooks_are_named_by_number_slug_or_file(tmp_path, name):
    for stem in ("04_splitting_heads", "05_attention_scores", "14_more_heads"):
        (tmp_path / f"{stem}.ipynb").touch()
    chosen = store_notebooks.select([name], tmp_path)
    assert [path.stem for path in chosen] == ["04_splitting_heads"]
    assert len(store_notebooks.select([], tmp_path)) == 3
    with pytest.raises(ValueError, match="no such notebook: 06, heads; .* has: 04_splitting_heads"):
        store_notebooks.select(["06", "04", "heads"], tmp_path)

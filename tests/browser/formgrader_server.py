"""A graded class of three, and a Jupyter server on its course folder, with nbgrader's pages."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat

from browser.lab_server import environment, free_port, wait_for, write_json
from mha_course.build import build
from mha_course.example_class import make_class
from mha_course.grading.booking import nbgrader_of
from mha_course.plan import Plan
from mha_course.questions import Question

POINTS = 5.0
# Whoever marks this is logged in: a script could give marks. A picture would tell that it is read.
EVIL = (
    "Because. <script>window.wasHere = 1</script> <img src=x onerror='window.wasHere = 1'> "
    "![](https://example.org/seen.png) [a link](javascript:window.wasHere=1) [another a link][1]"
    "\n\n[1]: javascript:window.wasHere=1"
)


def graded_course(course: Path) -> None:
    """Make a class of three: all right, blank, and all right with a hostile text."""
    why = Question("why", "Why divide by √D?", 4.0, "Because.")
    build(course, Plan("ps", exercises=("split_heads",), questions=(why,)))
    result = nbgrader_of(course).generate_assignment("ps")
    assert result["success"], result
    make_class(course, "ps", 2)
    folder = course / "submitted"
    notebook = nbformat.read(folder / "s0001" / "ps" / "ps.ipynb", as_version=4)
    (answer,) = [cell for cell in notebook.cells if cell.id == "why"]
    answer.source = EVIL
    (folder / "s0003" / "ps").mkdir(parents=True)
    nbformat.write(notebook, folder / "s0003" / "ps" / "ps.ipynb")
    words = [sys.executable, "-m", "mha_course.commands", "grade", str(course), "ps"]
    subprocess.run(words, check=True, timeout=300)


@contextmanager
def running_formgrader(folder: Path, course: Path) -> Iterator[str]:
    """Start JupyterLab in the course folder, as an instructor does; yield its address."""
    port, home, log = free_port(), folder / "home", folder / "lab.log"
    own = environment(home)
    # Not as a learner has it: with nbgrader.
    write_json(home / "config" / "jupyter_server_config.json", {})
    write_json(home / "config" / "labconfig" / "page_config.json", {})
    options = ["--no-browser", "--ip=127.0.0.1", f"--port={port}", "--IdentityProvider.token="]
    options += ["--expose-app-in-browser", "--allow-root"]
    with log.open("w", encoding="utf-8") as out:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options],
            cwd=course,
            env=own | {"PATH": os.pathsep.join([str(Path(sys.executable).parent), own["PATH"]])},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(url, server, log)
            yield url
        finally:
            server.terminate()
            server.wait(60)

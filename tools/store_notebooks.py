"""Runs the notebooks of notebooks/ and stores their outputs: the only way these are written.

    python -m tools.store_notebooks              every notebook
    python -m tools.store_notebooks 04 masks     those named, by number, slug or file name

Each runs in a fresh kernel, in an empty temporary folder. Nothing is stored of a notebook
that fails, writes to stderr, or names a folder of this machine in an output.
"""

import re
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from tools.navigation import write_nav

ROOT = Path(__file__).resolve().parent.parent
CELL_TIMEOUT = 600
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
# Fixed, so that storing with another Python 3 changes no file.
LANGUAGE_INFO = {"name": "python", "version": "3.11"}
# What a notebook editor leaves in a cell: times, and which boxes were folded.
TRACES = ("execution", "ExecuteTime", "collapsed", "scrolled")
# Long base64 text, in which any short folder name can turn up by chance.
PICTURE = re.compile(r"[A-Za-z0-9+/=]{100,}")
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


class NotStoredError(Exception):
    """A notebook that must not be stored as it is; the text says which cell and why."""


def select(names: list[str], folder: Path) -> list[Path]:
    """Return the notebooks that the names mean, all of them where no name is given.

    Raises:
        ValueError: A name fits no notebook.
    """
    paths = sorted(folder.glob("*.ipynb"))
    chosen = [path for name in names for path in paths if fits(name, path)]
    unknown = [name for name in names if not any(fits(name, path) for path in paths)]
    if unknown or not paths:
        known = ", ".join(path.stem for path in paths) or "none"
        raise ValueError(f"no such notebook: {', '.join(unknown)}; {folder.name}/ has: {known}")
    return sorted(set(chosen)) if names else paths


def fits(name: str, path: Path) -> bool:
    """Say whether a number, a slug or a file name means this notebook."""
    number, _, slug = path.stem.partition("_")
    wanted = Path(name).name.removesuffix(".ipynb")
    return wanted in (path.stem, slug) or wanted.isdecimal() and wanted.zfill(2) == number


def execute(notebook: NotebookNode) -> None:
    """Run all cells in a fresh kernel, in an empty folder; outputs go into the notebook.

    Raises:
        NotStoredError: A cell failed, took too long or killed the kernel.
    """
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=CELL_TIMEOUT,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
            record_timing=False,
            coalesce_streams=True,
            # Errors only: ipykernel's notes about its transport are no use here.
            extra_arguments=["--IPKernelApp.log_level=ERROR"],
        )
        running = [0]
        client.on_cell_start = lambda cell, cell_index: running.append(cell_index)
        try:
            client.execute()
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            raise NotStoredError(f"cell {running[-1]}: {error}") from error
        check_outputs(notebook, [folder, str(ROOT), sys.prefix, str(Path.home())])


def check_outputs(notebook: NotebookNode, folders: list[str]) -> None:
    """Refuse outputs that would be wrong in a stored lesson.

    Raises:
        NotStoredError: An output went to stderr, or holds a folder of this machine.
    """
    # A home of "/" (some containers) would be found in every text.
    local = [folder for folder in folders if len(folder) > 1]
    for index, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                raise NotStoredError(f"cell {index} writes to stderr: {output.text}")
            text = PICTURE.sub("", str(output))
            for folder in local:
                if folder in text:
                    raise NotStoredError(f"cell {index}: an output names this machine's {folder}")


def clean(notebook: NotebookNode) -> None:
    """Take out what changes from run to run or is of no use without the kernel."""
    notebook.metadata.pop("widgets", None)
    notebook.metadata.update(kernelspec=dict(KERNELSPEC), language_info=dict(LANGUAGE_INFO))
    for cell in notebook.cells:
        for trace in TRACES:
            cell.metadata.pop(trace, None)
        for output in cell.get("outputs", []):
            # Without a running kernel the view cannot be drawn; the text beside it can.
            output.get("data", {}).pop(WIDGET_VIEW, None)


def store(path: Path) -> None:
    """Execute one notebook and write it back, or leave the file as it was.

    Raises:
        NotStoredError: The notebook must not be stored; the text names the cell.
    """
    notebook = nbformat.read(path, as_version=4)
    write_nav(notebook, path)
    execute(notebook)
    clean(notebook)
    nbformat.validate(notebook)
    part = path.with_suffix(".part")
    # nbformat sorts the keys, indents by one space and ends with a line feed.
    part.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8", newline="\n")
    part.replace(path)


def main(names: list[str]) -> int:
    """Store the named notebooks; return 1 where one of them could not be stored."""
    try:
        paths = select(names, ROOT / "notebooks")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    failed = []
    for path in paths:
        print(f"{path.name} ...", flush=True)
        start = time.monotonic()
        try:
            store(path)
        except NotStoredError as error:
            failed.append(path.name)
            print(f"{path.name} was NOT stored. In it, {error}", file=sys.stderr, flush=True)
        else:
            print(f"{path.name} stored, {time.monotonic() - start:.0f} s", flush=True)
    print(f"{len(paths) - len(failed)} stored, {len(failed)} not stored", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

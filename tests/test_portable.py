"""What reading can tell about other systems: shell lines, paths, encodings, file names, CI.

No test here runs on Windows or macOS; .github/workflows/systems.yml would, and is untried.
"""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import nbformat
import pytest
import yaml

import run
from tools import commands, install_steps
from tools.navigation import lessons

ROOT = Path(__file__).resolve().parent.parent
WORKFLOW = ROOT / ".github" / "workflows" / "systems.yml"
POSIX_ONLY = {"fcntl", "grp", "pty", "pwd", "resource", "termios"}
# The grader's sandbox is for an instructor's Linux or macOS, and says so.
SANDBOX = "mha_course/grading/"
RESERVED = re.compile(r"(?i)^(con|prn|aux|nul|com\d|lpt\d)(\.|$)")
# A path of one system: C:\x, \\server, ~/x, /usr/x; a single slash or a URL's path is none.
ONE_SYSTEM = re.compile(r"^([A-Za-z]:[\\/]|\\\\|~[/\\]|/(usr|etc|home|tmp|var|dev|proc|opt)\b)")


def git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, encoding="utf-8")
    if done.returncode:
        pytest.skip("needs a git checkout")
    return [name for name in done.stdout.split("\0") if name]


def tracked() -> list[str]:
    return git("ls-files", "-z")


def sources() -> Iterator[tuple[str, ast.Module]]:
    for name in tracked():
        if name.endswith(".py") and (ROOT / name).exists():
            yield name, ast.parse((ROOT / name).read_text(encoding="utf-8"))


# ---- notebooks


def cell_faults(source: str) -> list[str]:
    """What in a code cell ties it to a shell or to one system."""
    faults = [line for line in source.splitlines() if re.match(r"\s*[!%]|.*=\s*!", line)]
    if faults:
        return faults
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if ONE_SYSTEM.match(node.value) or re.search(r"\w\\\w+\.\w+$", node.value):
                faults.append(node.value)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.name for alias in node.names} | {getattr(node, "module", "")}
            faults += sorted(names & (POSIX_ONLY | {"os", "subprocess", "shutil"}))
    return faults


@pytest.mark.parametrize("path", lessons(), ids=lambda path: path.stem)
def test_no_cell_needs_a_shell_or_one_system(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert cell_faults(cell.source) == [], cell.id
        elif "```" in cell.source:
            for shell in re.findall(r"```(?:bash|sh|console|powershell)", cell.source):
                pytest.fail(f"{cell.id}: {shell}")


@pytest.mark.parametrize(
    "source",
    [
        "!ls",
        "  !pip install x",
        "%%bash\nls",
        "%cd ..",
        "files = !ls",
        'open("/usr/x")',
        'open("C:\\\\data\\\\x.txt")',
        'Path("~/x")',
        'load("data\\\\x.txt")',
        "import subprocess",
        "from os import system",
    ],
)
def test_such_a_cell_would_be_found(source):
    assert cell_faults(source)


@pytest.mark.parametrize("source", ['print("a\\nb / c")', "x = 7 % 3", "if a != b:\n    pass"])
def test_other_cells_are_let_be(source):
    assert cell_faults(source) == []


# ---- Python sources


def without_encoding(tree: ast.Module) -> list[str]:
    """Calls that read or write text in the encoding of the machine, whatever that is."""
    found = []
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        function = call.func
        name = getattr(function, "attr", None) or getattr(function, "id", "")
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        if name in ("read_text", "write_text"):
            # read_text("utf-8") says it, too; write_text needs the text first.
            said = len(call.args) > (name == "write_text")
        elif name == "open" and not _opens_something_else(function):
            said = "b" in _mode(call, given)
        elif name in ("NamedTemporaryFile", "TemporaryFile", "fdopen"):
            said = "b" in _mode(call, given, default="w+b" if "Temporary" in name else "r")
        else:
            continue
        if not said and "encoding" not in given:
            found.append(f"line {call.lineno}: {name}")
    return found


def _opens_something_else(function: ast.expr) -> bool:
    """`Image.open`, `tarfile.open`, `os.open`: no text in them."""
    owner = getattr(function, "value", None)
    return isinstance(owner, ast.Name) and owner.id in ("Image", "tarfile", "os", "webbrowser")


def _mode(call: ast.Call, given: dict[str | None, ast.expr], default: str = "r") -> str:
    is_method = isinstance(call.func, ast.Attribute) and call.func.attr == "open"
    place = 0 if is_method or "Temporary" in ast.unparse(call.func) else 1
    mode = given.get("mode") or (call.args[place] if len(call.args) > place else None)
    return mode.value if isinstance(mode, ast.Constant) and isinstance(mode.value, str) else default


def test_every_text_file_is_read_and_written_as_utf_8():
    found = {name: without_encoding(tree) for name, tree in sources()}
    assert len(found) > 100
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("open('x')", True),
        ("open('x', 'w')", True),
        ("open('x', 'rb')", False),
        ("open('x', encoding='utf-8')", False),
        ("path.open()", True),
        ("path.open('wb')", False),
        ("path.read_text()", True),
        ("path.read_text('utf-8')", False),
        ("path.write_text(text)", True),
        ("path.write_text(text, encoding='utf-8')", False),
        ("Image.open(path)", False),
        ("NamedTemporaryFile('w')", True),
        ("NamedTemporaryFile()", False),
    ],
)
def test_a_missing_encoding_would_be_found(code, wrong):
    assert bool(without_encoding(ast.parse(code))) is wrong


def test_modules_of_one_system_are_imported_only_where_they_are_guarded():
    for name, tree in sources():
        top = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
        names = {alias.name.split(".")[0] for node in top for alias in node.names}
        names |= {(getattr(node, "module", None) or "").split(".")[0] for node in top}
        assert not names & POSIX_ONLY or name.startswith((SANDBOX, "tests/")), name


def test_no_source_calls_a_shell():
    for name, tree in sources():
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            shell = [k.value for k in call.keywords if k.arg == "shell"]
            assert not any(isinstance(v, ast.Constant) and v.value for v in shell), name
            assert ast.unparse(call.func) not in ("os.system", "os.popen"), name


def test_what_the_set_up_prints_is_ascii():
    """A console of Windows may not know other signs, and then Python stops with an error."""
    for name in ("run.py", *(f"tools/{m}.py" for m in ("commands", "install_steps", "set_up"))):
        assert (ROOT / name).read_text(encoding="utf-8").isascii(), name


# ---- files


def test_file_names_are_fine_everywhere():
    names = tracked()
    folded = [name.casefold() for name in names]
    assert sorted(n for n in set(folded) if folded.count(n) > 1) == []
    for name in names:
        assert name.isascii(), name
        assert len(name) < 120, name
        for part in PurePosixPath(name).parts:
            assert not RESERVED.match(part), name
            assert not re.search(r'[<>:"\\|?*]|[. ]$', part), name


def test_text_files_have_line_feeds_on_every_system():
    for line in git("ls-files", "-z", "--eol"):
        kinds, name = line.split("\t")
        index, _, attributes = kinds.split(None, 2)
        if index == "i/-text":
            assert attributes.strip() == "attr/-text", f"{name}: say in .gitattributes: binary"
        elif not (ROOT / name).is_symlink():
            assert index in ("i/lf", "i/none"), name
            assert "eol=lf" in attributes, name


def test_the_only_link_is_binders():
    """On Windows git may write it as a small text file; only Binder, on Linux, reads it."""
    assert [name for name in tracked() if (ROOT / name).is_symlink()] == ["binder/environment.yml"]


# ---- the workflow for a public CI


@pytest.fixture(scope="module")
def workflow() -> dict:
    return yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))


def run_lines(job: dict) -> list[str]:
    return [line for step in job["steps"] for line in step.get("run", "").splitlines() if line]


def test_the_workflow_says_that_it_is_untried():
    assert "untried" in WORKFLOW.read_text(encoding="utf-8").lower()
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert re.search(r"systems\.yml.*\*\*untried", text)


def test_the_workflow_has_every_python_and_system(workflow):
    matrix = workflow["jobs"]["systems"]["strategy"]["matrix"]
    first, last = re.search(r"Python 3\.(\d+) to 3\.(\d+)", install_steps.TORCH_HINT).groups()
    assert matrix["python"] == [f"3.{minor}" for minor in range(int(first), int(last) + 1)]
    assert matrix["python"][0] == ".".join(map(str, run.MIN_PYTHON))
    assert {name.split("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert workflow["jobs"]["systems"]["runs-on"] == "${{ matrix.os }}"


def test_the_workflow_has_the_ends_of_the_versions(workflow):
    ends = workflow["jobs"]["versions"]["strategy"]["matrix"]["include"]
    assert [end["which"] for end in ends] == ["oldest", "newest"]
    for end in ends:
        names = [re.split("[=>]", word)[0] for word in end["packages"].split()]
        assert {"numpy", "matplotlib", "jupyterlab"} <= set(names)
    pins = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    (lowest,) = re.findall(r"jupyterlab>=([\d.]+)", pins)
    assert f"jupyterlab=={lowest}.0" in ends[0]["packages"].split()


def test_the_workflow_calls_what_there_is(workflow):
    assert workflow["permissions"] == {"contents": "read"}
    assert set(workflow[True]) == {"push", "pull_request", "workflow_dispatch"}  # YAML's `on`
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            assert re.fullmatch(r"actions/[a-z-]+@v\d+", step.get("uses", "actions/checkout@v1"))
        for line in run_lines(job):
            assert_known(line)


def assert_known(line: str) -> None:
    """A line calls run.py with a word that it has, or Python with a module that is installed."""
    words = line.split()
    if words[:2] == ["python", "run.py"]:
        assert words[2] in commands.WORDS, line
        return
    assert words[0] in ("python", ".venv/bin/python"), line
    if words[1] == "-m":
        assert words[2] in ("pip", "pytest"), line
        for word in words[3:]:
            assert not word.endswith(".txt") or (ROOT / word).is_file(), line
        return
    assert words[1] == "-c", line
    (code,) = re.findall(r'-c "(.*)"$', line)
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom):
            module = ROOT / f"{node.module.replace('.', '/')}.py"
            assert f"def {node.names[0].name}(" in module.read_text(encoding="utf-8"), line

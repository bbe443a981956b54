"""Makes .venv and installs what is missing in it; standard library only.

A stamp in .venv records which steps were done with which requirements, so that a second call
costs nothing, a changed pin repeats its step, and a failed step is tried again.
"""

import json
import os
import subprocess
import sys
import time

from tools.install_steps import ROOT, TORCH_HINT, Step, fingerprint, pinned_torch, steps

VENV = ROOT / ".venv"
PYTHON = str(VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
STAMP = VENV / "set_up.json"
MIN_PYTHON = [3, 11]
VENV_HINT = """\
On Debian and Ubuntu, Python's venv module is a package of its own:
    sudo apt install python3-venv
(python{0}.{1}-venv where Python {0}.{1} is not the system's own).
Then call the same command again."""


def say(text: str) -> None:
    print(f"[run.py] {text}", flush=True)


def environment() -> dict[str, str]:
    """Return the environment without what would mix other Pythons' packages into .venv."""
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONHOME", "PYTHONPATH")}
    return kept | {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_USER": "0"}


def call(*command: str) -> int:
    """Run a command in the root folder and return its exit code.

    Ctrl-C reaches the child too. The child decides what to do with it, and we wait for its end.
    """
    child = subprocess.Popen(command, cwd=ROOT, env=environment())
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            continue


def read_stamp() -> dict:
    """Return what an earlier set-up recorded, or {} where that is missing or unreadable."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) and isinstance(stamp.get("steps"), dict) else {}


def write_stamp(stamp: dict) -> None:
    part = STAMP.with_suffix(".part")
    part.write_text(json.dumps(stamp, indent=1), encoding="utf-8")
    part.replace(STAMP)


def venv_version() -> list[int] | None:
    """Return the [major, minor] of .venv's interpreter, or None if it cannot run pip."""
    command = [PYTHON, "-c", "import sys, pip; print(*sys.version_info[:2])"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment())
    except OSError:
        return None
    return [int(word) for word in done.stdout.split()] if done.returncode == 0 else None


def rebuild_reason(version: list[int] | None, stamp: dict) -> str | None:
    """Return why .venv has to be made (again), or None if it can stay."""
    if not VENV.exists():
        return "first use"
    if version is None:
        return "the one there does not work"
    if version < MIN_PYTHON or version != stamp.get("python", version):
        return "the one there was made for another Python"
    if stamp.get("root", str(ROOT)) != str(ROOT):
        return "the folder was moved or copied"
    return None


def make_venv(reason: str) -> None:
    ours = sys.version_info[:2]
    say(f"Making .venv with Python {ours[0]}.{ours[1]}: {reason}.")
    # _base_executable: when called with .venv's own Python, it must not clear itself.
    base = getattr(sys, "_base_executable", None) or sys.executable
    command = [base, "-m", "venv", "--clear", "--prompt", "mha", str(VENV)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment())
    if done.returncode or venv_version() is None:
        hint = VENV_HINT.format(*ours)
        said = done.stdout + done.stderr
        raise SystemExit(f"[run.py] Making .venv failed. Python says:\n{said}\n{hint}")


def has_torch() -> bool:
    """Say whether .venv already imports torch at the pinned version, whatever its build."""
    code = "import sys, torch; sys.exit(torch.__version__.split('+')[0] != sys.argv[1])"
    command = [PYTHON, "-c", code, pinned_torch().removeprefix("torch==")]
    return subprocess.run(command, capture_output=True, env=environment()).returncode == 0


def install(step: Step) -> None:
    if step.name == "torch" and has_torch():
        return
    say(f"Installing {step.what} ...")
    start = time.monotonic()
    if call(PYTHON, "-m", "pip", "install", "--no-input", *step.arguments):
        raise SystemExit(
            f"[run.py] The install step '{step.name}' failed; pip's own words stand above.\n"
            + (TORCH_HINT if step.name == "torch" else "")
            + "The steps before it are kept. When the cause is put right, call the same command\n"
            "again: it goes on from this step."
        )
    say(f"... done in {time.monotonic() - start:.0f} s.")


def set_up(with_tests: bool) -> None:
    """Make .venv and install what is missing or has changed."""
    version, stamp = venv_version(), read_stamp()
    reason = rebuild_reason(version, stamp)
    if reason:
        make_venv(reason)
        version, stamp = venv_version(), {}
    stamp = {"root": str(ROOT), "python": version, "steps": stamp.get("steps", {})}
    for step in steps(with_tests):
        if stamp["steps"].get(step.name) == fingerprint(step):
            continue
        # Forgotten first: a step that is cut short has to be done again.
        stamp["steps"].pop(step.name, None)
        write_stamp(stamp)
        install(step)
        stamp["steps"][step.name] = fingerprint(step)
        write_stamp(stamp)

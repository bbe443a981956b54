"""Messages between the marking process and the learner's: JSON and raw numbers, nothing that runs.

A message is the length of a head, the head as JSON, then the bytes of its tensors. A value in the
head is a plain JSON value or a list that starts with a word: "tensor", "array", "tuple", ...
"""

import json
import math
import struct
from typing import Any, BinaryIO

import numpy as np
import torch
from torch import Tensor

MOST_BYTES = 64_000_000  # of one message, and of the numbers of one value when it is read
MOST_HEAD = 8_000_000  # bytes of a head: as objects it takes many times that
MOST_PARTS = 10_000  # of one value
LONGEST_TEXT = 2_000
DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        *(torch.float64, torch.float32, torch.float16, torch.bfloat16),
        *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool),
    )
}


class BadMessage(Exception):
    """What came over the wire is no message of ours."""

    learner_line = ""  # no line of theirs is to blame


def whole(text: str) -> str:
    """Return a text without half characters, which no file takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


class Writer:
    """Collects a value's tensors beside its JSON form. Two parts on one memory are written twice.

    Args:
        lent: Storage address and dtype -> number of an argument. Such a tensor on that memory is
            written as a view of the argument, so that the other side sees that nothing was copied.
    """

    def __init__(self, lent: dict[tuple[int, torch.dtype], int] | None = None) -> None:
        self.blobs: list[bytes] = []
        self.tensors: list[Tensor] = []
        self.lent = lent or {}
        self.parts = 0

    def write(self, value: Any, depth: int = 0) -> Any:
        self.parts += 1
        many = isinstance(value, tuple | list | dict) and self.parts + len(value) > MOST_PARTS
        if many or depth > 6:
            return ["other", type(value).__name__]
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, np.ndarray):
            return self._array(value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int) and type(value).__module__ == "builtins":
            return value if abs(value) < 2**63 else ["other", "int"]
        if isinstance(value, float):
            return ["float", float.hex(value)]
        if isinstance(value, str):
            return ["text", str(value)[:LONGEST_TEXT]]
        if isinstance(value, np.integer):
            return int(value)
        if isinstance(value, tuple | list):
            word = "tuple" if isinstance(value, tuple) else "list"
            return [word, *(self.write(part, depth + 1) for part in value)]
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return ["dict", *([key, self.write(v, depth + 1)] for key, v in value.items())]
        return ["other", type(value).__name__]

    def _tensor(self, tensor: Tensor) -> Any:
        with torch._C.DisableTorchFunctionSubclass():  # a subclass might tell lies about itself
            plain = tensor.detach().as_subclass(Tensor)
            dtype = str(plain.dtype).removeprefix("torch.")
            if plain.layout != torch.strided or plain.device.type != "cpu" or dtype not in DTYPES:
                return ["other", "tensor", f"dtype {plain.dtype}, layout {plain.layout}"]
            self.tensors.append(tensor)
            owner = self.lent.get((plain.untyped_storage().data_ptr(), plain.dtype))
            lazy = plain.is_neg() or plain.is_conj()  # such a view shows other numbers
            if owner is not None and plain.numel() and not lazy:
                place = [list(plain.stride()), plain.storage_offset()]
                return ["view", owner, list(plain.shape), *place]
            # A copy into new memory: of a single number, `contiguous` keeps any stride.
            flat = torch.empty(plain.numel(), dtype=plain.dtype, device="cpu")
            data = flat.copy_(plain.reshape(-1)).view(torch.uint8).numpy().tobytes()
            return ["tensor", dtype, list(plain.shape), self._blob(data)]

    def _array(self, array: np.ndarray) -> Any:
        plain = np.ascontiguousarray(array.view(np.ndarray))
        if plain.dtype.kind not in "biuf":
            return ["other", "ndarray"]
        return ["array", plain.dtype.str, list(array.shape), self._blob(plain.tobytes())]

    def _blob(self, data: bytes) -> int:
        self.blobs.append(data)
        return len(self.blobs) - 1


def send(stream: BinaryIO, head: dict[str, Any], blobs: list[bytes]) -> None:
    """Write one message."""
    text = json.dumps({**head, "sizes": [len(blob) for blob in blobs]}).encode()
    stream.write(struct.pack("<I", len(text)) + text + b"".join(blobs))
    stream.flush()


def take(read: Any) -> tuple[dict[str, Any], list[bytes]]:
    """Read one message.

    Args:
        read: Called with a number, it returns that many bytes.

    Raises:
        BadMessage: It is none, or too big.
    """
    (length,) = struct.unpack("<I", read(4))
    if length > MOST_HEAD:
        raise BadMessage(f"a head of {length} bytes")
    try:
        head = json.loads(read(length))
    except (ValueError, RecursionError) as error:
        raise BadMessage("a head that is no JSON") from error
    sizes = head.get("sizes") if isinstance(head, dict) else None
    if not isinstance(sizes, list) or not all(type(size) is int and size >= 0 for size in sizes):
        raise BadMessage("a head without sizes")
    if sum(sizes) > MOST_BYTES:
        raise BadMessage(f"{sum(sizes)} bytes")
    return head, [read(size) for size in sizes]


WORDS = ("float", "text", "tuple", "list", "dict", "tensor", "array", "view", "other")


class Reader:
    """Makes values of what `Writer` wrote. Whatever comes, it runs nothing and trusts no size.

    Args:
        blobs: The bytes of tensors and arrays.
        lent: The tensors that views are views of.
        other: Makes something of a value that cannot be sent, from its type's name.
    """

    def __init__(
        self, blobs: list[bytes], lent: list[Any] | None = None, other: Any = None
    ) -> None:
        self.blobs, self.lent, self.other = blobs, lent or [], other or (lambda *words: words)
        self.tensors: list[Tensor] = []
        self.parts = self.bytes = 0

    def read(self, value: Any) -> Any:
        self.parts += 1
        if self.parts > 2 * MOST_PARTS:
            raise BadMessage("a value of too many parts")
        if value is None or isinstance(value, bool | int):
            return value
        if not isinstance(value, list) or not value or not isinstance(value[0], str):
            raise BadMessage("a value without a kind")
        word, *rest = value
        if word not in WORDS:
            raise BadMessage("a value of no known kind")
        try:
            return getattr(self, f"_{word}")(*rest)
        except BadMessage:
            raise
        except Exception as error:
            raise BadMessage(f"a broken {word[:20]}") from error

    def _float(self, text: str) -> float:
        return float.fromhex(text)

    def _text(self, text: str) -> str:
        if not isinstance(text, str):
            raise BadMessage("a text that is none")
        return whole(text[:LONGEST_TEXT])

    def _tuple(self, *parts: Any) -> tuple[Any, ...]:
        return tuple(self.read(part) for part in parts)

    def _list(self, *parts: Any) -> list[Any]:
        return [self.read(part) for part in parts]

    def _dict(self, *pairs: Any) -> dict[str, Any]:
        return {str(key): self.read(value) for key, value in pairs}

    def _tensor(self, dtype: str, shape: list[int], blob: int) -> Tensor:
        data = self._sized(shape, DTYPES[dtype].itemsize, blob)
        made = torch.empty(shape, dtype=DTYPES[dtype])
        if data:
            made = torch.frombuffer(bytearray(data), dtype=DTYPES[dtype]).reshape(shape)
        if made.dtype == torch.bool:
            made = made.view(torch.uint8) != 0  # no other bytes than 0 and 1
        self.tensors.append(made)
        return made

    def _array(self, dtype: str, shape: list[int], blob: int) -> np.ndarray:
        kind = np.dtype(dtype)
        if kind.kind not in "biuf":
            raise BadMessage("an array of objects")
        data = self._sized(shape, kind.itemsize, blob)
        return np.frombuffer(data, dtype=kind).reshape(shape).copy()

    def _view(self, owner: int, shape: list[int], stride: list[int], offset: int) -> Tensor:
        mine = self.lent[owner].detach()
        self._count(shape, mine.element_size())  # a small tensor has views of any size
        made = mine.as_strided(shape, stride, offset)
        self.tensors.append(made)
        return made

    def _other(self, *words: str) -> Any:
        return self.other(*(str(word)[:100] for word in words))

    def _sized(self, shape: list[int], itemsize: int, blob: int) -> bytes:
        data = self.blobs[blob]
        if self._count(shape, itemsize) != len(data):
            raise BadMessage("a shape that does not fit")
        return data

    def _count(self, shape: list[int], itemsize: int) -> int:
        """Return the bytes of so many numbers; refuse them where the value has too many."""
        if len(shape) > 16 or not all(type(size) is int and size >= 0 for size in shape):
            raise BadMessage("a shape that is none")
        count = math.prod(shape) * itemsize
        self.bytes += count
        if self.bytes > MOST_BYTES:
            raise BadMessage("a value of too many numbers")
        return count

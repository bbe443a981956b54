"""The wire between the marking process and the learner's: what goes over, and what is refused."""

import io
import json
import math
import struct

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mha_course.grading.inside.wire import (
    DTYPES,
    MOST_BYTES,
    BadMessage,
    Reader,
    Writer,
    send,
    take,
)


def over(value, lent=None):
    """Send a value through bytes and back."""
    writer, stream = Writer(), io.BytesIO()
    head = {"value": writer.write(value)}
    send(stream, head, writer.blobs)
    stream.seek(0)
    head, blobs = take(stream.read)
    return Reader(blobs, lent).read(head["value"])


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63) + 1, 2**63 - 1) | st.text() | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple),
    max_leaves=8,
)


@given(plain)
def test_plain_values_come_back(value):
    assert repr(over(value)) == repr(value)  # repr: NaN is not equal to itself


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 5), (2, 3, 5)])
def test_tensors_come_back(dtype, shape):
    value = (torch.arange(math.prod(shape)) * 3 % 7 - 2).reshape(shape).to(dtype)
    found = over(value)
    assert found.dtype == dtype
    assert torch.equal(found, value)


def test_special_numbers_and_strides_come_back():
    value = torch.tensor([[math.nan, math.inf], [-math.inf, -0.0]]).T
    found = over(value)
    assert torch.equal(found.nan_to_num(7), value.nan_to_num(7))
    assert math.copysign(1, found[1, 1]) == -1


def test_arrays_come_back_as_arrays():
    found = over((np.arange(6.0).reshape(2, 3), np.float32(2.5), np.int64(3)))
    assert isinstance(found[0], np.ndarray)
    assert found[0].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found[1:] == (("float32",), 3)  # the check, too, calls that "a float32"


class Liar(torch.Tensor):
    """Says of itself that it is equal to everything."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func.__name__ in ("equal", "allclose", "__eq__", "detach", "contiguous"):
            return True
        return super().__torch_function__(func, types, args, kwargs or {})


def test_a_subclass_that_lies_comes_over_as_plain_numbers():
    found = over(torch.tensor([1.0, 2.0]).as_subclass(Liar))
    assert type(found) is torch.Tensor
    assert found.tolist() == [1, 2]


class LyingArray(np.ndarray):
    def __eq__(self, other):
        return True

    __hash__ = None


def test_an_array_subclass_comes_over_as_plain_numbers():
    found = over(np.array([1.0, 2.0]).view(LyingArray))
    assert type(found) is np.ndarray


def test_what_is_no_number_comes_over_as_its_type_only():
    assert over([object(), {1: 2}, np.array([object()])]) == [
        ("object",),
        ("dict",),
        ("ndarray",),
    ]


def test_a_view_of_an_argument_is_told():
    x = torch.arange(6.0)
    writer = Writer({(x.untyped_storage().data_ptr(), x.dtype): 0})
    written = writer.write(x.view(2, 3).T)
    found = Reader([], [x]).read(written)
    assert found.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert torch.equal(found, x.view(2, 3).T)


def test_a_view_in_another_dtype_is_no_view():
    x = torch.arange(6.0)
    writer = Writer({(x.untyped_storage().data_ptr(), x.dtype): 0})
    found = Reader(writer.blobs, [x]).read(writer.write(x.view(torch.int32)))
    assert found.dtype == torch.int32


def test_a_single_number_with_a_stride_comes_over():
    x = torch.arange(2.0)[::2]
    assert (x.stride(), over(x).tolist()) == ((2,), [0.0])


def test_imaginary_parts_of_conjugates_come_over():
    x = torch.polar(torch.ones(1), torch.ones(1)).conj().imag
    assert torch.equal(over(x), x)


@pytest.mark.parametrize(
    "head",
    [
        *([], 5, "text", {}, {"sizes": 3}, {"sizes": [-1]}, {"sizes": [1.5]}, {"sizes": [True]}),
        {"sizes": [MOST_BYTES + 1]},
    ],
    ids=str,
)
def test_a_forged_head_is_refused(head):
    text = json.dumps(head).encode()
    stream = io.BytesIO(struct.pack("<I", len(text)) + text + b"x" * 10)
    with pytest.raises(BadMessage):
        take(stream.read)


def test_a_huge_head_is_refused_before_it_is_read():
    with pytest.raises(BadMessage, match="4294967295 bytes"):
        take(io.BytesIO(b"\xff\xff\xff\xff").read)


@pytest.mark.parametrize(
    "value",
    [
        *(1.5, "text", {}, [], [1], ["_read"], ["eval", "1"], ["float", "x"], ["text", 5]),
        *(["tensor", "float32", [2], 0], ["tensor", "float32", [-1], 0]),
        *(["tensor", "complex64", [1], 0], ["tensor", "float32", [10**12], 0]),
        *(["tensor", "float32", [1], 3], ["array", "|O8", [1], 0], ["array", "<f4", [2], 0]),
        *(["view", 0, [4], [1], 0], ["view", 0, [2], [1], 2], ["view", 5, [1], [1], 0]),
        *(["tuple", ["tensor"]], ["dict", 5], ["_init__", []], ["_setattr__", "parts", -(10**9)]),
        ["view", 0, [10**9], [0], 0],
        ["tuple", *[["view", 0, [10**6], [0], 0]] * 20],
    ],
    ids=str,
)
def test_a_forged_value_is_refused(value):
    with pytest.raises(BadMessage):
        Reader([b"1234"], [torch.zeros(3)]).read(value)


def test_bool_bytes_are_only_0_and_1():
    found = Reader([bytes([0, 1, 2, 255])]).read(["tensor", "bool", [4], 0])
    assert found.view(torch.uint8).tolist() == [0, 1, 1, 1]


def test_a_value_of_very_many_parts_comes_over_as_its_type_only():
    assert over([[0] * 1000] * 10**6) == ("list",)
    with pytest.raises(BadMessage, match="too many parts"):
        Reader([]).read(["list", *[1] * 10**5])

"""Whatever a learner's function does, `check` answers with a verdict: no traceback, no hang."""

import builtins
import random
import sys
import threading
import time
import warnings

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from mha_lib.exercises import check, one_check, running, solution
from mha_lib.exercises.running import Runner
from mha_lib.exercises.watchdog import TimeUp, limit


def right(x):
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)


def problem(function, name="merge_heads"):
    verdict = check(function, name)
    assert verdict.status == "failed"
    assert "Traceback" not in str(verdict)
    return str(verdict)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (None, "It returned None (is a `return` missing?)"),
        ((1, 2), "It returned a tuple of 2"),
        ([[1.0]], "It returned a list"),
        (np.zeros((1, 1, 6)), "It returned a NumPy array"),
        (3, "It returned 3 (an int)"),
        (float("nan"), "It returned nan (a float)"),
        ("text", "'text'"),
        (True, "It returned True (a bool)"),
        ({"a": 1}, "It returned a dict"),
        (torch, "It returned a module"),
        (int, "It returned a type"),
        (torch.zeros(1, 1, 5), "the right shape is (1, 1, 6), yours is (1, 1, 5)"),
        (torch.zeros(0), "yours is (0,)"),
        (torch.tensor(1.0), "yours is ()"),
        (torch.zeros(1, 1, 6, dtype=torch.long), "torch.float32 was wanted, yours is torch.int64"),
        (torch.zeros(1, 1, 6, dtype=torch.bool), "torch.float32 was wanted, yours is torch.bool"),
        (torch.zeros(1, 1, 6, dtype=torch.complex64), "a tensor of dtype torch.complex64"),
        (torch.zeros(1, 1, 6).to_sparse(), "layout torch.sparse"),
        (torch.zeros(1, 1, 6, device="meta"), "a tensor of dtype torch.float32"),
        (torch.full((1, 1, 6), float("nan")), "The result holds NaN"),
        (torch.full((1, 1, 6), float("inf")), "the numbers are not"),
        (torch.zeros(1).expand(10**6, 10**6), "a tensor of shape (1000000, 1000000)"),
    ],
    ids=str,
)
def test_odd_results_are_described(result, said):
    assert said in problem(lambda x: result)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("so not"), "It raised ValueError: so not"),
        (RuntimeError(), "It raised RuntimeError: (no text)"),
        (KeyError("a"), "It raised KeyError: 'a'"),
        (AssertionError("no"), "It raised AssertionError: no"),
        (NotImplementedError("later"), "It raised NotImplementedError: later"),
        (StopIteration(), "It raised StopIteration"),
        (GeneratorExit(), "It raised GeneratorExit"),
        (SystemExit(1), "It was ended by SystemExit"),
        (KeyboardInterrupt(), "It was ended by KeyboardInterrupt"),
        (MemoryError(), "It raised MemoryError"),
        (Warning("w"), "It raised Warning: w"),
        (ExceptionGroup("g", [ValueError("v")]), "It raised ExceptionGroup"),
    ],
    ids=str,
)
def test_errors_are_told(error, said):
    def function(x):
        raise error

    assert said in problem(function)


def test_an_error_that_cannot_be_printed():
    class SilentError(Exception):
        def __str__(self):
            raise ValueError("never")

    def function(x):
        raise SilentError

    assert "It raised SilentError: (no text)" in problem(function)


def test_the_line_of_an_error_is_shown_without_a_path():
    def function(x):
        return x.reshape(7, 7, 7)

    text = problem(function)
    assert "in your line: return x.reshape(7, 7, 7)" in text
    assert __file__ not in text


def test_addresses_are_left_out():
    def function(x):
        raise ValueError(f"cannot use {object()!r}")

    assert "object object at 0x...>" in problem(function)


@pytest.mark.parametrize(
    "function",
    [lambda: 1, lambda x, y: x, lambda *, x: x, lambda x, y, z=1: x],
    ids=["none", "too many", "by keyword only", "one more"],
)
def test_a_wrong_number_of_parameters(function):
    assert "It raised TypeError" in problem(function)


@pytest.mark.parametrize("lazy", [5, None, "split_heads", torch.zeros(2), [1], object()])
def test_what_is_no_function(lazy):
    assert "Give the function itself" in problem(lazy, "merge_heads")
    verdict = check(lazy)
    assert verdict.status == "failed"


def test_objects_whose_every_method_fails():
    class Trap:
        def __getattr__(self, name):
            raise RuntimeError("trap")

        def __repr__(self):
            raise RuntimeError("trap")

        def __eq__(self, other):
            raise RuntimeError("trap")

        __hash__ = None

    assert "Trap" in problem(lambda x: Trap())


def test_a_tensor_class_of_its_own():
    class Loud(torch.Tensor):
        def __repr__(self):
            raise RuntimeError("loud")

    assert check(lambda x: right(x).as_subclass(Loud), "merge_heads").status == "passed"
    assert "the numbers are not" in problem(lambda x: (right(x) + 1).as_subclass(Loud))


def endless_loop(x):
    while True:
        pass


def endless_loop_that_catches_everything(x):
    while True:
        try:  # noqa: SIM105
            time.sleep(60)
        except BaseException:
            pass


def endless_recursion_through_handlers(x):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue


def sleep(x):
    time.sleep(60)


def endless_printing(x):
    while True:
        print("still here", x)


@pytest.mark.parametrize(
    "function",
    [
        endless_loop,
        endless_loop_that_catches_everything,
        endless_recursion_through_handlers,
        sleep,
        endless_printing,
    ],
)
def test_what_does_not_come_back_is_stopped(function, monkeypatch, capsys):
    monkeypatch.setattr(running, "SECONDS", 0.3)
    monkeypatch.setattr(one_check, "Runner", lambda f, *_: Runner(f, 0.3))
    start = time.monotonic()
    assert "It did not come back within" in problem(function)
    assert time.monotonic() - start < 3
    assert sys.gettrace() is None or "coverage" in repr(sys.gettrace())
    assert capsys.readouterr().out == ""


def test_the_limit_is_five_seconds():
    assert running.SECONDS == 5
    assert Runner(right).seconds == 5


def test_stopped_in_a_thread_that_is_not_the_main_one():
    verdicts = []

    def work():
        with pytest.raises(TimeUp), limit(0.1):
            endless_loop(0)
        verdicts.append(check(right, "merge_heads").status)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(10)
    assert verdicts == ["passed"]


def test_a_function_that_is_done_in_time_is_left_alone():
    with limit(0.05):
        pass
    time.sleep(0.1)


def test_a_limit_inside_a_limit_keeps_the_outer_one():
    def nested():
        with limit(0.2):
            with limit(5):
                pass
            time.sleep(2)

    with pytest.raises(TimeUp):
        nested()


def test_endless_recursion():
    def function(x):
        return function(x)

    assert "It calls itself without end" in problem(function)


def test_generators_and_coroutines():
    def generator(x):
        yield x

    async def coroutine(x):
        return x

    assert "It returned a generator" in problem(generator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert "It returned a coroutine" in problem(coroutine)


def test_what_is_printed_is_kept_short_and_shown(capsys):
    def function(x):
        for line in range(1_000):
            print("line", line)
        print("to stderr", file=sys.stderr)
        return x

    text = problem(function)
    assert "Your function printed:\n  line 0\n  line 1\n" in text
    assert "line 5" not in text
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_warnings_are_swallowed():
    def function(x):
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        return right(x)

    assert check(function, "merge_heads").status == "passed"


def test_input_is_answered_with_an_error():
    ask = builtins.input
    assert "nobody is there to type" in problem(lambda x: input("? "))
    assert builtins.input is ask


def test_nothing_that_a_function_switches_stays_switched():
    state = torch.get_rng_state()

    def function(x):
        torch.manual_seed(0)
        torch.rand(3)
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        torch.set_num_threads(1)
        sys.setrecursionlimit(5000)
        return right(x)

    before = (torch.get_default_dtype(), torch.get_num_threads(), sys.getrecursionlimit())
    check(function, "merge_heads")
    after = (torch.get_default_dtype(), torch.get_num_threads(), sys.getrecursionlimit())
    assert before == after
    assert torch.is_grad_enabled()
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.mul_(2),
        lambda x: x.zero_(),
        lambda x: x.resize_(1),
        lambda x: x.__setitem__((0, 0, 0, 0), 99.0),
        lambda x: x.transpose_(1, 2),
        lambda x: x.data.add_(1),
        lambda x: x.numpy().fill(7),
    ],
)
def test_a_changed_input_is_told(change):
    def function(x):
        result = right(x)
        result = result.clone()
        change(x)
        return result

    verdict = check(function, "merge_heads")
    assert verdict.mistake == "MASK-19"
    assert "your function changed its input `x`" in str(verdict)


def test_a_function_that_remembers():
    calls = []

    def counting(x):
        calls.append(1)
        return right(x)

    assert check(counting, "merge_heads").status == "passed"
    asked = len(calls)

    def function(x):
        calls.append(1)
        return right(x) + (len(calls) >= 2 * asked)

    assert "Asked the same again, it gave another answer" in problem(function)


def test_a_function_that_draws_numbers():
    def function(x):
        return F.dropout(right(x), 0.3)

    problem(function)


def test_a_function_that_is_right_by_chance_only():
    draw = random.Random(0)
    problem(lambda x: right(x) if draw.random() < 0.5 else right(x) * 2)


def test_one_buffer_for_all_answers():
    """Each answer must be kept as it was given, also if the next call writes over it."""
    buffer = torch.empty(1000)

    def function(x):
        result = right(x)
        view = buffer[: result.numel()].view(result.shape)
        view.copy_(result)
        return view

    assert check(function, "merge_heads").status == "passed"


@pytest.mark.parametrize(
    "source",
    [
        "class MultiHeadAttention: pass",
        "class MultiHeadAttention:\n    def __init__(self, *a, **k): pass",
        "class MultiHeadAttention(nn.Module): pass",
        "class MultiHeadAttention(nn.Module):\n    def __init__(self, *a, **k): pass",
        "class MultiHeadAttention(nn.Module):\n"
        "    def __init__(self, *a, **k):\n        super().__init__()",
        "class MultiHeadAttention(nn.Module):\n"
        "    def __init__(self, *a, **k):\n        while True: pass",
        "class MultiHeadAttention(nn.Module):\n    def __new__(cls, *a, **k): return 5",
        "class MultiHeadAttention(nn.Module):\n"
        "    def __init__(self, embed_dim, num_heads, *, dropout=0.0, bias=True):\n"
        "        super().__init__()\n        self.out_proj = nn.Linear(6, 6)\n"
        "    def state_dict(self): return None",
        "def MultiHeadAttention(*a, **k): raise ValueError",
        "MultiHeadAttention = 5",
    ],
)
def test_odd_classes(source, monkeypatch):
    monkeypatch.setattr(one_check, "Runner", lambda f, *_: Runner(f, 0.5))
    namespace = {"nn": torch.nn}
    exec(source, namespace)
    problem(namespace["MultiHeadAttention"], "MultiHeadAttention")


def test_a_module_instance_instead_of_its_class():
    namespace = {}
    exec(solution("MultiHeadAttention"), namespace)
    layer = namespace["MultiHeadAttention"](6, 2)
    assert "Give the class itself" in problem(layer, "MultiHeadAttention")


def test_a_forward_that_never_ends(monkeypatch):
    monkeypatch.setattr(one_check, "Runner", lambda f, *_: Runner(f, 0.5))
    text = solution("MultiHeadAttention").replace(
        "        key = query if key is None else key\n", "        while True:\n            pass\n"
    )
    namespace = {}
    exec(text, namespace)
    assert "did not come back" in problem(namespace["MultiHeadAttention"], "MultiHeadAttention")

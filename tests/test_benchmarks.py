"""The benchmark compares like with like. How fast anything is, is not tested."""

import itertools
import sys
from pathlib import Path

import nbformat
import pytest
import torch
from torch.testing import assert_close

from benchmarks import __main__ as command
from benchmarks.contestants import FLOOR, NAMES, OURS, THREE, TORCH, make_calls
from benchmarks.floor import lay_out
from benchmarks.lessons import Cost, lesson_line, measure_lessons, measure_server
from benchmarks.problems import (
    BOTH,
    CAUSAL,
    FORWARD,
    LARGE,
    MASKS,
    NO_MASK,
    PADDING,
    PASSES,
    SMALL,
    TINY,
    Size,
    make_problem,
)
from benchmarks.rounds import Plan, goes_on, interleave, ratios
from benchmarks.table import Row, line, verdicts

PRIMES = Size(batch=5, length=7, width=6, heads=2)
ONCE = Plan(seconds=0, rounds=2, limit=0)


@pytest.mark.parametrize("mask_kind", MASKS)
def test_all_contestants_compute_the_same_output(mask_kind):
    problem = make_problem(PRIMES, mask_kind)
    for which in PASSES:
        outputs = {name: call()[0] for name, call in make_calls(problem, which).items()}
        assert tuple(outputs) == tuple(NAMES)
        for name, output in outputs.items():
            expected = outputs[TORCH].reshape(output.shape)
            assert_close(output, expected, msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.parametrize("mask_kind", MASKS)
def test_all_contestants_compute_the_same_gradients(mask_kind):
    calls = make_calls(make_problem(PRIMES, mask_kind), BOTH)
    _, x, w_in, b_in, w_out, b_out = calls[TORCH]()
    _, *ours = calls[OURS]()
    assert_close(ours, [x, w_in, b_in, w_out, b_out])
    _, three_x, *three = calls[THREE]()
    assert_close(three_x, x)
    assert_close(torch.cat(three[0:6:2]), w_in)
    assert_close(torch.cat(three[1:6:2]), b_in)
    assert_close(three[6:], [w_out, b_out])
    _, floor_x, floor_w_in, floor_w_out, *_ = calls[FLOOR]()
    assert_close([floor_x.view_as(x), floor_w_in, floor_w_out], [x, w_in, w_out])


def test_the_floor_takes_the_gradients_of_its_own_attention():
    problem = make_problem(PRIMES, CAUSAL)
    heads_grads = make_calls(problem, BOTH)[FLOOR]()[-3:]
    packed = lay_out(problem).packed_grad.view(5, 7, 3, 2, 3)  # (B, L, 3, H, D)
    assert_close(torch.stack(heads_grads), packed.permute(2, 0, 3, 1, 4))
    assert all(head.is_contiguous() for head in lay_out(problem).heads)


@pytest.mark.parametrize("mask_kind", [PADDING, CAUSAL])
def test_a_mask_changes_the_output(mask_kind):
    masked, plain = (
        make_calls(make_problem(PRIMES, kind), FORWARD)[OURS]()[0] for kind in (mask_kind, NO_MASK)
    )
    assert (masked - plain).abs().max() > 0.01


@pytest.mark.parametrize(
    ("options", "threads", "unit"),
    [([], torch.get_num_threads(), "a call,"), (["--busy"], 1, "a call of processor time,")],
)
def test_a_whole_run_has_every_row(options, threads, unit, capsys, monkeypatch):
    small = [TINY, PRIMES]
    monkeypatch.setattr(command, "SIZES", small)
    monkeypatch.setattr(command, "QUICK", ONCE)
    chosen = []
    monkeypatch.setattr(torch, "set_num_threads", chosen.append)
    monkeypatch.setattr("sys.argv", ["benchmarks", "--quick", *options])
    command.main()
    printed = capsys.readouterr().out
    for size, kind, which in itertools.product(small, MASKS, PASSES):
        title = f"{str(tuple(size)):<18} {kind:<8} {which:<8}"
        rows = [text for text in printed.splitlines() if text.startswith(title)]
        assert len(rows) == 1
        assert rows[0].count("[") == 3
    assert chosen == [threads]
    assert f"torch.set_num_threads({threads})" in printed
    assert f"milliseconds {unit}" in printed


def test_every_call_has_a_turn_in_every_round_and_the_order_changes():
    turns = []
    calls = {name: lambda name=name: turns.append(name) for name in "abc"}
    times = interleave(calls, Plan(seconds=0, rounds=4, limit=60, burst=0))
    rounds = ["".join(turns[i : i + 3]) for i in range(6, len(turns), 3)]  # 6 warm up
    assert rounds == ["abc", "acb", "cab", "cba"]
    assert {name: len(taken) for name, taken in times.items()} == {"a": 4, "b": 4, "c": 4}


def test_ratios_compare_within_a_round():
    # A load doubles the second round of both and triples the last of both: the ratio stays.
    assert ratios([1.5, 3.0, 4.5], [1.0, 2.0, 3.0]) == (1.5, 1.5, 1.5)
    assert ratios([1.0, 2.0, 3.0, 4.0, 5.0], [1.0] * 5) == (2.0, 3.0, 4.0)


@pytest.mark.parametrize(
    ("seconds", "done", "expected"),
    [(99, 1, True), (1, 9, True), (3, 3, True), (3, 5, False), (11, 3, False)],
)
def test_a_row_ends_after_its_seconds_and_rounds_or_at_the_limit(seconds, done, expected):
    assert goes_on(Plan(seconds=2, rounds=5, limit=10), seconds, done) is expected


def made_up_row(size, ours, torch_, three, floor):
    each = {OURS: ours, TORCH: torch_, THREE: three, FLOOR: floor}
    return Row(size, NO_MASK, FORWARD, {name: [time] * 5 for name, time in each.items()})


def test_verdicts_hold_each_row_against_its_bars():
    large = made_up_row(LARGE[0], ours=1.12, torch_=1.1, three=1.0, floor=1.0)
    small = made_up_row(SMALL, ours=1.4, torch_=1.4, three=1.4, floor=1.0)
    tiny = made_up_row(TINY, ours=2.0, torch_=2.0, three=2.0, floor=1.0)
    assert verdicts([large, small, tiny]) == [
        "ours / torch <= 1.05 at all sizes: met in 3 of 3 rows",
        "ours / 3 Linear <= 1.05 at all sizes: met in 2 of 3 rows",
        "    missed: (8, 128, 256, 8)   none     forward  1.12 [1.12-1.12]",
        "ours / floor <= 1.15 at (8, 128, 256, 8), (4, 512, 512, 8), (1, 2048, 512, 8): "
        "met in 1 of 1 rows",
        "ours / floor <= 1.35 at (32, 16, 64, 4): met in 0 of 1 rows",
        "    missed: (32, 16, 64, 4)    none     forward  1.40 [1.40-1.40]",
        "Bars not met: 2 of 4.",
    ]
    assert verdicts([tiny])[-1] == "All bars are met."


def test_a_miss_within_the_noise_says_so():
    row = made_up_row(SMALL, ours=1.0, torch_=1.0, three=1.0, floor=1.0)
    row.times[OURS][:] = [1.0, 1.2, 1.4, 1.5, 1.6]
    misses = [text for text in verdicts([row]) if "missed" in text]
    assert len(misses) == 3  # torch and the Linear layers at 1.05, the floor at 1.35
    unclear = "1.40 [1.20-1.50], but the quartiles lie on both sides of the bar"
    assert [text.endswith(unclear) for text in misses] == [False, False, True]
    assert "1.40 [1.20-1.50]" in line(row)


def one_cell(folder: Path, source: str) -> Path:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    path = folder / "01_memory.ipynb"
    nbformat.write(notebook, path)
    return path


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the limits are Linux's")


@on_linux
def test_a_lesson_is_measured_by_its_own_kernel_on_one_core(tmp_path: Path) -> None:
    ours = bytearray(900_000_000)  # must not be counted, now or as a peak that is over
    del ours
    source = """
import os
held = bytearray(200_000_000)
assert len(os.sched_getaffinity(0)) == int(os.environ["OMP_NUM_THREADS"]) == 1"""
    (cost,) = measure_lessons([one_cell(tmp_path, source)])
    assert cost.name == "01_memory"
    assert 200 < cost.megabytes < 400
    assert cost.seconds > 0


@on_linux
@pytest.mark.slow
def test_a_lesson_that_wants_more_memory_is_refused_it(tmp_path: Path) -> None:
    path = one_cell(tmp_path, "held = bytearray(1_000_000_000)")
    with pytest.raises(
        RuntimeError, match=r"01_memory failed within its limits:[\s\S]*MemoryError"
    ):
        list(measure_lessons([path]))


def test_a_lesson_over_the_budget_is_called_so() -> None:
    assert lesson_line(Cost("01_a", 61, 10)).endswith("OVER the budget")
    assert lesson_line(Cost("01_a", 6, 1001)).endswith("OVER the budget")
    assert lesson_line(Cost("01_a", 6, 900), server=101).endswith("OVER the budget")
    assert lesson_line(Cost("01_a", 6, 900), server=100).endswith("within the budget")


@pytest.mark.slow
def test_jupyterlab_itself_is_measured() -> None:
    assert 50 < measure_server() < 400

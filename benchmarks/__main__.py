"""Time our attention beside torch's, three Linear layers and the floor: python -m benchmarks."""

import argparse
import os
import time
from collections.abc import Callable, Iterator

import torch

from benchmarks import lessons
from benchmarks.contestants import NAMES, make_calls
from benchmarks.problems import MASKS, PASSES, SIZES, make_problem
from benchmarks.rounds import Plan, interleave
from benchmarks.table import Row, header, line, verdicts

FULL = Plan(seconds=2.5, rounds=16, limit=14)
QUICK = Plan(seconds=0.3, rounds=2, limit=2)


def measure(plan: Plan, clock: Callable[[], float]) -> Iterator[Row]:
    """Time every size, mask and pass on `clock`."""
    for size in SIZES:
        for mask_kind in MASKS:
            problem = make_problem(size, mask_kind)
            for which in PASSES:
                times = interleave(make_calls(problem, which), plan, clock)
                yield Row(size, mask_kind, which, times)


def introduction(threads: int, busy: bool) -> str:
    """Say on what, and how, the times are taken."""
    ways = [f"    {name:<9} {what}" for name, what in NAMES.items()]
    masks = [f"    {kind:<9} {what}" for kind, what in MASKS.items()]
    return "\n".join(
        [
            f"torch {torch.__version__}, float32 on the CPU, torch.set_num_threads({threads}), "
            f"{os.cpu_count()} cores{load()}",
            "The contestants, all with bool masks made beforehand:",
            *ways,
            "The masks:",
            *masks,
            "forward: eval mode under torch.inference_mode. fwd+bwd: train mode, gradients of the "
            "input and of all parameters.",
            f"Times: milliseconds a call{' of processor time' if busy else ''}, median over "
            "interleaved rounds. Ratios: median [quartiles] of the ratios within a round.",
            "Other work on the machine makes threads wait for each other, at times 100 times as "
            "long: if the quartiles lie far apart, wait for a quiet machine or use --busy.",
        ]
    )


def load() -> str:
    """Return how busy the machine is, where the system tells."""
    if not hasattr(os, "getloadavg"):
        return ""
    return f", load average {os.getloadavg()[0]:.1f}"


def students(text: str) -> int:
    """Read the size of a class.

    >>> students("200")
    200
    """
    number = int(text) if text.isdecimal() else 0
    if number < 8:
        raise argparse.ArgumentTypeError(f"a class has at least 8 students, got {text!r}")
    return number


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few rounds only: a rough look")
    parser.add_argument(
        "--threads", type=int, default=torch.get_num_threads(), help="default: as torch chooses"
    )
    parser.add_argument(
        "--busy",
        action="store_true",
        help="for a machine with other work: one thread, and processor time instead of the clock's",
    )
    parser.add_argument("--lessons", action="store_true", help="only the lessons' cost")
    parser.add_argument(
        "--class",
        dest="students",
        type=students,
        metavar="N",
        help="only this: grade a made-up class of N students, and of a half and a quarter of them",
    )
    parser.add_argument(
        "--workers",
        type=int,
        default=os.cpu_count() or 1,
        help="with --class: hand-ins marked at a time; default: one a core",
    )
    options = parser.parse_args()
    if options.students:
        # Imported here: only an instructor's set-up has nbgrader.
        from benchmarks import grading

        grading.report(options.students, options.workers)
        return
    if not options.lessons:
        report_attention(options)
    if not options.quick:
        lessons.report()


def report_attention(options: argparse.Namespace) -> None:
    """Print the table of the attention layers."""
    threads = 1 if options.busy else options.threads
    torch.set_num_threads(threads)
    print(introduction(threads, options.busy), header(), sep="\n\n", flush=True)
    clock = time.process_time if options.busy else time.perf_counter
    rows = []
    for row in measure(QUICK if options.quick else FULL, clock):
        rows.append(row)
        print(line(row), flush=True)
    print("", *verdicts(rows), f"At the end{load()}", sep="\n")


if __name__ == "__main__":
    main()

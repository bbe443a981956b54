"""Time calls in interleaved rounds and compare them round by round."""

import statistics
import timeit
from collections.abc import Callable, Mapping
from typing import NamedTuple


class Plan(NamedTuple):
    """How long to time one row of the table."""

    seconds: float  # at least this long, warm-up included,
    rounds: int  # and at least so many rounds,
    limit: float  # but no new round after so many seconds
    burst: float = 0.001  # a short call is repeated until one time taken is about this long


class Quartiles(NamedTuple):
    """The middle, and the range that holds half of all rounds: the noise."""

    low: float
    median: float
    high: float


def quartiles(values: list[float]) -> Quartiles:
    """Return the three quartiles of at least two values."""
    return Quartiles(*statistics.quantiles(values, n=4, method="inclusive"))


def ratios(times: list[float], others: list[float]) -> Quartiles:
    """Return how `times` compare with `others`, each with its neighbour in the same round.

    A load that comes and goes hits both in a round, so it moves the times more than the ratio.
    """
    return quartiles([mine / other for mine, other in zip(times, others, strict=True)])


def interleave(
    calls: Mapping[str, Callable[[], object]],
    plan: Plan,
    clock: Callable[[], float] = timeit.default_timer,
) -> dict[str, list[float]]:
    """Return seconds a call on `clock`, one figure for each round, for each of the calls.

    In every round each call has one turn. The order moves on by one from round to round, and every
    second round goes backwards, so that nobody always runs after the same neighbour.
    """
    start, done = timeit.default_timer(), 0
    # timeit switches the garbage collector off while the clock runs.
    timers = {name: timeit.Timer(call, timer=clock) for name, call in calls.items()}
    # Warm up, and see how many of the slowest call fit into a burst.
    slowest = max(min(timer.repeat(repeat=2, number=1)) for timer in timers.values())
    repeats = max(1, round(plan.burst / slowest))
    names, times = list(timers), {name: list[float]() for name in timers}
    while goes_on(plan, timeit.default_timer() - start, done):
        first = done % len(names)
        order = names[first:] + names[:first]
        for name in order if done % 2 == 0 else reversed(order):
            times[name].append(timers[name].timeit(repeats) / repeats)
        done += 1
    return times


def goes_on(plan: Plan, seconds: float, done: int) -> bool:
    """Say whether another round is due."""
    if done < 2:
        return True  # quartiles need two
    return seconds < plan.limit and (seconds < plan.seconds or done < plan.rounds)

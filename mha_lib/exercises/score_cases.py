"""The cases of `attention_scores`: inputs on which no mistake can hide."""

from mha_lib.exercises import rules
from mha_lib.exercises.attention_inputs import PRIMES, pair, small
from mha_lib.exercises.exercise import Case, Stage, cases, plain
from mha_lib.exercises.inputs import waves


def score_stages() -> tuple[Stage, ...]:
    repeats = tuple(x.round() for x in pair((1, 2, 5, 4, 3)))  # zeros, ties and repeats
    return (
        Stage(
            "One feature: no scale to get wrong",
            plain(small([[3.0]], [[2.0]]), small([[-2.0]], [[0.5]])),
        ),
        Stage(
            "Four features: the scale", plain(small([[2.0, 1.0, 0.0, 3.0]], [[3.0, 1.0, 5.0, 1.0]]))
        ),
        Stage(
            "Rows are queries, columns are keys",
            plain(small([[1.0], [2.0]], [[3.0], [4.0], [5.0]]), pair((1, 1, 2, 3, 1))),
        ),
        Stage("Several heads", plain(pair((1, 2, 3, 4, 3)), pair((1, 3, 4, 2, 5)))),
        Stage("A batch, all sizes different", plain(pair(PRIMES))),
        Stage("Sizes that are alike", plain(pair((2, 2, 2, 2, 2)), pair((3, 3, 3, 3, 3)))),
        Stage("Zeros, ties and large numbers", plain(repeats, (waves(1, 1, 3, 4, size=1e4),) * 2)),
    )


def tiny_scores() -> tuple[Case, ...]:
    return plain(
        *(
            small([[2.0]], [[3.0]]),
            small([[1.0, 1.0]], [[2.0, 2.0]]),
            small([[1.0], [2.0]], [[3.0], [4.0]]),
        ),
        *(
            small([[1.0], [2.0]], [[3.0], [4.0], [5.0]]),
            small([[2.0, 0.0, 0.0, 0.0]], [[3.0, 1.0, 0.0, 0.0]]),
        ),
        *(pair((1, 2, 1, 1, 1)), pair((1, 2, 2, 1, 2)), pair((2, 1, 2, 2, 2))),
    )


def score_rules() -> tuple[Case, ...]:
    q, k = pair((2, 1, 1, 2, 2))
    doubled = "with the query doubled, each score is 2 times as large"
    wide = "with every feature there four times, each score is 2 times as large"
    return (
        *cases(rules.twice_as_long, doubled, (q, k)),
        *cases(rules.four_times_as_wide, wide, (q, k)),
        *cases(rules.batch_mates(1), "sentence 0 moves by 0 when sentence 1 changes", (q, k)),
    )

"""The exercises from outside: what is asked, what a verdict says, what is handed out."""

import html.parser
import inspect
import itertools
import re
import subprocess
import sys
import time

import pytest
import torch

import mha_lib
from mha_course.grading.drawn_inputs import questions
from mha_lib.exercises import Verdict, check, hint, names, solution, statement, stub
from mha_lib.exercises.asks import argument_names
from mha_lib.exercises.comparing import difference
from mha_lib.exercises.exercise import Case
from mha_lib.exercises.mistakes import all_known, mistakes_of
from mha_lib.exercises.mistakes.table import table
from mha_lib.exercises.registry import exercises, find
from mha_lib.exercises.running import Runner
from mha_lib.exercises.showing import number, written

ALL = names()


def run(text, name):
    """Run the text of a cell and return what it defines."""
    namespace = {}
    exec(text, namespace)
    return namespace[name]


def reshaped(x, num_heads):
    return x.reshape(x.shape[0], num_heads, x.shape[1], -1)


# What there is ----------------------------------------------------------------------------------
def test_names_are_in_lesson_order():
    assert ALL == (
        "head_dim",
        "head_dim_checked",
        "embed_tokens",
        "sinusoidal_positions",
        "head_rows",
        "packed_head_rows",
        "split_heads",
        "split_heads_view",
        "attention_scores",
        "attention_weights",
        "scaled_dot_product_attention",
        "merge_heads",
        "multi_head_attention",
        "MultiHeadAttention",
        "causal_mask",
        "padding_mask",
        "decoder_mask",
        "cross_attention",
        "shift_targets",
        "masked_loss",
    )


def test_importing_the_library_does_not_import_the_exercises():
    code = "import sys, mha_lib; print('mha_lib.exercises' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("name", ALL)
def test_an_untouched_stub_is_not_attempted(name):
    verdict = check(run(f"from torch import Tensor, nn\n{stub(name)}", name))
    assert (verdict.status, verdict.mistake) == ("not attempted", None)
    assert str(verdict).startswith(f"· {name}: not attempted yet.")


@pytest.mark.parametrize("name", ALL)
def test_the_solution_can_be_pasted_and_passes(name):
    verdict = check(run(solution(name), name), name)
    assert verdict.status == "passed", str(verdict)
    assert {stage.outcome for stage in verdict.stages} == {"passed"}
    assert len({stage.title for stage in verdict.stages}) == len(verdict.stages)


@pytest.mark.parametrize("name", ALL)
def test_the_solution_agrees_with_the_library_on_drawn_inputs(name):
    exercise = find(name)
    ours, librarys = Runner(exercise.solution, 60), Runner(exercise.right, 60)
    for ask, args in questions(name, 40, seed=3):
        case = Case(args, ask, tolerance=1e-4)
        assert difference(librarys.ask(case), ours.ask(case), 1e-4) is None


@pytest.mark.parametrize("name", ALL)
def test_statement_and_hints_are_complete(name):
    exercise = find(name)
    text = statement(name)
    parameters = set(inspect.signature(exercise.solution).parameters)
    shared = {"embed_dim", "num_heads", "dropout", "bias"}  # stand in the constructor's line
    for parameter in parameters - shared:
        assert f"`{parameter}`" in text or parameter in text, parameter
    assert 1 <= exercise.stars <= 3
    assert 1 <= exercise.minutes <= 30
    assert len(exercise.hints) >= 2
    assert [hint(name, n + 1) for n in range(len(exercise.hints))] == list(exercise.hints)
    if name.endswith("_mask") or {"mask", "attn_mask"} & parameters:
        assert "True = may attend" in text
    assert "—" not in text + " ".join(exercise.hints)


@pytest.mark.parametrize(("n", "most"), [(0, 2), (3, 2)])
def test_a_hint_that_does_not_exist(n, most):
    with pytest.raises(ValueError, match=rf"n must lie in 1 .. {most} for 'head_dim', got {n}"):
        hint("head_dim", n)


def test_an_exercise_that_does_not_exist():
    with pytest.raises(ValueError, match="no exercise is called 'spilt'; there are head_dim, head"):
        solution("spilt")


# What a verdict says ----------------------------------------------------------------------------
def test_a_known_mistake_is_named_shown_and_explained():
    verdict = check(reshaped, "split_heads")
    assert (verdict.status, verdict.mistake) == ("failed", "SPLIT-01")
    assert str(verdict) == (
        "✗ split_heads: not right yet.\n"
        "  ✓ passed: One word: the heads share out its features\n"
        "  ✓ passed: One head: nothing to share\n"
        "  ✗ failed: Several words: each head sees all of them\n"
        "  · not reached: 5 more\n"
        "\n"
        "Shape and dtype are right, the numbers are not.\n"
        "\n"
        "Known mistake SPLIT-01: You cut the memory straight into (B, H, L, D), with no swap of\n"
        "axes.\n"
        "Why it is wrong: The shape is right, but head 0 now holds the first words with all their\n"
        "features, and head 1 the later words. View E as (H, D) first, then swap words and heads.\n"
        "Others made it too: hyunwoongko/transformer#15, bentrevett/pytorch-seq2seq#148\n"
        "\n"
        "A small input on which it shows:\n"
        "  x         = [[[0, 1], [2, 3]]]\n"
        "  num_heads = 2\n"
        "             right   yours\n"
        "  [0, 0, 0]  0       0\n"
        "  [0, 0, 1]  2       1≠\n"
        "  [0, 1, 0]  1       2≠\n"
        "  [0, 1, 1]  3       3"
    )


def test_mistakes_that_behave_alike_are_named_together():
    def causal_mask(query_len, key_len, offset=0):
        return torch.ones(query_len, key_len).triu(1 + offset).bool()

    verdict = check(causal_mask)
    assert verdict.group == ("MASK-01", "MASK-02")
    assert "the following would behave in the same way" in str(verdict)


def test_an_unknown_mistake_breaks_a_rule():
    verdict = check(lambda query, key: 0.37 * query @ key.mT, "attention_scores")
    assert verdict.mistake is None
    text = str(verdict)
    assert "A rule is broken: with every feature there four times, each score is 2 times" in text
    assert "4≠" in text


def test_a_passed_verdict_lists_what_was_checked():
    verdict = check(run(solution("merge_heads"), "merge_heads"))
    lines = str(verdict).splitlines()
    assert lines[0] == "✓ merge_heads: passed, every stage."
    assert lines[-2:] == [
        "  ✓ passed: The inputs are left as they were",
        "  ✓ passed: Asked again, it answers the same",
    ]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("spilt_heads", 'no exercise called "spilt_heads". Did you mean split_heads'),
        ("", 'no exercise called "". For a function with a name of its own'),
        (7, 'no exercise called "7"'),
    ],
)
def test_a_name_that_does_not_exist(name, said):
    if isinstance(name, str):
        verdict = check(reshaped, name)
        assert verdict.status == "failed"
        assert said in str(verdict)


def test_a_function_with_a_name_of_its_own():
    assert 'check(my_function, "split_heads")' in str(check(reshaped))
    assert 'no exercise called "<lambda>"' in str(check(lambda: 0))


class Reader(html.parser.HTMLParser):
    """Checks nesting, and collects what a screen reader would meet."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.words = [], [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def read(verdict):
    reader = Reader()
    reader.feed(verdict._repr_html_())
    assert reader.open == []
    return reader


def test_html_has_captions_and_headers_and_no_colours():
    reader = read(check(reshaped, "split_heads"))
    tags = [tag for tag, _ in reader.tags]
    assert tags.count("table") == tags.count("caption") == 3
    assert all(attrs.get("scope") in ("row", "col") for tag, attrs in reader.tags if tag == "th")
    styles = " ".join(attrs.get("style") or "" for _, attrs in reader.tags)
    assert not re.search(r"#[0-9a-f]{3}|rgb|red|green|(?<!current)color:(?!inherit)", styles)
    assert not {"script", "style", "font", "img"} & set(tags)
    words = " ".join(reader.words)
    for said in ("✗", "not right yet", "✓ passed", "Right", "Yours", "1≠", "SPLIT-01"):
        assert said in words


def test_html_links_to_the_public_reports():
    links = [
        attrs["href"] for tag, attrs in read(check(reshaped, "split_heads")).tags if tag == "a"
    ]
    assert links[0] == "https://github.com/hyunwoongko/transformer/issues/15"


def test_html_escapes_what_the_learner_wrote():
    def merge_heads(x):
        print("<script>alert(1)</script>")
        raise ValueError("<b>bold</b> & more")

    text = check(merge_heads)._repr_html_()
    assert "<script>" not in text
    assert "<b>" not in text
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; more" in text


def test_both_forms_say_the_same():
    verdict = check(reshaped, "split_heads")
    words = re.sub(r"\W+", " ", " ".join(read(verdict).words))
    for known in verdict.known:
        assert re.sub(r"\W+", " ", known.what).strip() in words
        assert re.sub(r"\W+", " ", known.why).strip() in words


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.5, 2, "0.5"),
        (-0.001, 2, "0"),
        (3.0, 2, "3"),
        (10.0, 2, "10"),
        (1e9, 2, "1e+09"),
        (float("inf"), 2, "∞"),
        (float("-inf"), 2, "-∞"),
        (float("nan"), 2, "NaN"),
        (1 / 3, 4, "0.3333"),
    ],
)
def test_numbers_are_short(value, decimals, text):
    assert number(value, decimals) == text


def test_arguments_are_written_in_full_or_by_shape():
    assert written(torch.tensor([[1.0, 2.5]])) == "[[1, 2.5]]"
    assert written(torch.tensor([True, False])) == "[True, False] (True = may attend)"
    assert written(torch.zeros(7, 7)) == "a tensor of shape (7, 7)"
    assert written(3) == "3"


def test_decimals_are_added_until_a_difference_shows():
    text = str(
        check(lambda n, d: mha_lib.sinusoidal_positions(n, d) + 3e-4, "sinusoidal_positions")
    )
    assert "0.0003≠" in text


# Mistakes ---------------------------------------------------------------------------------------
def test_every_message_belongs_to_a_mistake_and_back():
    ids = {mistake.id for mistake in table()} | {"MASK-19"}
    entries = {id for id, entry in all_known().items() if "not_met" not in entry}
    assert ids == entries


def test_at_least_sixty_public_reports_are_met():
    public = [e for e in all_known().values() if "title" in e]
    assert len(public) == 74
    assert sum("not_met" not in e for e in public) >= 60
    assert all(e.get("seen") for e in public)


def test_messages_are_short_and_plain():
    for entry in all_known().values():
        for text, most in (("what", 25), ("why", 45), ("not_met", 25)):
            said = entry.get(text, "None.")
            assert said.endswith((".", "?")), said
            assert len(said.split()) <= most, said
            assert "—" not in said


def test_every_exercise_has_known_mistakes():
    assert min(len(mistakes_of(name)) for name in ALL) >= 6


@pytest.mark.proof
@pytest.mark.usefixtures("no_shape_checks")
@pytest.mark.parametrize("mistake", table(), ids=lambda m: f"{m.exercise}-{m.id}")
def test_known_mistakes_are_named_with_a_small_example(mistake):
    verdict = check(mistake.build(), mistake.exercise)
    assert verdict.status == "failed"
    assert mistake.id in verdict.group, str(verdict)
    shown = dict(verdict.example.inputs)
    assert shown
    assert not any("a tensor of shape" in text for text in shown.values()), str(verdict)


def test_a_check_takes_less_than_a_second():
    for name in ("attention_weights", "MultiHeadAttention"):
        check(find(name).solution, name)
        start = time.perf_counter()
        assert check(find(name).solution, name).status == "passed"
        assert time.perf_counter() - start < 1


def two_at_once(exercise, edits):
    """Make the right answer with two places changed."""
    text = solution(exercise)
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    return run(text, exercise)


WEIGHT_EDITS = [
    ("1 / math.sqrt(query.shape[-1])", "1.0"),
    ("key.transpose(-2, -1)", "key.transpose(-2, -1).flip(-1)"),
    ("~attn_mask, -math.inf", "attn_mask, -math.inf"),
    ("dim=-1)\n    scores", "dim=-2)\n    scores"),
    ("weights.masked_fill(nothing_to_see, 0)", "weights"),
]


@pytest.mark.parametrize("edits", list(itertools.combinations(WEIGHT_EDITS, 2)), ids=str)
def test_two_mistakes_at_once_are_failed(edits):
    verdict = check(two_at_once("attention_weights", edits), "attention_weights")
    assert verdict.status == "failed"
    assert verdict.mistake or "rule is broken" in str(verdict) or "numbers are not" in str(verdict)


def test_of_two_mistakes_the_first_is_named():
    edits = [WEIGHT_EDITS[0], WEIGHT_EDITS[2]]
    assert check(two_at_once("attention_weights", edits), "attention_weights").mistake == "SCALE-01"


# Rules ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ALL)
def test_rules_hold_for_the_right_answer_and_say_what_holds(name):
    """The number in a rule's text is what a right answer gives."""
    exercise = find(name)
    for case in exercise.properties():
        outcome = Runner(exercise.right).ask(case)
        assert outcome.trouble is None
        for word, value in (("by 0", 0.0), ("2 times", 2.0), ("sums to 1", 1.0), ("sum to 3", 3.0)):
            if word in case.says:
                wanted = torch.full_like(outcome.value, value)
                torch.testing.assert_close(outcome.value, wanted)


@pytest.mark.parametrize("name", ALL)
def test_arguments_have_names(name):
    exercise = find(name)
    cases = [case for stage in exercise.stages() for case in stage.cases]
    for case in [*cases, *exercise.tiny(), *exercise.properties()]:
        assert len(argument_names(case.ask, exercise.solution)) >= len(case.args)


def test_stages_isolate_one_suspect_each():
    assert min(len(e.stages()) for e in exercises().values()) >= 3
    assert isinstance(check(reshaped, "split_heads"), Verdict)

"""Removing heads: against the encoder run by hand without the head's term."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional
from torch.testing import assert_close

from mha_lib.head_measures import encode_groups, read_sentences
from mha_lib.head_redundancy import (
    load_costs,
    map_correlations,
    removal_cost,
    without_heads,
)
from mha_lib.many_heads import run_encoder
from mha_lib.real_encoder import load_weights, tokenize

TEXTS = ["Dogs chase black cats.", "Cats sleep."]


@pytest.fixture(scope="module")
def weights() -> dict[str, torch.Tensor]:
    return load_weights()


@pytest.mark.parametrize("heads", [[(0, 2)], [(5, 11)], [(1, 3), (4, 0), (1, 4)]])
def test_cost_is_that_of_the_whole_encoder_run_anew(
    weights: dict[str, torch.Tensor], heads: list[tuple[int, int]]
) -> None:
    changed = {name: x.clone() for name, x in weights.items()}
    for layer, head in heads:
        name = f"encoder.layer.{layer}.attention.output.dense.weight"
        for d in range(32):
            changed[name][:, 32 * head + d] = 0
    costs = []
    for text in TEXTS:
        ids = tokenize(text)[1]
        before, after = (run_encoder(w, ids)[0][-1][0].mean(0) for w in (weights, changed))
        costs.append(1 - functional.cosine_similarity(before, after, dim=0))
    groups = list(encode_groups(weights, TEXTS))
    expected = float(torch.stack(costs).mean())
    assert expected > 1e-4
    assert_close(removal_cost(weights, groups, heads), expected, atol=1e-6, rtol=0)


def test_weights_given_stay_as_they_are(weights: dict[str, torch.Tensor]) -> None:
    name = "encoder.layer.3.attention.output.dense.weight"
    before = weights[name].clone()
    changed = without_heads(weights, [(3, 1), (3, 5)])
    assert_close(weights[name], before)
    assert int((changed[name] == 0).all(0).sum()) == 64
    assert all(changed[key] is weights[key] for key in weights if key != name)


@pytest.mark.parametrize(("place", "text"), [((6, 0), "layer .* got 6"), ((0, 12), "head .* 12")])
def test_heads_that_do_not_exist(
    weights: dict[str, torch.Tensor], place: tuple[int, int], text: str
) -> None:
    with pytest.raises(ValueError, match=text):
        without_heads(weights, [place])


def test_correlations_equal_numpy(weights: dict[str, torch.Tensor]) -> None:
    values = []
    for text in sorted(TEXTS, key=len):
        maps = run_encoder(weights, tokenize(text)[1])[1][0].flatten(0, 1).double().numpy()
        values.append(maps[:, 1:-1].reshape(72, -1))
    expected = np.corrcoef(np.concatenate(values, axis=1))
    found = map_correlations(encode_groups(weights, TEXTS))
    assert_close(found.double(), torch.from_numpy(expected), atol=1e-4, rtol=0)


def test_stored_costs_are_those_of_today(weights: dict[str, torch.Tensor]) -> None:
    stored = load_costs()
    groups = list(encode_groups(weights, read_sentences("check")))
    for layer, head in ((0, 2), (5, 11)):
        live = removal_cost(weights, groups, [(layer, head)])
        assert_close(live, stored["cost"]["check"][12 * layer + head], atol=1e-4, rtol=0)
    cheapest = torch.tensor(stored["cost"]["find"]).argsort()[:36].tolist()
    live = removal_cost(weights, groups, [divmod(i, 12) for i in cheapest])
    assert_close(live, stored["cheapest_36"], atol=2e-3, rtol=0)


def test_missing_file_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"run: python -m mha_lib\.head_redundancy"):
        load_costs(tmp_path / "none.json")
    (tmp_path / "some.json").write_text(json.dumps({"cost": {}}), encoding="utf-8")
    assert load_costs(tmp_path / "some.json") == {"cost": {}}

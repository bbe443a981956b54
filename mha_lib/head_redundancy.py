"""Step 7: what is lost without a head, and which heads do the same.

`python -m mha_lib.head_redundancy` removes each of the 72 heads of the pretrained encoder in turn
and stores what it costs. A head is removed by zeroing its columns of the output projection: its
term in the sum of lesson 6 is gone, everything else stays. The encoder exists to make one vector
for each sentence, the mean of the last hidden state over all pieces. So the cost is 1 − cosine of
this vector with and without the head: 0 = same direction.

Source: Michel et al. 2019, "Are Sixteen Heads Really Better than One?", section 3.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from mha_lib.head_measures import Group, encode_groups, read_sentences
from mha_lib.many_heads import encoder_layer
from mha_lib.real_encoder import EMBED_DIM, NUM_HEADS, NUM_LAYERS, layer_name, load_weights

PATH = Path(__file__).parent / "data" / "head_redundancy.json"
HEAD_DIM = EMBED_DIM // NUM_HEADS


def without_heads(
    weights: dict[str, Tensor], heads: Iterable[tuple[int, int]]
) -> dict[str, Tensor]:
    """Return the weights with some heads removed.

    >>> weights = load_weights()
    >>> changed = without_heads(weights, [(0, 2)])["encoder.layer.0.attention.output.dense.weight"]
    >>> (changed == 0).all(dim=0).nonzero().flatten().tolist() == list(range(64, 96))
    True

    Args:
        weights: from `load_weights`; they are not changed.
        heads: pairs (layer, head).

    Returns:
        A new dictionary that shares all tensors but the changed ones.

    Raises:
        ValueError: a layer or a head is out of range.
    """
    changed = dict(weights)
    for layer, head in heads:
        if not 0 <= head < NUM_HEADS:
            raise ValueError(f"head must lie in 0..{NUM_HEADS - 1}, got {head}")
        name = f"{layer_name(layer)}.attention.output.dense.weight"
        changed[name] = changed[name].clone()
        changed[name][:, head * HEAD_DIM : (head + 1) * HEAD_DIM] = 0
    return changed


def removal_cost(
    weights: dict[str, Tensor], groups: Sequence[Group], heads: Sequence[tuple[int, int]]
) -> float:
    """Return 1 − cosine of the sentence vectors with and without the heads, averaged.

    >>> weights = load_weights()
    >>> groups = list(encode_groups(weights, ["Dogs chase black cats."]))
    >>> removal_cost(weights, groups, []), removal_cost(weights, groups, [(0, 2)]) > 0.001
    (0.0, True)

    Args:
        weights: from `load_weights`.
        groups: from `encode_groups` with the same weights.
        heads: pairs (layer, head) to remove, all at once.

    Returns:
        The mean over all sentences, 0 .. 2.
    """
    if not heads:
        return 0.0
    changed, first = without_heads(weights, heads), min(layer for layer, _ in heads)
    costs = []
    for group in groups:
        x = group.hidden_states[first]  # up to here nothing has changed
        for layer in range(first, NUM_LAYERS):
            x, _ = encoder_layer(changed, layer, x)
        before = group.hidden_states[-1].mean(dim=1)
        costs.append(1 - functional.cosine_similarity(x.mean(dim=1), before, dim=-1))
    return float(torch.cat(costs).mean())


def map_correlations(groups: Iterable[Group]) -> Float[Tensor, "72 72"]:
    """Correlate the maps of all pairs of heads, over all weights of all real pieces' rows.

    >>> groups = encode_groups(load_weights(), ["Dogs chase black cats.", "Cats sleep."])
    >>> bool((map_correlations(groups).diagonal() > 0.999).all())
    True

    Args:
        groups: from `encode_groups`.

    Returns:
        Pearson's r; head h of layer l has the place 12 l + h.
    """
    rows = [group.maps[..., 1:-1, :].flatten(1, 2).transpose(0, 1).flatten(1) for group in groups]
    return torch.corrcoef(torch.cat(rows, dim=1))


def load_costs(path: Path = PATH) -> dict[str, Any]:
    """Read what the command stored.

    >>> len(load_costs()["cost"]["check"])
    72

    Raises:
        FileNotFoundError: The file is missing; the text names the command that makes it.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path.name} is missing; run: python -m mha_lib.head_redundancy")
    facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return facts


def main() -> None:
    """Measure and store: each head alone, then the cheaper half of them, then halves at random."""
    weights, every = load_weights(), [(layer, h) for layer in range(6) for h in range(12)]
    cost: dict[str, list[float]] = {}
    for half in ("find", "check"):
        groups = list(encode_groups(weights, read_sentences(half)))
        cost[half] = [round(removal_cost(weights, groups, [head]), 5) for head in every]
        print(f"{half}: dearest head {every[cost[half].index(max(cost[half]))]}", flush=True)
    order = torch.tensor(cost["find"]).argsort().tolist()  # measured on the other half
    generator = torch.Generator().manual_seed(0)
    draws = [torch.randperm(72, generator=generator)[:36].tolist() for _ in range(5)]
    vectors = torch.cat([group.hidden_states[-1].mean(dim=1) for group in groups])
    cosine = functional.cosine_similarity(vectors[:, None], vectors[None], dim=-1)
    pairs = torch.ones_like(cosine, dtype=torch.bool).triu(1)
    sets = {"cheapest_36": order[:36], "dearest_36": order[36:]}
    facts: dict[str, Any] = {"made_by": "python -m mha_lib.head_redundancy", "sentences": 150}
    facts |= {"cost": cost, "two_sentences": round(float(1 - cosine[pairs].mean()), 3)}
    for name, chosen in sets.items():
        facts[name] = round(removal_cost(weights, groups, [every[i] for i in chosen]), 3)
    random = [removal_cost(weights, groups, [every[i] for i in chosen]) for chosen in draws]
    facts["random_36"] = [round(share, 3) for share in random]
    PATH.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    print(facts)


if __name__ == "__main__":
    main()

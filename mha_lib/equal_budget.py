"""Step 7: one layer, the same number of parameters, 1, 2, 3 or 6 heads: which learns two look-ups?

The task. Eight notes lie on a table, in any order. Each has a name (one of 8) and a number (one
of 8). A question holds two names, a first and a second; the answer is the number of each, in this
order. `python -m mha_lib.equal_budget` trains one attention layer per choice of heads and seed
and stores what share of fresh questions it answers.

One query needs two places at once, by design: this says nothing about other tasks.
"""

import argparse
import json
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.nn import functional

from mha_lib.merging_heads import MultiHeadAttention

NAMES = NUMBERS = 8
EMBED_DIM = 6
HEADS = (1, 2, 3, 6)
SEEDS, STEPS, BATCH, FRESH = 8, 1500, 128, 4000
PATH = Path(__file__).parent / "data" / "equal_budget.json"


class Questions(NamedTuple):
    """A batch of questions: the notes on the table, the two names asked for, the two answers."""

    names: Int64[Tensor, "B 8"]
    numbers: Int64[Tensor, "B 8"]
    asked: Int64[Tensor, "B 2"]
    answers: Int64[Tensor, "B 2"]


def draw_questions(count: int, generator: torch.Generator) -> Questions:
    """Draw questions at random; the two names asked for always differ.

    >>> draw_questions(5, torch.Generator().manual_seed(0)).answers.shape
    torch.Size([5, 2])

    Args:
        count: How many.
        generator: the source of chance.

    Returns:
        The questions. Every name lies on the table once.
    """
    names = torch.rand(count, NAMES, generator=generator).argsort(dim=1)
    numbers = torch.randint(NUMBERS, (count, NAMES), generator=generator)
    places = torch.rand(count, NAMES, generator=generator).argsort(dim=1)[:, :2]
    return Questions(names, numbers, names.gather(1, places), numbers.gather(1, places))


class TwoLookUps(nn.Module):
    """Embeddings, one attention layer, one linear layer that reads both numbers off its output.

    >>> [sum(p.numel() for p in TwoLookUps(h).parameters()) for h in (1, 2, 3, 6)]
    [472, 472, 472, 472]

    Args:
        num_heads: Divides 6.
    """

    def __init__(self, num_heads: int) -> None:
        super().__init__()
        self.name = nn.Embedding(NAMES, EMBED_DIM)
        self.number = nn.Embedding(NUMBERS, EMBED_DIM)
        self.first = nn.Embedding(NAMES, EMBED_DIM)
        self.second = nn.Embedding(NAMES, EMBED_DIM)
        self.attention = MultiHeadAttention(EMBED_DIM, num_heads)
        self.read = nn.Linear(EMBED_DIM, 2 * NUMBERS)

    def forward(self, questions: Questions) -> Float[Tensor, "B 2 8"]:
        """Return a score for each number, once for the first name and once for the second."""
        notes = self.name(questions.names) + self.number(questions.numbers)
        asked = self.first(questions.asked[:, :1]) + self.second(questions.asked[:, 1:])
        output, _ = self.attention(asked, notes)  # (B, 1, E)
        return self.read(output).unflatten(-1, (2, NUMBERS))[:, 0]


def train(num_heads: int, seed: int, steps: int = STEPS) -> TwoLookUps:
    """Train on fresh questions in each step; the same seed asks the same at every number of heads.

    Args:
        num_heads: Divides 6.
        seed: Fixes the start weights and the questions.
        steps: Batches of 128 questions.

    Returns:
        The trained model.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = TwoLookUps(num_heads)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        questions = draw_questions(BATCH, generator)
        scores = model(questions)
        loss = functional.cross_entropy(scores.flatten(0, 1), questions.answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model


@torch.no_grad()
def share_right(model: TwoLookUps, count: int = FRESH) -> float:
    """Return the share of fresh questions of which both answers are right; chance is 1/64."""
    questions = draw_questions(count, torch.Generator().manual_seed(10_000))
    return float((model(questions).argmax(-1) == questions.answers).all(-1).float().mean())


def load_results(path: Path = PATH) -> dict[str, Any]:
    """Read what the command stored.

    >>> sorted(load_results()["right"])
    ['1', '2', '3', '6']

    Raises:
        FileNotFoundError: The file is missing; the text names the command that makes it.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path.name} is missing; run: python -m mha_lib.equal_budget")
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return results


def main(arguments: list[str] | None = None) -> None:
    """Train every choice of heads with every seed and store the shares, rounded."""
    parser = argparse.ArgumentParser(prog="python -m mha_lib.equal_budget")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--to", type=Path, default=PATH, help="the file to write")
    chosen = parser.parse_args(arguments)
    right: dict[str, list[float]] = {str(h): [] for h in HEADS}
    for num_heads in HEADS:
        for seed in range(chosen.seeds):
            share = share_right(train(num_heads, seed, chosen.steps))
            right[str(num_heads)].append(round(share, 2))
            print(f"{num_heads} heads, seed {seed}: {share:.1%} of {FRESH} right", flush=True)
    facts = {"made_by": "python -m mha_lib.equal_budget", "seeds": chosen.seeds}
    facts |= {"steps": chosen.steps, "fresh_questions": FRESH, "chance": 1 / NUMBERS**2}
    chosen.to.write_text(json.dumps(facts | {"right": right}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

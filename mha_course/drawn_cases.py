"""Draws the worked case of each exercise: small enough to follow by hand."""

from collections.abc import Callable
from random import Random

from mha_course import drawn_attention
from mha_course.drawing import Drawn, counted, error, numbers, strides

SENTENCES = (
    "birds see small fish",
    "cooks taste hot soup",
    "children read long books",
    "farmers plant young trees",
    "pilots watch dark clouds",
)


def head_dim(draw: Random) -> Drawn:
    heads = draw.randint(2, 6)
    return Drawn({"embed_dim": str(heads * draw.randint(4, 9)), "num_heads": str(heads)})


def head_dim_checked(draw: Random) -> Drawn:
    heads = draw.randint(3, 7)
    embed_dim = heads * draw.randint(2, 5) + draw.randint(1, heads - 1)
    return Drawn({"embed_dim": str(embed_dim), "num_heads": str(heads)}, shown=error)


def embed_tokens(draw: Random) -> Drawn:
    words = draw.choice(SENTENCES).split()[: draw.randint(2, 3)]
    said = draw.sample(words, 2) + draw.sample(words, 1)
    ids = [[words.index(word) for word in said]]
    table, positions = numbers(draw, len(words), 4), numbers(draw, draw.randint(3, 4), 4)
    order = ", ".join(f"*{word}*" for word in words)
    return Drawn(
        {"ids": f"torch.tensor({ids})", "table": table, "positions": positions},
        f"The table has a row for {order}; the sentence is *{' '.join(said)}*.",
    )


def sinusoidal_positions(draw: Random) -> Drawn:
    return Drawn({"num_positions": str(draw.randint(2, 4)), "embed_dim": str(draw.randint(3, 6))})


def head_rows(draw: Random) -> Drawn:
    heads, width = draw.randint(2, 4), draw.randint(2, 3)
    weight = counted(draw, heads * width, draw.randint(2, 3))
    head = draw.randint(1, heads - 1)
    return Drawn({"weight": weight, "head": str(head), "num_heads": str(heads)})


def packed_head_rows(draw: Random) -> Drawn:
    heads, width = draw.choice([(2, 2), (2, 3), (3, 2)])
    weight = counted(draw, 3 * heads * width, heads * width)
    part, head = draw.randint(1, 2), draw.randint(1, heads - 1)
    names = {"part": str(part), "head": str(head), "num_heads": str(heads)}
    return Drawn({"in_proj_weight": weight, **names})


def _split_sizes(draw: Random) -> tuple[int, int, int]:
    """Draw heads, length and width of a head, no two of them alike."""
    heads, length, width = draw.choice([(2, 3, 4), (3, 2, 1), (3, 4, 2), (2, 4, 3), (4, 2, 3)])
    return heads, length, width


def split_heads(draw: Random) -> Drawn:
    heads, length, width = _split_sizes(draw)
    return Drawn({"x": counted(draw, 1, length, heads * width), "num_heads": str(heads)})


def split_heads_view(draw: Random) -> Drawn:
    heads, length, width = _split_sizes(draw)
    x = counted(draw, length, heads * width)
    return Drawn({"x": x, "num_heads": str(heads)}, shown=strides)


def merge_heads(draw: Random) -> Drawn:
    heads, length, width = _split_sizes(draw)
    return Drawn({"x": counted(draw, 1, heads, length, width)})


def causal_mask(draw: Random) -> Drawn:
    queries, offset = draw.randint(1, 3), draw.randint(1, 2)
    words = f"Keys that came before the first query: {offset}."
    keys = str(queries + offset)
    names = {"query_len": str(queries), "key_len": keys, "offset": str(offset)}
    return Drawn(names, words)


def padding_mask(draw: Random) -> Drawn:
    return _lengths(draw, lowest=0)


def decoder_mask(draw: Random) -> Drawn:
    return _lengths(draw, lowest=1)


def _lengths(draw: Random, lowest: int) -> Drawn:
    longest = draw.randint(3, 4)
    sentence = draw.choice(SENTENCES).split()[: longest - 1]
    lengths = [len(sentence), draw.randint(lowest, longest - 2)]
    words = f"Sentence 0 is *{' '.join(sentence)}*, and padding."
    return Drawn({"lengths": f"torch.tensor({lengths})", "max_len": str(longest)}, words)


def shift_targets(draw: Random) -> Drawn:
    sentence = draw.choice(SENTENCES)
    tokens = draw.sample(range(10, 40), len(sentence.split()))
    words = f"The words *{sentence}* have the ids {', '.join(map(str, tokens))}."
    names = {"tokens": f"torch.tensor([{tokens}])", "bos_id": str(draw.randint(1, 9))}
    return Drawn(names, words)


def masked_loss(draw: Random) -> Drawn:
    pad = draw.randint(0, 2)
    real = [id for id in range(3) if id != pad]
    targets = [[draw.choice(real), draw.choice(real), pad]]
    names = {"targets": f"torch.tensor({targets})", "pad_id": str(pad)}
    return Drawn({"logits": numbers(draw, 1, 3, 3), **names}, "The last place is padding.")


CASES: dict[str, Callable[[Random], Drawn]] = {
    maker.__name__: maker
    for maker in (
        *(head_dim, head_dim_checked, embed_tokens, sinusoidal_positions),
        *(head_rows, packed_head_rows, split_heads, split_heads_view, merge_heads),
        *drawn_attention.MAKERS,
        *(causal_mask, padding_mask, decoder_mask, shift_targets, masked_loss),
    )
}

"""Draws the worked cases of attention and of the whole layer."""

from random import Random

from mha_course.drawing import Drawn, numbers, shapes

LAYER = "layer = {function}({0}, {1})\noutput, weights = layer({2}, need_weights=True)"


def _query_and_key(draw: Random, queries: int, keys: int) -> dict[str, str]:
    return {
        "query": numbers(draw, 1, 1, queries, 4, most=2),
        "key": numbers(draw, 1, 1, keys, 4, most=2),
    }


def attention_scores(draw: Random) -> Drawn:
    return Drawn(_query_and_key(draw, *draw.choice([(2, 3), (1, 3), (3, 2)])))


def _mask(draw: Random) -> str:
    rows = [[True, False, True], [False, False, False], [False, True, True], [True, True, True]]
    return f"torch.tensor({draw.sample(rows, 2)})"


def attention_weights(draw: Random) -> Drawn:
    return Drawn({**_query_and_key(draw, 2, 3), "attn_mask": _mask(draw)})


def scaled_dot_product_attention(draw: Random) -> Drawn:
    value = numbers(draw, 1, 1, 3, draw.randint(2, 3))
    return Drawn({**_query_and_key(draw, 2, 3), "value": value, "attn_mask": _mask(draw)})


def _layer(draw: Random) -> dict[str, str]:
    return {
        "in_proj_weight": numbers(draw, 6, 2, most=1),
        "in_proj_bias": numbers(draw, 6, most=1),
        "out_proj_weight": numbers(draw, 2, 2, most=1),
        "out_proj_bias": numbers(draw, 2, most=1),
        "num_heads": "2",
    }


def multi_head_attention(draw: Random) -> Drawn:
    states = {"query": (1, 2, 2), "key": (1, 3, 2), "value": (1, 3, 2)}
    made = {name: numbers(draw, *shape, most=2) for name, shape in states.items()}
    return Drawn({**made, **_layer(draw), "attn_mask": _mask(draw)})


def cross_attention(draw: Random) -> Drawn:
    made = {"decoder_states": numbers(draw, 1, 2, 2), "encoder_states": numbers(draw, 1, 3, 2)}
    lengths = f"torch.tensor([{draw.randint(1, 2)}])"
    return Drawn({**made, **_layer(draw), "source_lengths": lengths})


def MultiHeadAttention(draw: Random) -> Drawn:
    heads, width = draw.choice([(2, 5), (3, 4), (4, 3), (5, 2)])
    x = f"torch.ones({draw.randint(2, 3)}, {draw.randint(4, 6)}, {heads * width})"
    sizes = {"embed_dim": str(heads * width), "num_heads": str(heads)}
    return Drawn({**sizes, "x": x}, call=LAYER, shown=shapes)


MAKERS = (
    *(attention_scores, attention_weights, scaled_dot_product_attention),
    *(multi_head_attention, cross_attention, MultiHeadAttention),
)

"""The example that goes through the whole series: five sentences of four words, width 6, two heads.

The weights are typed in by hand so that every number can be read. Nothing here was trained.
Six features describe a word: 0 and 1 are left free for the position, 2 says noun, 3 verb,
4 colour; 5 is +1 for the dogs and -1 for the cats. Head 0 (rows 0-2 of each weight) looks for the
previous word, head 1 (rows 3-5) for the noun ahead.
"""

import torch

SENTENCES = (
    ("dogs", "chase", "black", "cats"),
    ("cats", "chase", "black", "dogs"),
    ("black", "dogs", "chase", "cats"),
    ("dogs", "chase", "black", "dogs"),
    ("dogs", "chase", "cats", "<pad>"),
)
WORDS = ("<pad>", "dogs", "cats", "chase", "black")
IDS = torch.tensor([[WORDS.index(word) for word in sentence] for sentence in SENTENCES])
LENGTHS = torch.tensor([4, 4, 4, 4, 3])

EMBED_DIM, NUM_HEADS, HEAD_DIM = 6, 2, 3

# One row a word, in the order of WORDS. Multiplied by sqrt(6) in the input layer, hence divided.
FEATURES = torch.tensor(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],  # <pad>
        [0.0, 0.0, 2.0, 0.0, 0.0, 1.0],  # dogs: a noun, +1
        [0.0, 0.0, 2.0, 0.0, 0.0, -1.0],  # cats: a noun, -1
        [0.0, 0.0, 0.0, 2.0, 0.0, 0.0],  # chase: a verb
        [0.0, 0.0, 0.0, 0.0, 2.0, 0.0],  # black: a colour
    ]
)
TABLE = FEATURES / 6**0.5

# Weights as nn.Linear stores them: one row an output feature, head 0 first.
W_Q = torch.tensor(
    [
        [2.0, -3.0, 0.0, 0.0, 0.0, 0.0],
        [3.0, 2.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0, 1.0, 1.0, 0.0],
        [0.0, 2.0, 0.0, 0.0, 0.0, 0.0],
        [-2.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ]
)
W_K = torch.tensor(
    [
        [3.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 3.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [2.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 2.0, 0.0, 0.0, 0.0, 0.0],
    ]
)
W_V = torch.tensor(
    [
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    ]
)
W_O = torch.tensor(
    [
        [0.0, 0.0, 1.0, 0.0, 0.0, -1.0],
        [0.0, 0.0, 1.0, 0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        [1.0, 0.0, 0.0, -1.0, 0.0, 0.0],
    ]
)


def state_dict(dtype: torch.dtype = torch.float32) -> dict[str, torch.Tensor]:
    """Return the weights under the names of `nn.MultiheadAttention`; all biases are zero.

    >>> sorted(state_dict())
    ['in_proj_bias', 'in_proj_weight', 'out_proj.bias', 'out_proj.weight']

    Args:
        dtype: The numbers' type; float64 for comparisons to the last digits.

    Returns:
        A new dictionary of new tensors, to be given to `load_state_dict`.
    """
    weights = {
        "in_proj_weight": torch.cat([W_Q, W_K, W_V]),
        "in_proj_bias": torch.zeros(18),
        "out_proj.weight": W_O,
        "out_proj.bias": torch.zeros(6),
    }
    return {name: tensor.to(dtype, copy=True) for name, tensor in weights.items()}

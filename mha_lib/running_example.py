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


# Lesson 9: the French sentence. Its states stand for what a trained decoder would know before it
# writes each word; they are typed in as well.
FRENCH = ("les", "chiens", "chassent", "les", "chats", "noirs", "<eos>")
FRENCH_STATES = torch.tensor(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],  # les
        [0.0, 0.0, 1.0, 0.0, 0.0, 1.0],  # chiens
        [0.0, 0.0, 0.0, 1.0, 0.0, 1.0],  # chassent
        [0.0, 0.0, 0.0, 0.0, 0.0, -1.0],  # les
        [0.0, 0.0, -1.0, 0.0, 0.0, -1.0],  # chats
        [0.0, 0.0, 0.0, 0.0, 1.0, -1.0],  # noirs
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],  # <eos>
    ]
)
# What the decoder is fed before it writes each word: <bos>, then the French words so far.
FRENCH_FED = ("<bos>", "les", "chiens", "chassent", "les", "chats", "noirs")
FRENCH_FEATURES = torch.tensor(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],  # <bos>
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],  # les
        [0.0, 0.0, 2.0, 0.0, 0.0, 1.0],  # chiens: a noun, +1
        [0.0, 0.0, 0.0, 2.0, 0.0, 0.0],  # chassent: a verb
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],  # les
        [0.0, 0.0, 2.0, 0.0, 0.0, -1.0],  # chats: a noun, -1
        [0.0, 0.0, 0.0, 0.0, 2.0, 0.0],  # noirs: a colour
    ]
)
# Head 0 looks for the word's meaning, head 1 for the noun that it has to agree with.
CROSS_W_Q = torch.tensor(
    [
        [0.0, 0.0, 6.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 3.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 6.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 6.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ]
)
CROSS_W_K = torch.tensor(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ]
)


def cross_state_dict(dtype: torch.dtype = torch.float32) -> dict[str, torch.Tensor]:
    """Return the weights of the cross-attention; values and output as in `state_dict`.

    >>> cross_state_dict()["in_proj_weight"].shape
    torch.Size([18, 6])

    Args:
        dtype: The numbers' type.

    Returns:
        A new dictionary of new tensors, to be given to `load_state_dict`.
    """
    packed = torch.cat([CROSS_W_Q, CROSS_W_K, W_V]).to(dtype)
    return state_dict(dtype) | {"in_proj_weight": packed}

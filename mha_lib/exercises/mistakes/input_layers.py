"""Wrong code for lesson 2."""

from mha_lib.exercises.mistakes.wrong import Wrong
from mha_lib.exercises.solutions import input_layers

WRONG = Wrong(input_layers)

# Word, scale, position.
SCALED = "math.sqrt(table.shape[1]) * table[ids]"
PLACED = "positions[:length]"
WRONG.edit("PE-10", "embed_tokens", (SCALED, "table[ids]"))
WRONG.edit("PE-10", "embed_tokens", (SCALED, "table[ids] / math.sqrt(table.shape[1])"))
WRONG.edit("EMB-A", "embed_tokens", (SCALED, "table.shape[1] * table[ids]"))
WRONG.edit(
    "EMB-B",
    "embed_tokens",
    (f"{SCALED} + {PLACED}", f"math.sqrt(table.shape[1]) * (table[ids] + {PLACED})"),
)
WRONG.edit("EMB-C", "embed_tokens", ("table.shape[1]", "table.shape[0]"))
WRONG.edit("EMB-D", "embed_tokens", (PLACED, "positions[ids]"))
WRONG.edit("EMB-E", "embed_tokens", (PLACED, "positions"))
WRONG.edit("EMB-F", "embed_tokens", (PLACED, "positions[1 : length + 1]"))
WRONG.edit("EMB-G", "embed_tokens", (f" + {PLACED}", ""))
WRONG.edit("EMB-H", "embed_tokens", (f" + {PLACED}", f" * {PLACED}"))
WRONG.edit("PE-08", "embed_tokens", (PLACED, "positions[: len(ids), None]"))
WRONG.edit(
    "PE-16",
    "embed_tokens",
    (
        f"{SCALED} + {PLACED}",
        f"torch.cat([{SCALED}, {PLACED}.expand(len(ids), -1, -1)], -1)",
    ),
)
REFUSAL = (
    "    if length > positions.shape[0]:\n"
    '        raise ValueError(f"{length} words, but only {positions.shape[0]} positions")\n'
)
WRONG.edit("PE-11", "embed_tokens", (REFUSAL, ""))
WRONG.edit("PE-11", "embed_tokens", (REFUSAL, "    ids = ids[:, : len(positions)]\n"))
WRONG.edit(
    "PE-11",
    "embed_tokens",
    (REFUSAL, ""),
    (PLACED, "positions[torch.arange(length).clamp(max=len(positions) - 1)]"),
)
WRONG.edit(
    "PE-11",
    "embed_tokens",
    (REFUSAL, ""),
    (PLACED, "positions[torch.arange(length) % len(positions)]"),
)
WRONG.edit(
    "REFUSE-B",
    "embed_tokens",
    ('f"{length} words, but only {positions.shape[0]} positions"', '"too many words"'),
)
WRONG.edit("REFUSE-A", "embed_tokens", ("raise ValueError", "raise AssertionError"))

# Positions.
SINES = "table[:, 0::2] = torch.sin(angle)"
COSINES = "table[:, 1::2] = torch.cos(angle[:, : embed_dim // 2])"
WRONG.edit("PE-01", "sinusoidal_positions", ("(even_column / embed", "(2 * even_column / embed"))
for exponent in ("c / embed_dim", "2 * c / embed_dim"):
    WRONG.body(
        "PE-01",
        "sinusoidal_positions",
        f"""
        table = torch.zeros(num_positions, embed_dim)
        for p in range(num_positions):
            for c in range(embed_dim):
                angle = p / 10000 ** ({exponent})
                table[p, c] = math.sin(angle) if c % 2 == 0 else math.cos(angle)
        return table
        """,
    )
for base in ("1000 ", "100000 "):
    WRONG.edit("PE-03", "sinusoidal_positions", ("10000 ", base))
WRONG.body(
    "PE-06",
    "sinusoidal_positions",
    """
    position = torch.arange(num_positions)[:, None]
    angle = position / 10000 ** (torch.arange(0, embed_dim, 2) / embed_dim)
    return torch.cat([torch.sin(angle), torch.cos(angle[:, : embed_dim // 2])], dim=1)
    """,
)
WRONG.edit("PE-07", "sinusoidal_positions", ("angle[:, : embed_dim // 2]", "angle"))
WRONG.edit(
    "PE-07",
    "sinusoidal_positions",
    (SINES, "table[:, 0 : embed_dim - 1 : 2] = torch.sin(angle[:, : embed_dim // 2])"),
)
WRONG.edit(
    "POS-A",
    "sinusoidal_positions",
    (SINES, SINES.replace("0::2", "1::2").replace("angle", "angle[:, : embed_dim // 2]")),
    (COSINES, "table[:, 0::2] = torch.cos(angle)"),
)
WRONG.edit(
    "POS-B",
    "sinusoidal_positions",
    ("arange(num_positions,", "arange(1, num_positions + 1,"),
)
WRONG.edit("POS-C", "sinusoidal_positions", ("position / 10000", "position * 10000"))
WRONG.edit("POS-D", "sinusoidal_positions", ("torch.cos(", "torch.sin("))
WRONG.edit("POS-E", "sinusoidal_positions", ("even_column / embed_dim", "even_column"))
WRONG.edit(
    "POS-F", "sinusoidal_positions", ("even_column / embed_dim", "even_column / 2 / embed_dim")
)
WRONG.edit("POS-G", "sinusoidal_positions", ("table.float()", "table.float().T"))

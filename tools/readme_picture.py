"""Draws the README's picture from the library, as lesson 4 does.

python -m tools.readme_picture
"""

from pathlib import Path

import torch

from mha_lib import running_example
from mha_lib.figures.pictures import png
from mha_lib.figures.splitting_heads import draw_right_and_wrong

PATH = Path(__file__).resolve().parent.parent / "docs" / "split.png"


def main() -> None:
    """Write the picture."""
    places = torch.arange(24).view(4, 6)
    figure, alt = draw_right_and_wrong(places, 2, running_example.SENTENCES[0])
    PATH.write_bytes(png(figure))
    print(PATH.name, "-", alt)


if __name__ == "__main__":
    main()

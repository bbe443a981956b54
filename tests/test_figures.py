"""The shared helpers of the figures: numbers, alt text, palette, explorers."""

import ipywidgets as widgets
import pytest
import torch
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from mha_lib.figures import explorer, new_figure, number, palette, picture, table
from mha_lib.figures.explorers import FALLBACK
from mha_lib.figures.grids import draw_grid


def contrast(a: str, b: str) -> float:
    """WCAG 2 contrast ratio, written out again here."""

    def luminance(colour: str) -> float:
        parts = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("background", ["#FFFFFF", "#111111", "#212121"])
def test_the_colours_of_the_example_stand_out_on_any_page(background: str) -> None:
    for colour in (*palette.HEADS[:2], palette.QUERY, palette.KEY, palette.VALUE):
        assert contrast(colour, background) >= 3, (colour, background)


def test_text_on_any_weight_is_readable() -> None:
    for head in range(len(palette.HEADS)):
        for step in range(101):
            fill = palette.weight_colours(head)(step / 100)
            hexa = "#" + "".join(f"{round(c * 255):02X}" for c in fill[:3])
            assert contrast(palette.ink_on(fill), hexa) >= 4.5


def test_numbers_have_two_decimals_and_no_negative_zero() -> None:
    assert [number(v) for v in (-0.0, -0.0049, 0.005, -1.5)] == ["0.00", "0.00", "0.01", "−1.50"]
    assert number(-0.2, whole=True) == "0"


def test_table_prints_labels_and_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    table(torch.tensor([[1.5, -0.001], [100.25, -3.0]]), rows=["dogs", "a"], columns=["x", "y"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [
        ["x", "y"],
        ["dogs", "1.50", "0.00"],
        ["a", "100.25", "−3.00"],
    ]
    assert len({len(line) for line in lines}) == 1
    with pytest.raises(ValueError, match="x must have one or two axes, got shape"):
        table(torch.zeros(2, 2, 2))
    with pytest.raises(ValueError, match=r"columns must have 2 labels, got 1: \['x'\]"):
        table(torch.zeros(2, 2), columns=["x"])


def test_a_picture_needs_alt_text_and_escapes_it() -> None:
    with pytest.raises(ValueError, match="alt must say what there is to see, got ' '"):
        picture(new_figure(1, 1), " ")
    assert 'alt="a &lt; &quot;b&quot;"' in picture(new_figure(1, 1), 'a < "b"').data


def test_masked_cells_show_a_dot_and_a_hatch_never_a_number() -> None:
    ax = new_figure(2, 2).subplots()
    hidden = torch.tensor([[False, True], [False, False]])
    draw_grid(ax, torch.tensor([[1.0, 0.0], [0.25, 0.75]]), weights_of_head=0, hidden=hidden)
    assert [t.get_text() for t in ax.texts] == ["1.00", "·", "0.25", "0.75"]
    assert [p.get_hatch() for p in ax.patches[:4]] == [None, "////", None, None]


def test_draw_grid_refuses_other_shapes() -> None:
    with pytest.raises(ValueError, match=r"x must have two axes, got shape \(2,\)"):
        draw_grid(new_figure(1, 1).subplots(), torch.zeros(2))


def test_an_explorer_follows_and_answers_errors() -> None:
    def draw(n: int) -> tuple[Figure, str]:
        if n > 2:
            raise ValueError("n must be < 3, got " + str(n))
        return new_figure(1, 1), f"n is {n}"

    slider = widgets.IntSlider(0, 0, 5, description="n")
    box = explorer(draw, {"n": slider})
    canvas = box.children[1]
    assert 'alt="n is 0"' in canvas.value
    slider.value = 2
    assert 'alt="n is 2"' in canvas.value
    slider.value = 3
    assert canvas.value == '<p role="alert">n must be &lt; 3, got 3</p>'
    slider.value = 1
    assert 'alt="n is 1"' in canvas.value
    assert slider.continuous_update is False
    assert box._repr_mimebundle_()["text/plain"] == FALLBACK

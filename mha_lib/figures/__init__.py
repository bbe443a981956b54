"""Figures and widgets of the lessons: the only part that imports matplotlib, ipywidgets or IPython.

Every figure is drawn from tensors that the caller passes in. Nothing here knows a number.
"""

from mha_lib.figures.explorers import explorer
from mha_lib.figures.grids import draw_grid, draw_heads, grids
from mha_lib.figures.numbers import number, table
from mha_lib.figures.pictures import new_figure, picture

__all__ = [
    "draw_grid",
    "draw_heads",
    "explorer",
    "grids",
    "new_figure",
    "number",
    "picture",
    "table",
]

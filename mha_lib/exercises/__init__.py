"""Exercises: `check` says whether an answer is right, and which known mistake it makes.

>>> from mha_lib.exercises import check
>>> def head_dim(embed_dim, num_heads):
...     return embed_dim // num_heads
>>> check(head_dim).status
'passed'
"""

from mha_lib.exercises.checking import check
from mha_lib.exercises.registry import hint, names, solution, statement, stub
from mha_lib.exercises.verdict import Verdict

__all__ = ["Verdict", "check", "hint", "names", "solution", "statement", "stub"]

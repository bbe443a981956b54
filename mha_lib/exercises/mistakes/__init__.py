"""The known mistakes as data: wrong code (one module a lesson) and known.json (the messages)."""

from mha_lib.exercises.mistakes.table import Mistake, all_known, known, mistakes_of

__all__ = ["Mistake", "all_known", "known", "mistakes_of"]

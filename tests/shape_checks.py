"""The type checker that the tests put behind every shape annotation: see pyproject.toml."""

from beartype import BeartypeConf, beartype

# As mypy and PEP 484 have it: an int will do where a float is asked for.
checked = beartype(conf=BeartypeConf(is_pep484_tower=True))

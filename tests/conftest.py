"""What several tests need: a fixed start, and shape checks that can be switched off."""

from collections.abc import Iterator

import jaxtyping
import pytest
import torch


@pytest.fixture(autouse=True)
def _same_random_numbers() -> None:
    torch.manual_seed(0)


@pytest.fixture
def no_shape_checks() -> Iterator[None]:
    """Let wrong input reach the library's own errors; a user has no shape checks switched on."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", before)

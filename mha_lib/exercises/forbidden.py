"""Notice calls of torch's ready-made functions that an exercise asks to be written."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch.overrides import TorchFunctionMode


class Noticing(TorchFunctionMode):
    """While it is active, `called` collects those of `names` that are called, however deep down.

    >>> import torch
    >>> with Noticing(("scaled_dot_product_attention",)) as noticing:
    ...     x = torch.ones(1, 1, 2, 3)
    ...     _ = torch.nn.functional.scaled_dot_product_attention(x, x, x)
    >>> noticing.called
    ['scaled_dot_product_attention']
    """

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.names, self.called = names, list[str]()

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        name = getattr(func, "__name__", "")
        if name in self.names and name not in self.called:
            self.called.append(name)
        return func(*args, **(kwargs or {}))

"""Private names of torch, tried with torch 2.12.1, 2.13.0 and 2.14.1 by the tests of models and gradients."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from torch import Tensor
from torch._C import DisableTorchFunction
from torch._C import _EnableTorchFunction as EnableTorchFunction
from torch._C import _is_tracing as is_tracing
from torch._C._autograd import _get_sequence_nr as get_next_number  # of the next node
from torch._C._autograd import _top_saved_tensors_default_hooks
from torch._C._functorch import is_functorch_wrapped_tensor
from torch.autograd.function import BackwardCFunction

__all__ = [
    "BackwardCFunction", "DisableTorchFunction", "EnableTorchFunction", "forward_class", "get_next_number",
    "get_sequence_number", "is_functorch_wrapped_tensor", "is_in_checkpoint", "is_tracing", "versions_of",
]  # fmt: skip


def versions_of(tensors: Sequence[Tensor]) -> list[int]:
    """Return how often each tensor was written into; 0 for a tensor of inference mode, which has no count."""
    try:
        return [*map(attrgetter("_version"), tensors)]
    except RuntimeError:
        return [0 if tensor.is_inference() else tensor._version for tensor in tensors]


def get_sequence_number(node: Any) -> int:
    """Return the number that autograd gave a node when it was made; later nodes have higher numbers."""
    number: int = node._sequence_nr()
    return number


def is_in_checkpoint() -> bool:
    """Return whether a non-reentrant checkpoint runs, which will repeat its calls in backward."""
    hooks: Any = _top_saved_tensors_default_hooks(False)
    return hooks is not None and "_checkpoint_hook" in hooks[0].__qualname__


def forward_class(node: Any) -> Any:
    """Return the Function class of a backward node in autograd's graph. None for nodes of other functions."""
    kind = node if isinstance(node, type) else type(node)
    return getattr(kind, "_forward_cls", None)

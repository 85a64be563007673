"""Masks that a backward computes and that let every x pass."""

from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.checks.curve import Curve
from explorer.checks.finiteness import list_floats
from explorer.curves.foreign import UntriedError

_COMPARISONS = tuple(
    f"aten.{name}" for name in ("le", "lt", "ge", "gt", "logical_and", "bitwise_and", "logical_not")
)


class _Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's own
    """Records the results of comparisons in the shape of x."""

    def __init__(self, shape: torch.Size) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.masks: list[Tensor] = []
        self.shape = shape

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if str(func).startswith(_COMPARISONS) and isinstance(result, Tensor) and result.shape == self.shape:
            self.masks.append(result)
        return result


def describe_idle_mask(curve: Curve) -> str:
    """Return a clause on a mask of backward that is true for every x, such as of a clamped y; "" if none."""
    if curve.subject.function is None:
        return ""
    leaf = curve.subject.broadcast(list_floats(curve.dtype, curve.subject)).requires_grad_()
    try:
        y = curve.subject.run(leaf.clone())
        with _Recorder(leaf.shape) as recorder:
            torch.autograd.grad(y, leaf, torch.ones_like(y))
    except (UntriedError, RuntimeError):
        return ""
    is_idle = recorder.masks and all(bool(mask.all()) for mask in recorder.masks)
    return "its mask lets every x pass, as it tests values that never leave their bounds" if is_idle else ""

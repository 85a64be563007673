"""Whether a model attends, as a transformer does: a softmax weighs what a matrix product sums up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from explorer.model.racing.work import called

_ATTENDING = {functional.scaled_dot_product_attention, functional.multi_head_attention_forward}
_WEIGHING = {torch.softmax, functional.softmax, Tensor.softmax}
_SUMMING = {torch.matmul, torch.bmm, torch.einsum, Tensor.matmul, Tensor.bmm, Tensor.__matmul__}


class _Calls(TorchFunctionMode):
    """The calls of a forward pass, until attention is among them."""

    def __init__(self) -> None:
        super().__init__()
        self.attends = False
        self._weights = set[torch.Size]()

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func in _ATTENDING:
            self.attends = True
        if func in _SUMMING and any(
            isinstance(each, Tensor) and each.shape in self._weights for each in args
        ):
            self.attends = True
        result = func(*args, **(kwargs or {}))
        if func in _WEIGHING and result.dim() > 2:
            self._weights.add(result.shape)
        return result


def attends(model: nn.Module, x: Any) -> bool:
    """Whether a forward pass of a model calls attention, torch's or one written out, batch first."""
    calls = _Calls()
    with calls, torch.no_grad():
        called(model, x)
    return calls.attends

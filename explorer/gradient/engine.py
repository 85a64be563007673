"""Calls of torch's autograd engine without the overhead of its public functions."""

import inspect
from typing import Any, NamedTuple

import torch
from torch import Tensor

_ENGINE = torch.autograd.Variable._execution_engine  # private; torch has no public name for it


def backpropagate(y: Tensor, leaf: Tensor, g: Tensor) -> Tensor:
    """Return the gradient of ``leaf``, given the upstream gradient g of y. The graph of y is freed.

    This calls the engine as ``torch.autograd.grad`` does, but without its comparison of shapes, which takes
    30 µs a call and imports sympy at the first (half a second). Raises RuntimeError without a path to it.
    """
    (gradient,) = _ENGINE.run_backward(
        (y,), (g,), False, False, (leaf,), allow_unreachable=False, accumulate_grad=False
    )
    return gradient


def is_compiled_without_grad(*inputs: Tensor) -> bool:
    """Return whether torch.compile is tracing a call that needs no gradients.

    For such a call the op alone is enough. Raises RuntimeError for a transform of torch.func inside
    torch.compile, which differentiates the forward of a Function and silently ignores its backward.
    """
    if not torch.compiler.is_dynamo_compiling():
        return False
    if torch._C._are_functorch_transforms_active():
        raise RuntimeError(
            "a transform of torch.func inside torch.compile ignores backward rules: call grad, vmap and the "
            "like outside of torch.compile"
        )
    return not (torch.is_grad_enabled() and any(tensor.requires_grad for tensor in inputs))


class PositionalSignature(inspect.Signature):
    """A function signature for positional arguments without defaults, which torch can bind quickly."""

    def bind(self, *args: Any, **kwargs: Any) -> Any:
        """Return the positional and keyword arguments as they were passed, without checking them."""
        return _Arguments(args, kwargs)


class _Arguments(NamedTuple):
    """The arguments of a call, in the form that ``inspect.Signature.bind`` returns."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def apply_defaults(self) -> None:
        """Do nothing, because no argument has a default."""

"""Torch's autograd, called without what it looks up again at each call."""

import inspect
from typing import Any, NamedTuple

import torch
from torch import Tensor

_ENGINE = torch.autograd.Variable._execution_engine  # torch has no public name for it


def pulled_back(y: Tensor, leaf: Tensor, g: Tensor) -> Tensor:
    """The gradient for a leaf of an upstream gradient of y, of its shape and dtype; y's graph is used up.

    It calls the engine as ``torch.autograd.grad`` does, without the comparison of shapes, which takes 30 µs
    and loads sympy at first: half a second of every process. Raises RuntimeError where y does not depend on
    the leaf.
    """
    (gradient,) = _ENGINE.run_backward(
        (y,), (g,), False, False, (leaf,), allow_unreachable=False, accumulate_grad=False
    )
    return gradient


def is_compiled_plain(*inputs: Tensor) -> bool:
    """Return whether torch.compile reads a call that needs no gradient: the op alone is enough there.

    Raises RuntimeError inside torch.func under torch.compile, which differentiates the forward of a Function
    and passes over its backward without a word.
    """
    if not torch.compiler.is_dynamo_compiling():
        return False
    if torch._C._are_functorch_transforms_active():
        raise RuntimeError(
            "torch.func inside torch.compile passes over backward rules: apply it outside torch.compile"
        )
    return not (torch.is_grad_enabled() and any(each.requires_grad for each in inputs))


class Positional(inspect.Signature):
    """A signature for arguments that are all positional and all given: torch binds them at every call."""

    def bind(self, *args: Any, **kwargs: Any) -> Any:
        """The arguments as they are."""
        return _Arguments(args, kwargs)


class _Arguments(NamedTuple):
    """Bound arguments without defaults."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def apply_defaults(self) -> None:
        """Nothing is left to fill in."""

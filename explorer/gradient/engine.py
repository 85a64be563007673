"""Direct calls of torch's autograd that skip per-call overhead."""

import inspect
from typing import Any, NamedTuple

import torch
from torch import Tensor

_ENGINE = torch.autograd.Variable._execution_engine  # torch has no public name for it


def backpropagate(y: Tensor, leaf: Tensor, g: Tensor) -> Tensor:
    """Return the gradient of ``leaf`` for an upstream gradient g of y, in the leaf's shape and dtype.

    Frees y's graph. Calls the engine as ``torch.autograd.grad`` does, but without its comparison of shapes,
    which takes 30 µs and loads sympy at first: half a second of every process. Raises RuntimeError if y does
    not depend on the leaf.
    """
    (gradient,) = _ENGINE.run_backward(
        (y,), (g,), False, False, (leaf,), allow_unreachable=False, accumulate_grad=False
    )
    return gradient


def is_compiled_without_grad(*inputs: Tensor) -> bool:
    """Return whether torch.compile traces a call that needs no gradient, for which the op alone is enough.

    Raises RuntimeError for torch.func inside torch.compile, which differentiates a Function's forward and
    silently ignores its backward.
    """
    if not torch.compiler.is_dynamo_compiling():
        return False
    if torch._C._are_functorch_transforms_active():
        raise RuntimeError(
            "torch.func inside torch.compile passes over backward rules: apply it outside torch.compile"
        )
    return not (torch.is_grad_enabled() and any(tensor.requires_grad for tensor in inputs))


class PositionalSignature(inspect.Signature):
    """A signature for calls with positional arguments and no defaults, which torch binds at every call."""

    def bind(self, *args: Any, **kwargs: Any) -> Any:
        """Return the arguments unchanged."""
        return _Arguments(args, kwargs)


class _Arguments(NamedTuple):
    """Bound arguments without defaults."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def apply_defaults(self) -> None:
        """Do nothing: no argument has a default."""

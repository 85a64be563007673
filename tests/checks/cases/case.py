"""A case: a function with its arguments and the verdicts that are due."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from explorer.checks import check
from explorer.checks.result import Result


@dataclass(frozen=True)
class Case:
    """A function to check.

    Attributes:
        function: a Function class, a module or a callable.
        arguments: the arguments after x.
        options: keywords of ``check``, such as ``input``.
        verdicts: the verdict that is due, by the name of the check.
        words: a part of the sentence of the check that comes first in ``verdicts``.
    """

    function: Any
    arguments: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    verdicts: dict[str, str] = field(default_factory=dict)
    words: str = ""


def find_results(function: Any, *arguments: Any, **options: Any) -> dict[str, Result]:
    """Return the results of ``check`` by the names of the checks."""
    return {result.name: result for result in check(function, *arguments, **options)}


def learn(*values: Any) -> Tensor:
    """Return a float32 tensor that requires grad; one value makes a scalar."""
    return torch.tensor(values[0] if len(values) == 1 else values, requires_grad=True)


def example(shape: tuple[int, ...] | None, seed: int = 1) -> dict[str, Tensor]:
    """Return the keywords of ``check`` with an example of x, or none."""
    generator = torch.Generator().manual_seed(seed)
    return {} if shape is None else {"input": torch.randn(shape, generator=generator)}


def make_function(
    forward: Callable[..., Any], backward: Callable[..., Any], name: str = "Made"
) -> type[Function]:
    """Return a Function class of ``forward(x, *arguments)`` and ``backward(x, g, *arguments)``.

    A single tensor that ``backward`` returns is the gradient of x; the other arguments then get None.
    """

    def run_forward(ctx: Any, x: Tensor, *arguments: Any) -> Any:
        tensors = [each for each in arguments if isinstance(each, Tensor)]
        ctx.save_for_backward(x, *tensors)
        ctx.arguments = [None if isinstance(each, Tensor) else each for each in arguments]
        return forward(x, *arguments)

    def run_backward(ctx: Any, g: Tensor) -> Any:
        x, *tensors = ctx.saved_tensors
        waiting = iter(tensors)
        arguments = [next(waiting) if each is None else each for each in ctx.arguments]
        gradients = backward(x, g, *arguments)
        return gradients if isinstance(gradients, tuple) else (gradients, *[None] * len(arguments))

    both = {"forward": staticmethod(run_forward), "backward": staticmethod(run_backward)}
    return type(name, (Function,), both)

"""Torch's verdict on a solution: it is run, and what it returns is compared with the formulas."""

import math
import warnings
from collections.abc import Callable
from itertools import product
from typing import Any, ClassVar

import numpy as np
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.reading.exercises import Exercise

UPSTREAM = (1.0, 2.0, -1.0, 0.3)
EVEN = torch.arange(-40, 49, dtype=torch.float64) / 16  # exact at every kink; a sum over them is not 0
X = torch.cat([EVEN, EVEN - 2**-12, EVEN + 2**-12])
SIZES = (len(X), len(EVEN))
LIKE = {"rtol": 1e-9, "atol": 1e-12}


def torch_says(exercise: Exercise, text: str) -> str:
    """``right``, or what is wrong. The texts are our own."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            first = _says(exercise, text)
            return first if first != "right" else _says(exercise.variant, text)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _says(exercise: Exercise, text: str) -> str:
    function = defined(exercise, text)
    for g, size in product(UPSTREAM, SIZES):
        if wrong := _once(exercise, function, g, X[:size]):
            return wrong
    for argument, _ in tensors(exercise) if exercise.guarded else ():
        if wrong := _guarded(exercise, function, argument):
            return wrong
    return _twice(exercise, function) if exercise.twice else "right"


def defined(exercise: Exercise, text: str) -> Any:
    """The Function of a text."""
    scope: dict[str, Any] = {
        "torch": torch, "math": math, "np": np, "F": torch.nn.functional, "nn": torch.nn,
        "Function": Function, "once_differentiable": once_differentiable,
    }  # fmt: skip
    before = set(scope)
    exec(text, scope)
    new = [scope[name] for name in scope if name not in before]
    functions = [each for each in new if isinstance(each, type) and issubclass(each, Function)]
    return next(each for each in functions if len(functions) == 1 or each.__name__ == exercise.name)


def tensors(exercise: Exercise) -> list[tuple[int, Any]]:
    return [(index, each) for index, each in enumerate(exercise.arguments) if each.gradient]


def given(exercise: Exercise, learns: Callable[[int], bool] = lambda _: True) -> list[Any]:
    """The inputs after x."""
    return [
        torch.tensor(each.value, dtype=torch.float64, requires_grad=learns(index))
        if each.gradient
        else each.value
        for index, each in enumerate(exercise.arguments)
    ]


def wanted(exercise: Exercise, text: str, x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    y = exercise.parse_formula(exercise.op).bind(exercise.values)(x)
    return exercise.parse_formula(text).bind({**exercise.values, "N": float(len(x))})(x, y, g)


def _once(exercise: Exercise, function: Any, g: float, at: torch.Tensor) -> str:
    x, upstream = at.clone().requires_grad_(), torch.full_like(at, g)
    before, inputs = upstream.clone(), given(exercise)
    y = function.apply(x, *inputs)
    y.backward(upstream)
    if not torch.allclose(y.detach(), exercise.parse_formula(exercise.op).bind(exercise.values)(at), **LIKE):
        return "forward"
    if x.grad is None or not torch.allclose(x.grad, wanted(exercise, exercise.gradient, at, before), **LIKE):
        return "gradient"
    if not torch.equal(upstream, before):
        return "g is changed"
    for index, argument in tensors(exercise):
        total = wanted(exercise, argument.gradient, at, before).sum()
        if argument.scale:
            total = total * wanted(exercise, argument.scale, at, before)
        own = inputs[index].grad
        if own is None or own.shape != () or not torch.allclose(own, total.double().mean()):
            return "parameter"
    return ""


class Sums(TorchDispatchMode):
    """What adds up while a backward runs."""

    seen: ClassVar[list[str]] = []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        if "sum" in str(operation):
            self.seen.append(str(operation))
        return operation(*args, **(kwargs or {}))

    @classmethod
    def watching(cls, backward: Callable[..., Any]) -> Callable[..., Any]:
        cls.seen.clear()

        def watched(ctx: Any, g: torch.Tensor) -> Any:
            with cls():
                return backward(ctx, g)

        return watched


def _guarded(exercise: Exercise, function: Any, index: int) -> str:
    returned: list[Any] = []
    backward = function.backward

    def watched(ctx: Any, g: torch.Tensor) -> Any:
        returned.append(backward(ctx, g))
        return returned[-1]

    function.backward = staticmethod(Sums.watching(watched))
    x = X.clone().requires_grad_()
    function.apply(x, *given(exercise, lambda each: each != index)).sum().backward()
    function.backward = staticmethod(backward)
    if returned[0][1 + index] is not None or Sums.seen:
        return "computed where nobody needs it"
    due = wanted(exercise, exercise.gradient, X, torch.ones_like(X))
    if x.grad is None or not torch.allclose(x.grad, due):
        return "gradient hangs on another input"
    inputs = given(exercise, lambda each: each == index)
    function.apply(X.clone(), *inputs).sum().backward()
    return "" if inputs[index].grad is not None else "parameter hangs on x"


def _twice(exercise: Exercise, function: Any) -> str:
    x = X.clone().requires_grad_()
    inputs = given(exercise)
    (first,) = torch.autograd.grad(function.apply(x, *inputs).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    leaf = X.clone().requires_grad_()
    (own,) = torch.autograd.grad(wanted(exercise, exercise.gradient, leaf, torch.ones_like(X)).sum(), leaf)
    if not torch.allclose(second, own):
        return "second derivative"
    g = torch.ones_like(X, requires_grad=True)
    (first,) = torch.autograd.grad(function.apply(x, *inputs), x, g, create_graph=True)
    mixed = torch.autograd.grad(first.sum(), g, allow_unused=True)[0] if first.requires_grad else None
    return "right" if mixed is not None and torch.allclose(mixed, first) else "second derivative for g"

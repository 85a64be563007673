"""The gradients that the arguments of a function get, and the due ones, by autograd of its forward."""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from explorer.curves.foreign import NoGradientError, Subject, UntriedError, describe_error, pull_gradient
from explorer.formula.tree import Call, walk

_STAIRS = frozenset(("round", "floor", "ceil", "trunc"))
_LEAST_DECIDED = 0.5
_JUMPS = "its forward jumps as the argument moves"
_ROUNDINGS = {getattr(owner, name) for owner in (torch, Tensor) for name in (*_STAIRS, "fix")}
_IN_PLACE: dict[Any, Callable[..., Tensor]] = {
    getattr(owner, f"{name}_"): getattr(torch, name) for owner in (torch, Tensor) for name in _STAIRS
}


class Probe:
    """The gradients of a subject's learned arguments, actual and due, for the same x and g."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        dtype = subject.trial.dtype
        far = torch.logspace(0.7, 3.0, 10, dtype=dtype)
        x = torch.cat([-far, torch.linspace(-4.0, 4.0, 41, dtype=dtype) + 0.0137, far])
        is_free = subject.domain is None and subject.example is None
        self.x = subject.lift(x) if is_free else subject.sample(-4.0, 4.0, 61)
        if is_free and subject.trial.suffix:
            self.x = subject.sample(-4.0, 4.0, 61)
        self.y = subject.run(self.x.clone())

    @cached_property
    def upstreams(self) -> list[Tensor]:
        """Three upstream gradients, no multiples of each other; 0 where the due gradient is ambiguous."""
        steps = torch.arange(self.y.numel(), dtype=self.y.dtype).reshape(self.y.shape)
        return [((steps * pace).sin() + 0.4) * self._decided for pace in (0.7, 1.9, 3.1)]

    @cached_property
    def _decided(self) -> Tensor:
        """Mask of the x whose gradient is that of autograd through the forward; all 1 if that is rare.

        Rounding before or after clamping is one forward and two masks: between the two the learned
        argument is due one thing or the other.
        """
        everywhere = torch.ones_like(self.y)
        forward = _find_forward(self.subject)
        if forward is None or not self._rounds or self.y.shape != self.x.shape:
            return everywhere
        returned_gradient = self.subject.run_both(self.x)[1]
        arguments = self.subject.prepare(self.x.dtype)
        leaf = self.x.clone().requires_grad_()
        try:
            with _StraightThrough():
                plain = pull_gradient(forward(leaf.clone(), *arguments), leaf)
        except Exception:
            return everywhere
        agreed = torch.isclose(returned_gradient, plain, 1e-6, 1e-9).to(everywhere)
        return agreed if float(agreed.mean()) > _LEAST_DECIDED else everywhere

    @property
    def _rounds(self) -> bool:
        """Whether the forward rounds; True for code that is not inspected."""
        op = self.subject.op
        calls = {part.function for part in walk(op.parsed.tree) if isinstance(part, Call)} if op else _STAIRS
        return bool(calls & _STAIRS)

    def stack_gradients(self, k: int) -> Tensor | None:
        """Return the gradients of argument k for all upstreams, stacked; None if one is missing."""
        return _stack([self.pull_argument(k, self.x, g) for g in self.upstreams])

    def pull_argument(self, k: int, x: Tensor, g: Tensor) -> Tensor | None:
        """Return the gradient of argument k from the backward; None if there is none."""
        return pull_arguments(self.subject.call, x, self.subject.prepare(x.dtype, learned=True), g)[k]

    def stack_due(self, k: int, at: Tensor | float = 1.0) -> Tensor | None:
        """Return what ``stack_gradients`` should return; ``at`` is a factor on g.

        Raises UntriedError if the forward cannot be followed.
        """
        return _stack([self.compute_due(k, g * at) for g in self.upstreams])

    def compute_due(self, k: int, g: Tensor) -> Tensor | None:
        """Return the gradient of argument k from autograd of the forward; raises like ``stack_due``."""
        arguments = self.subject.prepare(self.x.dtype, learned=True)
        forward = _find_forward(self.subject)
        if forward is None:
            return _compute_differences(self.subject, self.x, arguments, g)[k]
        with _StraightThrough():
            return pull_arguments(forward, self.x, arguments, g)[k]


def is_learned(argument: Any) -> bool:
    """Return whether an argument is a tensor of floats that requires grad."""
    return isinstance(argument, Tensor) and argument.is_floating_point() and argument.requires_grad


def _stack(gradients: list[Tensor | None]) -> Tensor | None:
    found = [gradient for gradient in gradients if gradient is not None]
    return torch.stack(found) if len(found) == len(gradients) else None


def pull_arguments(
    call: Callable[..., Any], x: Tensor, arguments: tuple[Any, ...], g: Tensor
) -> list[Tensor | None]:
    """Return the gradients of the arguments that learn; None for others, and if there is no path."""
    leaves = list(filter(is_learned, arguments))
    leaf = x.clone().requires_grad_()
    shifted = tuple(a.clone() if is_learned(a) else a for a in arguments)
    try:
        with torch.enable_grad():
            y = call(leaf.clone(), *shifted)
        if not y.requires_grad:
            return [None for _ in arguments]
        gradients = iter(torch.autograd.grad(y, leaves, g, allow_unused=True))
    except Exception as error:
        raise NoGradientError(f"its backward raises {describe_error(error)}") from error
    return [next(gradients) if is_learned(a) else None for a in arguments]


class _Context:
    """A stand-in for ctx while a forward runs under autograd: it takes everything and keeps nothing."""

    def __init__(self, inputs: int) -> None:
        self.needs_input_grad = (True,) * inputs

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith(("save_", "mark_", "set_")):
            return lambda *_: None
        raise AttributeError(name)


def _find_forward(subject: Subject) -> Callable[..., Any] | None:
    """Return the forward as plain torch, which autograd follows; None if there is none."""
    return subject.plain or (subject.function and partial(_run_plain, subject.function))


def _run_plain(function: type[torch.autograd.Function], x: Tensor, *arguments: Any) -> Any:
    """Return y of a Function's forward, run as plain torch."""
    new_style = function.setup_context is not torch.autograd.Function.setup_context
    inputs = (x, *arguments)
    return function.forward(*inputs) if new_style else function.forward(_Context(len(inputs)), *inputs)


def _is_rounding(func: Any, named: dict[str, Any]) -> bool:
    return func in _ROUNDINGS or bool(named.get("rounding_mode"))


class _RoundingDetector(TorchFunctionMode):
    """Finds out whether code rounds, inside a Function's forward too."""

    def __init__(self) -> None:
        super().__init__()
        self.rounds: bool = False

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        self.rounds |= func in _IN_PLACE or _is_rounding(func, named)
        return func(*args, **named)


class _StraightThrough(TorchFunctionMode):
    """Rounds by ``x + (round(x) - x).detach()``."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        if func in _IN_PLACE:
            moved = args[0].detach()
            return args[0].add_(_IN_PLACE[func](moved, *args[1:], **named) - moved)
        result = func(*args, **named)
        if _is_rounding(func, named):
            smooth = args[0] if func in _ROUNDINGS else args[0] / args[1]
            return smooth + (result - smooth).detach()
        return result


def is_rounding(subject: Subject, x: Tensor, arguments: tuple[Any, ...]) -> bool:
    """Return whether the forward rounds."""
    with _RoundingDetector() as rounding, torch.no_grad():
        subject.run(x.clone(), arguments)
    return bool(rounding.rounds)


def _compute_differences(
    subject: Subject, x: Tensor, arguments: tuple[Any, ...], g: Tensor
) -> list[Tensor | None]:
    """Return central differences by the arguments; raises UntriedError if y jumps or is rounded."""
    if is_rounding(
        subject, x, arguments
    ):  # between its jumps it is level, whatever gradient is passed straight through
        raise UntriedError(f"{_JUMPS}, as it rounds: check the Function itself")
    gradients: list[Tensor | None] = []
    for k, argument in enumerate(arguments):
        if not is_learned(argument):
            gradients.append(None)
            continue
        slopes = torch.zeros_like(argument)
        for i in range(argument.numel()):
            wide, fine = (_compute_slope(subject, x, arguments, g, k, i, h) for h in (1e-4, 5e-5))
            if abs(wide - fine) > 1e-4 * (1 + abs(fine)):
                raise UntriedError(f"{_JUMPS}: check the Function itself")
            slopes.view(-1)[i] = fine
        gradients.append(slopes)
    return gradients


def _compute_slope(
    subject: Subject, x: Tensor, arguments: tuple[Any, ...], g: Tensor, k: int, i: int, h: float
) -> float:
    sums = []
    for sign in (1, -1):
        moved = arguments[k].detach().clone()
        moved.view(-1)[i] += sign * h
        with torch.no_grad():
            y = subject.run(x.clone(), (*arguments[:k], moved, *arguments[k + 1 :]))
        sums.append(float((y * g).sum()))
    return (sums[0] - sums[1]) / (2 * h)

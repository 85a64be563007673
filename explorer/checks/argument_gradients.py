"""The gradients of a function's arguments: actual, by its backward, and due, by autograd of its forward."""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from explorer.curves.foreign import NoGradientError, Subject, UntriedError, describe_error, pull_gradient
from explorer.formula.tree import Call, walk

_STAIRS = frozenset(("round", "floor", "ceil", "trunc"))
_MIN_DECIDED = 0.5  # share of the elements
_MAX_SINGLE = 16  # elements of an argument; a larger one is moved in random directions
_JUMPS = "its forward jumps as the argument moves"
_ROUNDINGS = {getattr(owner, name) for owner in (torch, Tensor) for name in (*_STAIRS, "fix")}
_IN_PLACE: dict[Any, Callable[..., Tensor]] = {
    getattr(owner, f"{name}_"): getattr(torch, name) for owner in (torch, Tensor) for name in _STAIRS
}


class Probe:
    """The gradients of a subject's learned arguments, actual and due, for the same x and g.

    ``mixes``: whether y at one x depends on other x.
    """

    def __init__(self, subject: Subject, mixes: bool = False) -> None:
        self.subject, self.mixes = subject, mixes
        dtype = subject.trial.dtype
        far = torch.logspace(0.7, 3.0, 10, dtype=dtype)
        x = torch.cat([-far, torch.linspace(-4.0, 4.0, 41, dtype=dtype) + 0.0137, far])
        is_free = subject.domain is None and subject.example is None
        self.x = subject.broadcast(x) if is_free else subject.sample(-4.0, 4.0, 61)
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
        """Mask of the x whose gradient is that of autograd through the forward; all 1 if they are few.

        Rounding before clamping and after it give the same forward, but masks that differ near the bounds:
        which gradient is due to a learned argument there is ambiguous.
        """
        everywhere = torch.ones_like(self.y)
        if self.forward is None or not self._rounds or self.y.shape != self.x.shape:
            return everywhere
        leaf = self.x.clone().requires_grad_()
        try:
            with _StraightThrough():
                y = self.forward(leaf.clone(), *self.subject.prepare(self.x.dtype))
                plain = pull_gradient(y, leaf)
        except Exception:
            return everywhere
        agreed = torch.isclose(self.subject.run_both(self.x)[1], plain, 1e-6, 1e-9).to(everywhere)
        return agreed if float(agreed.mean()) > _MIN_DECIDED else everywhere

    @property
    def _rounds(self) -> bool:
        """Whether the forward rounds; True for a function, whose code is not inspected."""
        op = self.subject.op
        calls = {part.function for part in walk(op.parsed.tree) if isinstance(part, Call)} if op else _STAIRS
        return bool(calls & _STAIRS)

    def stack_gradients(self, k: int) -> Tensor | None:
        """Return argument k's gradients for all upstreams, along its directions; None if one is missing."""
        return self._stack(k, [self.pull_argument(k, self.x, g) for g in self.upstreams])

    def pull_argument(self, k: int, x: Tensor, g: Tensor) -> Tensor | None:
        """Return the gradient of argument k from the backward; None if there is none."""
        return pull_arguments(self.subject.call, x, self.subject.prepare(x.dtype, learned=True), g)[k]

    def stack_due(self, k: int, factor: Tensor | float = 1.0) -> Tensor | None:
        """Return what ``stack_gradients`` should return, with ``factor`` times g.

        Raises UntriedError if the forward cannot be followed.
        """
        if self.forward is None:
            return torch.stack([self._compute_differences(k, g * factor) for g in self.upstreams])
        return self._stack(k, [self.compute_due(k, g * factor) for g in self.upstreams])

    def compute_due(self, k: int, g: Tensor) -> Tensor | None:
        """Return the gradient of argument k from autograd of the forward, or by differences of y.

        Raises UntriedError if the forward cannot be followed.
        """
        if self.forward is None:
            return self._compute_differences(k, g)
        with _StraightThrough():
            return pull_arguments(self.forward, self.x, self.subject.prepare(self.x.dtype, learned=True), g)[
                k
            ]

    @cached_property
    def forward(self) -> Callable[..., Any] | None:
        """The forward as plain torch, which autograd follows; None if there is none."""
        subject = self.subject
        return subject.plain or (subject.function and partial(_run_plain, subject.function))

    def _find_directions(self, k: int) -> Tensor:
        """Return the directions in which argument k is moved, (m, numel): one an element, if they are few."""
        count, random = self.subject.arguments[k].numel(), torch.Generator().manual_seed(11)
        if count <= _MAX_SINGLE:
            return torch.eye(count, dtype=self.x.dtype)
        return torch.randn(_MAX_SINGLE, count, generator=random, dtype=torch.float64).to(self.x.dtype)

    def _stack(self, k: int, gradients: list[Tensor | None]) -> Tensor | None:
        found = [gradient.flatten() for gradient in gradients if gradient is not None]
        complete = len(found) == len(gradients)
        return torch.stack(found) @ self._find_directions(k).to(found[0]).T if complete else None

    def _compute_differences(self, k: int, g: Tensor) -> Tensor:
        """Return central differences along the directions; raises UntriedError if y jumps or is rounded."""
        subject, arguments = self.subject, self.subject.prepare(self.x.dtype)
        if is_rounding(subject, self.x, arguments):  # differences between jumps are 0, whatever is due
            raise UntriedError(f"{_JUMPS}, as it rounds: check the Function itself")
        slopes = []
        for direction in self._find_directions(k):
            step, sums = direction.reshape(arguments[k].shape), []
            for h in (1e-4, -1e-4, 5e-5, -5e-5):
                moved = (*arguments[:k], arguments[k] + h * step, *arguments[k + 1 :])
                with torch.no_grad():
                    sums.append(float((subject.run(self.x.clone(), moved) * g).sum()))
            wide, fine = (sums[0] - sums[1]) / 2e-4, (sums[2] - sums[3]) / 1e-4
            if abs(wide - fine) > 1e-4 * (1 + abs(fine)):
                raise UntriedError(f"{_JUMPS}: check the Function itself")
            slopes.append(fine)
        return torch.tensor(slopes, dtype=self.x.dtype)


def is_learned(argument: Any) -> bool:
    """Return whether an argument is a tensor of floats that requires grad."""
    return isinstance(argument, Tensor) and argument.is_floating_point() and argument.requires_grad


def pull_arguments(
    call: Callable[..., Any], x: Tensor, arguments: tuple[Any, ...], g: Tensor
) -> list[Tensor | None]:
    """Return the gradient of each argument; None for one that does not learn or that y does not depend on."""
    leaves = list(filter(is_learned, arguments))
    leaf = x.clone().requires_grad_()
    copies = tuple(a.clone() if is_learned(a) else a for a in arguments)
    try:
        with torch.enable_grad():
            y = call(leaf.clone(), *copies)
        if not y.requires_grad:
            return [None for _ in arguments]
        gradients = iter(torch.autograd.grad(y, leaves, g, allow_unused=True))
    except Exception as error:
        raise NoGradientError(f"its backward raises {describe_error(error)}") from error
    return [next(gradients) if is_learned(a) else None for a in arguments]


class _Context:
    """A stand-in for ctx while a forward runs under autograd: its methods do nothing."""

    def __init__(self, inputs: int) -> None:
        self.needs_input_grad = (True,) * inputs

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith(("save_", "mark_", "set_")):
            return lambda *_: None
        raise AttributeError(name)


def _run_plain(function: type[torch.autograd.Function], x: Tensor, *arguments: Any) -> Any:
    """Return y of a Function's forward, run as plain torch."""
    new_style = function.setup_context is not torch.autograd.Function.setup_context
    inputs = (x, *arguments)
    return function.forward(*inputs) if new_style else function.forward(_Context(len(inputs)), *inputs)


def _is_rounding_call(func: Any, named: dict[str, Any]) -> bool:
    return func in _ROUNDINGS or bool(named.get("rounding_mode"))


class _RoundingDetector(TorchFunctionMode):
    """Detects whether code rounds, also inside a Function's forward."""

    def __init__(self) -> None:
        super().__init__()
        self.rounds: bool = False

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        self.rounds |= func in _IN_PLACE or _is_rounding_call(func, named)
        return func(*args, **named)


class _StraightThrough(TorchFunctionMode):
    """Makes each rounding straight-through: ``x + (round(x) - x).detach()``."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        if func in _IN_PLACE:
            moved = args[0].detach()
            return args[0].add_(_IN_PLACE[func](moved, *args[1:], **named) - moved)
        result = func(*args, **named)
        if _is_rounding_call(func, named):
            smooth = args[0] if func in _ROUNDINGS else args[0] / args[1]
            return smooth + (result - smooth).detach()
        return result


def is_rounding(subject: Subject, x: Tensor, arguments: tuple[Any, ...]) -> bool:
    """Return whether the forward rounds."""
    with _RoundingDetector() as rounding, torch.no_grad():
        subject.run(x.clone(), arguments)
    return bool(rounding.rounds)

"""Compare the gradient that a backward gives an argument with its due one, autograd's of the forward.

The integrals of both gradients over all x are compared too, because jumps of y may move with the argument.
When the argument θ changes, a jump of height J at p moves by dp/dθ, which takes J·dp/dθ out of the integral
of y. No single x shows that. A rule spreads a threshold's gradient over a band around the jump, and its
integral must be right.
"""

from collections.abc import Callable
from contextlib import nullcontext
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from explorer.curves.bisection import find_jumps
from explorer.curves.user_functions.curve import differentiate
from explorer.curves.user_functions.elementwise import NEAR, make_test_points, merge_points
from explorer.curves.user_functions.subject import (
    NoGradientError,
    Subject,
    UntriedError,
    backpropagate,
    describe_error,
)
from explorer.curves.user_functions.traits import has_custom_node, is_input_of_function

_STAIRS = ("round", "floor", "ceil", "trunc")
_MIN_DECIDED = 0.5  # minimum fraction of elements with a decided result
_MAX_SINGLE = 16  # larger arguments are changed along random directions, not element by element
_MAX_INTEGRATED = 4  # of a larger argument, this number of elements is integrated, from the first to the last
_STEP, _SMALL_STEP = 1e-4, 1e-5  # by which an argument is changed
_REPEATS = 3  # factor on the number of elements, to see how a gradient grows with it
_MAX_JUMPS, _SCAN = 300, 4001
_JUMPS = "its forward jumps as the argument moves"
_ROUNDINGS = {getattr(owner, name) for owner in (torch, Tensor) for name in (*_STAIRS, "fix")}
_IN_PLACE: dict[Any, Callable[..., Tensor]] = {
    getattr(owner, f"{name}_"): getattr(torch, name) for owner in (torch, Tensor) for name in _STAIRS
}


class Probe:
    """The gradients of one learned argument: the actual ones, by backward, and the due (correct) ones.

    A gradient, (m,), has one value for each direction in which the argument is changed: one direction per
    element if the argument is small, else random ones. ``k`` is the argument's index among those after x.
    ``mixes`` is true if y at one x depends on other x.
    """

    def __init__(self, subject: Subject, k: int, mixes: bool = False) -> None:
        self.subject, self.k, self.mixes, dtype = subject, k, mixes, subject.trial.dtype
        self.name = subject.learned[k]
        self.argument = subject.arguments[k].detach().to(dtype)
        far = torch.logspace(0.7, 3.0, 10, dtype=dtype)
        x = torch.cat([-far, torch.linspace(-4.0, 4.0, 41, dtype=dtype) + 0.0137, far])
        is_free = subject.domain is None and subject.example is None and not subject.trial.suffix
        self.x = x if is_free else subject.sample(-4.0, 4.0, 61)
        self.y = subject.run(self.x.clone())
        count, random = self.argument.numel(), torch.Generator().manual_seed(11)
        directions = torch.randn(_MAX_SINGLE, count, generator=random, dtype=torch.float64).to(dtype)
        self._directions = torch.eye(count, dtype=dtype) if count <= _MAX_SINGLE else directions
        self.elements = torch.linspace(0, count - 1, min(count, _MAX_INTEGRATED)).long().tolist()

    def move(self, value: Tensor) -> "Probe":
        """Return a copy of the probe in which the argument has another value."""
        arguments, k, moved = self.subject.arguments, self.k, value.requires_grad_()
        subject = replace(self.subject, arguments=(*arguments[:k], moved, *arguments[k + 1 :]))
        return Probe(subject, k, self.mixes)

    def move_far(self) -> "Probe":
        """Return a copy of the probe with as many x, from −1,000 to 1,000 or over the domain."""
        probe, x = copy(self), torch.linspace(-1e3, 1e3, len(self.x), dtype=self.x.dtype)
        probe.x = self.subject.broadcast(self.subject.fit_domain(x))
        probe.y = self.subject.run(probe.x.clone())
        return probe

    @cached_property
    def upstreams(self) -> list[Tensor]:
        """Three independent upstream gradients, like y, with 0 where the due gradient is ambiguous."""
        steps = torch.arange(self.y.numel(), dtype=self.y.dtype).reshape(self.y.shape)
        return [((steps * pace).sin() + 0.4) * self._decided for pace in (0.7, 1.9, 3.1)]

    @cached_property
    def _decided(self) -> Tensor:
        """A tensor with 1 for each x at which the argument's due gradient is certain, and 0 for the other x.

        Rounding before or after clamping gives the same forward, but different masks near the bounds, so that
        the due gradient is ambiguous there. If few x are certain, the result is 1 for all.
        """
        everywhere = torch.ones_like(self.y)
        if self.forward is None or not self.rounds or self.y.shape != self.x.shape:
            return everywhere
        leaf = self.x.clone().requires_grad_()
        with _StraightThrough():
            plain = backpropagate(self.forward(leaf.clone(), *self.subject.prepare(leaf.dtype)), leaf)
        agreed = torch.isclose(self.subject.run_both(self.x)[1], plain, 1e-6, 1e-9).to(everywhere)
        return agreed if float(agreed.mean()) > _MIN_DECIDED else everywhere

    @cached_property
    def rounds(self) -> bool:
        """True if the function rounds in its forward."""
        with _StraightThrough() as mode, torch.no_grad():
            self.subject.run(self.x.clone())
        return bool(mode.rounds)

    @cached_property
    def is_chained(self) -> bool:
        """True if the gradient passes through a custom Function that does not take the argument itself.

        Autograd then computes it from the Function's gradient for its input, by the chain rule.
        """
        arguments = self.subject.prepare(self.x.dtype, learned=True)
        y, _ = self.subject.open_graph(self.x, arguments)
        return has_custom_node(y) and not is_input_of_function(arguments[self.k], y)

    @cached_property
    def forward(self) -> Callable[..., Any] | None:
        """The function's forward as torch code that autograd can follow, or None if there is none."""
        return self.subject.plain or (self.subject.function and partial(_run_plain, self.subject.function))

    @cached_property
    def actual(self) -> Tensor | None:
        """The gradients by backward for three upstream gradients, (3, m), or None if one is missing."""
        return self._stack([self.backpropagate(g) for g in self.upstreams])

    def backpropagate(
        self, g: Tensor, x: Tensor | None = None, forward: Callable[..., Any] | None = None
    ) -> Tensor | None:
        """Compute the argument's gradient by backward or, if ``forward`` is given, by autograd of it.

        The result is (numel,), or None without a gradient. Raises NoGradientError if the backward raises.
        """
        x = self.x if x is None else x
        arguments = self.subject.prepare(x.dtype, learned=True)
        try:
            with torch.enable_grad(), self.subject.begin_anew():
                copies = [each.clone() if isinstance(each, Tensor) else each for each in arguments]
                result = (forward or self.subject.call)(x.clone().requires_grad_().clone(), *copies)
            y = result[0] if isinstance(result, tuple | list) else result
            if not y.requires_grad:
                return None
            gradient = torch.autograd.grad(y, arguments[self.k], g.to(y.dtype), allow_unused=True)[0]
        except Exception as error:
            raise NoGradientError(f"its backward raises {describe_error(error)}") from error
        return None if gradient is None else gradient.flatten()

    def _stack(self, gradients: list[Tensor | None]) -> Tensor | None:
        rows = [gradient for gradient in gradients if gradient is not None]
        if len(rows) < len(gradients):
            return None
        return torch.stack(rows) @ self._directions.T.to(rows[0])

    def compute_due(self, *upstreams: Tensor) -> Tensor | None:
        """Compute the argument's due gradients, (n, m), for n upstream gradients.

        The gradients come from autograd of the forward, or from differences of y. Raises UntriedError if the
        forward cannot be followed.
        """
        if self.forward is not None:
            with _StraightThrough():
                return self._stack([self.backpropagate(g, forward=self.forward) for g in upstreams])
        if self.rounds:  # numerical differences between jumps are always 0
            raise UntriedError(f"{_JUMPS}, as it rounds")
        for step in (_STEP, _STEP / 100):  # the shorter one seldom meets a kink
            parts = zip(*(self.differentiate(g, step) for g in upstreams), strict=True)
            slopes, off = map(torch.stack, parts)
            if not bool((off > 1e-4 * (1 + slopes.abs())).any()):
                return slopes
        raise UntriedError(_JUMPS)

    def differentiate(self, g: Tensor, h: float = _SMALL_STEP) -> tuple[Tensor, Tensor]:
        """Return the slopes of sum(g · y) along the argument, and their likely errors. Shape (m,) each."""

        def sum_at(steps: Tensor) -> Tensor:
            sums = []
            for step, direction in zip(steps, self._directions, strict=True):
                arguments = list(self.subject.prepare(self.x.dtype))
                arguments[self.k] = arguments[self.k] + step * direction.reshape(self.argument.shape)
                with torch.no_grad():
                    sums.append((self.subject.run(self.x.clone(), tuple(arguments)) * g).sum())
            return torch.stack(sums).to(steps.dtype)

        return differentiate(sum_at, torch.zeros_like(self._directions[:, 0]), h)

    @cached_property
    def growth(self) -> float:
        """The growth of the gradient if x is repeated three times, relative to threefold: 1 for a sum.

        It is 1 too if y mixes elements in such a way that the due gradient does not grow threefold.
        """
        if self.mixes and (self.forward is None or abs(self._measure_growth(self.forward) - 1) > 1e-6):
            return 1.0
        return self._measure_growth()

    def _measure_growth(self, forward: Callable[..., Any] | None = None) -> float:
        if self.y.shape[:1] != self.x.shape[:1]:
            return 1.0
        x, g = (torch.cat([parts] * _REPEATS) for parts in (self.x, self.upstreams[0]))
        try:
            with _StraightThrough() if forward else nullcontext():
                pairs = (self.upstreams[0], self.x), (g, x)
                single, repeated = (self.backpropagate(*pair, forward=forward) for pair in pairs)
        except NoGradientError:  # it takes only one number of rows
            return 1.0
        size = 0.0 if single is None else float(single.abs().sum())
        return float(repeated.abs().sum()) / size / _REPEATS if repeated is not None and size else 1.0

    def name_element(self, element: int) -> str:
        """Return the argument's name, with the index of one element, counted row by row, if it has more."""
        if self.argument.numel() == 1:
            return self.name
        index = torch.unravel_index(torch.tensor(element), self.argument.shape)
        return f"{self.name} at index [{', '.join(str(int(place)) for place in index)}]"

    def compute_moments(self, share: float = 0.0) -> tuple[Tensor, Tensor, bool]:
        """Integrate the argument's gradient over all x: by backward, and by y with its moving jumps.

        Before that, the argument is increased by the fraction ``share``.

        Returns:
            The two integrals, float64, each (m, 2) for m = ``len(self.elements)`` elements, weighted with 1
            and with x / reach; and whether a jump of y moves with the argument.

        Raises:
            UntriedError: if the jumps of y cannot be followed.
        """
        value = self.subject.arguments[self.k].detach().double() * (1 + share)
        actual, expected, moves = zip(*(self._integrate(value, each) for each in self.elements), strict=True)
        return torch.stack(actual), torch.stack(expected), any(moves)

    def _integrate(self, value: Tensor, element: int) -> tuple[Tensor, Tensor, bool]:
        """Return the two integrals, (2,) each, for one element of the argument, which has a given value.

        The columns of y have different upstream gradients, so that another element's gradient is wrong.
        Raises UntriedError if the jumps of y cannot be followed.
        """
        subject, largest = self.subject, float(value.abs().max())
        step, reach = _SMALL_STEP * (1 + largest), max(NEAR, 2 * largest)
        direction = torch.zeros_like(value)
        direction.view(-1)[element] = 1.0
        moves = (0.0, -step, step, 0.1 + largest / 4)
        centre, below, above, distant = (self.move(value + move * direction) for move in moves)
        scan = merge_points([make_test_points(reach, _SCAN, 2, torch.float64)])
        scan = subject.clip(scan[scan.abs() <= reach])
        # Columns of y that do not depend on the argument are left out: their jumps do not move with it.
        columns = (distant._list_columns(scan) != centre._list_columns(scan)).any(0)
        g = 1 + torch.arange(len(columns), dtype=torch.float64) / len(columns)
        sum_below, sum_y, sum_above = (
            partial(probe._sum_columns, weights=g * columns) for probe in (below, centre, above)
        )
        low, at, high = (find_jumps(sum_at, scan)[0] for sum_at in (sum_below, sum_y, sum_above))
        if not len(at) == len(low) == len(high) or len(at) > _MAX_JUMPS:
            raise UntriedError(f"{_JUMPS}, at more x than could be followed")
        speed, h = (high - low) / (2 * step), 1e-9 * at.abs().clamp(min=1.0)
        losses = (sum_y(at + h) - sum_y(at - h)) * speed
        steps = torch.cat([10 ** torch.linspace(-6, 0.3, 400), torch.linspace(1e-4, 0.25, 1500)]).double()
        centres = [*at.tolist()[:12], float(value.flatten()[element])]
        x = merge_points([scan, *(subject.clip(torch.cat([item - steps, item + steps])) for item in centres)])
        x = x[x.abs() <= reach]
        cells = x.diff()
        weights = torch.cat([cells[:1], cells[1:] + cells[:-1], cells[-1:]]) / 2  # trapezoidal rule
        slope = (sum_above(x) - sum_below(x)) / (2 * step)
        for place, pace in zip(at.tolist(), speed.abs().tolist(), strict=True):
            slope = torch.where((x - place).abs() <= 2 * step * pace + 1e-12, 0.0, slope)
        actual, expected = [], []
        for at_x, at_jumps in ((torch.ones_like(x), torch.ones_like(at)), (x / reach, at / reach)):
            upstream = subject.broadcast(weights * at_x) * g.reshape(subject.trial.suffix or 1)
            gradient = centre.backpropagate(upstream, subject.broadcast(x))
            actual.append(x.new_zeros(()) if gradient is None else gradient.double()[element])
            expected.append((weights * at_x * slope).sum() - (losses * at_jumps).sum())
        return torch.stack(actual), torch.stack(expected), bool((speed.abs() > 1e-6).any())

    def _list_columns(self, x: Tensor) -> Tensor:
        """Return y for n values of x in float64, as (n, columns): one column for each element of a row."""
        with torch.no_grad():
            return self.subject.run(self.subject.broadcast(x)).double().unsqueeze(-1).flatten(1)

    def _sum_columns(self, x: Tensor, weights: Tensor) -> Tensor:
        return (self._list_columns(x) * weights).sum(1)


class _Context:
    """A substitute for ``ctx`` whose methods do nothing, so that a forward can run under autograd."""

    def __init__(self, inputs: int) -> None:
        self.needs_input_grad = (True,) * inputs

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith(("save_", "mark_", "set_")):
            return lambda *_: None
        raise AttributeError(name)


def _run_plain(function: type[torch.autograd.Function], x: Tensor, *arguments: Any) -> Any:
    new_style = function.setup_context is not torch.autograd.Function.setup_context
    inputs = (x, *arguments)
    return function.forward(*inputs) if new_style else function.forward(_Context(len(inputs)), *inputs)


class _StraightThrough(TorchFunctionMode):
    """A torch mode that replaces a rounding, also in a Function, by ``x + (round(x) - x).detach()``."""

    rounds: bool = False

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        is_division = bool(named.get("rounding_mode"))
        self.rounds |= is_division or func in _ROUNDINGS or func in _IN_PLACE
        if func in _IN_PLACE:
            moved = args[0].detach()
            return args[0].add_(_IN_PLACE[func](moved, *args[1:], **named) - moved)
        result = func(*args, **named)
        if is_division or func in _ROUNDINGS:
            smooth = args[0] / args[1] if is_division else args[0]
            return smooth + (result - smooth).detach()
        return result

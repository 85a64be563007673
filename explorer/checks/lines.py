"""Checks of functions that mix elements, such as softmax: y at one x depends on other x.

Such a function is followed along a straight line x + t·v. With weights w for y, ``<w, y(x + t·v)>`` is a
function of the number t. Its derivative by the rule is the vector–Jacobian product of w, times v. Most checks
are those of elementwise functions, which take t as their x. They run on a few lines in general position.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, lru_cache
from operator import attrgetter

import torch
from torch import Tensor

from explorer.checks.derivative import is_derivative
from explorer.checks.result import Result, by_design, fails, holds
from explorer.curves.user_functions.curve import Curve, differentiate
from explorer.curves.user_functions.elementwise import is_same
from explorer.curves.user_functions.subject import Subject

_TRIED, _SUMMED = 2, 6  # number of random lines to try, and to sum over
_POINTS, _SCAN = 25, 81  # number of positions t on each line: in a test, and in a scan for jumps
_REACH, _OFF = 2.0, 1e-3  # |t| at the ends of a line, and offset of t from round numbers
_MAX_STACKED = 2**16  # number of elements of x in one call, if rows are independent
_SCALES = (1e-4, 1e-2, 1.0, 1e2, 1e4)
_SMALLER = 1e-4  # factor on the steps of differences, to see whether a kink is near
_AGAINST = -0.9  # below this correlation of the rule's integral with y, the rule points the wrong way
_NAME_OF_X = re.compile(r"\bx(?= = )|(?<=\|)x(?=\|)|(?<=every )x\b")  # the name x in a sentence


class Line(Curve):
    """A function of one number t: the weighted output along a straight line x + t·v through an input x."""

    is_line = True
    _max_poles = 2  # each takes hundreds of calls

    def __init__(self, parent: Curve, x: Tensor, v: Tensor, w: Tensor, *, stacks: bool) -> None:
        size = max(1, _MAX_STACKED // x.numel()) if stacks else 1

        def call(t: Tensor) -> Tensor:
            # Copied once for all t, as a module's weights may be large, unless the forward changes them.
            arguments = None if parent.subject.writes_arguments else parent.subject.prepare(x.dtype)
            sums = [t.flatten()[:0]]
            for part in torch.split(t.flatten(), size) if t.numel() else ():
                xs = x + (part.reshape(-1, *[1] * x.dim()) * v).to(x.dtype)
                y = parent.subject.run(xs.flatten(0, 1), arguments)
                sums.append((y.reshape(len(part), *w.shape) * w).reshape(len(part), -1).sum(1).to(t.dtype))
            return torch.cat(sums).reshape(t.shape)

        plain = replace(parent.subject, call=call, arguments=(), function=None, example=None, domain=None)
        super().__init__(plain, traits=replace(parent.traits, dependence=""))  # y depends on t alone
        self.parent, self.start, self.v, self.w, self.stacks = parent, x, v, w, stacks

    def spread(self, even: int, factors: int, *parts: Tensor) -> Tensor:
        """Return evenly spaced positions t from −2 to 2, (n,); more of them if ``even`` is large."""
        count = _SCAN if even > _SCAN * 20 else _POINTS
        return torch.linspace(-_REACH, _REACH, count, dtype=self.dtype) + _OFF

    @cached_property
    def is_identity(self) -> bool:
        """True if the function returns x unchanged."""
        return torch.equal(self.parent.subject.run(self.start.clone()), self.start)

    @cached_property
    def trusted(self) -> Tensor:
        """A mask of the t with a reliable slope: a smaller step gives the same, so that no kink is near."""
        h = (self._slope[2] * _SMALLER).clamp(min=1e-8)
        slope, _ = differentiate(self.subject.y, self.x, h)
        rounding = 64 * self.eps * (self.y.abs() + 1e-3) / h
        return super().trusted & ((slope - self.slope).abs() <= self.tolerance + rounding)

    def integrate_uphill(self) -> Tensor:
        """Return the rule's integral and the rise of y, as (2,), along a line in the gradient's direction."""
        r = self.parent.subject.run_both(self.start, self.w)[1]
        size = float(r.square().mean().sqrt())
        v = r * (float(self.v.square().mean().sqrt()) / size) if size > 0 else self.v
        line = Line(self.parent, self.start, v, self.w, stacks=self.stacks)
        rise = line.subject.y(line.x[[0, -1]]).diff()[0]
        return torch.stack([torch.trapezoid(line.gradient, line.x), rise])


@lru_cache(maxsize=2)
def make_lines(curve: Curve) -> tuple[Line, ...]:
    """Return a function's restrictions to random straight lines through an x that it accepts."""
    subject = curve.subject
    x = subject.sample(-2.3, 2.9, 6)
    y = subject.run(x.clone())
    random = torch.Generator().manual_seed(3)
    reach = 1.0 if subject.domain is None else (subject.domain[1] - subject.domain[0]) / 8
    lines, stacks = [], _has_independent_rows(subject, x)
    for _ in range(_SUMMED):
        v, w = (torch.randn(item.shape, generator=random, dtype=torch.float64) for item in (x, y))
        lines.append(Line(curve, x, (v * reach).to(x.dtype), w.to(y.dtype), stacks=stacks))
    for line in lines:
        line.siblings = tuple(lines[:_TRIED])
    return tuple(lines)


def _has_independent_rows(subject: Subject, x: Tensor) -> bool:
    """Return whether each row of x gives the same rows of y and gradient if other rows follow in one call."""
    other = subject.fit_domain(0.9 * x.flip(0))
    try:
        separate = [torch.cat(parts) for parts in zip(*map(subject.run_both, (x, other)), strict=True)]
        together = subject.run_both(torch.cat([x, other]))
        return len(together[0]) > 0 and all(map(is_same, together, separate))
    except Exception:  # it takes only this number of rows, or its y has no rows
        return False


def adapt(run: Callable[[Curve], Result]) -> Callable[[Curve], Result]:
    """Adapt a check for elementwise functions to functions of several x.

    The returned check runs the given one along a few straight lines, and reports the worst result.
    """

    def run_on_lines(curve: Curve) -> Result:
        worst = min(map(run, make_lines(curve)[:_TRIED]), key=attrgetter("rank"))
        sentence = _NAME_OF_X.sub("t", worst.sentence[0].lower() + worst.sentence[1:])
        return replace(worst, sentence=f"Along a straight line x + t·v: {sentence}")

    return run_on_lines


def check_finiteness_at_scales(curve: Curve) -> Result:
    """Check whether the gradient stays finite if an x is multiplied by factors from 0.0001 to 10,000."""
    line = make_lines(curve)[0]
    for scale in _SCALES:
        x = curve.subject.fit_domain(line.start * scale)
        y, r = curve.subject.run_both(x, line.w)
        words = "For an x of about {scale}"
        if bool(y.isfinite().all()) and not bool(r.isfinite().all()):
            return fails(f"{words} the gradient is not finite, though y is: mask it.", scale=scale)
        if bool(y.isnan().any()) and bool(x.isfinite().all()):
            return fails(f"{words} y is NaN: write it so that nothing overflows.", scale=scale)
    return holds("The gradient is finite for x from about 0.0001 to about 10,000.")


def check_area_on_lines(curve: Curve) -> Result:
    """Check whether y jumps along straight lines, and compare the integral of the gradient with y's rise."""
    if not any(len(line.jumps[0]) for line in make_lines(curve)[:_TRIED]):
        return holds("y does not jump along straight lines, so there is nothing to compare the area with.")
    promised, rises = torch.stack([line.integrate_uphill() for line in make_lines(curve)]).T
    words = "y at one x depends on the others, so a jump has no area of its own. Along straight lines its"
    share = promised.abs().sum() / rises.abs().sum().clamp(min=1e-9)
    return by_design(f"{words} integral is {{figure}} times the rise of y.", None, share)


def check_antiderivative_on_lines(curve: Curve) -> Result:
    """Check whether y rises along straight lines in the direction of the rule's gradient."""
    lines = make_lines(curve)
    if all(is_derivative(line) and not len(line.jumps[0]) for line in lines[:_TRIED]):
        return holds("The op is an antiderivative of its gradient along straight lines.")
    promised, rises = torch.stack([line.integrate_uphill() for line in lines]).T
    sizes = float(promised.norm() * rises.norm())
    agreement = float((promised * rises).sum()) / sizes if sizes else 0.0
    text = "y moves against its gradient along straight lines (correlation {figure}): "
    if agreement < _AGAINST and lines[0].is_identity:
        return by_design(f"{text}a reversal, because the op is the identity.", None, agreement)
    if agreement < _AGAINST:
        return fails(f"{text}its sign is wrong.", None, agreement)
    words = "along straight lines the correlation of the two is {figure}"
    reason = "The net learns as if the op were the integral of its gradient"
    return by_design(f"{reason}; {words}.", None, agreement)

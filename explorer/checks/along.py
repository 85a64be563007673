"""Checks of a function whose y at one x depends on others: along straight lines through an x.

A line is x + t·v, and y is weighed with w: ``<w, y(x + t·v)>`` is a function of the number t, and its
derivative by the rule is the vector–Jacobian product of w times v. A few lines in general position are tried.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import torch
from torch import Tensor

from explorer.checks.curve import Curve
from explorer.checks.result import Finding, by_design, fails, format_number, holds, unknown
from explorer.curves.foreign import Subject, describe_error
from explorer.curves.switches import jumps

_LINES, _PLACES = 6, 5
_REACH = 2.0  # of t, on both sides of 0
_SCAN = 81  # t per line
_SCALES = (1e-4, 1e-2, 1.0, 1e2, 1e4)
_OTHERS = (-1.0, 2.0, 0.5, -3.0, 1e3)  # factors on g
_AGAINST = -0.5  # correlation of the rule's integral with the rise of y; below it the rule points backwards


@dataclass(frozen=True)
class Line:
    """A straight line through x in the direction v, on which y is weighed with w."""

    subject: Subject
    x: Tensor
    v: Tensor
    w: Tensor

    def y(self, t: Tensor) -> Tensor:
        """Return the weighed y at each t; (n,) float64."""
        with torch.no_grad():
            return torch.stack([(self.subject.run(self._move(at)) * self.w).sum() for at in t]).double()

    def gradient(self, t: Tensor) -> Tensor:
        """Return the rule's derivative by t at each t; (n,) float64."""
        both = [self.subject.run_both(self._move(at), self.w)[1] for at in t]
        return torch.stack([(r * self.v).sum() for r in both]).double()

    def _move(self, t: Tensor) -> Tensor:
        return self.x + (t * self.v).to(self.x.dtype)

    @cached_property
    def jumps(self) -> tuple[Tensor, Tensor]:
        """Positions and heights of the jumps of the weighed y; (m,) each."""
        eps = torch.finfo(self.w.dtype).eps
        at, heights = jumps(self.y, torch.linspace(-_REACH, _REACH, _SCAN, dtype=torch.float64) + 1e-3)
        real = heights.abs() > 1e3 * eps * float(self.w.abs().sum())
        return at[real], heights[real]


@lru_cache(maxsize=2)
def make_lines(curve: Curve) -> tuple[Line, ...]:
    """Return lines in general position through an x that the function takes."""
    subject = curve.subject
    x = subject.sample(-2.3, 2.9, 6)
    y = subject.run(x.clone())
    random = torch.Generator().manual_seed(3)
    reach = 1.0 if subject.domain is None else (subject.domain[1] - subject.domain[0]) / 8
    lines = []
    for _ in range(_LINES):
        v, w = (torch.randn(item.shape, generator=random, dtype=torch.float64) for item in (x, y))
        lines.append(Line(subject, x, (v * reach).to(x.dtype), w.to(y.dtype)))
    return tuple(lines)


def _compare_slopes(curve: Curve) -> tuple[Tensor, Tensor, Tensor]:
    """Return the rule's derivatives along the lines, the numerical ones, and their tolerance; (n,) each."""
    h = 1e-4 if curve.is_fine else 1e-2
    t = torch.linspace(-1.1, 1.3, _PLACES, dtype=torch.float64)
    parts = []
    for line in make_lines(curve):
        wide, fine = ((line.y(t + k * h) - line.y(t - k * h)) / (2 * k * h) for k in (1.0, 0.5))
        slope = (4 * fine - wide) / 3
        off = (fine - wide).abs() + 32 * curve.eps / h * (1 + line.y(t).abs())
        actual = line.gradient(t)
        sure = (
            (off <= (1e-3 if curve.is_fine else 5e-2) * (slope.abs() + 1))
            & slope.isfinite()
            & actual.isfinite()
        )
        parts.append(torch.stack([actual, slope, 5 * off + 1e-5 * slope.abs()])[:, sure])
    return tuple(torch.cat(parts, dim=1))


def _is_followed(curve: Curve) -> bool:
    """Return whether the rule is the derivative along each line."""
    actual, slope, tolerance = _compare_slopes(curve)
    return bool(len(actual)) and bool(((actual - slope).abs() <= tolerance).all())


def _has_jumps(curve: Curve) -> bool:
    return any(len(line.jumps[0]) for line in make_lines(curve)[:2])


def _is_identity(curve: Curve) -> bool:
    x = make_lines(curve)[0].x
    return torch.equal(curve.subject.run(x.clone()), x)


def check_derivative_along(curve: Curve) -> Finding:
    """Return whether vector–Jacobian products are the derivatives along straight lines, by differences."""
    actual, slope, tolerance = _compare_slopes(curve)
    if not len(actual):
        return unknown("y has no slope along straight lines that differences could tell.")
    off = (actual - slope).abs()
    if bool((off <= tolerance).all()):
        return holds(
            "Its vector–Jacobian products are the derivatives of y along straight lines; the largest "
            "relative "
            f"difference is "
            f"{format_number(float((off / (slope.abs() + 1e-3)).max()))}.", None, float(off.max()),
        )  # fmt: skip
    worst = int((off - tolerance).argmax())
    observed = (
        f"Along a straight line the rule promises {format_number(float(actual[worst]))}, "
        f"the slope of y is {format_number(float(slope[worst]))}"
    )
    if _is_identity(curve):
        return by_design(f"The op changes nothing, so only the rule matters. {observed}.")
    if _has_jumps(curve):
        return by_design(f"y jumps along straight lines, so the rule stands in for a derivative. {observed}.")
    times = float((actual * slope).sum() / slope.square().sum())
    if times > 0 and bool(
        ((actual - times * slope).abs() <= tolerance * (1 + times) + 1e-6 * slope.abs()).all()
    ):
        return by_design(f"It is {times:.6g} times the derivative, along each line.", None, times)
    return fails(f"{observed}: the backward is not the transposed Jacobian of the forward. Compare both.")


def check_linearity_along(curve: Curve) -> Finding:
    """Return whether the gradient for a·g and for g + g' is that of the parts."""
    lines = make_lines(curve)
    subject, x = curve.subject, lines[0].x
    first, second = (subject.run_both(x, line.w)[1] for line in lines[:2])
    size = float(first.abs().max() + second.abs().max()) + 1e-300
    for a in _OTHERS:
        actual = subject.run_both(x, a * lines[0].w)[1]
        off = float((actual - a * first).abs().nan_to_num(nan=torch.inf).max())
        if off > 1e4 * curve.eps * abs(a) * size:
            sentence = (
                f"{format_number(a)} times the upstream gradient does not give {format_number(a)} "
                f"times the gradient"
            )
            if _is_identity(curve):
                return by_design(f"The op changes nothing, and the rule is not linear in g: {sentence}.")
            return fails(f"{sentence}: use g exactly once, as a factor or in a matrix product.")
    both = subject.run_both(x, lines[0].w + lines[1].w)[1]
    if float((both - first - second).abs().max()) > 1e4 * curve.eps * size:
        return fails(
            "The gradient for the sum of two g is not the sum of their gradients: use g exactly once."
        )
    return holds("Twice the upstream gradient gives twice the gradient, and sums of g give sums.")


def check_finiteness_along(curve: Curve) -> Finding:
    """Return whether the gradient is finite for x and multiples of it from 0.0001 to 10,000."""
    line = make_lines(curve)[0]
    for scale in _SCALES:
        x = curve.subject.fit_domain(line.x * scale)
        y, r = curve.subject.run_both(x, line.w)
        if bool(y.isfinite().all()) and not bool(r.isfinite().all()):
            return fails(
                f"For an x of about {format_number(scale)} the gradient is not finite, though y is: mask it."
            )
        if bool(y.isnan().any()) and bool(x.isfinite().all()):
            return fails(
                f"For an x of about {format_number(scale)} y is NaN: write it so that nothing overflows."
            )
    return holds("The gradient is finite for x from about 0.0001 to about 10,000.")


def check_kinks_along(curve: Curve) -> Finding:
    """Return whether the gradient goes on evenly along straight lines."""
    scan = torch.linspace(-_REACH, _REACH, _SCAN, dtype=torch.float64) + 1e-3
    at, heights = jumps(make_lines(curve)[0].gradient, scan)
    heights = heights[heights.abs() > 1e6 * curve.eps]
    if not len(heights):
        return holds("Along a straight line the gradient goes on evenly.")
    return holds(
        f"Along a straight line the gradient jumps {len(heights)} times, as at t = "
        f"{format_number(float(at[0]))}."
    )


def check_area_along(curve: Curve) -> Finding:
    """Return whether y jumps along a line, and the ratio of the rule's integral to the rise of y."""
    if not _has_jumps(curve):
        return holds("y does not jump along straight lines, so there is no jump for the gradient to weigh.")
    promised, rises = _integrate(curve)
    share = float(promised.abs().sum() / rises.abs().sum().clamp(min=1e-9))
    return by_design(
        "y at one x depends on the others, so a jump has no area of its own. Along straight lines the "
        "gradient "
        f"weighs {format_number(share)} times as much as y moves.", None, share,
    )  # fmt: skip


def check_antiderivative_along(curve: Curve) -> Finding:
    """Return whether y moves along lines in the direction that the rule promises."""
    if _is_followed(curve) and not _has_jumps(curve):
        return holds("The op is an antiderivative of its gradient along straight lines.")
    promised, rises = _integrate(curve)
    sizes = float(promised.norm() * rises.norm())
    agreement = float((promised * rises).sum()) / sizes if sizes else 0.0
    if agreement < _AGAINST:
        text = f"y moves against its gradient along straight lines (correlation {format_number(agreement)})"
        if _is_identity(curve):
            return by_design(f"{text}: a reversal, for the op changes nothing.", None, agreement)
        return fails(f"{text}: its sign is wrong.", None, agreement)
    return by_design(
        "The net learns as if the op were the integral of its gradient; along straight lines both agree "
        "with a "
        f"correlation of {format_number(agreement)}.", None, agreement,
    )  # fmt: skip


def _integrate(curve: Curve) -> tuple[Tensor, Tensor]:
    """Return the rule's integrals and the rises of y along lines in directions of gradients; (n,) each."""
    t = torch.linspace(-_REACH, _REACH, 41, dtype=torch.float64) + 1e-3
    promised, rises = [], []
    for line in make_lines(curve):
        r = curve.subject.run_both(line.x, line.w)[1]
        size = float(r.square().mean().sqrt())
        uphill = replace(line, v=r * (float(line.v.square().mean().sqrt()) / size)) if size > 0 else line
        promised.append(torch.trapezoid(uphill.gradient(t), t))
        rises.append(uphill.y(t[-1:])[0] - uphill.y(t[:1])[0])
    return torch.stack(promised), torch.stack(rises)


def check_double_backward_along(curve: Curve) -> Finding:
    """Return whether autograd through the backward gives the derivatives of the gradient along a line."""
    first, other = make_lines(curve)[:2]
    subject, h = curve.subject, 1e-4 if curve.is_fine else 1e-2
    leaf, g = (item.clone().requires_grad_() for item in (first.x, first.w))
    try:
        y = subject.run(leaf.clone())
        (r,) = torch.autograd.grad(y, leaf, g, create_graph=True)
        if r.requires_grad:
            torch.autograd.backward((r * first.v).sum())
    except Exception as error:
        if "once_differentiable" in str(error):
            return by_design("It is marked once_differentiable: torch refuses a second derivative.")
        return by_design(
            f"Torch refuses a second derivative ({describe_error(error)}), so it is never wrong."
        )
    by_x, by_g = (torch.zeros_like(item) if item.grad is None else item.grad for item in (leaf, g))

    def project(x: Tensor, w: Tensor) -> float:
        return float((subject.run_both(x, w)[1] * first.v).sum())

    def compute_differences(x: Tensor, w: Tensor) -> list[float]:
        """Return central differences of the projected gradient, with the step and with half of it."""
        return [
            (
                project(first.x + k * h * x, first.w + k * h * w)
                - project(first.x - k * h * x, first.w - k * h * w)
            )
            / (2 * k * h)
            for k in (1.0, 0.5)
        ]

    nothing_x, nothing_g = torch.zeros_like(first.x), torch.zeros_like(first.w)
    cases = (
        ("g", by_g, other.w, compute_differences(nothing_x, other.w)),
        ("x", by_x, other.v, compute_differences(other.v, nothing_g)),
    )
    for name, actual, direction, (wide, fine) in cases:
        size = abs(fine) + 1e-2
        if abs(wide - fine) > 1e-2 * size or abs(
            float((actual * direction).sum()) - fine
        ) <= 1e-3 * size + 5 * abs(wide - fine):
            continue
        observed = (
            f"Along a straight line the gradient's own derivative by {name} is "
            f"{format_number(float((actual * direction).sum()))}, {format_number(fine)} is due"
        )
        if name == "x" and not _is_followed(curve):
            return by_design(
                f"{observed}; the rule stands in for a derivative, and a second one of it means little."
            )
        advice = "use g itself in backward, without .data, detach or NumPy" if name == "g" else (
            "save x or y with save_for_backward and compute the rest in backward"
        )  # fmt: skip
        return fails(f"{observed}: {advice}.")
    return holds("Its second derivative is right along a straight line.")

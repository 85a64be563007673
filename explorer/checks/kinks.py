"""Checks that the gradient exactly at a kink is between its limits from both sides."""

import math
from collections.abc import Callable
from operator import attrgetter

import torch
from torch import Tensor

from explorer.catalogue import OPS, RULES, find_tensor_gradient
from explorer.checks.result import Result, by_design, fails, format_position, holds
from explorer.curves.bisection import round_position
from explorer.curves.user_functions.curve import Curve
from explorer.curves.user_functions.elementwise import NEAR
from explorer.curves.user_functions.subject import UntriedError, prepare_pair
from explorer.formula import FUNCTIONS

_BESIDE_POLE = 1e-2  # the slope of a pole counts as a jump up to this distance
_MANY = 64  # with more kinks, the gradient is a staircase
_STEEP = 1e4  # larger limits count as infinite; between two of these any value is right
# Torch's piecewise polynomial functions of one argument, and hardtanh with its defaults.
_NATIVE: dict[str, Callable[..., Tensor]] = {
    name: attrgetter(row.torch)(torch)
    for name, row in FUNCTIONS.items()
    if (row.arity == 1 and row.pieces and row.degree < math.inf and not row.own) or name == "hardtanh"
}


def check_kinks(curve: Curve) -> Result:
    """Check whether the gradient at each kink lies between its limits from both sides."""
    curve.require_elementwise()
    x = _find_positions(curve)
    if not len(x):
        return holds("Neither the op nor the gradient has a kink.")
    left, value, right = _extrapolate(curve.subject.gradient(_surround(x)))
    low, high = torch.minimum(left, right), torch.maximum(left, right)
    slack = 1e-6 * (1e-3 + torch.maximum(low.abs(), high.abs()))
    tame = low.isfinite() & high.isfinite() & (low.abs() < _STEEP) & (high.abs() < _STEEP)
    wrong = tame & ~((value >= low - slack) & (value <= high + slack))
    order = sorted(range(len(x)), key=lambda i: (abs(x[i]), -x[i]))

    def judge(
        conclude: Callable[..., Result], i: int, ending: str, native_gradient: Tensor | None = None
    ) -> Result:
        place = f"At {'x = ' * curve.is_line}{format_position(x[i], 7)}, g = 1,"
        words = f"{place} the gradient is {{value}}, {{left}} to the left, {{right}} to the right{ending}."
        ends = [
            end if abs(end) < _STEEP or value[i].isfinite() else end * math.inf for end in (left[i], right[i])
        ]
        return conclude(words, x[i], value=value[i], left=ends[0], right=ends[1], own=native_gradient)

    if bool(wrong.any()) and not curve.is_line:  # several elements of a line may share a kink
        first = next(i for i in order if wrong[i])
        if curve.subject.declared:
            owner = "torch's own backward" if curve.subject.declared.parsed is None else "the published rule"
            return judge(by_design, first, f", as {owner} has it")
        return judge(fails, first, ": it belongs between its two limits. Let one branch include the bound")
    is_stepped = len(curve.gradient_jumps[0]) > _MANY  # in 16 bits, and only larger jumps are kinks
    near = curve.gradient[curve.x.abs() <= curve.x.abs().min() + NEAR].abs()
    sizes = torch.maximum(low.abs(), high.abs()).clamp(1.0, 1e300)  # of rounding errors
    step = 1e-2 * near.max().expand_as(x) if is_stepped else 1e-6 * sizes
    off = torch.maximum((left - right).abs(), (value - left).abs())
    jumping = [i for i in order if off[i] > step[i]]
    if not jumping:
        place = format_position(x[order[0]], 7)
        apart = "Apart from small steps, as of 16-bit numbers, the gradient" if is_stepped else "The gradient"
        return holds(f"{apart} is continuous at every kink of op or gradient, such as {place}.", x[order[0]])
    count = "many" if is_stepped else len(jumping) - 1
    ending = f" ({count} more such kink{'s' * (len(jumping) > 2)})" if len(jumping) > 1 else ""
    within = ": within its two limits" if tame[jumping[0]] else ": between endless limits any value will do"
    stands_in = curve.is_flat and len(curve.jumps[0])  # torch's own gradient is 0 everywhere
    reference = None if stands_in else _find_torch_function(curve, _surround(x))
    if reference is None:
        return judge(holds, jumping[0], within + ending)
    name, version = reference[0], torch.__version__.split("+")[0]
    native_left, native_gradient, native_right = _extrapolate(reference[1])
    for i in jumping:
        if native_gradient[i].isfinite() and (native_gradient[i] - value[i]).abs() > 1e-6:
            return judge(by_design, i, f"; torch {version}'s own {name} gives {{own}}", native_gradient[i])
    i = jumping[0]
    same = torch.isclose(left, native_left, 1e-4, 1e-5) & torch.isclose(right, native_right, 1e-4, 1e-5)
    native = f", as in torch {version}'s own {name}" * bool(same[i])
    return judge(holds, i, within + native + ending)


def _find_positions(curve: Curve) -> Tensor:
    """Return the x to check, (m,): kinks, and round numbers where the gradient is unlike both sides."""
    subject = curve.subject
    if (declared := curve.declared_kinks) is not None:
        return torch.tensor(declared, dtype=curve.dtype)
    positions = torch.cat([curve.gradient_jumps[0], curve.jumps[0], _find_corners(curve)])
    jumps = [round_position(float(x)) for x in positions if x.abs() <= 1e3]
    jumps = [x for x in jumps if all(abs(x - pole) > _BESIDE_POLE for pole in curve.poles)]
    constants = [sign * number for number in subject.constants for sign in (1, -1)]
    plain = [] if curve.is_line else [*torch.linspace(-8, 8, 33).tolist(), *constants]
    candidates = subject.clip(torch.tensor(sorted({*jumps, *plain}), dtype=curve.dtype))
    left, at, right = _extrapolate(subject.gradient(_surround(candidates)))
    kink = torch.tensor([x in jumps for x in candidates.tolist()], dtype=torch.bool)
    is_even = torch.isclose(left, right, rtol=1e-4, atol=1e-5)
    return candidates[kink | ~torch.isclose(at, left, rtol=1e-4, atol=1e-5) & is_even]


def _find_corners(curve: Curve) -> Tensor:
    """Return integers and constants in the code at which the slope of y jumps. Shape (m,)."""
    x = curve.subject.clip(torch.tensor(sorted({*range(-8, 9), *curve.subject.constants}), dtype=curve.dtype))
    h = 1e-6 * x.abs().clamp(min=1.0)
    below, y, above = (curve.subject.y(x + k * h) for k in (-1, 0, 1))
    bend = (2 * y - below - above).abs()
    is_bent = bend > 1e-3 * ((y - below).abs() + (above - y).abs() + 1e-3 * h)
    x, y, h, bend = x[is_bent], y[is_bent], h[is_bent], bend[is_bent]
    if not len(x):
        return x
    wider_bend = (2 * y - curve.subject.y(x - 2 * h) - curve.subject.y(x + 2 * h)).abs()
    return x[wider_bend < 3 * bend]  # a smooth bend, as of x² at 0, grows with h²


def _surround(x: Tensor) -> Tensor:
    h = (1e-9 if x.dtype == torch.float64 else 1e-4) * x.abs().clamp(min=1.0)
    return torch.cat([x - 2 * h, x - h, x, x + h, x + 2 * h])


def _extrapolate(r: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return left limits, values and right limits, (m,) each, of gradients ``r`` at ``_surround(x)``."""
    farther_left, left, at, right, farther_right = r.reshape(5, -1)
    low, high = 2 * left - farther_left, 2 * right - farther_right
    return torch.where(low.isfinite(), low, left), at, torch.where(high.isfinite(), high, right)


def _find_torch_function(curve: Curve, x: Tensor) -> tuple[str, Tensor] | None:
    """Return the name of a torch function that equals the op, and its gradient at x. None without one."""
    subject = curve.subject
    if subject.op:
        native_gradient = prepare_pair(subject.op, RULES["default"], subject.parameters)
        shared = any(find_tensor_gradient(subject.op, item.name) for item in subject.op.parameters)
        name = subject.op.label if subject.op.key in OPS else "derivative of this op"
        return name + " with numbers as bounds" * shared, native_gradient.gradient(x)
    lo, hi = float(curve.y.min()), float(curve.y.max())
    native = {"clamp": lambda values: torch.clamp(values, lo, hi)} if lo < hi else {}
    for name, function in (_NATIVE | native).items():
        try:
            if torch.equal(function(curve.x), curve.y):
                leaf = x.clone().requires_grad_()
                return name, torch.autograd.grad(function(leaf).sum(), leaf)[0]
        except RuntimeError as error:
            raise UntriedError(f"torch's own {name} raises {error}") from error
    return None

"""Oracles of what learns: the op as code without a Function, which autograd differentiates.

Rounding is ``a + (round(a) - a).detach()``, what saturates is chosen by ``torch.where``. Each takes x, the
factor by which the gradients of its parameters are scaled, and the parameters by name, all of one dtype.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

Composed = Callable[..., Tensor]


def _rounded(a: Tensor) -> Tensor:
    return a + (a.round() - a).detach()


def _scaled(parameter: Tensor, factor: float) -> Tensor:
    """The same value, with ``factor`` times the gradient."""
    return (parameter - parameter * factor).detach() + parameter * factor


def _levels(u: Tensor, qmin: Tensor, qmax: Tensor) -> Tensor:
    return torch.where(u <= qmin, qmin, torch.where(u >= qmax, qmax, _rounded(u)))


def lsq(x: Tensor, factor: float, s: Tensor, qmin: Tensor, qmax: Tensor) -> Tensor:
    step = _scaled(s, factor)
    return _levels(x / step, qmin, qmax) * step


def lsq_plus(x: Tensor, factor: float, s: Tensor, qmin: Tensor, qmax: Tensor, beta: Tensor) -> Tensor:
    step, offset = _scaled(s, factor), _scaled(beta, factor)
    return _levels((x - offset) / step, qmin, qmax) * step + offset


def tqt(x: Tensor, factor: float, log2_s: Tensor, qmin: Tensor, qmax: Tensor) -> Tensor:
    step = 2 ** (log2_s + (log2_s.ceil() - log2_s).detach())
    level = _rounded(x / step)
    return torch.where(level < qmin, qmin, torch.where(level > qmax, qmax, level)) * step


def pact(x: Tensor, factor: float, lo: Tensor, hi: Tensor) -> Tensor:
    return torch.where(x >= hi, hi, torch.where(x < lo, lo.detach(), x))


def learned_clamp(x: Tensor, factor: float, lo: Tensor, hi: Tensor) -> Tensor:
    return torch.where(x < lo, lo, torch.where(x > hi, hi, x))


def ttq(x: Tensor, factor: float, wp: Tensor, wn: Tensor, delta: Tensor) -> Tensor:
    levels = wp * (x > delta) - wn * (x < -delta)
    slope = torch.where(x > delta, wp, torch.where(x < -delta, wn, 1.0)).detach()
    return levels + slope * (x - x.detach())


def prelu(x: Tensor, factor: float, a: Tensor) -> Tensor:
    return torch.where(x > 0, x, a * x)  # at 0 as torch.nn.functional.prelu


def fake_quantize(x: Tensor, factor: float, s: Tensor, z: Tensor, qmin: Tensor, qmax: Tensor) -> Tensor:
    zero = z.detach().round()
    level = _rounded(x / s) + zero
    return (torch.where(level < qmin, qmin, torch.where(level > qmax, qmax, level)) - zero) * s


def rdfs(x: Tensor, factor: float, s: Tensor, qmin: Tensor, qmax: Tensor, amp: Tensor) -> Tensor:
    step, level = _scaled(s, factor), (x / s).detach()
    wave = math.sqrt(2) * math.pi * amp * torch.cos(math.pi * (level + level.round()))
    x = x.detach() + ((1 - wave) / (1 + wave)).detach() * (x - x.detach())  # what the rule makes of g
    moved = x / step
    return torch.where(moved < qmin, qmin, torch.where(moved > qmax, qmax, _rounded(moved))) * step


def seq(x: Tensor, factor: float, s: Tensor, half: Tensor, shift: Tensor) -> Tensor:
    """Beyond the ends the gradient is the largest level, whatever the op makes of it."""
    step = _scaled(s, factor)
    inside = x / step
    level = (((inside.clamp(-0.99, 0.99) * half - shift).round() + shift) / half).detach()
    end = ((half - shift) / half).detach() * inside.detach().sign()
    beyond = level * step.detach() + end * (step - step.detach())
    return torch.where(inside.abs() > 0.99, beyond, (level + inside - inside.detach()) * step)


# (op, rule) -> what the op is, with the gradients that the rule and its learned parameters are due.
LEARNED: dict[tuple[str, str], Composed] = {
    ("quantize", "lsq"): lsq, ("quantize_clamp_first", "lsq"): lsq, ("quantize_offset", "lsq_plus"): lsq_plus,
    ("quantize_power_of_two", "tqt"): tqt, ("clamp", "pact"): pact, ("clamp", "learned_clamp"): learned_clamp,
    ("hardtanh", "learned_clamp"): learned_clamp, ("ttq", "ttq"): ttq, ("prelu", "default"): prelu,
    ("fake_quantize", "fake_quantize"): fake_quantize, ("quantize", "rdfs"): rdfs, ("seq", "seq"): seq,
}  # fmt: skip

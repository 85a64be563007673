"""What every op and rule of the catalogue should give, written in NumPy from its source or its meaning.

An oracle never looks at the catalogue's formula. It takes arrays of one dtype and the parameters by
name; bounds are compared in that dtype, as torch compares them, and everything smooth is calculated
in float64, often along another way (densities, cosh, tables) than the formula goes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

OPS: dict[str, Callable[..., Array]] = {}
RULES: dict[str, Callable[..., Array]] = {}

_erf = np.vectorize(math.erf, otypes=[float])


def _op(function: Callable[..., Array]) -> Callable[..., Array]:
    OPS[function.__name__.rstrip("_")] = function
    return function


def _rule(function: Callable[..., Array]) -> Callable[..., Array]:
    RULES[function.__name__.rstrip("_")] = function
    return function


def _wide(x: Array) -> Array:
    return x.astype(np.float64)


def _half_even(x: Array) -> Array:
    """Rounding to the nearest integer from its definition: halves go to the even neighbour."""
    low = np.floor(x)
    rest = x - low
    up = (rest > 0.5) | ((rest == 0.5) & (low % 2 == 1))
    return np.copysign(low + up, x)


# --- ops ---------------------------------------------------------------------------------------------


@_op
def round_(x):
    return _half_even(x)


@_op
def quantize(x, s, qmin, qmax):
    levels = np.arange(qmin, qmax + 1)
    return levels[np.clip(_half_even(x / s) - qmin, 0, len(levels) - 1).astype(int)] * s


@_op
def quantize_clamp_first(x, s, qmin, qmax):
    return quantize(x, s, qmin, qmax)


@_op
def dorefa(x, n):
    return np.minimum(np.maximum(_half_even(x * n), 0), n) / n


@_op
def floor(x):
    whole = x.astype(int)
    return (whole - (whole > x)).astype(float)


@_op
def ceil(x):
    return -floor(-x)


@_op
def trunc(x):
    return np.fix(x)


@_op
def fraction(x):
    return _wide(x) % 1.0


@_op
def soft_round(x, a):
    left = np.floor(_wide(x))
    chord = np.tanh(a / 2)
    return left + (np.tanh(a * (_wide(x) - left - 0.5)) + chord) / (2 * chord)


@_op
def sign(x):
    return np.select([x > 0, x < 0], [1.0, -1.0], 0.0)


@_op
def binarize(x):
    return np.array([-1.0 if value < 0 else 1.0 for value in x.ravel()]).reshape(x.shape)


@_op
def ternarize(x, delta):
    wide, bound = _wide(x), float(x.dtype.type(delta))
    return 1.0 * (wide > bound) - 1.0 * (wide < -bound)


@_op
def scaled_binarize(x):
    return binarize(x) * np.abs(_wide(x)).sum() / x.size


@_op
def clamp(x, lo, hi):
    return np.minimum(np.maximum(_wide(x), lo), hi)


@_op
def hardtanh(x, lo, hi):
    return np.select([x < lo, x > hi], [lo, hi], _wide(x))


@_op
def hardsigmoid(x):
    return np.interp(_wide(x), [-3, 3], [0, 1])


@_op
def relu(x):
    return (np.abs(_wide(x)) + _wide(x)) / 2


@_op
def leaky_relu(x, slope):
    return np.maximum(_wide(x), slope * _wide(x))


@_op
def relu6(x):
    return np.interp(_wide(x), [0, 6], [0, 6])


@_op
def elu(x, alpha):
    return np.array([value if value > 0 else alpha * math.expm1(value) for value in _wide(x).ravel()])


@_op
def selu(x):
    scale, alpha = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
    return scale * elu(x, alpha)


@_op
def celu(x, alpha):
    wide = _wide(x)
    return np.maximum(wide, 0) + np.minimum(alpha * (np.exp(np.minimum(wide, 0) / alpha) - 1), 0)


@_op
def gelu(x):
    return _wide(x) * 0.5 * (1 + _erf(_wide(x) / math.sqrt(2)))


@_op
def silu(x):
    return _wide(x) * sigmoid(x)


@_op
def mish(x):
    grown = np.exp(np.minimum(_wide(x), 40))
    return _wide(x) * ((1 + grown) ** 2 - 1) / ((1 + grown) ** 2 + 1)


@_op
def hardswish(x):
    return _wide(x) * hardsigmoid(x)


@_op
def softplus(x):
    return np.where(x > 20, _wide(x), np.logaddexp(0, _wide(x)))  # above 20 torch leaves out 2e-9


@_op
def identity(x):
    return _wide(x)


@_op
def tanh(x):
    grown = np.exp(-2 * np.abs(_wide(x)))
    return np.copysign((1 - grown) / (1 + grown), x)


@_op
def sigmoid(x):
    return (1 + np.tanh(_wide(x) / 2)) / 2


@_op
def softsign(x):
    return np.copysign(1 - 1 / (1 + np.abs(_wide(x))), x)


@_op
def softshrink(x, lambd):
    return _wide(x) - np.clip(_wide(x), -lambd, lambd)


@_op
def hardshrink(x, lambd):
    return np.select([x > lambd, x < -lambd], [_wide(x), _wide(x)], 0.0)


@_op
def abs_(x):
    return np.hypot(_wide(x), 0)


@_op
def square(x):
    return _wide(x) * _wide(x)


@_op
def cube(x):
    return _wide(x) * _wide(x) * _wide(x)


@_op
def sqrt(x):
    return np.array([math.sqrt(value) if value >= 0 else math.nan for value in _wide(x)])


@_op
def exp(x):
    return np.array([math.exp(value) for value in _wide(x)])


@_op
def log(x):
    special = {0: -math.inf}
    return np.array([math.log(v) if v > 0 else special.get(v, math.nan) for v in _wide(x)])


@_op
def sin(x):
    return np.array([math.sin(value) for value in _wide(x)])


@_op
def reciprocal(x):
    return np.array([1 / value if value else math.copysign(math.inf, value) for value in _wide(x)])


@_op
def step(x):
    return np.heaviside(_wide(x), 1.0)


@_op
def step_open(x):
    return np.heaviside(_wide(x), 0.0)


# --- rules for any op: what happens to g, case by case ------------------------------------------------


@_rule
def straight_through(x, y, g):
    return g


@_rule
def masked(x, y, g, lo, hi):
    return np.select([x < lo, x > hi], [0, 0], g)


@_rule
def masked_open(x, y, g, lo, hi):
    return np.select([x <= lo, x >= hi], [0, 0], g)


@_rule
def published_clamp(x, y, g, lo, hi):
    gradient = g.copy()
    gradient[x < lo] = 0
    gradient[x > hi] = 1
    return gradient


@_rule
def toward_range(x, y, g, lo, hi):
    descent = -g
    away = ((x > hi) & (descent > 0)) | ((x < lo) & (descent < 0))
    return np.where(away, 0, g)


@_rule
def clamp_with_grad(x, y, g, lo, hi):
    beyond = np.select([x > hi, x < lo], [x - x.dtype.type(hi), x - x.dtype.type(lo)], x.dtype.type(0))
    lost = g * beyond == 0  # inside the range, or the product underflows
    return np.where(lost, g, toward_range(x, y, g, lo, hi))


@_rule
def zero(x, y, g):
    return np.zeros_like(g)


@_rule
def scale(x, y, g, s):
    return _wide(g) * s


@_rule
def reversal(x, y, g, alpha):
    return -_wide(g) * alpha


@_rule
def clip_value(x, y, g, c):
    return np.sign(g) * np.minimum(np.abs(_wide(g)), c)


@_rule
def seed_relu(x, y, g):
    gradient = g.copy()
    gradient[x < 0] = 0
    return gradient


@_rule
def leaky_backward(x, y, g, slope):
    gradient = _wide(g)
    gradient[x <= 0] *= slope
    return gradient


@_rule
def guided(x, y, g):
    return np.where((x <= 0) | (g <= 0), 0, g)


@_rule
def deconvnet(x, y, g):
    return np.maximum(g, 0)


# --- rules for sign-like ops --------------------------------------------------------------------------


@_rule
def clipped(x, y, g, c):
    return np.select([x < -c, x > c], [0, 0], g)


@_rule
def approx_sign(x, y, g):
    return _wide(g) * np.interp(_wide(x), [-1, 0, 1], [0, 2, 0])


@_rule
def swish_sign(x, y, g, b):
    z = np.clip(b * _wide(x), -300, 300)
    return _wide(g) * b * (2 - z * np.tanh(z / 2)) / (1 + np.cosh(z))


@_rule
def ede(x, y, g, t):
    k = 1 / t if t < 1 else 1.0
    return k * t / np.cosh(np.clip(t * _wide(x), -300, 300)) ** 2 * _wide(g)


@_rule
def reste(x, y, g, o, t):
    inner = x.dtype.type(0.1)
    size, slope = np.abs(_wide(x)), np.zeros(x.shape)
    root = (np.abs(x) <= t) & (np.abs(x) > inner)
    slope[root] = size[root] ** ((1 - o) / o) / o
    slope[np.abs(x) <= inner] = 0.1 ** (1 / o) / 0.1
    return slope * _wide(g)


@_rule
def magnitude_aware(x, y, g, c):
    return clipped(x, y, g, c) * np.abs(_wide(x)).sum() / x.size


# --- surrogates for step-like ops: densities, where there is one ---------------------------------------


def _normal(x, centre, width):
    return np.exp(-0.5 * np.square((x - centre) / width)) / math.sqrt(2 * math.pi * width * width)


@_rule
def sigmoid_surrogate(x, y, g, a):
    return a / np.square(2 * np.cosh(np.clip(a * _wide(x), -600, 600) / 2)) * _wide(g)


@_rule
def atan_surrogate(x, y, g, a):
    half_width = 2 / (math.pi * a)
    return half_width / (math.pi * (np.square(_wide(x)) + half_width**2)) * _wide(g)


@_rule
def fast_sigmoid(x, y, g, k):
    return _wide(g) * np.power(k * np.abs(_wide(x)) + 1.0, -2.0)


@_rule
def triangle(x, y, g, a):
    return _wide(g) * np.interp(_wide(x), [-1 / a, 0, 1 / a], [0, a, 0])


@_rule
def boxcar(x, y, g, w):
    return np.select([x < -w, x > w], [0, 0], _wide(g) / (w + w))


@_rule
def gaussian(x, y, g, s):
    return _wide(g) * _normal(_wide(x), 0, s)


@_rule
def multi_gaussian(x, y, g, s, h, q):
    wide = _wide(x)
    lobes = _normal(wide, s, q * s) + _normal(wide, -s, q * s)
    return _wide(g) * ((1 + h) * _normal(wide, 0, s) - h * lobes)


@_rule
def erf_surrogate(x, y, g, a):
    return _wide(g) * _normal(_wide(x), 0, 1 / (a * math.sqrt(2)))


@_rule
def laplace(x, y, g, a):
    scale_of_noise = 1 / a
    return _wide(g) * np.exp(-np.abs(_wide(x)) / scale_of_noise) / (2 * scale_of_noise)


@_rule
def softsign_surrogate(x, y, g, a):
    return _wide(g) * a / 2 / np.square(1 + np.abs(a * _wide(x)))


@_rule
def tanh_surrogate(x, y, g, k):
    return _wide(g) / np.cosh(np.clip(k * _wide(x), -300, 300)) ** 2


@_rule
def q_pseudo_spike(x, y, g, a):
    return _wide(g) * np.exp(-a * np.log1p(2 / (a - 1) * np.abs(_wide(x))))


@_rule
def leaky_spike(x, y, g, leak):
    spikes = np.heaviside(_wide(x), 1.0)
    return _wide(g) * spikes + leak * _wide(g) * (1 - spikes)


@_rule
def log_tailed(x, y, g, a):
    slope = np.ones(x.shape)
    slope[x > 1] = 1 / _wide(x)[x > 1]
    slope[x <= 0] = a
    return slope * _wide(g)


@_rule
def spike_escape(x, y, g, b, k):
    return k * np.exp(-b * np.abs(_wide(x) - 1)) * _wide(g)


@_rule
def sparse_fast_sigmoid(x, y, g, k, B):  # noqa: N803 -- the paper's letter
    return np.select([x <= -B, x >= B], [0, 0], fast_sigmoid(x, y, g, k))


# --- rules for rounding -------------------------------------------------------------------------------


@_rule
def soft_round_(x, y, g, a):
    from_middle = np.mod(_wide(x), 1.0) - 0.5
    return _wide(g) * a / (2 * math.tanh(a / 2) * np.cosh(a * from_middle) ** 2)


@_rule
def dsq(x, y, g, alpha):
    s = 1 / (1 - alpha)
    k = math.log((s + 1) / (s - 1))
    from_middle = np.mod(_wide(x), 1.0) - 0.5
    return _wide(g) * s / 2 * k / np.cosh(k * from_middle) ** 2


@_rule
def ewgs(x, y, g, delta):
    return _wide(g) + delta * np.abs(_wide(g)) * (_wide(x) - _wide(y))


@_rule
def quantize_masked(x, y, g, s, qmin, qmax):
    level = x / s
    return np.select([level < qmin, level > qmax], [0, 0], g)

"""Oracles of the ops."""

import math

import numpy as np

from tests.catalogue.oracles.arrays import Array, table, wide

OPS, _op = table()

_erf = np.vectorize(math.erf, otypes=[float])


def _half_even(x: Array) -> Array:
    """Rounding to the nearest integer from its definition: halves go to the even neighbour."""
    low = np.floor(x)
    rest = x - low
    up = (rest > 0.5) | ((rest == 0.5) & (low % 2 == 1))
    return np.copysign(low + up, x)


@_op
def quantize(x, s, qmin, qmax):
    levels = np.arange(qmin, qmax + 1)
    return levels[np.clip(_half_even(x / s) - qmin, 0, len(levels) - 1).astype(int)] * s


@_op
def floor(x):
    whole = x.astype(int)
    return (whole - (whole > x)).astype(float)


def _numbers(mantissa, least, count):
    """The first ``count`` numbers of a format that are not negative, by their codes in ascending order."""
    codes = np.arange(count)
    exponent, rest = codes >> mantissa, codes & ((1 << mantissa) - 1)
    leading = np.where(exponent > 0, 1 << mantissa, 0)
    return np.ldexp((leading + rest).astype(float), np.maximum(exponent, 1) - 1 + least - mantissa)


def _nearest(x, numbers):
    """The nearest number, or the last, with x's sign; of two as near the one with an even code."""
    size = np.abs(wide(x))
    below = np.clip(np.searchsorted(numbers, size, side="right") - 1, 0, len(numbers) - 2)
    low, high = size - numbers[below], numbers[below + 1] - size
    up = (low > high) | ((low == high) & (below % 2 == 1))
    return np.copysign(numbers[below + up], x)


@_op
def fake_quantize(x, s, z, qmin, qmax):
    zero = round(z)
    levels = (np.arange(qmin, qmax + 1) - zero) * s
    return levels[np.clip(_half_even(x / s) + zero - qmin, 0, len(levels) - 1).astype(int)]


@_op
def seq(x, s, half, shift):
    """In float32 the bound 0.99 is a float32 as well."""
    inside = np.clip(x / s, -x.dtype.type(0.99), x.dtype.type(0.99))
    return (_half_even(inside * half - shift) + shift) / half * s


@_op
def absmean_ternary(x):
    size = np.mean(np.abs(wide(x)))
    return np.sign(x) * (np.abs(x) > size / 2) * size


@_op
def soft_round(x, a):
    left = np.floor(wide(x))
    chord = np.tanh(a / 2)
    return left + (np.tanh(a * (wide(x) - left - 0.5)) + chord) / (2 * chord)


@_op
def binarize(x):
    return np.array([-1.0 if value < 0 else 1.0 for value in x.ravel()]).reshape(x.shape)


@_op
def ternarize(x, delta):
    exact, bound = wide(x), float(x.dtype.type(delta))
    return 1.0 * (exact > bound) - 1.0 * (exact < -bound)


@_op
def ttq(x, wp, wn, delta):
    threshold = float(x.dtype.type(delta))
    return np.select([wide(x) > threshold, wide(x) < -threshold], [wp, -wn], 0.0)


@_op
def hardsigmoid(x):
    return np.interp(wide(x), [-3, 3], [0, 1])


@_op
def elu(x, alpha):
    return np.array([value if value > 0 else alpha * math.expm1(value) for value in wide(x).ravel()])


@_op
def celu(x, alpha):
    exact = wide(x)
    return np.maximum(exact, 0) + np.minimum(alpha * (np.exp(np.minimum(exact, 0) / alpha) - 1), 0)


@_op
def mish(x):
    grown = np.exp(np.minimum(wide(x), 40))
    return wide(x) * ((1 + grown) ** 2 - 1) / ((1 + grown) ** 2 + 1)


@_op
def tanh(x):
    grown = np.exp(-2 * np.abs(wide(x)))
    return np.copysign((1 - grown) / (1 + grown), x)


@_op
def sigmoid(x):
    return (1 + np.tanh(wide(x) / 2)) / 2


@_op
def log(x):
    special = {0: -math.inf}
    return np.array([math.log(v) if v > 0 else special.get(v, math.nan) for v in wide(x)])


_SELU = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717  # scale, alpha

OPS |= {
    "round": _half_even,
    "quantize_clamp_first": quantize,
    "quantize_offset": lambda x, s, qmin, qmax, beta: (
        quantize((x - beta).astype(x.dtype), s, qmin, qmax) + beta
    ),
    "quantize_power_of_two": lambda x, log2_s, qmin, qmax: quantize(
        x, math.ldexp(1.0, math.ceil(log2_s)), qmin, qmax
    ),
    "dorefa": lambda x, n: np.minimum(np.maximum(_half_even(x * n), 0), n) / n,
    "ceil": lambda x: -floor(-x),
    "trunc": np.fix,
    "fraction": lambda x: wide(x) % 1.0,
    "fp4_e2m1": lambda x, s: _nearest(x / s, np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])) * s,
    "fp8_e4m3": lambda x, s: _nearest(x / s, _numbers(3, -6, 127)) * s,
    "fp8_e5m2": lambda x, s: _nearest(x / s, _numbers(2, -14, 124)) * s,
    "sign": lambda x: np.select([x > 0, x < 0], [1.0, -1.0], 0.0),
    "scaled_binarize": lambda x: binarize(x) * np.abs(wide(x)).sum() / x.size,
    "clamp": lambda x, lo, hi: np.minimum(np.maximum(wide(x), lo), hi),
    "hardtanh": lambda x, lo, hi: np.select([x < lo, x > hi], [lo, hi], wide(x)),
    "relu": lambda x: (np.abs(wide(x)) + wide(x)) / 2,
    "leaky_relu": lambda x, slope: np.maximum(wide(x), slope * wide(x)),
    "prelu": lambda x, a: np.maximum(wide(x), 0) + a * np.minimum(wide(x), 0),
    "relu6": lambda x: np.interp(wide(x), [0, 6], [0, 6]),
    "selu": lambda x: _SELU[0] * elu(x, _SELU[1]),
    "gelu": lambda x: wide(x) * 0.5 * (1 + _erf(wide(x) / math.sqrt(2))),
    "silu": lambda x: wide(x) * sigmoid(x),
    "hardswish": lambda x: wide(x) * hardsigmoid(x),
    "softplus": lambda x: np.where(x > 20, wide(x), np.logaddexp(0, wide(x))),  # torch leaves out 2e-9
    "identity": wide,
    "softsign": lambda x: np.copysign(1 - 1 / (1 + np.abs(wide(x))), x),
    "softshrink": lambda x, lambd: wide(x) - np.clip(wide(x), -lambd, lambd),
    "hardshrink": lambda x, lambd: np.select([x > lambd, x < -lambd], [wide(x), wide(x)], 0.0),
    "abs": lambda x: np.hypot(wide(x), 0),
    "square": lambda x: wide(x) * wide(x),
    "cube": lambda x: wide(x) * wide(x) * wide(x),
    "sqrt": lambda x: np.array([math.sqrt(value) if value >= 0 else math.nan for value in wide(x)]),
    "exp": lambda x: np.array([math.exp(value) for value in wide(x)]),
    "sin": lambda x: np.array([math.sin(value) for value in wide(x)]),
    "reciprocal": lambda x: np.array([1 / v if v else math.copysign(math.inf, v) for v in wide(x)]),
    "step": lambda x: np.heaviside(wide(x), 1.0),
    "step_open": lambda x: np.heaviside(wide(x), 0.0),
}

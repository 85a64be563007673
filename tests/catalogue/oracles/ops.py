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
def quantize_offset(x, s, qmin, qmax, beta):
    return quantize((x - beta).astype(x.dtype), s, qmin, qmax) + beta


@_op
def quantize_power_of_two(x, log2_s, qmin, qmax):
    return quantize(x, math.ldexp(1.0, math.ceil(log2_s)), qmin, qmax)


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
    return wide(x) % 1.0


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
def fp4_e2m1(x, s):
    return _nearest(x / s, np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])) * s


@_op
def fp8_e4m3(x, s):
    return _nearest(x / s, _numbers(3, -6, 127)) * s


@_op
def fp8_e5m2(x, s):
    return _nearest(x / s, _numbers(2, -14, 124)) * s


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
def sign(x):
    return np.select([x > 0, x < 0], [1.0, -1.0], 0.0)


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
def scaled_binarize(x):
    return binarize(x) * np.abs(wide(x)).sum() / x.size


@_op
def clamp(x, lo, hi):
    return np.minimum(np.maximum(wide(x), lo), hi)


@_op
def hardtanh(x, lo, hi):
    return np.select([x < lo, x > hi], [lo, hi], wide(x))


@_op
def hardsigmoid(x):
    return np.interp(wide(x), [-3, 3], [0, 1])


@_op
def relu(x):
    return (np.abs(wide(x)) + wide(x)) / 2


@_op
def leaky_relu(x, slope):
    return np.maximum(wide(x), slope * wide(x))


@_op
def prelu(x, a):
    return np.maximum(wide(x), 0) + a * np.minimum(wide(x), 0)


@_op
def relu6(x):
    return np.interp(wide(x), [0, 6], [0, 6])


@_op
def elu(x, alpha):
    return np.array([value if value > 0 else alpha * math.expm1(value) for value in wide(x).ravel()])


@_op
def selu(x):
    scale, alpha = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
    return scale * elu(x, alpha)


@_op
def celu(x, alpha):
    exact = wide(x)
    return np.maximum(exact, 0) + np.minimum(alpha * (np.exp(np.minimum(exact, 0) / alpha) - 1), 0)


@_op
def gelu(x):
    return wide(x) * 0.5 * (1 + _erf(wide(x) / math.sqrt(2)))


@_op
def silu(x):
    return wide(x) * sigmoid(x)


@_op
def mish(x):
    grown = np.exp(np.minimum(wide(x), 40))
    return wide(x) * ((1 + grown) ** 2 - 1) / ((1 + grown) ** 2 + 1)


@_op
def hardswish(x):
    return wide(x) * hardsigmoid(x)


@_op
def softplus(x):
    return np.where(x > 20, wide(x), np.logaddexp(0, wide(x)))  # above 20 torch leaves out 2e-9


@_op
def identity(x):
    return wide(x)


@_op
def tanh(x):
    grown = np.exp(-2 * np.abs(wide(x)))
    return np.copysign((1 - grown) / (1 + grown), x)


@_op
def sigmoid(x):
    return (1 + np.tanh(wide(x) / 2)) / 2


@_op
def softsign(x):
    return np.copysign(1 - 1 / (1 + np.abs(wide(x))), x)


@_op
def softshrink(x, lambd):
    return wide(x) - np.clip(wide(x), -lambd, lambd)


@_op
def hardshrink(x, lambd):
    return np.select([x > lambd, x < -lambd], [wide(x), wide(x)], 0.0)


@_op
def abs_(x):
    return np.hypot(wide(x), 0)


@_op
def square(x):
    return wide(x) * wide(x)


@_op
def cube(x):
    return wide(x) * wide(x) * wide(x)


@_op
def sqrt(x):
    return np.array([math.sqrt(value) if value >= 0 else math.nan for value in wide(x)])


@_op
def exp(x):
    return np.array([math.exp(value) for value in wide(x)])


@_op
def log(x):
    special = {0: -math.inf}
    return np.array([math.log(v) if v > 0 else special.get(v, math.nan) for v in wide(x)])


@_op
def sin(x):
    return np.array([math.sin(value) for value in wide(x)])


@_op
def reciprocal(x):
    return np.array([1 / value if value else math.copysign(math.inf, value) for value in wide(x)])


@_op
def step(x):
    return np.heaviside(wide(x), 1.0)


@_op
def step_open(x):
    return np.heaviside(wide(x), 0.0)

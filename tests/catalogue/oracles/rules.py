"""Oracles of the rules: what happens to g, case by case, and densities where there is one."""

import math

import numpy as np

from tests.catalogue.oracles.arrays import Array, table, wide

RULES, _rule = table()


def _pass(g: Array, *blocked: Array) -> Array:
    """The upstream gradient, and 0 where a condition holds."""
    return np.select([*blocked], [0] * len(blocked), g)


def _level(x: Array, s: float, z: float = 0.0) -> Array:
    return np.rint(x / s) + np.rint(z)


def _normal(x, centre, width):
    return np.exp(-0.5 * np.square((x - centre) / width)) / math.sqrt(2 * math.pi * width * width)


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
def seed_relu(x, y, g):
    gradient = g.copy()
    gradient[x < 0] = 0
    return gradient


@_rule
def leaky_backward(x, y, g, slope):
    gradient = wide(g)
    gradient[x <= 0] *= slope
    return gradient


RULES |= {
    "straight_through": lambda x, y, g: g,
    "masked": lambda x, y, g, lo, hi: _pass(g, x < lo, x > hi),
    "masked_open": lambda x, y, g, lo, hi: _pass(g, x <= lo, x >= hi),
    "zero": lambda x, y, g: np.zeros_like(g),
    "scale": lambda x, y, g, s: wide(g) * s,
    "reversal": lambda x, y, g, alpha: -wide(g) * alpha,
    "clip_value": lambda x, y, g, c: np.sign(g) * np.minimum(np.abs(wide(g)), c),
    "guided": lambda x, y, g: np.where((x <= 0) | (g <= 0), 0, g),
    "deconvnet": lambda x, y, g: np.maximum(g, 0),
}

# --- rules for sign-like ops --------------------------------------------------------------------------


@_rule
def clipped(x, y, g, c):
    return _pass(g, x < -c, x > c)


@_rule
def swish_sign(x, y, g, b):
    z = np.clip(b * wide(x), -300, 300)
    return wide(g) * b * (2 - z * np.tanh(z / 2)) / (1 + np.cosh(z))


@_rule
def ede(x, y, g, t):
    k = 1 / t if t < 1 else 1.0
    return k * t / np.cosh(np.clip(t * wide(x), -300, 300)) ** 2 * wide(g)


@_rule
def reste(x, y, g, o, t):
    inner = x.dtype.type(0.1)
    size, slope = np.abs(wide(x)), np.zeros(x.shape)
    root = (np.abs(x) <= t) & (np.abs(x) > inner)
    slope[root] = size[root] ** ((1 - o) / o) / o
    slope[np.abs(x) <= inner] = 0.1 ** (1 / o) / 0.1
    return slope * wide(g)


RULES |= {
    "approx_sign": lambda x, y, g: wide(g) * np.interp(wide(x), [-1, 0, 1], [0, 2, 0]),
    "magnitude_aware": lambda x, y, g, c: clipped(x, y, g, c) * np.abs(wide(x)).sum() / x.size,
}

# --- surrogates for step-like ops: densities, where there is one ---------------------------------------


@_rule
def atan_surrogate(x, y, g, a):
    half_width = 2 / (math.pi * a)
    return half_width / (math.pi * (np.square(wide(x)) + half_width**2)) * wide(g)


@_rule
def fast_sigmoid(x, y, g, k):
    return wide(g) * np.power(k * np.abs(wide(x)) + 1.0, -2.0)


@_rule
def multi_gaussian(x, y, g, s, h, q):
    exact = wide(x)
    lobes = _normal(exact, s, q * s) + _normal(exact, -s, q * s)
    return wide(g) * ((1 + h) * _normal(exact, 0, s) - h * lobes)


@_rule
def log_tailed(x, y, g, a):
    slope = np.ones(x.shape)
    slope[x > 1] = 1 / wide(x)[x > 1]
    slope[x <= 0] = a
    return slope * wide(g)


@_rule
def s2nn(x, y, g, a, b):
    left = a / (2 + np.exp(np.minimum(-a * wide(x), 700)) + np.exp(np.minimum(a * wide(x), 700)))
    return wide(g) * np.where(x < 0, left, b / (1 + np.abs(wide(x))))


@_rule
def square_wave(x, y, g, n, T):  # noqa: N803 -- the paper's letter, as B below
    odd = 2 * np.arange(1, math.ceil(n))[:, None] - 1
    return 4 / T * wide(g) * np.cos(2 * np.pi / T * odd * wide(x)).sum(axis=0)


RULES |= {
    "sigmoid_surrogate": lambda x, y, g, a: (
        a / np.square(2 * np.cosh(np.clip(a * wide(x), -600, 600) / 2)) * wide(g)
    ),
    "laplace": lambda x, y, g, a: wide(g) * np.exp(-np.abs(wide(x)) / (1 / a)) / (2 * (1 / a)),
    "leaky_spike": lambda x, y, g, leak: wide(g) * np.where(x < 0, leak, 1.0),
    "triangle": lambda x, y, g, a: wide(g) * np.interp(wide(x), [-1 / a, 0, 1 / a], [0, a, 0]),
    "boxcar": lambda x, y, g, w: _pass(wide(g) / (w + w), x < -w, x > w),
    "gaussian": lambda x, y, g, s: wide(g) * _normal(wide(x), 0, s),
    "erf_surrogate": lambda x, y, g, a: wide(g) * _normal(wide(x), 0, 1 / (a * math.sqrt(2))),
    "softsign_surrogate": lambda x, y, g, a: wide(g) * a / 2 / np.square(1 + np.abs(a * wide(x))),
    "tanh_surrogate": lambda x, y, g, k: wide(g) / np.cosh(np.clip(k * wide(x), -300, 300)) ** 2,
    "q_pseudo_spike": lambda x, y, g, a: wide(g) * np.exp(-a * np.log1p(2 / (a - 1) * np.abs(wide(x)))),
    "spike_escape": lambda x, y, g, b, k: k * np.exp(-b * np.abs(wide(x) - 1)) * wide(g),
    "sparse_fast_sigmoid": lambda x, y, g, k, B: _pass(fast_sigmoid(x, y, g, k), x <= -B, x >= B),  # noqa: N803
    "super_spike": lambda x, y, g, a: a * wide(g) / (np.abs(wide(x)) + 1) ** 2,
    "nonzero_sign_log_abs": lambda x, y, g, a: a * wide(g) / (1 + a * np.abs(wide(x))),
}

# --- rules for rounding -------------------------------------------------------------------------------


@_rule
def dsq(x, y, g, alpha):
    s = 1 / (1 - alpha)
    k = math.log((s + 1) / (s - 1))
    from_middle = np.mod(wide(x), 1.0) - 0.5
    return wide(g) * s / 2 * k / np.cosh(k * from_middle) ** 2


@_rule
def lsq(x, y, g, s, qmin, qmax):
    return _pass(g, x / s <= qmin, x / s >= qmax)


RULES |= {
    "soft_round": lambda x, y, g, a: (
        wide(g) * a / (2 * math.tanh(a / 2) * np.cosh(a * (np.mod(wide(x), 1.0) - 0.5)) ** 2)
    ),
    "tqt": lambda x, y, g, log2_s, qmin, qmax: RULES["fake_quantize"](
        x, y, g, math.ldexp(1.0, math.ceil(log2_s)), 0.0, qmin, qmax
    ),
    "ewgs": lambda x, y, g, delta: wide(g) + delta * np.abs(wide(g)) * (wide(x) - wide(y)),
    "quantize_masked": lambda x, y, g, s, qmin, qmax: _pass(g, x / s < qmin, x / s > qmax),
    "learned_clamp": lambda x, y, g, lo, hi: np.where(
        np.clip(x, x.dtype.type(lo), x.dtype.type(hi)) == x, g, 0
    ),
    "pact": lambda x, y, g, lo, hi: _pass(g, x < lo, x >= hi),
    "lsq_plus": lambda x, y, g, s, qmin, qmax, beta: lsq((x - beta).astype(x.dtype), y, g, s, qmin, qmax),
    "ttq": lambda x, y, g, wp, wn, delta: g * np.select([x > delta, x < -delta], [wp, wn], 1),
}

# --- rules for number formats ---------------------------------------------------------------------------

RULES |= {
    "fake_quantize": lambda x, y, g, s, z, qmin, qmax: _pass(
        g, _level(x, s, z) < qmin, _level(x, s, z) > qmax
    ),
    "fake_quantize_strict": lambda x, y, g, s, z, qmin, qmax: _pass(
        g, _level(x, s, z) <= qmin, _level(x, s, z) >= qmax
    ),
    "quest": lambda x, y, g, t: np.where(np.abs(y - x) > t, 0, g),
    "seq": lambda x, y, g, s, half, shift: _pass(g, np.abs(x / s) > x.dtype.type(0.99)),
}


@_rule
def cast(x, y, g, s, m, emin, top):
    m, emin, scaled = round(m), round(emin), wide(g) * s
    binade = np.maximum(np.floor(np.log2(np.maximum(np.abs(scaled), 2.0**emin))), emin)
    step = 2.0 ** (binade - m)
    return np.clip(np.rint(scaled / step) * step, -top, top) / s


@_rule
def dge(x, y, g, s, m, emin, top, k, cap):
    """By the levels themselves, and the place between the two beside x."""
    m, emin = round(m), round(emin)
    size = np.abs(x / s).astype(x.dtype)
    binade = np.maximum(np.frexp(size)[1] - 1, emin)
    width = 2.0 ** (binade - m)
    low = np.floor(size / width) * width
    place = wide(size - low) / width
    with np.errstate(divide="ignore"):
        slope = np.abs(2 * place - 1) ** (1 / k - 1) / k
    return g * np.where(size <= top, np.minimum(slope, cap), 0)


@_rule
def rdfs(x, y, g, s, qmin, qmax, amp):
    level = x / s
    wave = math.sqrt(2) * math.pi * amp * np.cos(math.pi * (wide(level) + np.rint(level)))
    return _pass(g * (1 - wave) / (1 + wave), level < qmin, level > qmax)


@_rule
def mad(x, y, g, s, qmin, qmax):
    level = wide(x) / s
    inside = (level >= qmin) & (level <= qmax)
    return g * np.where(inside, 1, np.clip(level, qmin, qmax) / np.where(inside, 1, level))

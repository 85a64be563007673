"""Oracles of the rules: what happens to g, case by case, and densities where there is one."""

import math

import numpy as np

from tests.catalogue.oracles.arrays import table, wide

RULES, _rule = table()


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
    return wide(g) * s


@_rule
def reversal(x, y, g, alpha):
    return -wide(g) * alpha


@_rule
def clip_value(x, y, g, c):
    return np.sign(g) * np.minimum(np.abs(wide(g)), c)


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
    return wide(g) * np.interp(wide(x), [-1, 0, 1], [0, 2, 0])


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


@_rule
def magnitude_aware(x, y, g, c):
    return clipped(x, y, g, c) * np.abs(wide(x)).sum() / x.size


# --- surrogates for step-like ops: densities, where there is one ---------------------------------------


def _normal(x, centre, width):
    return np.exp(-0.5 * np.square((x - centre) / width)) / math.sqrt(2 * math.pi * width * width)


@_rule
def sigmoid_surrogate(x, y, g, a):
    return a / np.square(2 * np.cosh(np.clip(a * wide(x), -600, 600) / 2)) * wide(g)


@_rule
def atan_surrogate(x, y, g, a):
    half_width = 2 / (math.pi * a)
    return half_width / (math.pi * (np.square(wide(x)) + half_width**2)) * wide(g)


@_rule
def fast_sigmoid(x, y, g, k):
    return wide(g) * np.power(k * np.abs(wide(x)) + 1.0, -2.0)


@_rule
def triangle(x, y, g, a):
    return wide(g) * np.interp(wide(x), [-1 / a, 0, 1 / a], [0, a, 0])


@_rule
def boxcar(x, y, g, w):
    return np.select([x < -w, x > w], [0, 0], wide(g) / (w + w))


@_rule
def gaussian(x, y, g, s):
    return wide(g) * _normal(wide(x), 0, s)


@_rule
def multi_gaussian(x, y, g, s, h, q):
    exact = wide(x)
    lobes = _normal(exact, s, q * s) + _normal(exact, -s, q * s)
    return wide(g) * ((1 + h) * _normal(exact, 0, s) - h * lobes)


@_rule
def erf_surrogate(x, y, g, a):
    return wide(g) * _normal(wide(x), 0, 1 / (a * math.sqrt(2)))


@_rule
def laplace(x, y, g, a):
    scale_of_noise = 1 / a
    return wide(g) * np.exp(-np.abs(wide(x)) / scale_of_noise) / (2 * scale_of_noise)


@_rule
def softsign_surrogate(x, y, g, a):
    return wide(g) * a / 2 / np.square(1 + np.abs(a * wide(x)))


@_rule
def tanh_surrogate(x, y, g, k):
    return wide(g) / np.cosh(np.clip(k * wide(x), -300, 300)) ** 2


@_rule
def q_pseudo_spike(x, y, g, a):
    return wide(g) * np.exp(-a * np.log1p(2 / (a - 1) * np.abs(wide(x))))


@_rule
def leaky_spike(x, y, g, leak):
    spikes = np.heaviside(wide(x), 1.0)
    return wide(g) * spikes + leak * wide(g) * (1 - spikes)


@_rule
def log_tailed(x, y, g, a):
    slope = np.ones(x.shape)
    slope[x > 1] = 1 / wide(x)[x > 1]
    slope[x <= 0] = a
    return slope * wide(g)


@_rule
def spike_escape(x, y, g, b, k):
    return k * np.exp(-b * np.abs(wide(x) - 1)) * wide(g)


@_rule
def sparse_fast_sigmoid(x, y, g, k, B):  # noqa: N803 -- the paper's letter
    return np.select([x <= -B, x >= B], [0, 0], fast_sigmoid(x, y, g, k))


# --- rules for rounding -------------------------------------------------------------------------------


@_rule
def soft_round(x, y, g, a):
    from_middle = np.mod(wide(x), 1.0) - 0.5
    return wide(g) * a / (2 * math.tanh(a / 2) * np.cosh(a * from_middle) ** 2)


@_rule
def dsq(x, y, g, alpha):
    s = 1 / (1 - alpha)
    k = math.log((s + 1) / (s - 1))
    from_middle = np.mod(wide(x), 1.0) - 0.5
    return wide(g) * s / 2 * k / np.cosh(k * from_middle) ** 2


@_rule
def ewgs(x, y, g, delta):
    return wide(g) + delta * np.abs(wide(g)) * (wide(x) - wide(y))


@_rule
def quantize_masked(x, y, g, s, qmin, qmax):
    level = x / s
    return np.select([level < qmin, level > qmax], [0, 0], g)


@_rule
def learned_clamp(x, y, g, lo, hi):
    return np.where(np.clip(x, x.dtype.type(lo), x.dtype.type(hi)) == x, g, 0)


@_rule
def pact(x, y, g, lo, hi):
    return np.select([x < lo, x >= hi], [0, 0], g)


@_rule
def lsq(x, y, g, s, qmin, qmax):
    level = x / s
    return np.select([level <= qmin, level >= qmax], [0, 0], g)


@_rule
def lsq_plus(x, y, g, s, qmin, qmax, beta):
    return lsq((x - beta).astype(x.dtype), y, g, s, qmin, qmax)


@_rule
def tqt(x, y, g, log2_s, qmin, qmax):
    level = np.rint(x / math.ldexp(1.0, math.ceil(log2_s)))
    return np.select([level < qmin, level > qmax], [0, 0], g)


@_rule
def ttq(x, y, g, wp, wn, delta):
    return g * np.select([x > delta, x < -delta], [wp, wn], 1)


# --- rules for number formats ---------------------------------------------------------------------------


@_rule
def fake_quantize(x, y, g, s, z, qmin, qmax):
    level = np.rint(x / s) + np.rint(z)
    return np.select([level < qmin, level > qmax], [0, 0], g)


@_rule
def fake_quantize_strict(x, y, g, s, z, qmin, qmax):
    level = np.rint(x / s) + np.rint(z)
    return np.select([level <= qmin, level >= qmax], [0, 0], g)


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
    return np.select([level < qmin, level > qmax], [0, 0], g * (1 - wave) / (1 + wave))


@_rule
def mad(x, y, g, s, qmin, qmax):
    level = wide(x) / s
    inside = (level >= qmin) & (level <= qmax)
    return g * np.where(inside, 1, np.clip(level, qmin, qmax) / np.where(inside, 1, level))


@_rule
def quest(x, y, g, t):
    return np.where(np.abs(y - x) > t, 0, g)


@_rule
def seq(x, y, g, s, half, shift):
    level = x / s
    return np.select([level < -x.dtype.type(0.99), level > x.dtype.type(0.99)], [0, 0], g)


# --- further surrogates of steps ------------------------------------------------------------------------


@_rule
def super_spike(x, y, g, a):
    return a * wide(g) / (np.abs(wide(x)) + 1) ** 2


@_rule
def nonzero_sign_log_abs(x, y, g, a):
    return a * wide(g) / (1 + a * np.abs(wide(x)))


@_rule
def s2nn(x, y, g, a, b):
    left = a / (2 + np.exp(np.minimum(-a * wide(x), 700)) + np.exp(np.minimum(a * wide(x), 700)))
    return wide(g) * np.where(x < 0, left, b / (1 + np.abs(wide(x))))


@_rule
def square_wave(x, y, g, n, T):  # noqa: N803
    odd = 2 * np.arange(1, math.ceil(n))[:, None] - 1
    return 4 / T * wide(g) * np.cos(2 * np.pi / T * odd * wide(x)).sum(axis=0)

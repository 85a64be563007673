"""A second evaluator of formula trees, in NumPy and from the definitions alone.

It shares nothing with the package but the tree. ``noise`` disturbs what only rounds to the true
value, so that a test can tell where a result hangs on the last bit.
"""

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from explorer.formula.tree import Binary, Call, Compare, Name, Node, Number, Polyline, Unary

Array = Any
Noise = Callable[[Array], Array]

_erf = np.vectorize(math.erf, otypes=[float])


def _sigmoid(a: Array) -> Array:
    return np.exp(-np.logaddexp(0, -a))


def _exponent(a: Array, least: Array) -> Array:
    """By counting the powers of two that are no larger."""
    powers = np.ldexp(1.0, np.arange(-1074, 1024))
    counted = np.searchsorted(powers, np.abs(a), side="right") - 1075.0
    return np.where(np.isfinite(a), np.maximum(counted, _whole(least, -1022, 1023)), np.abs(a))


def _whole(value: Array, low: int, high: int) -> Array:
    return np.rint(np.where(value > low, np.minimum(value, high), low))


def _fp(a: Array, mantissa: Array, least: Array, largest: Array) -> Array:
    """By the exact remainder of a division by the step; a half goes to the even number of steps."""
    exponent = _exponent(np.where(np.isfinite(a), a, 0), least).astype(int)
    bits = _whole(mantissa, 0, 52).astype(int)
    steps = np.ldexp(np.ldexp(np.abs(a), -exponent), bits)
    whole = np.floor(steps)
    rest = steps - whole
    whole += (rest > 0.5) | ((rest == 0.5) & (whole % 2 == 1))
    return np.copysign(np.minimum(np.ldexp(np.ldexp(whole, -bits), exponent), np.abs(largest)), a)


FUNCTIONS: dict[str, Callable[..., Array]] = {
    "abs": lambda a: np.maximum(a, -a),
    "sign": lambda a: np.where(a > 0, 1.0, np.where(a < 0, -1.0, 0.0)),
    "heaviside": lambda a, b: np.where(a == 0, b, np.where(a > 0, 1.0, 0.0)),
    "round": np.rint,
    "floor": np.floor,
    "ceil": np.ceil,
    "fp": _fp,
    "exponent": _exponent,
    "float8_e4m3fn": lambda a: _fp(a, np.full_like(a, 3), np.full_like(a, -6), np.full_like(a, 448)),
    "float8_e5m2": lambda a: _fp(a, np.full_like(a, 2), np.full_like(a, -14), np.full_like(a, 57344)),
    "trunc": lambda a: np.where(a < 0, np.ceil(a), np.floor(a)),
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "sigmoid": _sigmoid,
    "softplus": lambda a: np.logaddexp(0, a),
    "erf": _erf,
    "relu": lambda a: np.where(a < 0, 0.0, a),
    "min": lambda a, b: np.where(np.isnan(a) | (a < b), a, b),
    "max": lambda a, b: np.where(np.isnan(a) | (a > b), a, b),
    "clamp": lambda a, low, high: np.minimum(np.maximum(a, low), high),
    "clamp_min": lambda a, low: np.where(a < low, low, a),
    "clamp_max": lambda a, high: np.where(a > high, high, a),
    "detach": np.copy,
    "where": lambda condition, then, otherwise: np.where(condition, then, otherwise),
    "mean": lambda a: np.full_like(a, a[0] + np.sum(a - a[0]) / a.size),  # exact for equal values
    "amax": lambda a: np.full_like(a, np.max(a)),
    "amin": lambda a: np.full_like(a, np.min(a)),
    "std": lambda a: np.full_like(a, math.sqrt(np.sum((a - np.sum(a) / a.size) ** 2) / (a.size - 1))),
    "numel": lambda a: np.full_like(a, a.size),
    "gelu": lambda a: a * (1 + _erf(a / np.sqrt(2))) / 2,
    "gelu_tanh": lambda a: a * (1 + np.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a * a * a))) / 2,
    "silu": lambda a: a * _sigmoid(a),
    "mish": lambda a: a * np.tanh(np.logaddexp(0, a)),
    "selu": lambda a: 1.0507009873554805 * np.where(a > 0, a, 1.6732632423543772 * np.expm1(a)),
    "elu": lambda a, alpha: np.where(a > 0, a, alpha * np.expm1(a)),
    "celu": lambda a, alpha: np.where(a > 0, a, alpha * np.expm1(a / alpha)),
    "leaky_relu": lambda a, slope: np.where(a > 0, a, slope * a),
    "relu6": lambda a: np.minimum(np.maximum(a, 0), 6),
    "hardtanh": lambda a, low, high: np.where(a < low, low, np.where(a > high, high, a)),
    "softsign": lambda a: a / (1 + np.abs(a)),
    "hardsigmoid": lambda a: np.minimum(np.maximum(a + 3, 0), 6) / 6,
    "hardswish": lambda a: a * np.minimum(np.maximum(a + 3, 0), 6) / 6,
    "softshrink": lambda a, width: np.where(a > width, a - width, np.where(a < -width, a + width, 0 * a)),
    "hardshrink": lambda a, width: np.where((-width <= a) & (a <= width), 0.0, a),
    "reciprocal": lambda a: 1 / a,
    "remainder": lambda a, b: np.where(np.isfinite(b), np.remainder(a, b), np.fmod(a, b) + b * (a * b < 0)),
    "copysign": lambda a, b: np.where(np.signbit(b), -np.abs(a), np.abs(a)),
    "nan_to_num": lambda a: np.where(a != a, 0.0, np.clip(a, -(limit := np.finfo(a.dtype).max), limit)),
}
_EXACT = (
    "abs", "sign", "heaviside", "round", "floor", "ceil", "trunc", "fp", "exponent", "float8_e4m3fn",
    "float8_e5m2", "relu", "min", "max", "clamp", "clamp_min", "clamp_max", "detach", "where", "amax", "amin",
    "numel", "remainder", "copysign", "nan_to_num",
)  # fmt: skip
_ROUNDED = frozenset(FUNCTIONS).difference(_EXACT)

_ARITHMETIC: dict[str, Callable[[Array, Array], Array]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "**": np.power,
}  # fmt: skip
_CONDITIONS: dict[str, Callable[[Array, Array], Array]] = {
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal,
    "!=": np.not_equal, "&": np.logical_and, "|": np.logical_or,
}  # fmt: skip


def evaluate(node: Node, values: Mapping[str, Array], noise: Noise = lambda value: value) -> Array:
    """The value of a tree as an array like ``values["x"]``, in float64."""

    def of(child: Node) -> Array:
        return evaluate(child, values, noise)

    def number(child: Node) -> Array:
        return np.asarray(of(child), np.float64)

    with np.errstate(all="ignore"):
        match node:
            case Number(value):
                return np.full_like(values["x"], value)
            case Name(name):
                known = {"pi": np.pi, "e": np.e, **values}
                return np.broadcast_to(np.float64(known[name]), values["x"].shape)
            case Unary("~", operand):
                return ~of(operand)
            case Unary(_, operand):
                return -number(operand)
            case Binary(sign, left, right) if sign in _CONDITIONS:
                return _CONDITIONS[sign](of(left), of(right))
            case Binary(sign, left, right):
                result = _ARITHMETIC[sign](number(left), number(right))
                return noise(result) if sign == "**" else result
            case Compare(signs, operands):
                sides = pairwise(map(of, operands))
                links = [_CONDITIONS[sign](*pair) for sign, pair in zip(signs, sides, strict=True)]
                return np.logical_and.reduce(links)
            case Polyline(points, argument):
                return noise(np.interp(number(argument), *zip(*points, strict=True)))
            case Call("where", (condition, then, otherwise)):
                return np.where(of(condition), number(then), number(otherwise))
            case Call(function, arguments):
                result = FUNCTIONS[function](*map(number, arguments))
                # The sign of a NaN is nobody's: the browser has none.
                if function in _ROUNDED:
                    return noise(result)
                unknown = result != result
                return np.where(unknown, noise(result), result) if unknown.any() else result

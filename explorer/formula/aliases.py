"""What people write otherwise: one table of signs, names and calls that become the language's own."""

import difflib
import math
import re
from collections.abc import Iterable

import torch

from explorer.formula.functions import FUNCTIONS
from explorer.formula.tree import CONSTANTS

_ALIKE = 0.8  # "rond" and "round" are at 0.89, "prelu" and "selu" at 0.67

SPELLINGS = {
    "^": "**", "−": "-", "×": "*", "·": "*", "⋅": "*", "∗": "*", "÷": "/", "≤": "<=", "≥": ">=", "≠": "!=",
}  # fmt: skip
SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_LETTERS = """
alpha beta gamma delta epsilon zeta eta theta iota kappa lambd mu nu xi omicron pi rho sigma tau upsilon
phi chi psi omega
"""  # torch's own spelling of lambda, a word of Python
GREEK = dict(zip("αβγδεζηθικλμνξοπρστυφχψω", _LETTERS.split(), strict=True))
GREEK |= {"ϵ": "epsilon", "ϕ": "phi", "µ": "mu"}  # other signs for the same letters

# Calls under other names, with torch's defaults left out or its keywords, as formulas in a, b, c.
CALLS = {
    "absolute(a)": "abs(a)", "fabs(a)": "abs(a)", "sgn(a)": "sign(a)", "rint(a)": "round(a)",
    "fix(a)": "trunc(a)", "ceiling(a)": "ceil(a)", "frac(a)": "a - trunc(a)",
    "ln(a)": "log(a)", "log(a, b)": "log(a) / log(b)", "log2(a)": "log(a) / log(2)",
    "log10(a)": "log(a) / log(10)", "exp2(a)": "2 ** a",
    "sqr(a)": "a ** 2", "square(a)": "a ** 2", "pow(a, b)": "a ** b", "power(a, b)": "a ** b",
    "float_power(a, b)": "a ** b", "rsqrt(a)": "1 / sqrt(a)", "neg(a)": "-a", "negative(a)": "-a",
    "add(a, b)": "a + b", "subtract(a, b)": "a - b", "sub(a, b)": "a - b", "multiply(a, b)": "a * b",
    "mul(a, b)": "a * b", "divide(a, b)": "a / b", "div(a, b)": "a / b",
    "mod(a, b)": "remainder(a, b)",
    "arctan(a)": "atan(a)", "cot(a)": "1 / tan(a)", "sec(a)": "1 / cos(a)", "csc(a)": "1 / sin(a)",
    "sech(a)": "1 / cosh(a)", "csch(a)": "1 / sinh(a)", "coth(a)": "1 / tanh(a)",
    "atanh(a)": "(log1p(a) - log1p(-a)) / 2", "arctanh(a)": "(log1p(a) - log1p(-a)) / 2",
    "erfc(a)": "1 - erf(a)", "logit(a)": "log(a / (1 - a))",
    "minimum(a, b)": "min(a, b)", "fmin(a, b)": "min(a, b)",
    "maximum(a, b)": "max(a, b)", "fmax(a, b)": "max(a, b)",
    "clip(a, b, c)": "clamp(a, b, c)", "clamp(a, b)": "clamp_min(a, b)", "clip(a, b)": "clamp_min(a, b)",
    "clamp(a, min=b)": "clamp_min(a, b)", "clip(a, min=b)": "clamp_min(a, b)",
    "clamp(a, max=b)": "clamp_max(a, b)", "clip(a, max=b)": "clamp_max(a, b)",
    "clamp(a, min=b, max=c)": "clamp(a, b, c)", "clip(a, min=b, max=c)": "clamp(a, b, c)",
    "expit(a)": "sigmoid(a)", "logistic(a)": "sigmoid(a)", "logsigmoid(a)": "-softplus(-a)",
    "log_sigmoid(a)": "-softplus(-a)", "swish(a)": "silu(a)", "softplus(a, b)": "softplus(b * a) / b",
    "tanhshrink(a)": "a - tanh(a)", "elu(a)": "elu(a, 1)", "celu(a)": "celu(a, 1)",
    "elu(a, alpha=b)": "elu(a, b)", "celu(a, alpha=b)": "celu(a, b)",
    "leaky_relu(a, negative_slope=b)": "leaky_relu(a, b)", "softplus(a, beta=b)": "softplus(b * a) / b",
    "softshrink(a, lambd=b)": "softshrink(a, b)", "hardshrink(a, lambd=b)": "hardshrink(a, b)",
    "hardtanh(a, min_val=b, max_val=c)": "hardtanh(a, b, c)",
    "leaky_relu(a)": "leaky_relu(a, 0.01)", "prelu(a, b)": "where(a > 0, a, b * a)",
    "threshold(a, b, c)": "where(a > b, a, c)", "hardtanh(a)": "hardtanh(a, -1, 1)",
    "hard_tanh(a)": "hardtanh(a, -1, 1)", "hard_sigmoid(a)": "hardsigmoid(a)",
    "hard_swish(a)": "hardswish(a)", "soft_sign(a)": "softsign(a)", "softshrink(a)": "softshrink(a, 0.5)",
    "hardshrink(a)": "hardshrink(a, 0.5)", "stop_gradient(a)": "detach(a)",
}  # fmt: skip

# Other words for the variables; as parameters they would be sliders that nobody meant.
_VARIABLES = {
    "x": ("X", "input", "inputs", "inp"),
    "y": ("Y", "output", "outputs", "out"),
    "g": ("G", "grad", "gradient", "grad_output", "grad_outputs", "grad_out", "gy", "dy", "dY", "dL", "dout"),
}
MEANT = {word: name for name, words in _VARIABLES.items() for word in words}

_CALLED = {pattern.partition("(")[0] for pattern in CALLS} | set(FUNCTIONS)


def own_name(text: str) -> str:
    """The name without a library before it, Greek letters by their names."""
    short = text.rpartition(".")[2]
    if short in CONSTANTS or called(short):
        return short
    return GREEK[text[0]] + text[1:] if text[0] in GREEK else text


def called(name: str) -> str | None:
    """A function's name as the tables have it, whatever its capitals; None where they have none."""
    return next((found for found in (name, name.lower()) if found in _CALLED), None)


def misspelled(name: str) -> str | None:
    """The function that was meant, where the name is none of a library and all but right."""
    another = any(hasattr(library, name) for library in (torch, torch.nn.functional, math))
    return next(iter([] if another else alike(name, FUNCTIONS)), None)


def alike(word: str, names: Iterable[str], most: int = 1) -> list[str]:
    """The names that may be meant by a slip of the pen, which leaves the first letter and the digits right.

    Between names of three letters one letter makes another function.
    """

    def key(name: str) -> tuple[str, list[str]]:
        return name[0], re.findall("[0-9]", name)

    near = (name for name in names if len(name) > 3 and key(name) == key(word))
    return difflib.get_close_matches(word, near, most, _ALIKE) if len(word) > 3 else []

"""Other spellings of the language: one table of signs, names and calls, and their meaning."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Any

from explorer.formula.functions import FUNCTIONS
from explorer.formula.measured import at_bounds, is_elsewhere
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

# The names of operators, as functions and methods.
OPERATORS = {
    "+": "add", "-": "sub subtract", "*": "mul multiply", "/": "div divide true_divide",
    "**": "pow power float_power", "%": "remainder mod",
}  # fmt: skip


@dataclass(frozen=True)
class OtherCall:
    """A call under another name, with torch's defaults left out or its keywords, as a formula of the table.

    ``signature`` is torch's, the tensor first; its parameters are a, b, c, d in the formula.
    """

    signature: Signature
    text: str

    def operands(self, *arguments: Any, **named: Any) -> list[Any] | None:
        """The operands a, b, c, d of a call, defaults as numbers; None where the signature does not fit."""
        try:
            bound = self.signature.bind(*arguments, **named)
        except TypeError:
            return None
        bound.apply_defaults()
        return list(bound.arguments.values())


# Names, signatures, and formulas. Of one name the first signature that fits is meant.
_CALLS = (
    ("absolute fabs", "a", "abs(a)"), ("sgn", "a", "sign(a)"), ("rint", "a", "round(a)"),
    ("fix", "a", "trunc(a)"), ("ceiling", "a", "ceil(a)"), ("frac", "a", "a - trunc(a)"),
    ("ln", "a", "log(a)"), ("log", "a, base", "log(a) / log(b)"), ("exp2", "a", "2 ** a"),
    ("sqr square", "a", "a ** 2"),
    ("rsqrt", "a", "1 / sqrt(a)"), ("neg negative", "a", "-a"),
    ("arctan", "a", "atan(a)"), ("cot", "a", "1 / tan(a)"), ("sec", "a", "1 / cos(a)"),
    ("csc", "a", "1 / sin(a)"), ("sech", "a", "1 / cosh(a)"), ("csch", "a", "1 / sinh(a)"),
    ("coth", "a", "1 / tanh(a)"), ("atanh arctanh", "a", "(log1p(a) - log1p(-a)) / 2"),
    ("erfc", "a", "1 - erf(a)"), ("logit", "a", "log(a / (1 - a))"),
    ("minimum", "a, other", "min(a, b)"), ("maximum", "a, other", "max(a, b)"),
    *(
        (f"f{end}", "a, other", shared if at_bounds().equals < 1 else first)
        for end, sign in (("min", "<="), ("max", ">="))
        for first in (f"where((a {sign} b) | (b != b), a, b)",)
        for shared in (f"where(b != b, a, where(a != a, b, {end}(a, b)))",)
    ),
    ("min", "a", "amin(a)"), ("max", "a", "amax(a)"), ("copysign", "a, other", "copysign(a, b)"),
    ("fmod", "a, other", "where(a < 0, -remainder(-a, abs(b)), remainder(a, abs(b)))"),
    ("clamp clip", "a, min, max", "clamp(a, b, c)"), ("clamp clip", "a, min", "clamp_min(a, b)"),
    ("clamp clip", "a, *, max", "clamp_max(a, b)"), ("heaviside", "a, values", "heaviside(a, b)"),
    ("expit logistic", "a", "sigmoid(a)"), ("logsigmoid log_sigmoid", "a", "-softplus(-a)"),
    ("swish", "a", "silu(a)"), ("softplus", "a, beta=1", "softplus(b * a) / b"),
    ("tanhshrink", "a", "a - tanh(a)"), ("elu", "a, alpha=1", "elu(a, b)"),
    ("celu", "a, alpha=1", "celu(a, b)"), ("leaky_relu", "a, negative_slope=0.01", "leaky_relu(a, b)"),
    ("prelu", "a, weight", "where(a > 0, a, b * a)"),
    ("threshold", "a, threshold, value", "where(a > b, a, c)"),
    ("hardtanh hard_tanh", "a, min_val=-1, max_val=1", "hardtanh(a, b, c)"),
    ("hard_sigmoid", "a", "hardsigmoid(a)"), ("hard_swish", "a", "hardswish(a)"),
    ("soft_sign", "a", "softsign(a)"), ("softshrink", "a, lambd=0.5", "softshrink(a, b)"),
    ("hardshrink", "a, lambd=0.5", "hardshrink(a, b)"), ("stop_gradient", "a", "detach(a)"),
    ("hypot", "a, other", "sqrt(a**2 + b**2)"), ("lerp", "a, end, weight", "a + c * (b - a)"),
    ("addcmul", "a, tensor1, tensor2, value=1", "a + d * b * c"),
    ("addcdiv", "a, tensor1, tensor2, value=1", "a + d * b / c"),
    *((names, "a, other", f"a {sign} b") for sign, names in OPERATORS.items() if sign != "%"),
    ("mod", "a, other", "remainder(a, b)"),
)  # fmt: skip


def _signature(takes: str) -> Signature:
    """A signature from its text: names, ``*`` before those that are only keywords, defaults as numbers."""
    parameters = []
    before, _, after = takes.partition(", *")
    kinds = {Parameter.POSITIONAL_OR_KEYWORD: before, Parameter.KEYWORD_ONLY: after}
    for kind, part in ((kind, part) for kind, text in kinds.items() for part in text.split(", ") if part):
        name, _, default = part.partition("=")
        parameters.append(Parameter(name, kind, default=float(default) if default else Parameter.empty))
    return Signature(parameters)


CALLS: dict[str, list[OtherCall]] = {}
for _names, _takes, _text in _CALLS:
    for _name in _names.split():
        CALLS.setdefault(_name, []).append(OtherCall(_signature(_takes), _text))

# Other words for the variables; as parameters they would be sliders that nobody meant.
_VARIABLES = {
    "x": ("X", "input", "inputs", "inp"),
    "y": ("Y", "output", "outputs", "out"),
    "g": ("G", "grad", "gradient", "grad_output", "grad_outputs", "grad_out", "gy", "dy", "dY", "dL", "dout"),
}
MEANT = {word: name for name, words in _VARIABLES.items() for word in words}

_CALLED = set(CALLS) | set(FUNCTIONS)


def own_name(text: str) -> str:
    """The name without a library before it, Greek letters by their names."""
    short = text.rpartition(".")[2]
    if short in CONSTANTS or called(short):
        return short
    return GREEK[text[0]] + text[1:] if text[0] in GREEK else text


def called(name: str) -> str | None:
    """A function's name as the tables have it, whatever its capitals; None where they have none."""
    return next((known for known in (name, name.lower()) if known in _CALLED), None)


def misspelled(name: str) -> str | None:
    """The function that was meant, where the name is in no library and nearly right."""
    return next(iter([] if is_elsewhere(name) else alike(name, FUNCTIONS)), None)


def alike(word: str, names: Iterable[str], most: int = 1) -> list[str]:
    """The names that may be meant by a slip of the pen, which leaves the first letter and the digits right.

    Between names of three letters one letter makes another function.
    """

    def key(name: str) -> tuple[str, list[str]]:
        return name[0], re.findall("[0-9]", name)

    near = (name for name in names if len(name) > 3 and key(name) == key(word))
    return difflib.get_close_matches(word, near, most, _ALIKE) if len(word) > 3 else []

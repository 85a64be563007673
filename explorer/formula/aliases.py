"""Tables of alternative spellings that formulas accept: signs, names and functions of other libraries."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Any

from explorer.formula.functions import FUNCTIONS
from explorer.formula.measured import at_bounds, is_elsewhere
from explorer.formula.tree import CONSTANTS

_MIN_SIMILARITY = 0.8  # similarity that accepts "rond" for "round" (0.89), but not "prelu" for "selu" (0.67)

SPELLINGS = {
    "^": "**", "−": "-", "×": "*", "·": "*", "⋅": "*", "∗": "*", "÷": "/", "≤": "<=", "≥": ">=", "≠": "!=",
}  # fmt: skip
SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_LETTERS = """
alpha beta gamma delta epsilon zeta eta theta iota kappa lambd mu nu xi omicron pi rho sigma tau upsilon
phi chi psi omega
"""  # torch writes lambd, because lambda is a keyword in Python
GREEK = dict(zip("αβγδεζηθικλμνξοπρστυφχψω", _LETTERS.split(), strict=True))
GREEK |= {"ϵ": "epsilon", "ϕ": "phi", "µ": "mu"}  # variants of these letters in Unicode

# Functions and methods of torch that are equivalent to an operator.
OPERATORS = {
    "+": "add", "-": "sub subtract", "*": "mul multiply", "/": "div divide true_divide",
    "**": "pow power float_power", "%": "remainder mod",
}  # fmt: skip


@dataclass(frozen=True)
class CallAlias:
    """A function of torch or another library, defined as a formula.

    ``signature`` is torch's, with the tensor first. Its parameters are called a, b, c, d in ``text``.
    """

    signature: Signature
    text: str

    def bind_operands(self, *arguments: Any, **keywords: Any) -> list[Any] | None:
        """Return a call's arguments in the signature's order, with defaults, or None if they do not fit."""
        try:
            bound = self.signature.bind(*arguments, **keywords)
        except TypeError:
            return None
        bound.apply_defaults()
        return list(bound.arguments.values())


# Names, signatures and definitions. If a name has several signatures, the first that fits is used.
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


def _parse_signature(declaration: str) -> Signature:
    """Parse a signature such as "a, min, *, max=1", whose defaults are numbers."""
    parameters = []
    positional, _, keyword_only = declaration.partition(", *")
    kinds = {Parameter.POSITIONAL_OR_KEYWORD: positional, Parameter.KEYWORD_ONLY: keyword_only}
    for kind, part in ((kind, part) for kind, text in kinds.items() for part in text.split(", ") if part):
        name, _, default = part.partition("=")
        parameters.append(Parameter(name, kind, default=float(default) if default else Parameter.empty))
    return Signature(parameters)


CALLS: dict[str, list[CallAlias]] = {}
for _names, _takes, _text in _CALLS:
    for _name in _names.split():
        CALLS.setdefault(_name, []).append(CallAlias(_parse_signature(_takes), _text))

# Names that users type for x, y and g. Unless translated, they would become parameters with sliders.
_VARIABLES = {
    "x": ("X", "input", "inputs", "inp"),
    "y": ("Y", "output", "outputs", "out"),
    "g": ("G", "grad", "gradient", "grad_output", "grad_outputs", "grad_out", "gy", "dy", "dY", "dL", "dout"),
}
VARIABLE_ALIASES = {word: name for name, words in _VARIABLES.items() for word in words}

_FUNCTION_NAMES = set(CALLS) | set(FUNCTIONS)


def normalize_name(text: str) -> str:
    """Return a name, with a Greek first letter spelled out, or a function or constant without "torch."."""
    short = text.rpartition(".")[2]
    if short in CONSTANTS or find_function(short):
        return short
    return GREEK[text[0]] + text[1:] if text[0] in GREEK else text


def find_function(name: str) -> str | None:
    """Return the formula language's name for a function in any case, or None if it has no such function."""
    return next((spelling for spelling in (name, name.lower()) if spelling in _FUNCTION_NAMES), None)


def suggest_function(name: str) -> str | None:
    """Return the name of a function that resembles a misspelled one.

    Returns None if no name is similar, or if torch or Python's math module has a function of the given name.
    """
    return next(iter([] if is_elsewhere(name) else find_similar(name, FUNCTIONS)), None)


def find_similar(word: str, names: Iterable[str], count: int = 1) -> list[str]:
    """Return up to ``count`` of the given names that resemble a misspelled word.

    Similar names start with the same letter and contain the same digits. Names with the word's letters in
    another order come first. Names of up to three letters need the word's letters, as in "sinn", because in
    them one letter makes a different name.
    """

    def make_key(name: str) -> tuple[str, list[str]]:
        return name[0], re.findall("[0-9]", name)

    candidates = [
        name
        for name in names
        if (min(len(name), len(word)) > 3 or set(name) == set(word)) and make_key(name) == make_key(word)
    ]
    swapped = [name for name in candidates if sorted(name) == sorted(word)]
    similar = difflib.get_close_matches(word, candidates, count, _MIN_SIMILARITY)
    return list(dict.fromkeys(swapped + similar))[:count]

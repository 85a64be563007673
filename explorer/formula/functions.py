"""The functions that formulas may call, one per row of a table.

Torch functions are called by their public names, so that the default rule shows torch's own gradient. For JAX
and LaTeX, a row has templates in which the arguments replace ``#0``, ``#1`` and so on.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

# Values of ``mixing``: torch's requirements if some arguments are tensors and others are constants.
#   scalars   all but the first argument must be constants (torch takes Python numbers there)
#   tensors   constants are expanded to tensors
#   bounds    all but the first are numbers, or all are tensors
#   branches  at least one of the second and third is a tensor
Mixing = Literal["scalars", "tensors", "bounds", "branches"]

# The largest number of float16. Torch rejects a constant argument that exceeds the range of x's dtype,
# and no floating dtype has a smaller range.
SMALLEST_MAX = 65504.0
_LARGEST_SINGLE = 3.4028234663852886e38  # the largest number of float32


class AtBounds(NamedTuple):
    """The fractions of g that torch.clamp passes to x if x equals a bound that is a number, or a tensor.

    ``equals`` is the fraction for the first of two equal arguments of torch.fmin and torch.fmax.
    """

    numbers: float
    tensors: float
    equals: float


class Format(NamedTuple):
    """A floating-point format: its name, mantissa bits, smallest exponent and largest number."""

    name: str
    mantissa: int
    least: int
    largest: float


@dataclass(frozen=True)
class Function:
    """A function of the formula language, with its spellings, gradients and properties.

    Attributes:
        torch: the function's dotted name within the torch module.
        gradient: for each argument, torch's gradient as a formula of the arguments ``a``, ``b``, ``c``, the
            result ``y`` and the upstream gradient ``g``, correct at infinities and kinks too. For a constant
            that torch does not differentiate, it is the derivative of the function written out with
            ``where``.
        shared: for ``mixing`` "bounds", a dict from the fraction of g that a gets exactly at a bound, if it
            is not 1, to the gradients.
        overflowing: the gradient in versions of torch whose cast to E4M3 turns too large values into NaN.
        pieces: formulas of the arguments; the function may have a kink wherever one of them jumps.
        differentiable: False if the result is detached, so that its gradient is 0 instead of an error.
        degree: 0 if the function is constant between its kinks, 1 if it is linear there, else infinite; a
            factor on the degree of the arguments.
        composed: the function as a formula of others, used if torch takes only numbers as constants and they
            are tensors.
        domain: a predicate ``(is_float64, *constants)``, true if torch accepts the constants. Otherwise torch
            raises, and the formula is NaN.
        keywords: keyword arguments passed in every call of the torch function.
        reduces: whether the function reduces all elements to one number. Constant arguments are rejected.
        least: the least number of elements for a reduction. With fewer, the result is NaN; torch would raise
            or warn.
        own: whether torch lacks the function. It is then defined in ``torch_operations``; exported code
            defines it too, with a leading underscore in its name.
        format: the number format of a cast.
        word: whether a parameter may have the same name, as in older links.
    """

    name: str
    gradient: tuple[str, ...]
    arity: int
    torch: str
    jax: str
    latex: str
    mixing: Mixing = "scalars"
    pieces: tuple[str, ...] = ()
    differentiable: bool = True
    degree: float = math.inf
    composed: str = ""
    shared: Mapping[float, tuple[str, ...]] = field(default_factory=dict, hash=False)
    domain: Callable[..., bool] | None = None
    keywords: tuple[tuple[str, str], ...] = ()
    reduces: bool = False
    least: int = 0
    overflowing: str = ""
    format: Format | None = None
    own: bool = False
    word: bool = False

    @property
    def needs_detach(self) -> bool:
        """True if code has to detach the result of torch's function, so that its gradient is 0."""
        return not self.differentiable and not self.own and self.torch != "detach"

    @property
    def rounds_to_format(self) -> bool:
        """True if the function rounds to a number format, and so jumps at the same x as ``fp``."""
        return any(piece.startswith("fp(") for piece in self.pieces)

    @property
    def passes_levels(self) -> bool:
        """True for a cast or a mean, which are piecewise constant but pass on a gradient in torch."""
        return self.differentiable and self.degree == 0 and self.gradient != ("0",)


def _row(
    name: str, *gradient: str, arity: int = 1, torch: str = "", jax: str = "", latex: str = "", **facts: Any
) -> Function:
    """Make one Function of the table.

    Its names in torch, ``jnp`` and LaTeX are ``name`` unless given. ``torch`` may be only a module; ``jax``
    and ``latex`` may be only the name before the arguments.
    """
    if number_format := facts.get("format"):
        facts["pieces"] = (
            f"fp(a, {number_format.mantissa}, {number_format.least}, {number_format.largest:g})",
        )
    letters = [f"#{position}" for position in range(arity)]
    comma, thin = ", ".join(letters), r",\,".join(letters)
    torch = torch + name if torch in ("", _NN) else torch
    jax = jax or (f"_{name}" if facts.get("own") else f"jnp.{name}")
    latex = latex or rf"\operatorname{{{name}}}".replace("_", r"\_")
    jax = jax if "#" in jax else f"{jax}({comma})"
    latex = latex if "#" in latex else rf"{latex}\left({thin}\right)"
    return Function(name, gradient, arity, torch, jax, latex, **facts)


def _is_celu_alpha(double: bool, alpha: float) -> bool:
    """Return whether torch accepts a number as the alpha of celu.

    Torch converts alpha and, except in float64, its reciprocal to float32. It rejects zero.
    """
    factors = (alpha,) if double else (alpha, 1 / (alpha or 1.0))
    return alpha != 0 and not any(_LARGEST_SINGLE < abs(factor) < math.inf for factor in factors)


_SIGN = ("sign(a)",)
_NN = "nn.functional."
# torch divides the gradient of a maximum evenly among all equal maxima; NaN counts as the largest value.
_EVENLY = "where((a == y) | (a != a), mean(g) / mean(1 * ((a == y) | (a != a))), 0)"
# If both arguments are equal, each gets half of the gradient.
_SMALLER = ("where(a > b, 0, g / where(a == b, 2, 1))", "where(a < b, 0, g / where(a == b, 2, 1))")
_LARGER = (_SMALLER[1], _SMALLER[0])
# Exponent of the spacing of a format's numbers near a, for constants that are tensors.
_BINADE = "(max(exponent(a, -1022), round(c)) - round(b))"
_TANH = "tanh(sqrt(2 / pi) * (a + 0.044715 * a**3))"

# fmt: off
_ROWS = (
    _row("abs", "g * sign(a)", latex=r"\left|#0\right|", pieces=_SIGN, degree=1),
    _row("sign", "0", pieces=_SIGN, degree=0),
    _row("heaviside", arity=2,
         mixing="tensors", latex=r"\operatorname{H}_{#1}\left(#0\right)", pieces=_SIGN,
         differentiable=False, degree=0),
    _row("round", "0", pieces=("round(a)",), degree=0),
    _row("floor", "0", latex=r"\left\lfloor #0\right\rfloor", pieces=("floor(a)",), degree=0),
    _row("ceil", "0", latex=r"\left\lceil #0\right\rceil", pieces=("ceil(a)",), degree=0),
    _row("trunc", "0", pieces=("trunc(a)",), degree=0),
    # fp rounds to the nearest number of a format, halves to even, keeping a's sign. Its arguments are the
    # bits of the mantissa (0 to 52), the smallest exponent, and the largest number, at which values saturate.
    # fp is not defined by ``exponent``: as a monotonic function, it lets the search find every jump.
    _row("fp", arity=4, latex=r"\operatorname{fp}_{#1,#2}^{#3}\left(#0\right)", pieces=("fp(a, b, c, d)",),
         composed=f"detach(clamp(round(a / 2**{_BINADE}) * 2**{_BINADE}, -abs(d), abs(d)))",
         differentiable=False, degree=0, own=True, word=True),
    # exponent is exactly floor(log2(abs(a))), but at least an integer b, so that its jumps can be listed.
    _row("exponent", arity=2, latex=r"\max\left(\left\lfloor \log_2\left|#0\right|\right\rfloor,#1\right)",
         pieces=("exponent(a, b)", "sign(a)"), composed="detach(max(exponent(a, -1022), round(b)))",
         differentiable=False, degree=0, own=True, word=True),
    # These are torch's casts to a format and back, whose backward casts g as well (at a finite a). Values
    # beyond the largest number saturate. In float64 they round once, while torch rounds to float32 first.
    _row("float8_e4m3fn", "float8_e4m3fn(g)", overflowing="where(abs(g) > 464, 0 / 0, float8_e4m3fn(g))",
         latex=r"\operatorname{E4M3}", format=Format("E4M3", 3, -6, 448.0), degree=0, own=True, word=True),
    _row("float8_e5m2", "where(abs(g) >= 61440, sign(g) / 0, float8_e5m2(g))", latex=r"\operatorname{E5M2}",
         format=Format("E5M2", 2, -14, 57344.0), degree=0, own=True, word=True),
    _row("exp", "g * y", latex=r"\exp"),
    _row("expm1", "g * (y + 1)", latex=r"\left(\exp\left(#0\right)-1\right)"),
    _row("log", "g / a", latex=r"\ln", pieces=_SIGN),
    _row("log2", "g / (a * log(2))", latex=r"\log_2", pieces=_SIGN),
    _row("log10", "g / (a * log(10))", latex=r"\log_{10}", pieces=_SIGN),
    _row("log1p", "g / (a + 1)", latex=r"\ln\left(1+#0\right)", pieces=("sign(a + 1)",)),
    _row("sqrt", "g / (2 * y)", latex=r"\sqrt{#0}", pieces=_SIGN),
    _row("sin", "g * cos(a)", latex=r"\sin"),
    _row("cos", "-g * sin(a)", latex=r"\cos"),
    _row("tan", "g * (1 + y**2)", latex=r"\tan", pieces=("round(a / pi)",)),
    _row("atan", "g / (a**2 + 1)", jax="jnp.arctan", latex=r"\arctan"),
    _row("sinh", "g * cosh(a)", latex=r"\sinh"),
    _row("cosh", "g * sinh(a)", latex=r"\cosh"),
    _row("tanh", "g * (1 - y**2)", latex=r"\tanh"),
    _row("sigmoid", "g * (1 - y) * y", jax="jax.nn.sigmoid", latex=r"\sigma"),
    _row("softplus", "g * where(a > 20, 1, exp(a) / (exp(a) + 1))", torch=_NN, jax="jax.nn.softplus"),
    _row("erf", "g * (2 / sqrt(pi) * exp(-a**2))", jax="jax.scipy.special.erf"),
    _row("relu", "where(a <= 0, 0, g)", jax="jax.nn.relu", pieces=_SIGN, degree=1),
    _row("min", *_SMALLER, arity=2, mixing="tensors", torch="minimum", jax="jnp.minimum", latex=r"\min",
         pieces=("sign(a - b)",), degree=1),
    _row("max", *_LARGER, arity=2, mixing="tensors", torch="maximum", jax="jnp.maximum", latex=r"\max",
         pieces=("sign(a - b)",), degree=1),
    _row("clamp", "where(b <= a <= c, g, 0)", "where((a < b) & (b < c), g, 0)",
         "where((a > c) | (c < b), g, 0)", arity=3, mixing="bounds", jax="jnp.clip",
         shared={
             0.0: ("where(b < a < c, g, 0)",),
             0.5: ("where((a < b) | (a > c), 0, g / where(((a == b) | (a == c)) & (b < c), 2, 1))",
                   "where((a < b) & (b <= c), g, where((a == b) & (b < c), g / 2, 0))",
                   "where((a > c) & (b <= c) | (c < b), g, where((a == c) & (b < c), g / 2, 0))"),
         },
         pieces=("sign(a - b)", "sign(a - c)"), degree=1),
    _row("clamp_min", "where(a >= b, g, 0)", "where(a < b, g, 0)", arity=2, mixing="bounds",
         shared={0.0: ("where(a > b, g, 0)",), 0.5: _LARGER}, jax="jnp.maximum", pieces=("sign(a - b)",),
         degree=1),
    _row("clamp_max", "where(a <= b, g, 0)", "where(a > b, g, 0)", arity=2, mixing="bounds",
         shared={0.0: ("where(a < b, g, 0)",), 0.5: _SMALLER}, jax="jnp.minimum", pieces=("sign(a - b)",),
         degree=1),
    _row("where", arity=3, mixing="branches", degree=1),
    _row("mean", "mean(g)", reduces=True, degree=0),
    _row("amax", _EVENLY, torch="max", jax="jnp.max", latex=r"\operatorname{max}_{\text{all}}", reduces=True,
         least=1, degree=0),
    _row("amin", _EVENLY, torch="min", jax="jnp.min", latex=r"\operatorname{min}_{\text{all}}", reduces=True,
         least=1, degree=0),
    _row("std", "where(y == 0, 0, mean(g) / y) * (numel(a) / (numel(a) - 1)) * (a - mean(a))",
         jax="jnp.std(#0, ddof=1)", reduces=True, least=2, degree=0),
    _row("numel", jax="jnp.size", differentiable=False, reduces=True, least=1, degree=0),
    _row("detach", jax="jax.lax.stop_gradient", differentiable=False, degree=1),
    _row("gelu", "g * ((1 + erf(a / sqrt(2))) / 2 + a * exp(-a**2 / 2) / sqrt(2 * pi))", torch=_NN,
         jax="jax.nn.gelu(#0, approximate=False)"),
    _row("gelu_tanh",
         f"g * ((1 + {_TANH}) / 2 + a / 2 * (1 - {_TANH}**2) * (sqrt(2 / pi) * (1 + 0.134145 * a**2)))",
         torch=_NN + "gelu", keywords=(("approximate", "tanh"),), jax="jax.nn.gelu(#0, approximate=True)"),
    _row("silu", "g * sigmoid(a) * (1 + a * (1 - sigmoid(a)))", torch=_NN, jax="jax.nn.silu"),
    _row("mish", "g * (tanh(softplus(a)) + a * sigmoid(a) * (1 - tanh(softplus(a))**2))", torch=_NN,
         jax="jax.nn.mish"),
    _row("selu", "g * 1.0507009873554805 * where(a > 0, 1, 1.6732632423543772 * exp(a))", jax="jax.nn.selu",
         pieces=_SIGN),
    _row("elu", "g * where(a > 0, 1, b * exp(a))", "g * where(a > 0, 0, expm1(a))", arity=2, torch=_NN,
         jax="jax.nn.elu", latex=r"\operatorname{elu}_{#1}\left(#0\right)",
         composed="where(a > 0, a, b * expm1(a))", pieces=_SIGN),
    _row("celu", "g * where(a > 0, 1, exp(a / b))",
         "g * where(a > 0, 0, expm1(a / b) - a / b * exp(a / b))", arity=2, jax="jax.nn.celu",
         latex=r"\operatorname{celu}_{#1}\left(#0\right)",
         composed="where(a > 0, a, b * expm1(a / b))", pieces=_SIGN, domain=_is_celu_alpha),
    _row("leaky_relu", "g * where(a > 0, 1, b)", "g * where(a > 0, 0, a)", arity=2, torch=_NN,
         jax="jax.nn.leaky_relu", latex=r"\operatorname{leaky\_relu}_{#1}\left(#0\right)",
         composed="where(a > 0, a, a * b)", pieces=_SIGN,
         degree=1),
    _row("relu6", "where(0 < a < 6, g, 0)", torch=_NN, jax="jax.nn.relu6", pieces=("sign(a)", "sign(a - 6)"),
         degree=1),
    _row("hardtanh", "where(b < a < c, g, 0)", "where(a <= b, g, 0)", "where((a >= c) & (a > b), g, 0)",
         arity=3, torch=_NN, jax="jnp.clip",
         latex=r"\operatorname{hardtanh}_{#1}^{#2}\left(#0\right)",
         composed="where(a <= b, b, where(a >= c, c, a))", pieces=("sign(a - b)", "sign(a - c)"),
         domain=lambda double, low, high: not low > high, degree=1),
    _row("softsign", "g / (1 + abs(a)) - g * (y / (1 + abs(a))) * sign(a)", torch=_NN,
         jax="jax.nn.soft_sign"),
    _row("hardsigmoid", "where(-3 < a < 3, g / 6, 0)", torch=_NN, jax="jax.nn.hard_sigmoid",
         pieces=("sign(a - 3)", "sign(a + 3)"), degree=1),
    _row("hardswish", "where(a <= -3, 0, g * where(a < 3, a / 3 + 0.5, 1))", torch=_NN,
         jax="jax.nn.hard_swish", pieces=("sign(a - 3)", "sign(a + 3)"), degree=2),
    _row("softshrink", "where(-b <= a <= b, 0, g)", "where(-b <= a <= b, 0, where(a > 0, -g, g))", arity=2,
         torch=_NN, jax="jnp.multiply(jnp.sign(#0), jnp.maximum(jnp.subtract(jnp.abs(#0), #1), 0))",
         latex=r"\operatorname{softshrink}_{#1}\left(#0\right)",
         composed="where(a > b, a - b, where(a < -b, a + b, 0 * a))", pieces=("sign(a - b)", "sign(a + b)"),
         domain=lambda double, width: 0 <= width < math.inf, degree=1),
    _row("hardshrink", "where(-b <= a <= b, 0, g)", "0", arity=2, torch=_NN,
         jax="jnp.where(jnp.greater(jnp.abs(#0), #1), #0, 0)",
         latex=r"\operatorname{hardshrink}_{#1}\left(#0\right)",
         composed="where(-b <= a <= b, 0 * a, a)", pieces=("sign(a - b)", "sign(a + b)"),
         degree=1),
    _row("reciprocal", "-g * (y * y)", latex=r"\frac{1}{#0}", pieces=_SIGN),
    _row("remainder", "g", "-g * floor(a / b)", arity=2, pieces=("floor(a / b)",), degree=1),
    _row("copysign", "g * where(a == 0, 0, y / a)", "0", arity=2, mixing="tensors",
         pieces=("sign(a)", "sign(b)"), degree=1),
    _row("nan_to_num", "g * (abs(a) < 1 / 0)", degree=1),
)

# fmt: on

FUNCTIONS: dict[str, Function] = {row.name: row for row in _ROWS}

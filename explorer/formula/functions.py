"""The functions of the formula language: one table, one row each.

Torch is called by its own public name, so that the default rule shows torch's own gradient; JAX and
LaTeX are spelled as templates in which ``#0``, ``#1`` … stand for the arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Literal

import torch

# What torch asks of the arguments when some have a value per element and some are constants:
#   scalars   all but the first argument must be constants (torch takes Python numbers there)
#   tensors   constants are filled out to tensors
#   bounds    all but the first are numbers or all are tensors
#   branches  of the second and third, one at least is a tensor
Mixing = Literal["scalars", "tensors", "bounds", "branches"]

# The largest number of float16, of all floating dtypes the least: torch refuses a constant argument
# beyond the dtype of x.
SMALLEST_MAX = 65504.0


@dataclass(frozen=True)
class Function:
    """One row: how a function is called, computed, spelled and set.

    ``torch`` is the dotted name below the torch module. What is not ``differentiable`` is detached, so
    that the gradient is 0 instead of an error. ``pieces`` names the functions
    of the arguments at whose jumps this function may have a kink, as formulas in ``a``, ``b``, ``c``.
    ``gradient`` is what torch's autograd returns for each argument that may carry one, in ``a``, ``b``,
    ``c``, the result ``y`` and the upstream gradient ``g``, infinities and kinks included.
    ``domain`` says which constants torch takes for a dtype; for others, where torch raises, the result
    is NaN.
    """

    name: str
    arity: int
    torch: str
    jax: str
    latex: str
    mixing: Mixing = "scalars"
    pieces: tuple[str, ...] = ()
    gradient: tuple[str, ...] = ()
    differentiable: bool = True
    domain: Callable[..., bool] | None = None
    call: Callable[..., Any] = field(init=False, repr=False, compare=False)

    @property
    def needs_detach(self) -> bool:
        """Whether code must detach what torch's function returns."""
        return not self.differentiable and self.torch != "detach"

    def __post_init__(self) -> None:
        call = attrgetter(self.torch)(torch)
        if self.needs_detach:
            call = _detached(call)
        if self.domain:
            call = _within(self.domain, call)
        object.__setattr__(self, "call", call)


def _detached(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments: function(*arguments).detach()


def _within(domain: Callable[..., bool], function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, *constants: function(a, *constants) if domain(a.dtype, *constants) else a * math.nan


def _celu_takes(dtype: torch.dtype, alpha: float) -> bool:
    """Torch makes float32 of alpha and, for all but float64, of its reciprocal; zero it refuses."""
    largest = torch.finfo(torch.float32).max
    factors = (alpha,) if dtype == torch.float64 else (alpha, 1 / (alpha or 1.0))
    return alpha != 0 and not any(largest < abs(factor) < math.inf for factor in factors)


def _named(name: str) -> str:
    return rf"\operatorname{{{name}}}\left(#0\right)"


_SIGN = ("sign(a)",)
_NN = "nn.functional."

# fmt: off
_ROWS = (
    Function("abs", 1, "abs", "jnp.abs(#0)", r"\left|#0\right|", pieces=_SIGN, gradient=("g * sign(a)",)),
    Function("sign", 1, "sign", "jnp.sign(#0)", _named("sign"), pieces=_SIGN, gradient=("0",)),
    Function("heaviside", 2, "heaviside", "jnp.heaviside(#0, #1)", r"\operatorname{H}_{#1}\left(#0\right)",
             mixing="tensors", pieces=_SIGN, differentiable=False),
    Function("round", 1, "round", "jnp.round(#0)", _named("round"), pieces=("round(a)",), gradient=("0",)),
    Function("floor", 1, "floor", "jnp.floor(#0)", r"\left\lfloor #0\right\rfloor", pieces=("floor(a)",),
             gradient=("0",)),
    Function("ceil", 1, "ceil", "jnp.ceil(#0)", r"\left\lceil #0\right\rceil", pieces=("ceil(a)",),
             gradient=("0",)),
    Function("trunc", 1, "trunc", "jnp.trunc(#0)", _named("trunc"), pieces=("trunc(a)",), gradient=("0",)),
    Function("exp", 1, "exp", "jnp.exp(#0)", r"\exp\left(#0\right)", gradient=("g * y",)),
    Function("expm1", 1, "expm1", "jnp.expm1(#0)", r"\left(\exp\left(#0\right)-1\right)",
             gradient=("g * (y + 1)",)),
    Function("log", 1, "log", "jnp.log(#0)", r"\ln\left(#0\right)", pieces=_SIGN, gradient=("g / a",)),
    Function("log1p", 1, "log1p", "jnp.log1p(#0)", r"\ln\left(1+#0\right)", pieces=("sign(a + 1)",),
             gradient=("g / (a + 1)",)),
    Function("sqrt", 1, "sqrt", "jnp.sqrt(#0)", r"\sqrt{#0}", pieces=_SIGN, gradient=("g / (2 * y)",)),
    Function("sin", 1, "sin", "jnp.sin(#0)", r"\sin\left(#0\right)", gradient=("g * cos(a)",)),
    Function("cos", 1, "cos", "jnp.cos(#0)", r"\cos\left(#0\right)", gradient=("-g * sin(a)",)),
    Function("tan", 1, "tan", "jnp.tan(#0)", r"\tan\left(#0\right)", pieces=("round(a / pi)",),
             gradient=("g * (1 + y**2)",)),
    Function("atan", 1, "atan", "jnp.arctan(#0)", r"\arctan\left(#0\right)", gradient=("g / (a**2 + 1)",)),
    Function("sinh", 1, "sinh", "jnp.sinh(#0)", r"\sinh\left(#0\right)", gradient=("g * cosh(a)",)),
    Function("cosh", 1, "cosh", "jnp.cosh(#0)", r"\cosh\left(#0\right)", gradient=("g * sinh(a)",)),
    Function("tanh", 1, "tanh", "jnp.tanh(#0)", r"\tanh\left(#0\right)", gradient=("g * (1 - y**2)",)),
    Function("sigmoid", 1, "sigmoid", "jax.nn.sigmoid(#0)", r"\sigma\left(#0\right)",
             gradient=("g * (1 - y) * y",)),
    Function("softplus", 1, _NN + "softplus", "jax.nn.softplus(#0)", _named("softplus"),
             gradient=("g * where(a > 20, 1, exp(a) / (exp(a) + 1))",)),
    Function("erf", 1, "erf", "jax.scipy.special.erf(#0)", r"\operatorname{erf}\left(#0\right)",
             gradient=("g * (2 / sqrt(pi) * exp(-a**2))",)),
    Function("relu", 1, "relu", "jax.nn.relu(#0)", _named("relu"), pieces=_SIGN,
             gradient=("where(a <= 0, 0, g)",)),
    Function("min", 2, "minimum", "jnp.minimum(#0, #1)", r"\min\left(#0,\,#1\right)", mixing="tensors",
             pieces=("sign(a - b)",),
             gradient=("where(a > b, 0, g / where(a == b, 2, 1))",
                       "where(a < b, 0, g / where(a == b, 2, 1))")),
    Function("max", 2, "maximum", "jnp.maximum(#0, #1)", r"\max\left(#0,\,#1\right)", mixing="tensors",
             pieces=("sign(a - b)",),
             gradient=("where(a < b, 0, g / where(a == b, 2, 1))",
                       "where(a > b, 0, g / where(a == b, 2, 1))")),
    Function("clamp", 3, "clamp", "jnp.clip(#0, #1, #2)", r"\operatorname{clamp}\left(#0,\,#1,\,#2\right)",
             mixing="bounds", pieces=("sign(a - b)", "sign(a - c)"),
             gradient=("where(b <= a <= c, g, 0)",
                       "where((a < b) & (b < c), g, 0)",
                       "where((a > c) | (c < b), g, 0)")),
    Function("clamp_min", 2, "clamp_min", "jnp.maximum(#0, #1)",
             r"\operatorname{clamp\_min}\left(#0,\,#1\right)", mixing="bounds", pieces=("sign(a - b)",),
             gradient=("where(a >= b, g, 0)", "where(a < b, g, 0)")),
    Function("clamp_max", 2, "clamp_max", "jnp.minimum(#0, #1)",
             r"\operatorname{clamp\_max}\left(#0,\,#1\right)", mixing="bounds", pieces=("sign(a - b)",),
             gradient=("where(a <= b, g, 0)", "where(a > b, g, 0)")),
    Function("where", 3, "where", "jnp.where(#0, #1, #2)", "", mixing="branches"),
    Function("mean", 1, "mean", "jnp.mean(#0)", r"\operatorname{mean}\left(#0\right)", gradient=("mean(g)",)),
    Function("detach", 1, "detach", "jax.lax.stop_gradient(#0)", _named("detach"), differentiable=False),
    Function("gelu", 1, _NN + "gelu", "jax.nn.gelu(#0, approximate=False)", _named("gelu"),
             gradient=("g * ((1 + erf(a / sqrt(2))) / 2 + a * exp(-a**2 / 2) / sqrt(2 * pi))",)),
    Function("silu", 1, _NN + "silu", "jax.nn.silu(#0)", _named("silu"),
             gradient=("g * sigmoid(a) * (1 + a * (1 - sigmoid(a)))",)),
    Function("mish", 1, _NN + "mish", "jax.nn.mish(#0)", _named("mish"),
             gradient=("g * (tanh(softplus(a)) + a * sigmoid(a) * (1 - tanh(softplus(a))**2))",)),
    Function("selu", 1, "selu", "jax.nn.selu(#0)", _named("selu"), pieces=_SIGN,
             gradient=("g * 1.0507009873554805 * where(a > 0, 1, 1.6732632423543772 * exp(a))",)),
    Function("elu", 2, _NN + "elu", "jax.nn.elu(#0, #1)", r"\operatorname{elu}_{#1}\left(#0\right)",
             pieces=_SIGN, gradient=("g * where(a > 0, 1, b * exp(a))",)),
    Function("celu", 2, "celu", "jax.nn.celu(#0, #1)", r"\operatorname{celu}_{#1}\left(#0\right)",
             pieces=_SIGN, domain=_celu_takes,
             gradient=("g * where(a > 0, 1, exp(a / b))",)),
    Function("leaky_relu", 2, _NN + "leaky_relu", "jax.nn.leaky_relu(#0, #1)",
             r"\operatorname{leaky\_relu}_{#1}\left(#0\right)", pieces=_SIGN,
             gradient=("g * where(a > 0, 1, b)",)),
    Function("relu6", 1, _NN + "relu6", "jax.nn.relu6(#0)", _named("relu6"),
             pieces=("sign(a)", "sign(a - 6)"), gradient=("where(0 < a < 6, g, 0)",)),
    Function("hardtanh", 3, _NN + "hardtanh", "jnp.clip(#0, #1, #2)",
             r"\operatorname{hardtanh}_{#1}^{#2}\left(#0\right)", pieces=("sign(a - b)", "sign(a - c)"),
             domain=lambda dtype, low, high: not low > high, gradient=("where(b < a < c, g, 0)",)),
    Function("softsign", 1, _NN + "softsign", "jax.nn.soft_sign(#0)", _named("softsign"),
             gradient=("g / (1 + abs(a)) - g * (y / (1 + abs(a))) * sign(a)",)),
    Function("hardsigmoid", 1, _NN + "hardsigmoid", "jax.nn.hard_sigmoid(#0)", _named("hardsigmoid"),
             pieces=("sign(a - 3)", "sign(a + 3)"), gradient=("where(-3 < a < 3, g / 6, 0)",)),
    Function("hardswish", 1, _NN + "hardswish", "jax.nn.hard_swish(#0)", _named("hardswish"),
             pieces=("sign(a - 3)", "sign(a + 3)"),
             gradient=("where(a <= -3, 0, g * where(a < 3, a / 3 + 0.5, 1))",)),
    Function("softshrink", 2, _NN + "softshrink",
             "jnp.multiply(jnp.sign(#0), jnp.maximum(jnp.subtract(jnp.abs(#0), #1), 0))",
             r"\operatorname{softshrink}_{#1}\left(#0\right)", pieces=("sign(a - b)", "sign(a + b)"),
             domain=lambda dtype, width: 0 <= width < math.inf, gradient=("where(-b <= a <= b, 0, g)",)),
    Function("hardshrink", 2, _NN + "hardshrink", "jnp.where(jnp.greater(jnp.abs(#0), #1), #0, 0)",
             r"\operatorname{hardshrink}_{#1}\left(#0\right)", pieces=("sign(a - b)", "sign(a + b)"),
             gradient=("where(-b <= a <= b, 0, g)",)),
    Function("reciprocal", 1, "reciprocal", "jnp.reciprocal(#0)", r"\frac{1}{#0}", pieces=_SIGN,
             gradient=("-g * (y * y)",)),
)

# fmt: on

FUNCTIONS: dict[str, Function] = {row.name: row for row in _ROWS}

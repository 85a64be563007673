"""The functions of the formula language: one table, one row each.

Torch is called by its own public name, so that the default rule shows torch's own gradient; the
other libraries are spelled as templates in which ``#0``, ``#1`` … stand for the arguments.
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
#   bounds    the second and third are both numbers or both tensors
#   branches  of the second and third, one at least is a tensor
Mixing = Literal["scalars", "tensors", "bounds", "branches"]

# The largest number of float16, of all floating dtypes the least: torch refuses a constant argument
# beyond the dtype of x.
SMALLEST_MAX = 65504.0


@dataclass(frozen=True)
class Function:
    """One row: how a function is called, computed, spelled and set.

    ``torch`` is the dotted name below the torch module; where torch defines no derivative the
    result is detached, so that the gradient is 0 instead of an error. ``pieces`` names the functions
    of the arguments at whose jumps this function may have a kink, as formulas in ``a``, ``b``, ``c``.
    ``domain`` says which constants torch takes; for others, where torch raises, the result is NaN.
    """

    name: str
    arity: int
    torch: str
    numpy: str
    jax: str
    latex: str
    mixing: Mixing = "scalars"
    pieces: tuple[str, ...] = ()
    differentiable: bool = True
    domain: Callable[..., bool] | None = None
    call: Callable[..., Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        call = attrgetter(self.torch)(torch)
        if not self.differentiable:
            call = _detached(call)
        if self.domain:
            call = _within(self.domain, call)
        object.__setattr__(self, "call", call)


def _detached(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments: function(*arguments).detach()


def _within(domain: Callable[..., bool], function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, *constants: function(a, *constants) if domain(*constants) else a * math.nan


def _named(name: str) -> str:
    return rf"\operatorname{{{name}}}\left(#0\right)"


_SIGN = ("sign(a)",)
_NN = "nn.functional."

# fmt: off
_ROWS = (
    Function("abs", 1, "abs", "np.abs(#0)", "jnp.abs(#0)", r"\left|#0\right|", pieces=_SIGN),
    Function("sign", 1, "sign", "np.sign(#0)", "jnp.sign(#0)", _named("sign"), pieces=_SIGN),
    Function("heaviside", 2, "heaviside", "np.heaviside(#0, #1)", "jnp.heaviside(#0, #1)",
             r"\operatorname{H}_{#1}\left(#0\right)", mixing="tensors", pieces=_SIGN,
             differentiable=False),
    Function("round", 1, "round", "np.round(#0)", "jnp.round(#0)", _named("round"), pieces=("round(a)",)),
    Function("floor", 1, "floor", "np.floor(#0)", "jnp.floor(#0)", r"\left\lfloor #0\right\rfloor",
             pieces=("floor(a)",)),
    Function("ceil", 1, "ceil", "np.ceil(#0)", "jnp.ceil(#0)", r"\left\lceil #0\right\rceil",
             pieces=("ceil(a)",)),
    Function("trunc", 1, "trunc", "np.trunc(#0)", "jnp.trunc(#0)", _named("trunc"), pieces=("trunc(a)",)),
    Function("exp", 1, "exp", "np.exp(#0)", "jnp.exp(#0)", r"\exp\left(#0\right)"),
    Function("expm1", 1, "expm1", "np.expm1(#0)", "jnp.expm1(#0)", r"\left(\exp\left(#0\right)-1\right)"),
    Function("log", 1, "log", "np.log(#0)", "jnp.log(#0)", r"\ln\left(#0\right)", pieces=_SIGN),
    Function("log1p", 1, "log1p", "np.log1p(#0)", "jnp.log1p(#0)", r"\ln\left(1+#0\right)",
             pieces=("sign(a + 1)",)),
    Function("sqrt", 1, "sqrt", "np.sqrt(#0)", "jnp.sqrt(#0)", r"\sqrt{#0}", pieces=_SIGN),
    Function("sin", 1, "sin", "np.sin(#0)", "jnp.sin(#0)", r"\sin\left(#0\right)"),
    Function("cos", 1, "cos", "np.cos(#0)", "jnp.cos(#0)", r"\cos\left(#0\right)"),
    Function("tan", 1, "tan", "np.tan(#0)", "jnp.tan(#0)", r"\tan\left(#0\right)",
             pieces=("round(a / pi)",)),
    Function("atan", 1, "atan", "np.arctan(#0)", "jnp.arctan(#0)", r"\arctan\left(#0\right)"),
    Function("sinh", 1, "sinh", "np.sinh(#0)", "jnp.sinh(#0)", r"\sinh\left(#0\right)"),
    Function("cosh", 1, "cosh", "np.cosh(#0)", "jnp.cosh(#0)", r"\cosh\left(#0\right)"),
    Function("tanh", 1, "tanh", "np.tanh(#0)", "jnp.tanh(#0)", r"\tanh\left(#0\right)"),
    Function("sigmoid", 1, "sigmoid", "1 / (1 + np.exp(-(#0)))", "jax.nn.sigmoid(#0)",
             r"\sigma\left(#0\right)"),
    Function("softplus", 1, _NN + "softplus", "np.logaddexp(0, #0)", "jax.nn.softplus(#0)",
             _named("softplus")),
    Function("erf", 1, "erf", "np.vectorize(math.erf, otypes=[float])(#0)", "jax.scipy.special.erf(#0)",
             r"\operatorname{erf}\left(#0\right)"),
    Function("relu", 1, "relu", "np.maximum(#0, 0)", "jax.nn.relu(#0)", _named("relu"), pieces=_SIGN),
    Function("min", 2, "minimum", "np.minimum(#0, #1)", "jnp.minimum(#0, #1)",
             r"\min\left(#0,\,#1\right)", mixing="tensors", pieces=("sign(a - b)",)),
    Function("max", 2, "maximum", "np.maximum(#0, #1)", "jnp.maximum(#0, #1)",
             r"\max\left(#0,\,#1\right)", mixing="tensors", pieces=("sign(a - b)",)),
    Function("clamp", 3, "clamp", "np.clip(#0, #1, #2)", "jnp.clip(#0, #1, #2)",
             r"\operatorname{clamp}\left(#0,\,#1,\,#2\right)", mixing="bounds",
             pieces=("sign(a - b)", "sign(a - c)")),
    Function("where", 3, "where", "np.where(#0, #1, #2)", "jnp.where(#0, #1, #2)",
             "", mixing="branches"),
    Function("mean", 1, "mean", "np.mean(#0)", "jnp.mean(#0)", r"\operatorname{mean}\left(#0\right)"),
    Function("gelu", 1, _NN + "gelu",
             "0.5 * (#0) * (1 + np.vectorize(math.erf, otypes=[float])((#0) / math.sqrt(2)))",
             "jax.nn.gelu(#0, approximate=False)", _named("gelu")),
    Function("silu", 1, _NN + "silu", "(#0) / (1 + np.exp(-(#0)))", "jax.nn.silu(#0)", _named("silu")),
    Function("mish", 1, _NN + "mish", "(#0) * np.tanh(np.logaddexp(0, #0))", "jax.nn.mish(#0)",
             _named("mish")),
    Function("selu", 1, "selu",
             "1.0507009873554805 * np.where((#0) > 0, #0, 1.6732632423543772 * np.expm1(np.minimum(#0, 0)))",
             "jax.nn.selu(#0)", _named("selu"), pieces=_SIGN),
    Function("elu", 2, _NN + "elu", "np.where((#0) > 0, #0, (#1) * np.expm1(np.minimum(#0, 0)))",
             "jax.nn.elu(#0, #1)", r"\operatorname{elu}_{#1}\left(#0\right)", pieces=_SIGN),
    Function("celu", 2, "celu", "np.where((#0) > 0, #0, (#1) * np.expm1(np.minimum(#0, 0) / (#1)))",
             "jax.nn.celu(#0, #1)", r"\operatorname{celu}_{#1}\left(#0\right)", pieces=_SIGN,
             domain=lambda alpha: not abs(alpha) < 1e-38),
    Function("leaky_relu", 2, _NN + "leaky_relu", "np.where((#0) > 0, #0, (#1) * (#0))",
             "jax.nn.leaky_relu(#0, #1)", r"\operatorname{leaky\_relu}_{#1}\left(#0\right)", pieces=_SIGN),
    Function("relu6", 1, _NN + "relu6", "np.clip(#0, 0, 6)", "jax.nn.relu6(#0)", _named("relu6"),
             pieces=("sign(a)", "sign(a - 6)")),
    Function("hardtanh", 3, _NN + "hardtanh", "np.clip(#0, #1, #2)", "jnp.clip(#0, #1, #2)",
             r"\operatorname{hardtanh}_{#1}^{#2}\left(#0\right)", pieces=("sign(a - b)", "sign(a - c)"),
             domain=lambda low, high: not low > high),
    Function("softsign", 1, _NN + "softsign", "(#0) / (1 + np.abs(#0))", "jax.nn.soft_sign(#0)",
             _named("softsign")),
    Function("hardsigmoid", 1, _NN + "hardsigmoid", "np.clip((#0) / 6 + 0.5, 0, 1)",
             "jax.nn.hard_sigmoid(#0)", _named("hardsigmoid"), pieces=("sign(a - 3)", "sign(a + 3)")),
    Function("hardswish", 1, _NN + "hardswish", "(#0) * np.clip((#0) / 6 + 0.5, 0, 1)",
             "jax.nn.hard_swish(#0)", _named("hardswish"), pieces=("sign(a - 3)", "sign(a + 3)")),
    Function("softshrink", 2, _NN + "softshrink", "np.sign(#0) * np.maximum(np.abs(#0) - (#1), 0)",
             "jnp.sign(#0) * jnp.maximum(jnp.abs(#0) - (#1), 0)",
             r"\operatorname{softshrink}_{#1}\left(#0\right)", pieces=("sign(a - b)", "sign(a + b)"),
             domain=lambda width: 0 <= width < math.inf),
    Function("hardshrink", 2, _NN + "hardshrink", "np.where(np.abs(#0) > (#1), #0, 0)",
             "jnp.where(jnp.abs(#0) > (#1), #0, 0)",
             r"\operatorname{hardshrink}_{#1}\left(#0\right)", pieces=("sign(a - b)", "sign(a + b)")),
    Function("reciprocal", 1, "reciprocal", "1 / (#0)", "jnp.reciprocal(#0)", r"\frac{1}{#0}",
             pieces=_SIGN),
)

# fmt: on

FUNCTIONS: dict[str, Function] = {row.name: row for row in _ROWS}

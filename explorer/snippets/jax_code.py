"""JAX source of an op with a rule: a ``custom_vjp``, or the plain op for the default rule."""

from collections.abc import Iterator, Sequence

from explorer.catalogue import Op, Rule
from explorer.formula import Formula
from explorer.formula.operands import counted, has_elements
from explorer.formula.tree import is_constant
from explorer.snippets import helpers
from explorer.snippets.helpers import helped
from explorer.snippets.layout import docstring, module, names_in, several
from explorer.snippets.pair import Pair, Values, paired

_FUNCTION = """

{decorator}
def {name}({signature}):
    {docstring}
    return {forward}
"""
# The forward half does not call the function: a parameter of an own formula may have its name.
_DERIVATIVE = """

def _{name}_forward({inputs}):
    y = {forward}
    return y, {saved}


def _{name}_backward({parameters}saved, g):
    {unpack}
    return ({gradients},)


{name}.defvjp(_{name}_forward, _{name}_backward)
"""
_SUM = '''

def _summed(part, like):
    """The sum over all elements that share a value of ``like``, in its shape."""
    shape = (1,) * (jnp.ndim(part) - jnp.ndim(like)) + jnp.shape(like)
    shared = [axis for axis, size in enumerate(shape) if size == 1]
    return part.sum(shared).reshape(jnp.shape(like))
'''
_IMPORTS = (
    {"math": "import math", "partial": "from functools import partial"},
    {"jax": "import jax", "jnp": "import jax.numpy as jnp", "np": "import numpy as np"},
)


def jax_snippet(op: str | Op, rule: str | Rule, parameters: Values = None, learns: Sequence[str] = ()) -> str:
    """JAX source of the same function with a ``custom_vjp``; for the default rule the plain op.

    It needs jax alone, which brings numpy. Values and gradients agree with torch's up to rounding, except
    that the default rule shows what JAX, not torch, does at a kink. Arguments as for ``snippet``.
    """
    return jax_code(paired(op, rule, parameters, learns))


def jax_code(pair: Pair) -> str:
    """The text of that module for a pair."""
    own = pair.backward
    code = _FUNCTION.format(
        decorator=_decorator(pair) if own else "",
        name=pair.name,
        signature=", ".join(["x", *(f"{name}={value!r}" for name, value in pair.parameters.items())]),
        docstring=docstring(pair.described("array")),
        forward=_shaped(pair.forward, "x"),
    )
    whole = (_SUM if own and pair.learns else "") + code + (_derivative(pair, own) if own else "")
    return module(helped(whole, helpers.JAX), *_IMPORTS)


def _decorator(pair: Pair) -> str:
    if not pair.numbers:
        return "@jax.custom_vjp"
    numbers = tuple(range(1 + len(pair.learns), 1 + len(pair.parameters)))
    return f"@partial(jax.custom_vjp, nondiff_argnums={numbers})"


def _derivative(pair: Pair, own: Formula) -> str:
    """The two halves of a custom derivative, and their registration."""
    gradients = ", ".join([_shaped(own, "g"), *_totals(pair)])
    saved = [name for name in ("x", "y", *pair.learns) if name in names_in(f"({gradients})")]
    return _DERIVATIVE.format(
        name=pair.name,
        inputs=", ".join(["x", *pair.parameters]),
        parameters="".join(f"{name}, " for name in pair.numbers),
        forward=_shaped(pair.forward, "x"),
        saved=several(saved) if len(saved) == 1 else f"({several(saved)})",
        unpack=f"{several(saved)} = saved" if saved else "",
        gradients=gradients,
    )


def _totals(pair: Pair) -> Iterator[str]:
    """The gradients that the backward half returns for learned parameters."""
    for name in pair.learns:
        scale = pair.scale(name, f"(jnp.size(g) / jnp.size({name}))")
        factor = f"({scale.jax_source}) * " if scale else ""
        yield f"{factor}_summed({_shaped(pair.part(name), 'g')}, {name})"


def _shaped(formula: Formula, like: str) -> str:
    """The formula's expression with the shape and dtype of ``like``."""
    text = formula.jax_source
    if is_constant(counted(formula.tree)):
        return f"jnp.full_like({like}, {text})"
    if not has_elements(formula.tree):
        return f"jnp.broadcast_to({text}, {like}.shape).astype({like}.dtype)"
    return text if formula.carries_gradient else f"jnp.asarray({text}, {like}.dtype)"

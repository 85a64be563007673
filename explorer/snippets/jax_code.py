"""JAX source of an op with a rule: a ``custom_vjp``, or the plain op for the default rule."""

from collections.abc import Iterable, Iterator, Sequence

from explorer.catalogue import Op, Rule
from explorer.formula import Formula
from explorer.formula.operands import counted, has_elements
from explorer.formula.tree import Binary, Call, children, is_condition, is_constant, walk
from explorer.snippets import helpers
from explorer.snippets.arguments import EXAMPLES, MEANINGS
from explorer.snippets.helpers import helped
from explorer.snippets.layout import docstring, module, names_in, several
from explorer.snippets.pair import Pair, Values, paired

_FUNCTION = """

{decorator}
def {name}({signature}):
    {docstring}
    return {forward}
"""
# custom_vjp takes no keywords alone, so that what draws is a function of its own.
_DRAWING = """

def {name}({signature}):
    {docstring}
    u = jax.random.uniform(key, x.shape, x.dtype, minval=jnp.finfo(x.dtype).tiny)
    return _{name}({arguments})
"""
_KEY = "key: a key of jax.random: each calls for a draw of its own."
# The forward half does not call the function: a parameter of an own formula may have its name.
_DERIVATIVE = """

def _{name}_forward({inputs}):
    y = {forward}
    return y, {saved}


def _{name}_backward({parameters}saved, g):
    {unpack}
    return ({gradients},)


{function}.defvjp(_{name}_forward, _{name}_backward)
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

    A pair that draws takes a key: ``name(x, *, key, **parameters)``.

    It needs jax alone, which brings numpy. Values and gradients agree with torch's up to rounding, except
    that the default rule shows what JAX, not torch, does at a kink. Arguments as for ``snippet``.
    """
    return jax_code(paired(op, rule, parameters, learns))


def jax_code(pair: Pair) -> str:
    """The text of that module for a pair."""
    own = pair.backward
    first, named = _named(pair, pair.learns), _named(pair, pair.numbers)
    code = _FUNCTION.format(
        decorator=_decorator(pair) if own else "",
        name=_function(pair),
        signature=", ".join(["x", *(pair.arguments if pair.given else [*first, *named])]),
        docstring='"""The op at what is drawn."""'
        if pair.given
        else docstring(pair.described("array", *_otherwise(pair))),
        forward=_shaped(pair.forward, "x"),
    )
    whole = (_SUM if own and pair.learns else "") + code + (_derivative(pair, own) if own else "")
    if pair.given:
        whole += _DRAWING.format(
            name=pair.name,
            signature=", ".join(["x", *first, "*", "key", *pair.given[1:], *named]),
            docstring=docstring(pair.described("array", *_usage(pair), given=_meanings(pair))),
            arguments=", ".join(["x", *pair.arguments]),
        )
    return module(helped(whole, helpers.JAX), *_IMPORTS)


def _otherwise(pair: Pair) -> list[str]:
    """Return sentences on values that are not torch's, for the functions that the pair takes."""
    formulas = [pair.forward, *([pair.backward] if pair.backward else [])]
    nodes = [node for formula in formulas for node in walk(formula.tree)]
    words = []
    if any(isinstance(node, Binary) and any(map(is_condition, children(node))) for node in nodes):
        words.append(
            "Where a condition is a factor and does not hold, XLA gives 0 also beside NaN and infinity, and "
            "torch gives NaN."
        )
    if any(isinstance(node, Call) and node.function == "sign" for node in nodes):
        words.append("jnp.sign gives NaN for NaN, and torch.sign gives 0.")
    return words


def _function(pair: Pair) -> str:
    """The name of what has the derivative: of a pair that draws the function of u."""
    return f"_{pair.name}" if pair.given else pair.name


def _named(pair: Pair, names: Iterable[str]) -> list[str]:
    return [f"{name}={pair.parameters[name]!r}" for name in names]


def _meanings(pair: Pair) -> list[str]:
    return [f"    {_KEY}", *(f"    {name}: {MEANINGS[name]}" for name in pair.given[1:])]


def _usage(pair: Pair) -> list[str]:
    loss = [EXAMPLES[name] for name in pair.given[1:]]
    call = ", ".join(["x", *pair.learns, "key=key", *loss])
    return [f"Usage:\n    key = jax.random.key(0)\n    y = {pair.name}({call})"]


def _decorator(pair: Pair) -> str:
    first = 1 + len(pair.learns) + len(pair.given[:1])
    fixed = tuple(range(first, 1 + len(pair.arguments)))
    return f"@partial(jax.custom_vjp, nondiff_argnums={fixed})" if fixed else "@jax.custom_vjp"


def _derivative(pair: Pair, own: Formula) -> str:
    """The two halves of a custom derivative, and their registration."""
    drawn = ["jnp.zeros_like(g)"] if pair.given else []
    gradients = ", ".join([_shaped(own, "g"), *_totals(pair), *drawn])
    read = names_in(f"({gradients})")
    twins = [f"ya = {_shaped(pair.twin, 'x')}"] if "ya" in read and "ya" in pair.drawn else []
    read |= names_in("\n".join(twins))
    saved = [name for name in ("x", "y", *pair.learns, *pair.given[:1]) if name in read]
    unpacked = [f"{several(saved)} = saved"] if saved else []
    return _DERIVATIVE.format(
        name=pair.name,
        function=_function(pair),
        inputs=", ".join(["x", *pair.arguments]),
        parameters="".join(f"{name}, " for name in (*pair.given[1:], *pair.numbers)),
        forward=_shaped(pair.forward, "x"),
        saved=several(saved) if len(saved) == 1 else f"({several(saved)})",
        unpack="\n    ".join([*unpacked, *twins]),
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

"""JAX source of an op with a rule: a ``custom_vjp``, or the plain op for the default rule."""

from collections.abc import Iterable, Iterator, Sequence

from explorer.catalogue import Op, Rule
from explorer.formula import Formula
from explorer.formula.operands import has_elements, replace_counts
from explorer.formula.tree import Binary, Call, children, is_condition, is_constant, walk
from explorer.snippets import helpers
from explorer.snippets.arguments import EXAMPLES, MEANINGS
from explorer.snippets.helpers import add_helpers
from explorer.snippets.layout import find_names, format_module, join_names, make_docstring
from explorer.snippets.pair import Pair, Values, make_pair

_FUNCTION = """

{decorator}
def {name}({signature}):
    {docstring}
    return {forward}
"""
# custom_vjp has no keyword-only arguments, so a separate function draws u.
_RANDOM_FUNCTION = """

def {name}({signature}):
    {docstring}
    u = jax.random.uniform(key, x.shape, x.dtype, minval=jnp.finfo(x.dtype).tiny)
    return _{name}({arguments})
"""
_KEY = "key: a key of jax.random, a new one for each draw."
# The forward rule repeats the op's expression instead of calling it: a parameter may hide the name.
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
    """Return JAX source of an op with a rule: a ``custom_vjp``, or the plain op for the default rule.

    The function of a stochastic pair takes a key: ``name(x, *, key, **parameters)``.

    The code needs only jax, which installs numpy. Values and gradients agree with torch's up to rounding. The
    default rule is JAX's own derivative, which may differ from torch's at a kink. Arguments and errors are
    those of ``snippet``.
    """
    return make_jax_code(make_pair(op, rule, parameters, learns))


def make_jax_code(pair: Pair) -> str:
    """Return the JAX source of an op with its rule, as a module."""
    backward = pair.backward
    first, defaults = _format_defaults(pair, pair.learns), _format_defaults(pair, pair.numbers)
    code = _FUNCTION.format(
        decorator=_write_decorator(pair) if backward else "",
        name=_choose_function_name(pair),
        signature=", ".join(["x", *(pair.arguments if pair.extras else [*first, *defaults])]),
        docstring='"""The op at a random draw."""'
        if pair.extras
        else make_docstring(pair.describe("array", *_describe_differences(pair))),
        forward=_write_jax_shaped(pair.forward, "x"),
    )
    text = _SUM if backward and pair.learns else ""
    text += code + (_write_derivative(pair, backward) if backward else "")
    if pair.extras:
        losses = pair.extras[1:]
        call = ", ".join(["x", *pair.learns, "key=key", *(EXAMPLES[name] for name in losses)])
        usage = f"Usage:\n    key = jax.random.key(0)\n    y = {pair.name}({call})"
        arguments = [f"    {_KEY}", *(f"    {name}: {MEANINGS[name]}" for name in losses)]
        text += _RANDOM_FUNCTION.format(
            name=pair.name,
            signature=", ".join(["x", *first, "*", "key", *losses, *defaults]),
            docstring=make_docstring(pair.describe("array", usage, extras=arguments)),
            arguments=", ".join(["x", *pair.arguments]),
        )
    return format_module(add_helpers(text, helpers.JAX), *_IMPORTS)


def _describe_differences(pair: Pair) -> list[str]:
    formulas = [pair.forward, *([pair.backward] if pair.backward else [])]
    nodes = [node for formula in formulas for node in walk(formula.tree)]
    sentences = []
    if any(isinstance(node, Binary) and any(map(is_condition, children(node))) for node in nodes):
        sentences.append(
            "Where a condition is a factor and is false, XLA gives 0 even next to NaN and infinity, where "
            "torch gives NaN."
        )
    if any(isinstance(node, Call) and node.function == "sign" for node in nodes):
        sentences.append("jnp.sign gives NaN for NaN, and torch.sign gives 0.")
    return sentences


def _choose_function_name(pair: Pair) -> str:
    """Return the name of the function to differentiate, which is private if it takes random numbers u."""
    return f"_{pair.name}" if pair.extras else pair.name


def _format_defaults(pair: Pair, names: Iterable[str]) -> list[str]:
    return [f"{name}={pair.parameters[name]!r}" for name in names]


def _write_decorator(pair: Pair) -> str:
    first = 1 + len(pair.learns) + len(pair.extras[:1])
    fixed = tuple(range(first, 1 + len(pair.arguments)))
    return f"@partial(jax.custom_vjp, nondiff_argnums={fixed})" if fixed else "@jax.custom_vjp"


def _write_derivative(pair: Pair, backward: Formula) -> str:
    u_gradient = ["jnp.zeros_like(g)"] if pair.extras else []
    gradients = ", ".join([_write_jax_shaped(backward, "g"), *_iterate_totals(pair), *u_gradient])
    read = find_names(f"({gradients})")
    needs_twin = "ya" in read and "ya" in pair.random_names
    twins = [f"ya = {_write_jax_shaped(pair.twin, 'x')}"] if needs_twin else []
    read |= find_names("\n".join(twins))
    saved = [name for name in ("x", "y", *pair.learns, *pair.extras[:1]) if name in read]
    unpacked = [f"{join_names(saved)} = saved"] if saved else []
    return _DERIVATIVE.format(
        name=pair.name,
        function=_choose_function_name(pair),
        inputs=", ".join(["x", *pair.arguments]),
        parameters="".join(f"{name}, " for name in (*pair.extras[1:], *pair.numbers)),
        forward=_write_jax_shaped(pair.forward, "x"),
        saved=join_names(saved) if len(saved) == 1 else f"({join_names(saved)})",
        unpack="\n    ".join([*unpacked, *twins]),
        gradients=gradients,
    )


def _iterate_totals(pair: Pair) -> Iterator[str]:
    for name in pair.learns:
        scale = pair.scale_of(name, f"(jnp.size(g) / jnp.size({name}))")
        factor = f"({scale.jax_source}) * " if scale else ""
        yield f"{factor}_summed({_write_jax_shaped(pair.contribution_of(name), 'g')}, {name})"


def _write_jax_shaped(formula: Formula, like: str) -> str:
    text = formula.jax_source
    if is_constant(replace_counts(formula.tree)):
        return f"jnp.full_like({like}, {text})"
    if not has_elements(formula.tree):
        return f"jnp.broadcast_to({text}, {like}.shape).astype({like}.dtype)"
    return text if formula.carries_gradient else f"jnp.asarray({text}, {like}.dtype)"

"""MLX source of an op with a rule: a ``custom_function``, or the plain op for the default rule."""

from collections.abc import Iterator, Sequence

from explorer.catalogue import Op, Rule
from explorer.formula import FUNCTIONS, Formula
from explorer.formula.operands import counted, has_elements
from explorer.formula.tree import Call, is_constant, walk
from explorer.snippets.arguments import EXAMPLES, meanings
from explorer.snippets.layout import block, docstring, module, names_in
from explorer.snippets.pair import Pair, Values, paired

_FUNCTION = """

def {name}({signature}):
    {docstring}
    {body}
"""
# No parameter of a formula starts with an underscore, so none can hide one of these.
_DERIVATIVE = """@mx.custom_function
    def _function({inputs}):
        return {forward}

    @_function.vjp
    def _backward({primals}, g, y):
        {returned}

    return _function({inputs})"""
_DRAWING = "u = mx.random.uniform(1e-30, 1, x.shape)  # never 0"
_DRAWN = "u = mx.broadcast_to(u, x.shape).astype(x.dtype)\n    "
_SUM = '''

def _summed(part, like):
    """The sum over all elements that share a value of ``like``, in its shape."""
    shape = (1,) * (part.ndim - like.ndim) + like.shape
    shared = [axis for axis, size in enumerate(shape) if size == 1]
    return part.sum(shared).reshape(like.shape)
'''
_IMPORTS = (
    {"math": "import math"},
    {"mx": "import mlx.core as mx", "nn": "import mlx.nn as nn"},
)


def mlx_snippet(
    op: str | Op, rule: str | Rule, parameters: Values = None, learns: Sequence[str] = ()
) -> str | None:
    """MLX source of the same function with a ``custom_function``; for the default rule the plain op.

    None where MLX lacks a function, as those of number formats and ``normal()``. It needs mlx alone. Values
    and gradients agree with torch's up to rounding, except that the default rule shows what MLX, not torch,
    does at a kink. Arguments as for ``snippet``; what learns is an array.
    """
    return mlx_code(paired(op, rule, parameters, learns))


def mlx_code(pair: Pair) -> str | None:
    """The text of that module for a pair; None where MLX lacks a function."""
    own = pair.backward
    formulas = [pair.forward, *([own] if own else []), *(pair.part(name) for name in pair.learns)]
    if not all(map(_is_known, formulas)):
        return None
    forward = _shaped(pair.forward, "x")
    numbers = [f"{name}={value!r}" for name, value in pair.numbers.items()]
    code = _FUNCTION.format(
        name=pair.name,
        signature=", ".join(["x", *pair.learns, *(["*", *pair.given] if pair.given else []), *numbers]),
        docstring=docstring(pair.described("array", *_usage(pair), given=meanings(pair))),
        body=_DRAWN * bool(pair.given) + (_derivative(pair, own, forward) if own else f"return {forward}"),
    )
    return module((_SUM if own and pair.learns else "") + code, *_IMPORTS)


def _is_known(formula: Formula) -> bool:
    calls = (node for node in walk(formula.tree) if isinstance(node, Call))
    return "normal()" not in formula.draws and all(FUNCTIONS[call.function].mlx for call in calls)


def _usage(pair: Pair) -> list[str]:
    """The paragraph that shows how u is drawn; none for a pair that does not draw."""
    call = ", ".join(["x", *pair.learns, *(EXAMPLES[name] for name in pair.given)])
    return [f"Usage:\n    {_DRAWING}\n    y = {pair.name}({call})"] if pair.given else []


def _derivative(pair: Pair, own: Formula, forward: str) -> str:
    """The function with its backward, both closed over the numbers."""
    inputs = ", ".join(["x", *pair.learns])
    unpacked = [f"{inputs} = primals"] if pair.learns else []
    gradients = ", ".join([_shaped(own, "g"), *_totals(pair)])
    if "ya" in pair.drawn and "ya" in names_in(f"({gradients})"):
        unpacked.append(f"ya = {_shaped(pair.twin, 'x')}")
    returned = f"return {gradients}"
    return _DERIVATIVE.format(
        inputs=inputs,
        forward=forward,
        primals="primals" if pair.learns else "x",
        returned=block(*unpacked, returned),
    )


def _totals(pair: Pair) -> Iterator[str]:
    """The gradients that backward returns for learned parameters."""
    for name in pair.learns:
        scale = pair.scale(name, f"(g.size / {name}.size)")
        factor = f"({scale.mlx_source}) * " if scale else ""
        yield f"{factor}_summed({_shaped(pair.part(name), 'g')}, {name})"


def _shaped(formula: Formula, like: str) -> str:
    """The formula's expression with the shape and dtype of ``like``."""
    text = formula.mlx_source
    if is_constant(counted(formula.tree)):
        return f"mx.full({like}.shape, {text}, {like}.dtype)"
    if not has_elements(formula.tree):
        return f"mx.broadcast_to({text}, {like}.shape).astype({like}.dtype)"
    return text if formula.carries_gradient else f"({text}).astype({like}.dtype)"

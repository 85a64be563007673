"""Tree to text: the canonical formula, and source code for torch and JAX.

One printer walks the tree with Python's precedence; a dialect says how leaves, calls and conditions
are spelled. Constants of code are Python's own, as ``constants`` computes them. Nothing is ever
printed from the text a user wrote.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from explorer.formula.constants import PYTHON, constant_value, settled_value
from explorer.formula.functions import FUNCTIONS, SMALLEST_MAX, Function
from explorer.formula.operands import casts, counted, fills, limits
from explorer.formula.tree import (
    CONSTANTS,
    POWERS,
    SIGN,
    Binary,
    Call,
    Compare,
    Foreign,
    LossAt,
    Name,
    Node,
    Number,
    Through,
    Unary,
    children,
    is_condition,
    is_constant,
    names,
    walk,
)

_NEVER_RAISE = ("abs", "atan", "tanh", "erf")  # functions of ``PYTHON`` that have a value for every number
_CHOICE, _NOT, _COMPARE, _ATOM = -1, 0, POWERS["<"], POWERS["**"] + 1


def number_text(value: float) -> str:
    """The shortest text that reads back as the same number: ``2`` for 2.0, ``0.1`` for 0.1."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def percent(share: float) -> str:
    """A share in whole percent, for people; 0 % and 100 % only where it is exactly that."""
    whole = math.floor(100 * share + 0.5)  # a half up, as in the browser
    if share in (0, 1) or 0 < whole < 100:
        return f"{whole} %"
    return "less than 1 %" if whole == 0 else "more than 99 %"


def listed(texts: Iterable[str]) -> str:
    """Texts as in a sentence: ``a, b and c``; at least one."""
    *most, last = texts
    return f"{', '.join(most)} and {last}" if most else last


def with_minus(text: str) -> str:
    """Text of a number with the sign that people write, for sentences; not for code."""
    return text.replace("-", "−")


def _code_number(value: float) -> str:
    """As ``number_text``, but whole numbers only where JAX's 32-bit integers hold them."""
    return number_text(value) if abs(value) < 2**31 else repr(value)


def _code_name(name: str, normal: str) -> str:
    """A leaf in code: u is an argument, f a function of y, and ya the output of the twin."""
    if name in CONSTANTS:
        return f"math.{name}"
    return {"u()": "u", "normal()": normal, "f()": "f(y)", "ya()": "ya", "fa()": "f(ya)"}.get(name, name)


@dataclass(frozen=True)
class Dialect:
    """The spellings in which one language differs from another."""

    call: Callable[[Function, list[str]], str]
    number: Callable[[float], str] = _code_number
    name: Callable[[str], str] = lambda name: _code_name(name, "torch.special.ndtri(u)")
    scalar: Callable[[Function, list[str]], str] | None = None  # of constants, where Python has no function
    guarded: str = "{}({})"  # a function of Python and its arguments, where it may raise or drop NaN
    cast: str = ""  # a condition used in arithmetic; empty where it counts as a number
    fill: str = "{}"  # a constant where a tensor is wanted
    limited: str = "{}"  # a constant that is too large for some dtype
    holds: str = "{}"  # a constant condition where a tensor is wanted
    output: str = "{}"  # a constant output at which the loss is asked
    count: str = ""  # how many elements a variable has; empty where that is a function


def _torch_call(row: Function, arguments: list[str]) -> str:
    if row.own:
        return f"_{row.name}({', '.join(arguments)})"
    named = [f"{name}={value!r}" for name, value in row.keywords]
    text = f"torch.{row.torch}({', '.join(arguments + named)})"
    return f"{text}.detach()" if row.needs_detach else text


def _torch_scalar(row: Function, arguments: list[str]) -> str:
    tensors = row.arity if row.mixing == "tensors" else 1
    wrapped = [f"torch.tensor({text}, dtype=torch.float64)" for text in arguments[:tensors]]
    return f"{_torch_call(row, wrapped + arguments[tensors:])}.item()"


def _jax_call(row: Function, arguments: list[str]) -> str:
    text = row.jax
    for position, argument in enumerate(arguments):
        text = text.replace(f"#{position}", argument)
    return text


def _jax_scalar(row: Function, arguments: list[str]) -> str:
    """By NumPy where it has the function: what jnp computes is traced under ``jax.jit``, and no number."""
    return f"float({_jax_call(row, arguments).replace('jnp.', 'np.')})"


CANONICAL = Dialect(
    call=lambda row, arguments: f"{row.name}({', '.join(arguments)})", number=number_text, name=str
)
TORCH = Dialect(
    call=_torch_call,
    scalar=_torch_scalar,
    guarded="_ieee({}, {})",
    cast="({}).to(x.dtype)",
    fill="torch.full_like(x, {})",
    limited="torch.tensor({}, dtype=torch.float64).to(x.dtype).item()",
    holds="torch.tensor({})",
    output="torch.full_like(x, {})",
    count="{}.numel()",
)
JAX = Dialect(
    call=_jax_call,
    name=lambda name: _code_name(name, "jax.scipy.special.ndtri(u)"),
    scalar=_jax_scalar,
    guarded="_ieee({}, {})",
    cast="1.0 * ({})",
    output="jnp.full_like(x, {})",
    count="{}.size",
)


def source(node: Node, dialect: Dialect) -> str:
    """The tree as an expression of the dialect, with no more parentheses than it needs."""
    return _print(counted(node, dialect.count) if dialect.count else node, dialect)[0]


def limited_source(node: Node, dialect: Dialect) -> str:
    """A constant tree as an argument of a function: infinite where it is too large for the dtype of x."""
    settled = not _parameters(node) and not is_condition(node)
    large = settled and SMALLEST_MAX < abs(constant_value(node, {})) < math.inf
    return dialect.limited.format(source(node, dialect)) if large else source(node, dialect)


def _print(node: Node, dialect: Dialect) -> tuple[str, int]:
    """Text, and how tightly its outermost operator binds."""
    if dialect.scalar and children(node) and is_constant(node):
        if not _parameters(node):
            if settled_value(node) is None:
                return _value_text(constant_value(node, {}))
            if not _is_exact(node):
                dialect = replace(dialect, number=repr)
        if constant := _constant(node, dialect):
            return constant
    match node:
        case Number(value):
            return dialect.number(value), _ATOM
        case Name(name):
            return dialect.name(name), _ATOM
        case Unary(sign, _):
            return sign + _operands(node, dialect, [SIGN])[0], SIGN
        case Binary(sign, _, _):
            level = POWERS[sign]
            sides = [_ATOM, SIGN] if sign == "**" else [level, level + 1]
            left, right = _operands(node, dialect, sides)
            return f"{left} {sign} {right}", level
        case Compare(signs, operands):
            texts = _operands(node, dialect, [_COMPARE + 1] * len(operands))
            return _chain(signs, texts, apart=dialect.scalar is not None and not is_constant(node))
        case Call(function, _):
            return dialect.call(FUNCTIONS[function], _operands(node, dialect)), _ATOM
        case Through(points, argument):
            texts = [_value_text(value)[0] for point in points for value in point]
            texts = texts if dialect.scalar else [number_text(value) for point in points for value in point]
            mark = "_" if dialect.scalar else ""
            return f"{mark}through({', '.join([_print(argument, dialect)[0], *texts])})", _ATOM
        case LossAt(output):
            return f"f({_output(output, dialect)})", _ATOM
        case Foreign(function):
            if dialect is not CANONICAL:
                raise ValueError(f"{function.name} is no formula: there is no code to print for it")
            return f"{function.name}({', '.join(_operands(node, dialect))})", _ATOM


def _output(node: Node, dialect: Dialect) -> str:
    """What the loss is a function of: in code a tensor, also where all elements share one value."""
    if not dialect.scalar or not is_constant(node):
        return source(node, dialect)
    return dialect.output.format(limited_source(node, replace(dialect, number=repr)))


def _constant(node: Node, dialect: Dialect) -> tuple[str, int] | None:
    """The text of a constant that Python spells otherwise than tensors; None for any other node."""
    match node:
        case Unary("~"):
            return f"not {_operands(node, dialect, [_COMPARE])[0]}", _NOT
        case Binary("/", _, right) if _may_be_zero(right) and dialect.guarded != Dialect.guarded:
            return f"_divided({', '.join(_operands(node, dialect))})", _ATOM
        case Binary("**", left, right) if not _is_real(left, right) or (
            _parameters(node) and dialect.guarded != Dialect.guarded
        ):
            return dialect.guarded.format("math.pow", ", ".join(_operands(node, dialect))), _ATOM
        case Call("where"):
            levels = [_NOT, _NOT, _CHOICE]
            condition = _operands(node, dialect, levels)[0]
            # A branch that is an integer would lose the sign of zero.
            _, then, otherwise = _operands(node, replace(dialect, number=repr), levels)
            return f"{then} if {condition} else {otherwise}", _CHOICE
        case Call(name) if name in PYTHON:
            function = f"math.{name}" if hasattr(math, name) else name
            template = dialect.guarded if _may_fail(node) else Dialect.guarded
            return template.format(function, ", ".join(_operands(node, dialect))), _ATOM
        case Call(name) if dialect.scalar:
            return dialect.scalar(FUNCTIONS[name], _operands(node, dialect)), _ATOM
        case _:
            return None


def _may_fail(call: Call) -> bool:
    """Return whether a function of Python may raise, or drop NaN, at some values of the parameters."""
    if call.function in ("min", "max"):
        return any(map(_may_be_nan, children(call)))
    return call.function not in _NEVER_RAISE and _parameters(call)


def _may_be_zero(node: Node) -> bool:
    """Return whether a constant may be 0 at some values of the parameters."""
    return _parameters(node) or constant_value(node, {}) == 0


def _may_be_nan(node: Node) -> bool:
    """Return whether a constant may be NaN at some values of the parameters, which are finite."""
    if not children(node) or not _parameters(node):
        return False
    keeps_finite = isinstance(node, Unary) or (
        isinstance(node, Call) and node.function in ("abs", "min", "max")
    )
    return not keeps_finite or any(map(_may_be_nan, children(node)))


def _is_real(base: Node, exponent: Node) -> bool:
    """Whether Python's ``**`` cannot turn out complex."""
    whole = not _parameters(exponent) and float(constant_value(exponent, {})).is_integer()
    return whole or (not _parameters(base) and constant_value(base, {}) > 0)


def _operands(node: Node, dialect: Dialect, levels: list[int] | None = None) -> list[str]:
    """The operands' texts, in parentheses where they bind less tightly than ``levels``."""
    wants = zip(children(node), casts(node), fills(node), limits(node), strict=True)
    texts = [_operand(node, child, dialect, *want) for child, *want in wants]
    least = levels or [_CHOICE] * len(texts)
    return [f"({text})" if own < level else text for (text, own), level in zip(texts, least, strict=True)]


def _operand(
    parent: Node, node: Node, dialect: Dialect, cast: bool, fill: bool, limit: bool
) -> tuple[str, int]:
    if cast and dialect.cast:
        template = "float({})" if is_constant(node) else dialect.cast
        return template.format(source(node, dialect)), POWERS["*"] if template[0] == "1" else _ATOM
    if not dialect.scalar or not is_constant(node) or is_constant(parent):
        return _print(node, dialect)
    if is_condition(node) and isinstance(parent, Call):
        return dialect.holds.format(source(node, dialect)), _ATOM
    if fill:  # by a float, since two branches of whole numbers make no floating array
        wide = replace(dialect, number=repr) if dialect.fill == "{}" else dialect
        return dialect.fill.format(limited_source(node, wide)), _CHOICE
    if limit and (limited := limited_source(node, dialect)) != source(node, dialect):
        return limited, _ATOM
    return _print(node, dialect)


def _chain(signs: tuple[str, ...], texts: list[str], apart: bool) -> tuple[str, int]:
    """A comparison; ``apart`` joins the links of a chain by ``&``, as tensors need it."""
    if not apart or len(signs) == 1:
        links = [f" {sign} {text}" for sign, text in zip(signs, texts[1:], strict=True)]
        return texts[0] + "".join(links), _COMPARE
    pairs = zip(texts, signs, texts[1:], strict=False)
    return " & ".join(f"({left} {sign} {right})" for left, sign, right in pairs), POWERS["&"]


def _parameters(node: Node) -> bool:
    """Whether the value of a constant hangs on parameters."""
    return not set(names(node)) <= set(CONSTANTS)


def _is_exact(node: Node) -> bool:
    """Whether a constant without parameters has the same value when calculated with integers."""
    values = (constant_value(part, {}) for part in walk(node) if children(part))
    return all(0 < abs(value) <= 2**53 for value in values)


def _value_text(value: float) -> tuple[str, int]:
    """A number that may be negative, infinite or NaN."""
    if isinstance(value, bool):
        return str(value), _ATOM
    size = abs(value)
    text = (_code_number(size) if size else "0.0") if math.isfinite(size) else f"math.{size}"
    return (f"-{text}", SIGN) if math.copysign(1, value) < 0 else (text, _ATOM)

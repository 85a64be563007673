"""Tree to text: the canonical formula, and source code for torch, NumPy and JAX.

One printer walks the tree with Python's precedence; a dialect says how leaves, calls and conditions
are spelled. Nothing is ever printed from the text a user wrote.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from explorer.formula.evaluation import casts, fills
from explorer.formula.functions import FUNCTIONS, SMALLEST_MAX, Function
from explorer.formula.tree import (
    CONSTANTS,
    Binary,
    Call,
    Compare,
    Name,
    Node,
    Number,
    Unary,
    children,
    is_condition,
    is_constant,
    names,
    walk,
)

_COMPARE, _OR, _AND, _SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(8)
_LEVELS = {"|": _OR, "&": _AND, "+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "**": _POWER}


def number_text(value: float) -> str:
    """The shortest text that reads back as the same number: ``2`` for 2.0, ``0.1`` for 0.1."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _short_number_text(value: float) -> str:
    """As ``number_text``, but whole numbers only where JAX's 32-bit integers hold them."""
    return number_text(value) if abs(value) < 2**31 else repr(value)


@dataclass(frozen=True)
class Dialect:
    """How one language spells what differs between them."""

    call: Callable[[Function, list[str]], str]
    name: Callable[[str], str] = str
    cast: str | None = None  # a condition used in arithmetic; None where the language casts by itself
    chains: bool = False  # may a <= b <= c stand as it is?
    fill: str | None = None  # a constant where a tensor is wanted
    number: Callable[[float], str] = number_text
    rounds: bool = True  # does whole-number arithmetic round as float64 does? Python's does not
    wrap: str | None = None  # a constant as a 0-dim array, for what plain Python would compute differently
    wraps_arguments: bool = True  # whether functions want their constants so too
    constants: Dialect | None = None  # the dialect of such constants
    folded: str = "{}"  # and how their value enters
    limited: str | None = None  # and how as an argument, where it may be too large for the dtype of x
    whole: bool = True  # may both branches of a where be whole numbers and the result still a float?


def _filled(template: str, arguments: list[str]) -> str:
    for place, argument in enumerate(arguments):
        template = template.replace(f"#{place}", argument)
    return template


def _math_name(name: str) -> str:
    return f"math.{name}" if name in CONSTANTS else name


def _torch_call(row: Function, arguments: list[str]) -> str:
    text = f"torch.{row.torch}({', '.join(arguments)})"
    return text if row.differentiable else f"{text}.detach()"


def _python_computes_alike(node: Node) -> bool:
    """Whether Python's own arithmetic gives a constant's float64 bits and cannot raise."""
    match node:
        case Number() | Name():
            return True
        case Unary("-", operand):
            return operand != Number(0) and _python_computes_alike(operand)
        case Binary("+" | "-" | "*", left, right):
            return not any(casts(node)) and _python_computes_alike(left) and _python_computes_alike(right)
        case Binary("/", left, Number(value)):
            return value != 0 and not any(casts(node)) and _python_computes_alike(left)
        case _:
            return False


CANONICAL = Dialect(call=lambda row, arguments: f"{row.name}({', '.join(arguments)})", chains=True)
_TORCH_CONSTANT = Dialect(
    call=_torch_call, name=_math_name, cast="{}.to(torch.float64)", rounds=False, wrap="constant({})"
)
TORCH = Dialect(
    call=_torch_call,
    name=_math_name,
    cast="{}.to(x.dtype)",
    fill="torch.full_like(x, {})",
    rounds=False,
    constants=_TORCH_CONSTANT,
    folded="float({})",
    limited="float({}.to(x.dtype))",
)
_NUMPY_CONSTANT = Dialect(
    call=lambda row, arguments: f"({_filled(row.numpy, arguments)})",
    name=_math_name,
    cast="{}.astype(float)",
    rounds=False,
    wrap="np.float64({})",
)
NUMPY = replace(
    _NUMPY_CONSTANT,
    cast="{}.astype(x.dtype)",
    wrap=None,
    constants=_NUMPY_CONSTANT,
    folded="float({})",
    whole=False,
)
_JAX_CONSTANT = Dialect(
    call=lambda row, arguments: f"({_filled(row.jax, arguments)})",
    name=_math_name,
    cast="1.0 * {}",
    number=repr,
    wrap="jnp.asarray({})",
    wraps_arguments=False,
    whole=False,
)
JAX = replace(_JAX_CONSTANT, number=_short_number_text, rounds=False, wrap=None, constants=_JAX_CONSTANT)


def source(node: Node, dialect: Dialect) -> str:
    """The tree as an expression of the dialect, with no more parentheses than it needs.

    The torch dialect may call ``constant(value)``, a 0-dim float64 tensor.
    """
    return _print(node, dialect)[0]


def _print(node: Node, dialect: Dialect) -> tuple[str, int]:
    """Text, and how tightly its outermost operator binds."""
    if dialect.constants and is_constant(node) and not _python_computes_alike(node):
        text, level = _print(node, dialect.constants)
        plain = is_condition(node) or dialect.folded == "{}"
        return (text, level) if plain else (dialect.folded.format(text), _ATOM)
    if dialect.wrap and _python_computes_alike(node):
        return dialect.wrap.format(source(node, replace(dialect, wrap=None))), _ATOM
    if not dialect.rounds and isinstance(node, Binary) and not names(node):
        dialect = replace(dialect, number=repr, rounds=True)
    match node:
        case Number(value):
            return dialect.number(value), _ATOM
        case Name(name):
            return dialect.name(name), _ATOM
        case Unary(sign, _):
            return sign + _operands(node, dialect, [_SIGN])[0], _SIGN
        case Binary(sign, _, _):
            level = _LEVELS[sign]
            sides = [_ATOM, _SIGN] if sign == "**" else [level, level + 1]
            left, right = _operands(node, dialect, sides)
            return f"{left} {sign} {right}", level
        case Compare(signs, operands):
            texts = _operands(node, dialect, [_OR] * len(operands))
            return _chain(signs, texts, dialect)
        case Call(function, _):
            return _call(FUNCTIONS[function], node, dialect), _ATOM


def _operands(node: Node, dialect: Dialect, levels: list[int]) -> list[str]:
    texts = []
    for place, (child, level, cast) in enumerate(zip(children(node), levels, casts(node), strict=True)):
        plain = replace(dialect, wrap=None)
        text, own = _print(child, plain if _stays_plain(node, place, dialect) else dialect)
        if cast and dialect.cast:
            text, own = dialect.cast.format(f"({text})"), _ATOM if dialect.cast.startswith("{") else _PRODUCT
        texts.append(f"({text})" if own < level else text)
    return texts


def _stays_plain(node: Node, place: int, dialect: Dialect) -> bool:
    """Whether an operand may stay a Python number because the other one is a tensor already.

    Not a numerator: torch computes ``2 / tensor`` as the reciprocal times 2, which rounds twice.
    """
    match node:
        case Binary("/", _, _) if dialect.wrap and place == 0:
            return False
        case Binary("+" | "-" | "*" | "/", left, right) if dialect.wrap:
            own, other = (left, right) if place == 0 else (right, left)
            return _python_computes_alike(own) and (place == 1 or not _python_computes_alike(other))
        case Call(_, arguments) if not dialect.wraps_arguments:
            return _python_computes_alike(arguments[place])
        case _:
            return False


def _chain(signs: tuple[str, ...], texts: list[str], dialect: Dialect) -> tuple[str, int]:
    links = [f"{left} {sign} {right}" for left, sign, right in zip(texts, signs, texts[1:], strict=False)]
    if len(links) == 1:
        return links[0], _COMPARE
    if dialect.chains:
        return texts[0] + "".join(
            f" {sign} {text}" for sign, text in zip(signs, texts[1:], strict=True)
        ), _COMPARE
    return " & ".join(f"({link})" for link in links), _AND


def _call(row: Function, node: Call, dialect: Dialect) -> str:
    texts = _operands(node, dialect, [_COMPARE] * row.arity)
    arguments = [
        _argument(text, child, fill, row, dialect)
        for text, child, fill in zip(texts, node.arguments, fills(node), strict=True)
    ]
    return dialect.call(row, arguments)


def _argument(text: str, node: Node, fill: bool, row: Function, dialect: Dialect) -> str:
    if dialect.limited and dialect.constants and _may_overflow(node):
        text, level = _print(node, dialect.constants)
        text = dialect.limited.format(text if level == _ATOM else f"({text})")
    if fill and dialect.fill:
        return dialect.fill.format(text)
    return f"1.0 * {text}" if fill and row.mixing == "branches" and not dialect.whole else text


def _may_overflow(node: Node) -> bool:
    """Whether a constant may be finite and yet, in an argument, too large for the dtype of x."""
    if is_condition(node) or not is_constant(node):
        return False
    large = any(isinstance(part, Number) and part.value > SMALLEST_MAX for part in walk(node))
    return large or not _python_computes_alike(node)

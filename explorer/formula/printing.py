"""The text of formulas: in their standard form, or as source code for torch and JAX.

One printer walks the tree with Python's precedence; a dialect defines the spelling of leaves, calls and
conditions. Code computes constants with Python, as ``constants`` does. No text typed by a user is copied.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from explorer.formula import tree as nodes
from explorer.formula.constants import PYTHON, evaluate_constant, evaluate_in_python
from explorer.formula.functions import FUNCTIONS, SMALLEST_MAX, Function
from explorer.formula.operands import find_casts, find_fills, find_limits, replace_counts

_NEVER_RAISE = ("abs", "atan", "tanh", "erf")  # functions in ``PYTHON`` that never raise an error
_MAX_EXPONENT = 7  # on screen, numbers from this power of ten on have an exponent
_CHOICE, _NOT, _COMPARE, _ATOM = -1, 0, nodes.PRECEDENCE["<"], nodes.PRECEDENCE["**"] + 1


def number_text(value: float) -> str:
    """Return the shortest text that parses to a given number, such as ``2`` for 2.0."""
    return str(int(value)) if value % 1 == 0 and abs(value) < 1e15 else repr(value)


def format_percent(share: float) -> str:
    """Return a fraction as a whole percentage; "less than 1 %" and "more than 99 %" next to 0 and 1."""
    rounded = math.floor(100 * share + 0.5)  # half up, as the browser rounds
    if share in (0, 1) or 0 < rounded < 100:
        return f"{rounded} %"
    return "less than 1 %" if rounded == 0 else "more than 99 %"


def format_short(value: float) -> str:
    """Return a measured number as short text, as the browser does: ``46,970``, ``0.0123`` or ``3.1e7``."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        rounded = float(f"{value:.4g}")
        return with_minus(f"{rounded:,.0f}" if abs(rounded) >= 1e3 else f"{rounded:g}")
    digits, _, exponent = f"{value:.2e}".partition("e")
    return with_minus(f"{float(digits):g}e{int(exponent)}") if exponent else digits


def join_texts(texts: Iterable[str]) -> str:
    """Return one or more texts as a list in a sentence: ``a, b and c``."""
    *head, last = texts
    return f"{', '.join(head)} and {last}" if head else last


def with_minus(text: str) -> str:
    """Return a number's text with typographic minus signs for hyphens, for sentences but not for code."""
    return text.replace("-", "−")


def format_number(value: float, digits: int = 4) -> str:
    """Return a number as text with at most ``digits`` significant digits and a true minus sign.

    Up to 1e7, all digits before the point are kept. A larger or a tiny number gets an exponent.
    """
    text = f"{value + 0.0:.{digits}g}"
    mantissa, _, exponent = text.partition("e")
    if exponent:
        text = f"{value:.0f}" if 0 < int(exponent) < _MAX_EXPONENT else f"{mantissa}e{int(exponent)}"
    return with_minus(text)


def _format_number(value: float) -> str:
    """Return a number as code, without a decimal point only if it fits into JAX's 32-bit integers."""
    return number_text(value) if abs(value) < 2**31 else repr(value)


def _format_name(name: str, normal: str) -> str:
    if name in nodes.CONSTANTS:
        return f"math.{name}"
    return {"u()": "u", "normal()": normal, "f()": "f(y)", "ya()": "ya", "fa()": "f(ya)"}.get(name, name)


@dataclass(frozen=True)
class Dialect:
    """The spelling of numbers, names, calls and conditions in one output language, such as torch code.

    Attributes:
        call: returns a call of a function with the given arguments.
        number: returns a number.
        name: returns a variable, random number, constant or parameter.
        scalar: returns a call of constants for which Python lacks the function; None if the text is no code.
        guarded: the template of a call that may raise an error or lose NaN in Python.
        cast: the template of a condition in arithmetic; "" if conditions are numbers.
        fill: the template of a constant that must be a tensor.
        limited: the template of a constant that may exceed the dtype's range.
        holds: the template of a constant condition that must be a tensor.
        output: the template of a constant output as a loss's argument.
        count: the template of a variable's number of elements; "" if a function returns it.
    """

    call: Callable[[Function, list[str]], str]
    number: Callable[[float], str] = _format_number
    name: Callable[[str], str] = lambda name: _format_name(name, "torch.special.ndtri(u)")
    scalar: Callable[[Function, list[str]], str] | None = None
    guarded: str = "{}({})"
    cast: str = ""
    fill: str = "{}"
    limited: str = "{}"
    holds: str = "{}"
    output: str = "{}"
    count: str = ""


def _print_torch_call(row: Function, arguments: list[str]) -> str:
    if row.own:
        return f"_{row.name}({', '.join(arguments)})"
    named = [f"{name}={value!r}" for name, value in row.keywords]
    text = f"torch.{row.torch}({', '.join(arguments + named)})"
    return f"{text}.detach()" if row.needs_detach else text


def _print_torch_scalar(row: Function, arguments: list[str]) -> str:
    tensors = row.arity if row.mixing == "tensors" else 1
    wrapped = [f"torch.tensor({text}, dtype=torch.float64)" for text in arguments[:tensors]]
    return f"{_print_torch_call(row, wrapped + arguments[tensors:])}.item()"


def _print_jax_call(row: Function, arguments: list[str]) -> str:
    text = row.jax
    for position, argument in enumerate(arguments):
        text = text.replace(f"#{position}", argument)
    return text


def _print_jax_scalar(row: Function, arguments: list[str]) -> str:
    """Return code that calls NumPy on constants, since results of jnp are traced under ``jax.jit``."""
    return f"float({_print_jax_call(row, arguments).replace('jnp.', 'np.')})"


CANONICAL = Dialect(
    call=lambda row, arguments: f"{row.name}({', '.join(arguments)})", number=number_text, name=str
)
TORCH = Dialect(
    call=_print_torch_call,
    scalar=_print_torch_scalar,
    guarded="_ieee({}, {})",
    cast="({}).to(x.dtype)",
    fill="torch.full_like(x, {})",
    limited="torch.tensor({}, dtype=torch.float64).to(x.dtype).item()",
    holds="torch.tensor({})",
    output="torch.full_like(x, {})",
    count="{}.numel()",
)
# This dialect calls no helpers: Python raises an error where the helpers of TORCH give NaN or infinity.
PLAIN_TORCH = replace(TORCH, guarded=Dialect.guarded)
JAX = Dialect(
    call=_print_jax_call,
    name=lambda name: _format_name(name, "jax.scipy.special.ndtri(u)"),
    scalar=_print_jax_scalar,
    guarded="_ieee({}, {})",
    cast="1.0 * ({})",
    output="jnp.full_like(x, {})",
    count="{}.size",
)


def print_source(node: nodes.Node, dialect: Dialect) -> str:
    """Return an expression as code or text of a dialect, with as few parentheses as possible."""
    return _print(replace_counts(node, dialect.count) if dialect.count else node, dialect)[0]


def print_limited(node: nodes.Node, dialect: Dialect) -> str:
    """Return code for a constant. A constant too large for x's dtype becomes infinite in the code."""
    is_number = not _has_parameters(node) and not nodes.is_condition(node)
    is_large = is_number and SMALLEST_MAX < abs(evaluate_constant(node, {})) < math.inf
    return dialect.limited.format(print_source(node, dialect)) if is_large else print_source(node, dialect)


def _print(node: nodes.Node, dialect: Dialect) -> tuple[str, int]:
    """Return the text of an expression, and the precedence of the text's outermost operator."""
    if dialect.scalar and nodes.children(node) and nodes.is_constant(node):
        if not _has_parameters(node):
            if evaluate_in_python(node) is None:
                return _print_value(evaluate_constant(node, {}))
            if not _is_exact(node):
                dialect = replace(dialect, number=repr)
        if constant := _print_constant(node, dialect):
            return constant
    match node:
        case nodes.Number(value):
            return dialect.number(value), _ATOM
        case nodes.Name(name):
            return dialect.name(name), _ATOM
        case nodes.Unary(sign, _):
            return sign + _print_operands(node, dialect, [nodes.SIGN_PRECEDENCE])[0], nodes.SIGN_PRECEDENCE
        case nodes.Binary(sign, _, _):
            level = nodes.PRECEDENCE[sign]
            sides = [_ATOM, nodes.SIGN_PRECEDENCE] if sign == "**" else [level, level + 1]
            left, right = _print_operands(node, dialect, sides)
            return f"{left} {sign} {right}", level
        case nodes.Compare(signs, operands):
            texts = _print_operands(node, dialect, [_COMPARE + 1] * len(operands))
            return _print_chain(
                signs, texts, is_split=dialect.scalar is not None and not nodes.is_constant(node)
            )
        case nodes.Call(function, _):
            return dialect.call(FUNCTIONS[function], _print_operands(node, dialect)), _ATOM
        case nodes.Polyline(points, argument):
            texts = [_print_value(value)[0] for point in points for value in point]
            texts = texts if dialect.scalar else [number_text(value) for point in points for value in point]
            mark = "_" if dialect.scalar else ""
            return f"{mark}through({', '.join([_print(argument, dialect)[0], *texts])})", _ATOM
        case nodes.LossAt(output):
            if not dialect.scalar or not nodes.is_constant(output):
                return f"f({print_source(output, dialect)})", _ATOM
            constant_text = print_limited(output, replace(dialect, number=repr))
            return f"f({dialect.output.format(constant_text)})", _ATOM
        case nodes.UserCall(function):
            if dialect is not CANONICAL:
                raise ValueError(f"{function.name} is not a formula, so it cannot be written as code")
            return f"{function.name}({', '.join(_print_operands(node, dialect))})", _ATOM


def _print_constant(node: nodes.Node, dialect: Dialect) -> tuple[str, int] | None:
    match node:
        case nodes.Unary("~"):
            return f"not {_print_operands(node, dialect, [_COMPARE])[0]}", _NOT
        case nodes.Binary("/", _, right) if dialect.guarded != Dialect.guarded and (
            _has_parameters(right) or evaluate_constant(right, {}) == 0
        ):
            return f"_divided({', '.join(_print_operands(node, dialect))})", _ATOM
        case nodes.Binary("**", left, right) if not _is_real(left, right) or (
            _has_parameters(node) and dialect.guarded != Dialect.guarded
        ):
            return dialect.guarded.format("math.pow", ", ".join(_print_operands(node, dialect))), _ATOM
        case nodes.Call("where"):
            levels = [_NOT, _NOT, _CHOICE]
            condition = _print_operands(node, dialect, levels)[0]
            # Float branches, because integers have no −0.
            _, true_text, false_text = _print_operands(node, replace(dialect, number=repr), levels)
            return f"{true_text} if {condition} else {false_text}", _CHOICE
        case nodes.Call(name) if name in PYTHON:
            function = f"math.{name}" if hasattr(math, name) else name
            template = dialect.guarded if _may_fail(node) else Dialect.guarded
            return template.format(function, ", ".join(_print_operands(node, dialect))), _ATOM
        case nodes.Call(name) if dialect.scalar:
            return dialect.scalar(FUNCTIONS[name], _print_operands(node, dialect)), _ATOM
        case _:
            return None


def _may_fail(call: nodes.Call) -> bool:
    if call.function in ("min", "max"):
        return any(map(_may_be_nan, nodes.children(call)))
    return call.function not in _NEVER_RAISE and _has_parameters(call)


def _may_be_nan(node: nodes.Node) -> bool:
    if not nodes.children(node) or not _has_parameters(node):
        return False
    keeps_finite = isinstance(node, nodes.Unary) or (
        isinstance(node, nodes.Call) and node.function in ("abs", "min", "max")
    )
    return not keeps_finite or any(map(_may_be_nan, nodes.children(node)))


def _is_real(base: nodes.Node, exponent: nodes.Node) -> bool:
    is_integer = not _has_parameters(exponent) and float(evaluate_constant(exponent, {})).is_integer()
    return is_integer or (not _has_parameters(base) and evaluate_constant(base, {}) > 0)


def _print_operands(node: nodes.Node, dialect: Dialect, levels: list[int] | None = None) -> list[str]:
    requirements = zip(
        nodes.children(node), find_casts(node), find_fills(node), find_limits(node), strict=True
    )
    texts = [_print_operand(node, child, dialect, *requirement) for child, *requirement in requirements]
    least = levels or [_CHOICE] * len(texts)
    return [
        f"({text})" if precedence < level else text
        for (text, precedence), level in zip(texts, least, strict=True)
    ]


def _print_operand(
    parent: nodes.Node, node: nodes.Node, dialect: Dialect, cast: bool, fill: bool, limit: bool
) -> tuple[str, int]:
    """Return the text of an operand, converted as the three flags require, and its outermost precedence."""
    if cast and dialect.cast:
        template = "float({})" if nodes.is_constant(node) else dialect.cast
        return template.format(print_source(node, dialect)), nodes.PRECEDENCE["*"] if template[
            0
        ] == "1" else _ATOM
    if not dialect.scalar or not nodes.is_constant(node) or nodes.is_constant(parent):
        return _print(node, dialect)
    if nodes.is_condition(node) and isinstance(parent, nodes.Call):
        return dialect.holds.format(print_source(node, dialect)), _ATOM
    if fill:  # as a float, because two integers would give an integer array
        wide = replace(dialect, number=repr) if dialect.fill == "{}" else dialect
        return dialect.fill.format(print_limited(node, wide)), _CHOICE
    if limit and (limited := print_limited(node, dialect)) != print_source(node, dialect):
        return limited, _ATOM
    return _print(node, dialect)


def _print_chain(signs: tuple[str, ...], texts: list[str], is_split: bool) -> tuple[str, int]:
    """Return a chain of comparisons and its precedence; ``is_split`` joins bracketed comparisons by ``&``."""
    if not is_split or len(signs) == 1:
        links = [f" {sign} {text}" for sign, text in zip(signs, texts[1:], strict=True)]
        return texts[0] + "".join(links), _COMPARE
    pairs = zip(texts, signs, texts[1:], strict=False)
    return " & ".join(f"({left} {sign} {right})" for left, sign, right in pairs), nodes.PRECEDENCE["&"]


def _has_parameters(node: nodes.Node) -> bool:
    return not set(nodes.find_names(node)) <= set(nodes.CONSTANTS)


def _is_exact(node: nodes.Node) -> bool:
    values = (evaluate_constant(part, {}) for part in nodes.walk(node) if nodes.children(part))
    return all(0 < abs(value) <= 2**53 for value in values)


def _print_value(value: float) -> tuple[str, int]:
    if isinstance(value, bool):
        return str(value), _ATOM
    size = abs(value)
    text = (_format_number(size) if size else "0.0") if math.isfinite(size) else f"math.{size}"
    return (f"-{text}", nodes.SIGN_PRECEDENCE) if math.copysign(1, value) < 0 else (text, _ATOM)

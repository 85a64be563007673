"""Hypothesis strategies: trees of the formula language, and texts that may or may not be formulas."""

import string
from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st

from explorer.formula import FUNCTIONS, MAX_DEPTH, MAX_LENGTH, MAX_NODES, VARIABLES, Formula, tree
from explorer.formula.tree import Binary, Call, Name, Node, Number, Polyline, Unary, is_constant, measure
from tests.selection import count_examples

PARAMETERS = {"c": 0.75, "lo": -1.0, "hi": 1.5, "alpha": -0.0}

# Derandomised, so that a stranger's run fails for the stranger's change only.
many = settings(max_examples=count_examples(200), deadline=None, derandomize=True, database=None)
few = settings(many, max_examples=count_examples(40))

_literals = st.one_of(
    st.sampled_from((0.0, 0.5, 1.0, 2.0, 3.0, 10.0, 1e-8, 7e4, 1e15, 123456789012.0, 1e40, 1e300)),
    st.floats(0, 100, allow_subnormal=False),
).map(Number)
_constant_leaves = st.one_of(_literals, st.sampled_from((*PARAMETERS, "pi", "e")).map(Name))
_variables = st.sampled_from(VARIABLES).map(Name)
_leaves = st.one_of(_variables, _variables, _constant_leaves)
_rows = st.sampled_from(tuple(FUNCTIONS.values()))
_arithmetic = st.sampled_from(("+", "-", "*", "/", "**"))
_comparisons = st.sampled_from(("<", "<=", ">", ">=", "==", "!="))
_links = st.integers(1, 3)
_shapes, _conditions, _depths = st.integers(0, 7), st.integers(0, 5), st.integers(1, 5)
_connectives = st.sampled_from("&|")
_heights = st.integers(-99, 99).map(lambda whole: whole / 10)
_lines = st.dictionaries(_heights, _heights, min_size=2, max_size=9).map(lambda of: (*sorted(of.items()),))
_is_line = st.integers(0, 19).map(lambda number: number == 0)
_domain_constants = st.floats(0.25, 4).map(Number)

Grow = Callable[[st.DrawFn, int], Node]


def _constant(draw: st.DrawFn, depth: int) -> Node:
    """A number without x, y, g."""
    return draw(_constant_leaves) if depth == 0 else _shape(draw, depth, _constant, _constant)


def _number(draw: st.DrawFn, depth: int) -> Node:
    return draw(_leaves) if depth == 0 else _shape(draw, depth, _number, draw(_operands))


def _shape(draw: st.DrawFn, depth: int, inner: Grow, operand: Grow) -> Node:
    """An inner node; ``operand`` may grow conditions, which count as 0 and 1 in arithmetic."""
    match draw(_shapes):
        case 0:
            return inner(draw, 0)
        case 1:
            return Unary("-", operand(draw, depth - 1))
        case 2 | 3 | 4:
            return Binary(draw(_arithmetic), inner(draw, depth - 1), operand(draw, depth - 1))
        case _:
            return _call(draw, depth - 1, inner, operand)


def _call(draw: st.DrawFn, depth: int, inner: Grow, operand: Grow) -> Node:
    """A call as its row wants it: constants where torch takes Python numbers only."""
    if draw(_is_line) and not is_constant(argument := inner(draw, depth)):
        return Polyline(draw(_lines), argument)
    row = draw(_rows)
    rest = row.arity - 1
    if row.reduces:
        argument = inner(draw, depth)
        return argument if is_constant(argument) else Call(row.name, (argument,))
    if row.domain:
        bounds = sorted((draw(_domain_constants) for _ in range(rest)), key=lambda bound: bound.value)
        return Call(row.name, (inner(draw, depth), *bounds))
    if row.mixing == "branches":
        grown = (_condition(draw, depth, inner), inner(draw, depth), operand(draw, depth))
        return Call(row.name, grown)
    other = _constant if row.mixing == "scalars" else inner
    return Call(row.name, (inner(draw, depth), *(other(draw, depth) for _ in range(rest))))


def _condition(draw: st.DrawFn, depth: int, inner: Grow = _number) -> Node:
    """Comparisons, chains and what ``& | ~`` make of them, constant ones too."""
    kind = draw(_conditions) if depth > 0 else 0
    below = max(depth - 1, 0)
    if kind < 4:
        links = draw(_links)
        operands = tuple(inner(draw, below) for _ in range(links + 1))
        return tree.Compare(tuple(draw(_comparisons) for _ in range(links)), operands)
    if kind == 4:
        return Unary("~", _condition(draw, below, inner))
    left, right = _condition(draw, below, inner), _condition(draw, below, inner)
    return Binary(draw(_connectives), left, right)


_grown: tuple[Grow, ...] = (_number, _number, _condition, _constant)
_operands = st.sampled_from(_grown)


@st.composite
def _formulas(draw: st.DrawFn) -> Formula:
    return Formula(_number(draw, draw(_depths)))


def _within_limits(formula: Formula) -> bool:
    nodes, depth = measure(formula.tree)
    return nodes <= MAX_NODES and depth <= MAX_DEPTH and len(formula.text) <= MAX_LENGTH


formulas = _formulas().filter(_within_limits)

_marks = tuple("+-*/()<>,&|~=%^!.'\"#[]{}:;@\\?$` \n\t\0")
_words = st.sampled_from(
    (*FUNCTIONS, "f", "f(1)", *VARIABLES, *PARAMETERS, *_marks, "**", "<=", "1", "2.5", "e9")
)
texts = st.one_of(
    st.text(max_size=320),
    st.text(string.printable, max_size=60),
    st.lists(_words, max_size=60).map("".join),
    st.lists(_words, max_size=60).map(" ".join),
)

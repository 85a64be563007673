"""Text to tree, by precedence climbing over the words that ``lexing`` finds.

Precedence is Python's, so a formula reads the same in the code that is exported. Python's own
parser is not involved: it folds full-width letters into names, warns about odd literals and
recurses as deep as the text tells it to.
"""

from __future__ import annotations

import difflib
import keyword
import math
from collections.abc import Collection
from typing import NoReturn

from torch import autograd, nn

from explorer.formula.errors import FormulaError
from explorer.formula.functions import FUNCTIONS
from explorer.formula.lexing import Token, tokens
from explorer.formula.tree import (
    CONSTANTS,
    VARIABLES,
    Binary,
    Call,
    Compare,
    Name,
    Node,
    Number,
    Unary,
    is_condition,
    is_constant,
    measure,
)

MAX_LENGTH = 300
MAX_NODES = 64
MAX_DEPTH = 16
MAX_NESTING = 64  # redundant parentheses add no depth to the tree, but the parser descends into each
MAX_NAME = 20

COMPARISONS = ("<=", ">=", "==", "!=", "<", ">")
POWERS = {"|": 1, "&": 2, "+": 3, "-": 3, "*": 4, "/": 4, "**": 5}

# Generated code uses these words itself, or sets parameters as attributes beside them.
CODE_WORDS = frozenset((
    "torch", "math", "np", "jnp", "jax", "ctx", "self", "inputs", "output", "forward", "backward", "jvp",
    "vjp", "apply", "float", "super", "constant", "gradient", "nn", "partial", "saved", "surrogate",
    "inf", "nan", "Inf", "NaN", "Infinity",
)).union(dir(nn.Module()), dir(autograd.Function))  # fmt: skip

_INSTEAD = {
    "//": "use floor(a / b) for whole division",
    "%": "use a - b * floor(a / b) for the remainder",
    "^": "use ** for powers",
    "=": "use == to compare; a formula assigns nothing",
    ":=": "a formula assigns nothing",
    "&&": "use & between conditions",
    "||": "use | between conditions",
    "!": "use ~ before a condition",
    "[": "there are no lists or subscripts in a formula",
    "]": "there are no lists or subscripts in a formula",
    ".": "there are no attributes in a formula",
    "'": "there are no strings in a formula",
    '"': "there are no strings in a formula",
    "#": "there are no comments in a formula",
}
_WORDS_INSTEAD = {
    "and": "use & between conditions",
    "or": "use | between conditions",
    "not": "use ~ before a condition",
    "if": "use where(condition, then, otherwise)",
    "else": "use where(condition, then, otherwise)",
    "True": "use 1",
    "False": "use 0",
}


_CALLED_ELSEWHERE = {
    "ln": "log",
    "pow": "**",
    "arctan": "atan",
    "sgn": "sign",
    "clip": "clamp",
    "swish": "silu",
}


def parse_tree(
    text: str, *, variables: Collection[str] = VARIABLES, parameters: Collection[str] | None = None
) -> Node:
    """Read a formula into a tree.

    ``variables`` are those of x, y, g that may stand in it. ``parameters`` are the further names
    known; None admits any new name as a parameter. Raises FormulaError for everything else.
    """
    if not isinstance(text, str):
        raise FormulaError("a formula is text, such as g * (abs(x) <= 1)", 1)
    if len(text) > MAX_LENGTH:
        raise FormulaError(
            f"the formula has {len(text)} characters: {MAX_LENGTH} are the most", MAX_LENGTH + 1
        )
    parser = _Parser(tokens(text), variables, parameters)
    return parser.formula()


class _Parser:
    def __init__(
        self, tokens: list[Token], variables: Collection[str], parameters: Collection[str] | None
    ) -> None:
        self.tokens = tokens
        self.place = 0
        self.nesting = 0
        self.variables = variables
        self.parameters = parameters

    @property
    def token(self) -> Token:
        return self.tokens[self.place]

    def take(self) -> Token:
        token = self.token
        self.place += 1
        return token

    def formula(self) -> Node:
        column = self.token.column
        node = self.expression()
        if self.token.kind != "end":
            self.refuse_trailing()
        if is_condition(node):
            raise FormulaError(
                "the formula is a condition, true or false at each x: multiply it by 1 or use "
                "where(condition, then, otherwise) to get a number",
                column,
            )
        return node

    def expression(self) -> Node:
        """A comparison chain, or what binds tighter."""
        columns = [self.token.column]
        operands, operators = [self.binary(1)], []
        while self.token.text in COMPARISONS:
            operators.append(self.take().text)
            columns.append(self.token.column)
            operands.append(self.binary(1))
        if not operators:
            return operands[0]
        for operand, column in zip(operands, columns, strict=True):
            self.require_number(operand, column, "a comparison")
        return self.built(Compare(tuple(operators), tuple(operands)), columns[0])

    def binary(self, power: int) -> Node:
        """Operators that bind at least as tightly as ``power``."""
        column = self.token.column
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise FormulaError(f"too many parentheses, signs or powers in a row at column {column}", column)
        left = self.prefix()
        while (own := POWERS.get(self.token.text, 0)) >= power:
            operator = self.take()
            right = self.binary(own if operator.text == "**" else own + 1)
            left = self.built(self.combined(operator, left, right), column)
        self.nesting -= 1
        return left

    def prefix(self) -> Node:
        token = self.token
        if token.text not in ("-", "+", "~"):
            return self.atom()
        self.take()
        operand = self.binary(POWERS["**"])
        if token.text == "~":
            self.require_condition(operand, token.column, '"~"')
        return operand if token.text == "+" else self.built(Unary(token.text, operand), token.column)

    def combined(self, operator: Token, left: Node, right: Node) -> Node:
        if operator.text in "&|":
            for side in (left, right):
                self.require_condition(side, operator.column, f'"{operator.text}"')
        return Binary(operator.text, left, right)

    def atom(self) -> Node:
        token = self.take()
        if token.kind == "number":
            return self.number(token)
        if token.kind == "name":
            return self.call(token) if self.token.text == "(" else self.name(token)
        if token.text == "(":
            node = self.expression()
            self.close(token)
            return node
        if token.kind == "end":
            raise FormulaError(f"a value is missing at the end, column {token.column}", token.column)
        if token.text in _INSTEAD:
            self.refuse_mark(token)
        raise FormulaError(f'a value is missing before "{token.text}" at column {token.column}', token.column)

    def number(self, token: Token) -> Number:
        value = float(token.text)
        if not math.isfinite(value):
            raise FormulaError(
                f"the number at column {token.column} is too large: 1e308 is the most", token.column
            )
        return Number(value)

    def name(self, token: Token) -> Name:
        text = token.text
        if text in FUNCTIONS:
            raise FormulaError(
                f'"{text}" at column {token.column} is a function: write {text}(…)', token.column
            )
        if text in self.variables or text in CONSTANTS:
            return Name(text)
        if text in VARIABLES:
            known = " or ".join(self.variables)
            raise FormulaError(
                f'"{text}" at column {token.column} is not known here: use {known}', token.column
            )
        if text in _WORDS_INSTEAD:
            raise FormulaError(f'"{text}" at column {token.column}: {_WORDS_INSTEAD[text]}', token.column)
        if self.parameters is None:
            self.require_parameter_name(token)
        elif text not in self.parameters:
            known = ", ".join(self.variables)
            raise FormulaError(
                f'unknown name "{text}" at column {token.column}: use {known} or a parameter', token.column
            )
        return Name(text)

    def require_parameter_name(self, token: Token) -> None:
        text, column = token.text, token.column
        if text.startswith("_") or text.endswith("_"):
            raise FormulaError(
                f'a parameter such as "{text}" at column {column} starts and ends with a letter or digit',
                column,
            )
        if len(text) > MAX_NAME:
            raise FormulaError(
                f"the name at column {column} is too long: {MAX_NAME} characters are the most", column
            )
        if keyword.iskeyword(text) or keyword.issoftkeyword(text) or text in CODE_WORDS:
            raise FormulaError(
                f'"{text}" at column {column} means something else in code: choose another name', column
            )

    def call(self, token: Token) -> Node:
        row = FUNCTIONS.get(token.text)
        if row is None:
            other = _CALLED_ELSEWHERE.get(token.text.lower())
            near = [other] if other else difflib.get_close_matches(token.text, FUNCTIONS, n=1)
            hint = f"write {near[0]}" if near else "a * is missing, or it is none of the functions"
            raise FormulaError(
                f'unknown function "{token.text}" at column {token.column}: {hint}', token.column
            )
        opening = self.take()
        arguments: list[Node] = []
        columns: list[int] = []
        while self.token.text != ")" or arguments:
            columns.append(self.token.column)
            arguments.append(self.expression())
            if self.token.text != ",":
                break
            self.take()
        self.close(opening)
        if len(arguments) != row.arity:
            raise FormulaError(
                f"{row.name} at column {token.column} takes {_count(row.arity, 'argument')}, "
                f"here it has {len(arguments)}",
                token.column,
            )
        self.check_arguments(row.name, row.mixing, arguments, columns)
        return self.built(Call(row.name, tuple(arguments)), token.column)

    def check_arguments(self, name: str, mixing: str, arguments: list[Node], columns: list[int]) -> None:
        if mixing == "branches":
            self.require_condition(arguments[0], columns[0], f"the first argument of {name}")
            return
        for argument, column in zip(arguments, columns, strict=True):
            self.require_number(argument, column, f"an argument of {name}")
        for argument, column in zip(arguments[1:], columns[1:], strict=True):
            if mixing == "scalars" and not is_constant(argument):
                raise FormulaError(
                    f"the argument of {name} at column {column} must be a number or a parameter", column
                )

    def close(self, opening: Token) -> None:
        if self.token.text == ")":
            self.take()
        elif self.token.kind == "end":
            raise FormulaError(
                f'the "(" at column {opening.column} is never closed: add a ")"', opening.column
            )
        else:
            self.refuse_trailing()

    def refuse_trailing(self) -> NoReturn:
        token = self.token
        if token.text in _INSTEAD:
            self.refuse_mark(token)
        if token.text in _WORDS_INSTEAD:
            raise FormulaError(
                f'"{token.text}" at column {token.column}: {_WORDS_INSTEAD[token.text]}', token.column
            )
        if token.text == ")":
            raise FormulaError(f'the ")" at column {token.column} closes nothing: remove it', token.column)
        if token.text == ",":
            raise FormulaError(
                f'the "," at column {token.column} stands outside a function call', token.column
            )
        raise FormulaError(
            f'an operator such as * is missing before "{token.text}" at column {token.column}', token.column
        )

    def refuse_mark(self, token: Token) -> NoReturn:
        raise FormulaError(f'"{token.text}" at column {token.column}: {_INSTEAD[token.text]}', token.column)

    def require_number(self, node: Node, column: int, where: str) -> None:
        if is_condition(node):
            raise FormulaError(
                f"{where} needs a number, but a condition stands at column {column}: "
                "use where(condition, 1, 0)",
                column,
            )

    def require_condition(self, node: Node, column: int, where: str) -> None:
        if not is_condition(node):
            raise FormulaError(
                f"{where} at column {column} needs conditions such as (x > 0): put each in parentheses",
                column,
            )

    def built(self, node: Node, column: int) -> Node:
        count, depth = measure(node)
        if count > MAX_NODES:
            raise FormulaError(
                f"the formula has more than {MAX_NODES} parts at column {column}: shorten it", column
            )
        if depth > MAX_DEPTH:
            raise FormulaError(
                f"the formula is nested deeper than {MAX_DEPTH} levels at column {column}: write it flatter",
                column,
            )
        return node


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"

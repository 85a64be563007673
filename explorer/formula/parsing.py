"""Text to tree, by precedence climbing over the words that ``lexing`` finds.

Precedence is Python's, so a formula reads the same in the code that is exported. Python's own
parser is not involved: it folds full-width letters into names, warns about odd literals and
recurses as deep as the text tells it to.
"""

import math
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from explorer.formula.aliases import CALLS, MEANT, called, misspelled
from explorer.formula.errors import FormulaError, error_at
from explorer.formula.functions import FUNCTIONS
from explorer.formula.lexing import Token, require_one_reading, tokens
from explorer.formula.measured import is_word
from explorer.formula.printing import CANONICAL, listed, source
from explorer.formula.tree import (
    COMPARISONS,
    CONSTANTS,
    DRAWN_OUTPUTS,
    DRAWS,
    LOSS,
    POWERS,
    RULE_NAMES,
    TWIN_LOSS,
    VARIABLES,
    Binary,
    Call,
    Compare,
    LossAt,
    Name,
    Node,
    Number,
    Through,
    Unary,
    is_condition,
    is_constant,
    measure,
    names,
    substituted,
)

MAX_LENGTH = 300
MAX_NODES = 96  # LSQ+ as it is published has 72
MAX_DEPTH = 16
MAX_NESTING = 64  # redundant parentheses add no depth to the tree, but the parser descends into each
MAX_NAME = 20
FEWEST_POINTS, MOST_POINTS = 2, 16  # of through

# Generated code uses these words itself, or once did: links know "constant" under another name.
CODE_WORDS = frozenset((
    "torch", "math", "np", "jnp", "jax", "partial", "nn", "ctx", "self", "super", "float", "inputs", "output",
    "saved", "gradient", "surrogate", "constant", "inf", "nan", "Inf", "NaN", "Infinity",
))  # fmt: skip

_INSTEAD = {
    "//": "use floor(a / b) for whole division",
    "%": "use a - b * floor(a / b) for the remainder",
    "=": "use == to compare; a formula assigns nothing, and arguments have no names",
    ":=": "a formula assigns nothing",
    "&&": "use & between conditions",
    "||": "use | between conditions",
    "!": "use ~ before a condition",
    ".": "there are no attributes in a formula",
    "#": "there are no comments in a formula",
    "and": "use & between conditions",
    "or": "use | between conditions",
    "not": "use ~ before a condition",
    "True": "use 1",
    "False": "use 0",
    **dict.fromkeys("[]", "there are no lists or subscripts in a formula"),
    **dict.fromkeys("'\"", "there are no strings in a formula"),
    **dict.fromkeys(("if", "else"), "use where(condition, then, otherwise)"),
}


def parse_tree(
    text: str, *, variables: Collection[str] = RULE_NAMES, parameters: Collection[str] | None = None
) -> Node:
    """Read a formula into a tree; arguments and errors are those of ``formula.parse``."""
    if not isinstance(text, str):
        raise FormulaError("a formula is text, such as g * (abs(x) <= 1)", 1)
    if len(text) > MAX_LENGTH:
        raise FormulaError(
            f"the formula has {len(text)} characters: {MAX_LENGTH} are the most", MAX_LENGTH + 1
        )
    tree = _Parser(tokens(text), variables, parameters).formula()
    if (length := len(source(tree, CANONICAL))) > MAX_LENGTH:
        raise FormulaError(
            f"with its spaces and names in full the formula has {length} characters: "
            f"{MAX_LENGTH} are the most",
            1,
        )
    return tree


@lru_cache
def template(text: str) -> Node:
    """A formula of the tables as a tree, in the operands a, b, c, d, the result y, and g."""
    return _Parser(tokens(text), ("y", "g"), ("a", "b", "c", "d")).formula()


def filled(text: str, operands: Sequence[Node]) -> Node:
    """A formula of the tables with trees for its operands."""
    return substituted(template(text), dict(zip(map(Name, "abcd"), operands, strict=False)))


def _constant(value: Node | float) -> Node:
    """A number of the tables as a tree."""
    return template(repr(value)) if isinstance(value, float) else value


class Part(NamedTuple):
    """An expression between two marks, its column, and the ``min=`` before it."""

    node: Node
    column: int
    keyword: str = ""


class _Parser:
    def __init__(
        self, tokens: list[Token], variables: Collection[str], parameters: Collection[str] | None
    ) -> None:
        self.tokens = tokens
        self.position = 0
        self.nesting = 0
        self.closing = ""  # the mark that ends what was opened last
        self.variables = variables
        self.parameters = parameters

    @property
    def plain(self) -> list[str]:
        """The variables that are written without brackets."""
        return [name for name in self.variables if name not in DRAWS]

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    def take(self) -> Token:
        token = self.token
        self.position += 1
        return token

    def formula(self) -> Node:
        column = self.token.column
        node = self.expression()
        if self.token.kind != "end":
            raise self.trailing()
        if is_condition(node):
            raise FormulaError(
                "the formula is a condition, true or false at each x: multiply it by 1 or use "
                "where(condition, then, otherwise) to get a number",
                column,
            )
        self.require_apart(node)
        return node

    def require_apart(self, node: Node) -> None:
        """FormulaError for a draw beside a parameter of the same name, which code could not tell apart."""
        used = names(node)
        for draw in DRAWS:
            if draw in used and draw[:-2] in used:
                column = next(
                    token.column
                    for token, after in pairwise(self.tokens)
                    if token.text == draw[:-2] and after.text != "("
                )
                rest = f" is a parameter, and {draw} is drawn: give the parameter another name"
                raise error_at(column, f'"{draw[:-2]}"', rest)

    def expression(self) -> Node:
        """A comparison chain, or an expression that binds tighter."""
        column = self.token.column
        parts, operators = [Part(self.binary(POWERS["|"]), column)], []
        while self.token.text in COMPARISONS:
            operators.append(self.take().text)
            parts.append(Part(column=self.token.column, node=self.binary(POWERS["|"])))
        if not operators:
            return parts[0].node
        self.require_numbers(parts, "a comparison")
        return self.built(Compare(tuple(operators), tuple(part.node for part in parts)), column)

    def binary(self, power: int) -> Node:
        """Operators that bind at least as tightly as ``power``."""
        column = self.token.column
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise error_at(column, "too many parentheses, signs or powers in a row", "")
        left = self.prefix()
        while (own := self.power()) >= power:
            operator = self.take()
            right = self.binary(own if operator.text == "**" else own + 1)
            if operator.text in "&|":
                self.require_conditions([left, right], operator)
            left = self.built(Binary(operator.text, left, right), column)
        self.nesting -= 1
        return left

    def power(self) -> int:
        """The precedence of the next word as an operator; 0 where it is none."""
        if self.closing == "|":
            self.part_bars()
        return 0 if self.token.text == self.closing else POWERS.get(self.token.text, 0)

    def part_bars(self) -> None:
        """Two bars in a row may close, or open, two absolute values."""
        token = self.token
        if token.text == "||":
            bars = [Token("mark", "|", token.column), Token("mark", "|", token.column + 1)]
            self.tokens[self.position : self.position + 1] = bars

    def prefix(self) -> Node:
        token = self.token
        if token.text not in ("-", "+", "~"):
            return self.atom()
        self.take()
        operand = self.binary(POWERS["**"])
        if token.text == "~":
            self.require_conditions([operand], token)
        return operand if token.text == "+" else self.built(Unary(token.text, operand), token.column)

    def atom(self) -> Node:
        self.part_bars()
        token = self.take()
        if token.kind == "number":
            return self.number(token)
        if token.kind == "name":
            return self.call(token) if self.token.text == "(" else self.name(token)
        if token.text in ("(", "|"):
            (part,) = self.enclosed(token, several=False)
            if token.text == "(":
                return part.node
            self.require_numbers([part], "an absolute value")
            return self.built(Call("abs", (part.node,)), token.column)
        if token.kind == "end":
            raise FormulaError(f"a value is missing at the end, column {token.column}", token.column)
        if token.text in _INSTEAD:
            raise self.instead(token)
        raise error_at(token.column, f'a value is missing before "{token.text}"', "")

    def enclosed(self, opening: Token, several: bool) -> list[Part]:
        """The parts between two marks: one, or ``several`` between commas, with keywords or without."""
        outer, self.closing = self.closing, "|" if opening.text == "|" else ")"
        parts: list[Part] = []
        while not parts or (several and self.token.text == "," and self.take()):
            if several and not parts and self.token.text == ")":
                break
            column = self.token.column
            named = several and self.token.kind == "name" and self.tokens[self.position + 1].text == "="
            keyword = self.take().text + self.take().text if named else ""
            parts.append(Part(self.expression(), column, keyword))
        if self.token.text == self.closing:
            self.take()
        elif self.token.kind == "end" or (self.closing == "|" and self.token.text == ")"):
            raise error_at(
                opening.column, f'the "{opening.text}"', f' is never closed: add a "{self.closing}"'
            )
        else:
            raise self.trailing()
        self.closing = outer
        return parts

    def number(self, token: Token) -> Number:
        value = float(token.text)
        if not math.isfinite(value):
            raise error_at(token.column, "the number", " is too large: 1e308 is the most")
        bar, later = self.token, [word.text[:1] for word in self.tokens[self.position :]]
        joined = later[0] == "|" and bar.column == token.column + len(token.text)
        if joined and self.closing != "|" and later.count("|") > 1:  # 2|x|
            require_one_reading(self.tokens[: self.position], bar)
            self.tokens.insert(self.position, Token("mark", "*", bar.column))
        return Number(value)

    def name(self, token: Token) -> Name:
        text, column, quoted = token.text, token.column, f'"{token.text}"'
        if self.token.text == "=":
            raise self.instead(self.token)
        if text in self.variables or text in CONSTANTS or text in (self.parameters or ()):
            return Name(text)
        if text in FUNCTIONS and not FUNCTIONS[text].word:
            raise error_at(column, quoted, f" is a function: write {text}(…)")
        if text in VARIABLES:
            raise error_at(
                column, quoted, f" is not known here: use {' or '.join(self.plain) or 'parameters'}"
            )
        if text in _INSTEAD:
            raise self.instead(token)
        if MEANT.get(text) in self.variables:
            raise error_at(column, f"unknown name {quoted}", f": did you mean {MEANT[text]}?")
        if self.parameters is not None or "." in text:
            known = ", ".join(self.plain)
            raise error_at(column, f"unknown name {quoted}", f": use {known} or a parameter")
        if text.startswith("_") or text.endswith("_"):
            raise error_at(column, f"a parameter such as {quoted}", " starts and ends with a letter or digit")
        if len(text) > MAX_NAME:
            raise error_at(column, "the name", f" is too long: {MAX_NAME} characters are the most")
        if is_word(text) or text in CODE_WORDS:
            raise error_at(column, quoted, " means something else in code: choose another name")
        return Name(text)

    def draw(self, token: Token) -> Name:
        """A draw, behind its name; the brackets are empty."""
        name, opening = f"{token.text}()", self.take()
        if self.token.text != ")":
            instead = "the loss at an output is f(…)" if token.text == "fa" else "close the parenthesis"
            raise error_at(opening.column, f"{name} is drawn and takes no argument", f": {instead}")
        self.take()
        self.require_known(token, name)
        return Name(name)

    def loss(self, token: Token) -> Node:
        """``f()``, the loss at the output drawn, or ``f(v)``, that at another; y and ya() are drawn."""
        parts = self.enclosed(self.take(), several=True)
        self.require_known(token, LOSS.name if not parts else "f(…)")
        if not parts:
            return LOSS
        self.require_plain(token, "f", parts, 1)
        self.require_numbers(parts, "an argument of f")
        output, column, _ = parts[0]
        for name, word in {"g": "g", LOSS.name: "a loss", TWIN_LOSS.name: "a loss"}.items():
            if name in names(output):
                subject = f"{word} in the brackets of f"
                raise error_at(column, subject, ": an output stands there, such as 1 or 1 - y")
        drawn = next((loss for loss, drawn in DRAWN_OUTPUTS.items() if drawn == output), None)
        return drawn or self.built(LossAt(output), token.column)

    def through(self, token: Token) -> Node:
        """``through(x, x0, y0, …)``: an argument with x, y or g, and points as numbers, their x ascending."""
        parts = self.enclosed(self.take(), several=True)
        count = len(parts) // 2
        if not (len(parts) % 2 and FEWEST_POINTS <= count <= MOST_POINTS):
            points = f"{FEWEST_POINTS} to {MOST_POINTS} points of two numbers"
            raise error_at(token.column, "through", f" takes x and {points}: through(x, -1, 0, 1, 2)")
        self.require_plain(token, "through", parts, len(parts))
        argument, *numbers = parts
        self.require_numbers([argument], "the first argument of through")
        if is_constant(argument.node):
            raise error_at(argument.column, "the first argument of through", " has no x, y or g in it")
        values = [_number_of(part) for part in numbers]
        for before, x, part in zip(values[::2], values[2::2], numbers[2::2], strict=False):
            if x <= before:
                raise error_at(part.column, "the x of this point", " must be above that of the point before")
        lines = Through(tuple(zip(values[::2], values[1::2], strict=True)), argument.node)
        return self.built(lines, token.column)

    def require_known(self, token: Token, name: str) -> None:
        """FormulaError for a draw, or a loss, that has no place here."""
        if (LOSS.name if token.text == "f" else name) not in self.variables:
            here = [draw for draw in DRAWS if draw in self.variables]
            raise error_at(
                token.column, name, " is not known here" + (f": use {listed(here)}" if here else "")
            )

    def call(self, token: Token) -> Node:
        if token.text == "f":
            return self.loss(token)
        if token.text == "through":
            return self.through(token)
        if f"{token.text}()" in DRAWS:
            return self.draw(token)
        name = called(token.text)
        if name is None:
            near = misspelled(token.text)
            hint = f"write {near}" if near else "a * is missing, or it is none of the functions"
            raise error_at(token.column, f'unknown function "{token.text}"', f": {hint}")
        parts = self.enclosed(self.take(), several=True)
        if other := self.other_call(name, parts):
            self.require_numbers(parts, f"an argument of {name}")
            return self.built(other, token.column)
        self.check_arguments(token, name, parts)
        return self.built(Call(name, tuple(part.node for part in parts)), token.column)

    def other_call(self, name: str, parts: list[Part]) -> Node | None:
        """A call under another name or in another form as what it is; None for one of the table's own."""
        named = [bool(part.keyword) for part in parts]
        row = FUNCTIONS.get(name)
        if named != sorted(named) or (row and not any(named) and len(parts) == row.arity):
            return None
        arguments = [part.node for part in parts if not part.keyword]
        keywords = {part.keyword.rstrip("="): part.node for part in parts if part.keyword}
        for call in CALLS.get(name, ()):
            if operands := call.operands(*arguments, **keywords):
                return filled(call.text, [_constant(operand) for operand in operands])
        return None

    def require_plain(self, token: Token, name: str, parts: list[Part], arity: int) -> None:
        """FormulaError for arguments with keywords, and for another number of them."""
        for part in parts:
            if part.keyword:
                rest = f": leave it out, the arguments of {name} have no names here"
                raise error_at(part.column, f'"{part.keyword}"', rest)
        if len(parts) != arity:
            takes = f" takes {arity} argument{'s' if arity > 1 else ''}, here it has {len(parts)}"
            raise error_at(token.column, name, takes)

    def check_arguments(self, token: Token, name: str, parts: list[Part]) -> None:
        row = FUNCTIONS.get(name)
        arity = row.arity if row else len(CALLS[name][0].signature.parameters)
        self.require_plain(token, name, parts, arity)
        if name == "where":
            if not is_condition(parts[0].node):
                raise error_at(parts[0].column, "the first argument of where", _NEEDS_CONDITIONS)
            return
        self.require_numbers(parts, f"an argument of {name}")
        if row and row.least and "x" in self.variables and is_constant(parts[0].node):
            raise error_at(parts[0].column, f"the argument of {name}", " has no x, y or g in it")
        for part in parts:
            if row and row.reduces and set(DRAWS).intersection(names(part.node)):
                raise error_at(
                    part.column, f"{name} of what is drawn", " has no one value: take it element by element"
                )
        for part in parts[1:]:
            if row and row.mixing == "scalars" and not is_constant(part.node):
                raise error_at(part.column, f"the argument of {name}", " must be a number or a parameter")

    def trailing(self) -> FormulaError:
        token = self.token
        if token.text in _INSTEAD:
            return self.instead(token)
        if token.text == ")":
            return error_at(token.column, 'the ")"', " closes nothing: remove it")
        if token.text == ",":
            return error_at(token.column, 'the ","', " stands outside a function call")
        return error_at(token.column, f'an operator such as * is missing before "{token.text}"', "")

    def instead(self, token: Token) -> FormulaError:
        return error_at(token.column, f'"{token.text}"', f": {_INSTEAD[token.text]}")

    def require_numbers(self, parts: list[Part], where: str) -> None:
        for part in parts:
            if is_condition(part.node):
                subject = f"{where} needs a number, but a condition stands"
                raise error_at(part.column, subject, ": use where(condition, 1, 0)")

    def require_conditions(self, nodes: list[Node], operator: Token) -> None:
        if not all(map(is_condition, nodes)):
            bars = "; before an absolute value write *" if operator.text == "|" else ""
            raise error_at(operator.column, f'"{operator.text}"', _NEEDS_CONDITIONS + bars)

    def built(self, node: Node, column: int) -> Node:
        count, depth = measure(node)
        if count > MAX_NODES:
            raise error_at(column, f"the formula has more than {MAX_NODES} parts", ": shorten it")
        if depth > MAX_DEPTH:
            subject = f"the formula is nested deeper than {MAX_DEPTH} levels"
            raise error_at(column, subject, ": write it flatter")
        return node


def _number_of(part: Part) -> float:
    """The number of a part, with a sign or without. Raises FormulaError for anything else."""
    match part.node:
        case Number(value):
            return value
        case Unary("-", Number(value)):
            return -value
    raise error_at(part.column, "a point of through", " must be two numbers, such as -0.5, 1")


_NEEDS_CONDITIONS = " needs conditions such as (x > 0): put each in parentheses"

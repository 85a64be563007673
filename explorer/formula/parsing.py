"""Parse the tokens of a formula into an expression tree, by precedence climbing.

Precedence is Python's, so that a formula means the same in exported code. Python's own parser is not used,
because it converts full-width letters in names, warns about odd literals, and recurses without a limit.
"""

import math
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from explorer.formula.aliases import CALLS, VARIABLE_ALIASES, find_function, suggest_function
from explorer.formula.errors import FormulaError, make_error
from explorer.formula.functions import FUNCTIONS
from explorer.formula.lexing import Token, require_unambiguous, tokenize
from explorer.formula.measured import is_word
from explorer.formula.printing import CANONICAL, join_texts, print_source
from explorer.formula.tree import (
    ANTITHETIC_LOSS,
    COMPARISONS,
    CONSTANTS,
    LOSS,
    LOSS_OUTPUTS,
    PRECEDENCE,
    RANDOM_NAMES,
    RULE_NAMES,
    VARIABLES,
    Binary,
    Call,
    Compare,
    LossAt,
    Name,
    Node,
    Number,
    Polyline,
    Unary,
    find_names,
    is_condition,
    is_constant,
    measure,
    substitute,
)

MAX_LENGTH = 300
MAX_NODES = 96  # maximum number of nodes; the published formula of LSQ+ has 72
MAX_DEPTH = 16
MAX_NESTING = 64  # limits the recursion through redundant parentheses
MAX_NAME = 20
MIN_POINTS, MAX_POINTS = 2, 16  # number of points in a call of ``through``

# Names used in exported code, also in older versions. No parameter can have one of them.
CODE_WORDS = frozenset((
    "torch", "math", "np", "jnp", "jax", "partial", "nn", "ctx", "self", "super", "float", "inputs", "output",
    "saved", "gradient", "surrogate", "constant", "inf", "nan", "Inf", "NaN", "Infinity",
))  # fmt: skip

_REPLACEMENTS = {
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
    """Parse a formula into an expression tree; arguments and errors are those of ``formula.parse``."""
    if not isinstance(text, str):
        raise FormulaError("a formula is text, such as g * (abs(x) <= 1)", 1)
    if len(text) > MAX_LENGTH:
        raise FormulaError(
            f"the formula has {len(text)} characters, but at most {MAX_LENGTH} are allowed", MAX_LENGTH + 1
        )
    tree = _Parser(tokenize(text), variables, parameters).parse_formula()
    if (length := len(print_source(tree, CANONICAL))) > MAX_LENGTH:
        raise FormulaError(
            f"with its spaces and full names the formula has {length} characters, "
            f"but at most {MAX_LENGTH} are allowed",
            1,
        )
    return tree


@lru_cache
def parse_template(text: str) -> Node:
    """Parse a formula of the function table, such as the gradient ``g / b``, into an expression tree.

    It may use the operands a, b, c, d, the result y and the upstream gradient g.
    """
    return _Parser(tokenize(text), ("y", "g"), ("a", "b", "c", "d")).parse_formula()


def fill_template(text: str, operands: Sequence[Node]) -> Node:
    """Parse a formula of the function table, and replace a, b, c and d in it by operands."""
    return substitute(parse_template(text), dict(zip(map(Name, "abcd"), operands, strict=False)))


class Part(NamedTuple):
    """A parsed argument of a call: its expression, its column, and the ``min=`` before it, if any."""

    node: Node
    column: int
    keyword: str = ""


class _Parser:
    """A parser of one formula; ``variables`` and ``parameters`` are the names that it may use."""

    def __init__(
        self, tokens: list[Token], variables: Collection[str], parameters: Collection[str] | None
    ) -> None:
        self.tokens = tokens
        self.position = 0
        self.nesting = 0
        self.closing_mark = ""  # the character that closes the innermost bracket
        self.variables = variables
        self.parameters = parameters

    @property
    def bare_variables(self) -> list[str]:
        return [name for name in self.variables if name not in RANDOM_NAMES]

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    def take(self) -> Token:
        token = self.token
        self.position += 1
        return token

    def parse_formula(self) -> Node:
        column = self.token.column
        node = self.parse_comparison()
        if self.token.kind != "end":
            raise self.make_trailing_error()
        if is_condition(node):
            raise FormulaError(
                "the formula is a condition, true or false at each x: multiply it by 1 or use "
                "where(condition, then, otherwise) to get a number",
                column,
            )
        self.require_distinct_names(node)
        return node

    def require_distinct_names(self, node: Node) -> None:
        """Raise FormulaError if a parameter and a random number would have the same name in code."""
        used = find_names(node)
        for draw in RANDOM_NAMES:
            if draw in used and draw[:-2] in used:
                column = next(
                    token.column
                    for token, after in pairwise(self.tokens)
                    if token.text == draw[:-2] and after.text != "("
                )
                rest = f" is a parameter, but {draw} is random: give the parameter another name"
                raise make_error(column, f'"{draw[:-2]}"', rest)

    def parse_comparison(self) -> Node:
        column = self.token.column
        parts, operators = [Part(self.parse_binary(PRECEDENCE["|"]), column)], []
        while self.token.text in COMPARISONS:
            operators.append(self.take().text)
            parts.append(Part(column=self.token.column, node=self.parse_binary(PRECEDENCE["|"])))
        if not operators:
            return parts[0].node
        self.require_numbers(parts, "a comparison")
        return self.check_size(Compare(tuple(operators), tuple(part.node for part in parts)), column)

    def parse_binary(self, power: int) -> Node:
        column = self.token.column
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise make_error(column, "too many parentheses, signs or powers in a row", "")
        left = self.parse_prefix()
        while (precedence := self.find_precedence()) >= power:
            operator = self.take()
            right = self.parse_binary(precedence if operator.text == "**" else precedence + 1)
            if operator.text in "&|":
                self.require_conditions([left, right], operator)
            left = self.check_size(Binary(operator.text, left, right), column)
        self.nesting -= 1
        return left

    def find_precedence(self) -> int:
        if self.closing_mark == "|":
            self.split_bars()
        return 0 if self.token.text == self.closing_mark else PRECEDENCE.get(self.token.text, 0)

    def split_bars(self) -> None:
        """Split a next token ``||`` into two bars, each of which may open or close an absolute value."""
        token = self.token
        if token.text == "||":
            bars = [Token("mark", "|", token.column), Token("mark", "|", token.column + 1)]
            self.tokens[self.position : self.position + 1] = bars

    def parse_prefix(self) -> Node:
        token = self.token
        if token.text not in ("-", "+", "~"):
            return self.parse_atom()
        self.take()
        operand = self.parse_binary(PRECEDENCE["**"])
        if token.text == "~":
            self.require_conditions([operand], token)
        return operand if token.text == "+" else self.check_size(Unary(token.text, operand), token.column)

    def parse_atom(self) -> Node:
        self.split_bars()
        token = self.take()
        if token.kind == "number":
            return self.parse_number(token)
        if token.kind == "name":
            return self.parse_call(token) if self.token.text == "(" else self.parse_name(token)
        if token.text in ("(", "|"):
            (part,) = self.parse_enclosed(token, is_list=False)
            if token.text == "(":
                return part.node
            self.require_numbers([part], "an absolute value")
            return self.check_size(Call("abs", (part.node,)), token.column)
        if token.kind == "end":
            raise FormulaError(f"a value is missing at the end, column {token.column}", token.column)
        if token.text in _REPLACEMENTS:
            raise self.make_replacement_error(token)
        raise make_error(token.column, f'a value is missing before "{token.text}"', "")

    def parse_enclosed(self, opening: Token, is_list: bool) -> list[Part]:
        """Parse what is between a pair of brackets or bars, of which ``opening`` is the first.

        The content is one expression or, if ``is_list``, any number of comma-separated arguments, with
        optional keywords.
        """
        outer, self.closing_mark = self.closing_mark, "|" if opening.text == "|" else ")"
        parts: list[Part] = []
        while not parts or (is_list and self.token.text == "," and self.take()):
            if is_list and not parts and self.token.text == ")":
                break
            column = self.token.column
            has_keyword = is_list and self.token.kind == "name" and self.tokens[self.position + 1].text == "="
            keyword = self.take().text + self.take().text if has_keyword else ""
            parts.append(Part(self.parse_comparison(), column, keyword))
        if self.token.text == self.closing_mark:
            self.take()
        elif self.token.kind == "end" or (self.closing_mark == "|" and self.token.text == ")"):
            raise make_error(
                opening.column, f'the "{opening.text}"', f' is never closed: add a "{self.closing_mark}"'
            )
        else:
            raise self.make_trailing_error()
        self.closing_mark = outer
        return parts

    def parse_number(self, token: Token) -> Number:
        value = float(token.text)
        if not math.isfinite(value):
            raise make_error(token.column, "the number", " is too large: it must be less than 1.8e308")
        bar, later = self.token, [word.text[:1] for word in self.tokens[self.position :]]
        is_factor = later[0] == "|" and bar.column == token.column + len(token.text)
        if is_factor and self.closing_mark != "|" and later.count("|") > 1:  # 2|x|
            require_unambiguous(self.tokens[: self.position], bar)
            self.tokens.insert(self.position, Token("mark", "*", bar.column))
        return Number(value)

    def parse_name(self, token: Token) -> Name:
        text, column, quoted = token.text, token.column, f'"{token.text}"'
        if self.token.text == "=":
            raise self.make_replacement_error(self.token)
        if text in self.variables or text in CONSTANTS or text in (self.parameters or ()):
            return Name(text)
        if text in FUNCTIONS and not FUNCTIONS[text].word:
            raise make_error(column, quoted, f" is a function: write {text}(…)")
        if text in VARIABLES:
            raise make_error(
                column, quoted, f" is not known here: use {' or '.join(self.bare_variables) or 'parameters'}"
            )
        if text in _REPLACEMENTS:
            raise self.make_replacement_error(token)
        if VARIABLE_ALIASES.get(text) in self.variables:
            raise make_error(column, f"unknown name {quoted}", f": did you mean {VARIABLE_ALIASES[text]}?")
        if self.parameters is not None or "." in text:
            choices = ", ".join(self.bare_variables)
            raise make_error(column, f"unknown name {quoted}", f": use {choices} or a parameter")
        if text.startswith("_") or text.endswith("_"):
            raise make_error(
                column, f"a parameter such as {quoted}", " starts and ends with a letter or digit"
            )
        if len(text) > MAX_NAME:
            raise make_error(column, "the name", f" is too long: use at most {MAX_NAME} characters")
        if is_word(text) or text in CODE_WORDS:
            raise make_error(column, quoted, " means something else in code: choose another name")
        return Name(text)

    def parse_random(self, token: Token) -> Name:
        name, opening = f"{token.text}()", self.take()
        if self.token.text != ")":
            hint = "the loss at an output is f(…)" if token.text == "fa" else "close the parenthesis"
            raise make_error(opening.column, f"{name} is random and takes no argument", f": {hint}")
        self.take()
        self.require_available(token, name)
        return Name(name)

    def parse_loss(self, token: Token) -> Node:
        """Parse the loss ``f()``, or ``f(v)`` at an output v; ``f(y)`` is ``f()``, ``f(ya())`` ``fa()``."""
        parts = self.parse_enclosed(self.take(), is_list=True)
        self.require_available(token, LOSS.name if not parts else "f(…)")
        if not parts:
            return LOSS
        self.require_positional(token, "f", parts, 1)
        self.require_numbers(parts, "an argument of f")
        output, column, _ = parts[0]
        for name, word in {"g": "g", LOSS.name: "a loss", ANTITHETIC_LOSS.name: "a loss"}.items():
            if name in find_names(output):
                subject = f"{word} in the brackets of f"
                raise make_error(column, subject, ": write an output, such as 1 or 1 - y")
        named_loss = next((loss for loss, drawn in LOSS_OUTPUTS.items() if drawn == output), None)
        return named_loss or self.check_size(LossAt(output), token.column)

    def parse_through(self, token: Token) -> Node:
        """Parse ``through(x, x0, y0, …)``: an argument with x, y or g in it, then points by ascending x."""
        parts = self.parse_enclosed(self.take(), is_list=True)
        count = len(parts) // 2
        if not (len(parts) % 2 and MIN_POINTS <= count <= MAX_POINTS):
            points = f"{MIN_POINTS} to {MAX_POINTS} points of two numbers"
            raise make_error(token.column, "through", f" takes x and {points}: through(x, -1, 0, 1, 2)")
        self.require_positional(token, "through", parts, len(parts))
        argument, *numbers = parts
        self.require_numbers([argument], "the first argument of through")
        if is_constant(argument.node):
            raise make_error(argument.column, "the first argument of through", " has no x, y or g in it")
        values = [_require_number(part) for part in numbers]
        for before, x, part in zip(values[::2], values[2::2], numbers[2::2], strict=False):
            if x <= before:
                raise make_error(
                    part.column, "the x of this point", " must be above that of the point before"
                )
        lines = Polyline(tuple(zip(values[::2], values[1::2], strict=True)), argument.node)
        return self.check_size(lines, token.column)

    def require_available(self, token: Token, name: str) -> None:
        if (LOSS.name if token.text == "f" else name) not in self.variables:
            available = [draw for draw in RANDOM_NAMES if draw in self.variables]
            raise make_error(
                token.column,
                name,
                " is not known here" + (f": use {join_texts(available)}" if available else ""),
            )

    def parse_call(self, token: Token) -> Node:
        if token.text == "f":
            return self.parse_loss(token)
        if token.text == "through":
            return self.parse_through(token)
        if f"{token.text}()" in RANDOM_NAMES:
            return self.parse_random(token)
        name = find_function(token.text)
        if name is None:
            suggestion = suggest_function(token.text)
            hint = (
                f"write {suggestion}" if suggestion else ("a * is missing, or this is not a known function")
            )
            raise make_error(token.column, f'unknown function "{token.text}"', f": {hint}")
        parts = self.parse_enclosed(self.take(), is_list=True)
        if alias := self.resolve_alias(name, parts):
            self.require_numbers(parts, f"an argument of {name}")
            return self.check_size(alias, token.column)
        self.check_arguments(token, name, parts)
        return self.check_size(Call(name, tuple(part.node for part in parts)), token.column)

    def resolve_alias(self, name: str, parts: list[Part]) -> Node | None:
        """Return the expression for a call in an alternative spelling, or None if it needs no expansion."""
        has_keyword = [bool(part.keyword) for part in parts]
        row = FUNCTIONS.get(name)
        if has_keyword != sorted(has_keyword) or (row and not any(has_keyword) and len(parts) == row.arity):
            return None
        arguments = [part.node for part in parts if not part.keyword]
        keywords = {part.keyword.rstrip("="): part.node for part in parts if part.keyword}
        for call in CALLS.get(name, ()):
            if operands := call.bind_operands(*arguments, **keywords):
                trees = [parse_template(repr(each)) if isinstance(each, float) else each for each in operands]
                return fill_template(call.text, trees)
        return None

    def require_positional(self, token: Token, name: str, parts: list[Part], arity: int) -> None:
        for part in parts:
            if part.keyword:
                rest = f": leave it out, the arguments of {name} have no names here"
                raise make_error(part.column, f'"{part.keyword}"', rest)
        if len(parts) != arity:
            requirement = f" takes {arity} argument{'s' if arity > 1 else ''}, but got {len(parts)}"
            raise make_error(token.column, name, requirement + _HINTS.get(name, ""))

    def check_arguments(self, token: Token, name: str, parts: list[Part]) -> None:
        row = FUNCTIONS.get(name)
        arity = row.arity if row else len(CALLS[name][0].signature.parameters)
        self.require_positional(token, name, parts, arity)
        if name == "where":
            if not is_condition(parts[0].node):
                raise make_error(parts[0].column, "the first argument of where", _NEEDS_CONDITIONS)
            return
        self.require_numbers(parts, f"an argument of {name}")
        if row and row.least and "x" in self.variables and is_constant(parts[0].node):
            raise make_error(parts[0].column, f"the argument of {name}", " has no x, y or g in it")
        for part in parts:
            if row and row.reduces and set(RANDOM_NAMES).intersection(find_names(part.node)):
                raise make_error(
                    part.column, f"{name} of random draws", " has no single value: use it element by element"
                )
        for part in parts[1:]:
            if row and row.mixing == "scalars" and not is_constant(part.node):
                raise make_error(part.column, f"the argument of {name}", " must be a number or a parameter")

    def make_trailing_error(self) -> FormulaError:
        token = self.token
        if token.text in _REPLACEMENTS:
            return self.make_replacement_error(token)
        if token.text == ")":
            return make_error(token.column, 'the ")"', " closes nothing: remove it")
        if token.text == ",":
            return make_error(token.column, 'the ","', " is outside a function call")
        return make_error(token.column, f'an operator such as * is missing before "{token.text}"', "")

    def make_replacement_error(self, token: Token) -> FormulaError:
        return make_error(token.column, f'"{token.text}"', f": {_REPLACEMENTS[token.text]}")

    def require_numbers(self, parts: list[Part], place: str) -> None:
        for part in parts:
            if is_condition(part.node):
                subject = f"{place} needs a number, but has a condition"
                raise make_error(part.column, subject, ": use where(condition, 1, 0)")

    def require_conditions(self, nodes: list[Node], operator: Token) -> None:
        if not all(map(is_condition, nodes)):
            bars = "; before an absolute value write *" if operator.text == "|" else ""
            raise make_error(operator.column, f'"{operator.text}"', _NEEDS_CONDITIONS + bars)

    def check_size(self, node: Node, column: int) -> Node:
        """Return a node unchanged, or raise FormulaError if it is too large or nested too deeply."""
        count, depth = measure(node)
        if count > MAX_NODES:
            raise make_error(column, f"the formula has more than {MAX_NODES} parts", ": shorten it")
        if depth > MAX_DEPTH:
            subject = f"the formula is nested deeper than {MAX_DEPTH} levels"
            raise make_error(column, subject, ": simplify it")
        return node


def _require_number(part: Part) -> float:
    match part.node:
        case Number(value):
            return value
        case Unary("-", Number(value)):
            return -value
    raise make_error(part.column, "a point of through", " must be two numbers, such as -0.5, 1")


_HINTS = {"heaviside": ": the second is its value at 0, as in heaviside(x, 1)"}  # on missing arguments
_NEEDS_CONDITIONS = " needs conditions such as (x > 0): put each in parentheses"

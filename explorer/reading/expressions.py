"""Expressions of the pasted code, read into formula trees; nothing is ever executed."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from explorer.formula.tree import Node
from explorer.reading import building, calls
from explorer.reading.errors import ReadingError, UndecidedError, UnreadableError
from explorer.reading.lookups import BUILTINS, INFINITY, MODULES, NEEDED, READABLE_ROOTS, Lookups
from explorer.reading.values import (
    Broken,
    Cell,
    Context,
    Group,
    Layer,
    Library,
    Opaque,
    Routine,
    Scope,
    Value,
    described,
    like,
    tree,
)
from explorer.reading.vocabulary import REASONS, TEMPLATES, UNKNOWN

MAX_STEPS = 15_000  # expressions looked at in all; a helper that calls helpers can double at each level
MAX_VALUES = 64  # of a tuple: (*a, *a) doubles it

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.FloorDiv: "//", ast.Mod: "%",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_INFINITIES = {
    "inf": INFINITY,
    "infinity": INFINITY,
    "-inf": -INFINITY,
    "-infinity": -INFINITY,
}


@dataclass
class Effort:
    """What has been spent on a text so far."""

    steps: int = 0


class Expressions(Lookups):
    """Reads expressions; ``statements.Reader`` adds what runs a function's body.

    ``decisions`` says how the branches that depend on a parameter are taken; ``tracked``, whether
    autograd would follow the code, as it does outside a Function.
    """

    def __init__(
        self, lines: list[str], decisions: Mapping[Node, bool], effort: Effort, tracked: bool
    ) -> None:
        self.lines = lines
        self.decisions = decisions
        self.effort = effort
        self.tracked = tracked

    def invoke(self, routine: Routine, positional: tuple[Value, ...], keywords: dict[str, Value]) -> Value:
        """The value a function of the text returns."""
        raise NotImplementedError

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression; ReadingError with line and code for one that cannot be read."""
        self.effort.steps += 1
        if self.effort.steps > MAX_STEPS:
            raise ReadingError(f"line {node.lineno}: the code takes too many steps to follow", node.lineno)
        try:
            return self._value(node, scope)
        except UnreadableError as reason:
            raise self.error(node, str(reason)) from None

    def lenient(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression, or what was wrong with it, in case nobody needs it."""
        try:
            return self.value(node, scope)
        except ReadingError as error:
            return Broken(error)

    def error(self, node: ast.expr | ast.stmt, reason: str) -> ReadingError:
        """An error that names a piece of the code, with its line."""
        several = node.end_lineno != node.lineno
        line = self.lines[node.lineno - 1].encode()  # the tree counts bytes
        code = line[node.col_offset : None if several else node.end_col_offset].decode(errors="replace")
        shown = f"{code[:57]}…" if several or len(code) > 60 else code
        return ReadingError(f"line {node.lineno}: {shown} {reason}", node.lineno)

    def truth(self, node: ast.expr, scope: Scope) -> bool:
        """Whether a test holds; UndecidedError where a parameter decides."""
        try:
            return self._truth(self.value(node, scope), node)
        except UnreadableError as reason:
            raise self.error(node, str(reason)) from None

    def _truth(self, value: Value, node: ast.expr) -> bool:
        if isinstance(value, Cell):
            raise UnreadableError("asks one yes or no of a whole tensor: use torch.where")
        if isinstance(value, Node):
            return self._decided(building.true(value), node)
        if value is None or isinstance(value, bool | str | tuple | float):
            return bool(value)
        return bool(tree(value))

    def _decided(self, test: Node, node: ast.expr) -> bool:
        known = building.known(test)
        if known is not None:
            return bool(known)
        if test not in self.decisions:
            raise UndecidedError(test, node.lineno)
        return self.decisions[test]

    def _value(self, node: ast.expr, scope: Scope) -> Value:
        match node:
            case ast.Constant(value):
                return self._constant(value)
            case ast.Name(name):
                return self._name(name, scope)
            case ast.Attribute(owner, name):
                return self._attribute(self.value(owner, scope), name)
            case ast.Call():
                return self._call(node, scope)
            case ast.BinOp(left, sign, right):
                return self._binary(type(sign), self.value(left, scope), self.value(right, scope))
            case ast.UnaryOp():
                return self._unary(node, scope)
            case ast.Compare():
                return self._comparison(node, scope)
            case ast.BoolOp():
                return self._boolean(node, scope)
            case ast.IfExp(test, then, otherwise):
                return self.value(then if self.truth(test, scope) else otherwise, scope)
            case ast.Subscript(owner, key):
                return self._element(self.value(owner, scope), self._key(key, scope))
            case ast.Tuple(parts) | ast.List(parts):
                return self._tuple(parts, scope)
            case ast.Lambda():
                return Routine(node, scope)
            case ast.JoinedStr():
                return Opaque("text")
            case _:
                raise UnreadableError("is Python that cannot be read here")

    def _binary(self, sign: type[ast.AST], left: Value, right: Value) -> Value:
        if sign is ast.MatMult:
            raise UnreadableError(REASONS["matmul"])
        return calls.operation(_OPERATORS[sign], left, right)

    def _unary(self, node: ast.UnaryOp, scope: Scope) -> Value:
        if isinstance(node.op, ast.Not):
            return not self.truth(node.operand, scope)
        value = self.value(node.operand, scope)
        if isinstance(node.op, ast.USub):
            return -value if isinstance(value, float) else like(building.negative(tree(value)), value)
        return calls.invert(value) if isinstance(node.op, ast.Invert) else value

    def _comparison(self, node: ast.Compare, scope: Scope) -> Value:
        values = [self.value(part, scope) for part in (node.left, *node.comparators)]
        links = [
            self._link(type(sign), left, right)
            for sign, left, right in zip(node.ops, values, values[1:], strict=False)
        ]
        result = links[0]
        for link in links[1:]:
            result = calls.operation("&", result, link)
        return result

    def _link(self, sign: type[ast.AST], left: Value, right: Value) -> Value:
        if sign in (ast.Is, ast.IsNot):
            return (left is right) == (sign is ast.Is)
        if sign in (ast.In, ast.NotIn):
            if not isinstance(right, tuple):
                raise UnreadableError("looks for a member in something that is no list")
            return any(_same(left, member) for member in right) == (sign is ast.In)
        if sign in (ast.Eq, ast.NotEq) and any(_plain(side) for side in (left, right)):
            return _same(left, right) == (sign is ast.Eq)
        result = calls.operation(_OPERATORS[sign], left, right)
        known = None if isinstance(result, Cell) else building.known(tree(result))
        return result if known is None else bool(known)

    def _boolean(self, node: ast.BoolOp, scope: Scope) -> Value:
        wanted = isinstance(node.op, ast.Or)
        return wanted if any(self.truth(part, scope) == wanted for part in node.values) else not wanted

    def _tuple(self, parts: Iterable[ast.expr], scope: Scope) -> tuple[Value, ...]:
        values: list[Value] = []
        for part in parts:
            if isinstance(part, ast.Starred):
                values.extend(self._several(self.value(part.value, scope)))
            else:
                values.append(self.lenient(part, scope))
            if len(values) > MAX_VALUES:
                raise UnreadableError(f"holds more than {MAX_VALUES} values")
        return tuple(values)

    def _several(self, value: Value) -> tuple[Value, ...]:
        if isinstance(value, tuple):
            return value
        raise UnreadableError("is taken apart, but it is not several values")

    def _key(self, node: ast.expr, scope: Scope) -> Value:
        """What stands in brackets; None for all elements, as in ``x[:]`` and ``x[...]``."""
        match node:
            case ast.Constant(value) if value is Ellipsis:
                return None
            case ast.Slice(None, None, None):
                return None
            case ast.Slice():
                raise UnreadableError("takes a piece of a tensor: only elementwise functions can be drawn")
            case _:
                return self.value(node, scope)

    def _element(self, owner: Value, key: Value) -> Value:
        if isinstance(owner, Opaque):
            return owner
        if isinstance(owner, tuple):
            return self._picked(owner, key)
        if not isinstance(owner, Cell | Node):
            raise UnreadableError("takes an element of something that has none")
        if key is None or isinstance(owner, Node):
            return owner
        return Cell(owner.node, calls.mask_of(owner, key))

    def _picked(self, owner: tuple[Value, ...], key: Value) -> Value:
        place = building.known(tree(key))
        if place is None or not -len(owner) <= place < len(owner):
            raise UnreadableError(f"asks for a place that does not exist among {len(owner)} values")
        value = owner[int(place)]
        if isinstance(value, Broken):
            raise value.error
        return value

    def _call(self, node: ast.Call, scope: Scope) -> Value:
        positional = self._tuple(node.args, scope)
        keywords = {word.arg: self.lenient(word.value, scope) for word in node.keywords if word.arg}
        if len(keywords) < len(node.keywords):
            raise UnreadableError("passes ** on, which cannot be followed")
        if isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value, scope)
            if not isinstance(owner, Library | Group | Context):
                return self._method(owner, node.func.attr, positional, keywords)
            if isinstance(owner, Group) and node.func.attr == "apply":
                raise UnreadableError("applies a Function inside another: paste that one by itself")
            if isinstance(owner, Context) and node.func.attr == "save_for_backward":
                owner.saved = positional
                return None
        if isinstance(node.func, ast.Name) and not self._defined(node.func.id, scope):
            return self._builtin(node.func.id, positional, keywords)
        return self._invoked(self.value(node.func, scope), positional, keywords)

    def _defined(self, name: str, scope: Scope) -> bool:
        try:
            scope.find(name)
        except KeyError:
            return name in MODULES
        return True

    def _invoked(self, function: Value, positional: tuple[Value, ...], keywords: dict[str, Value]) -> Value:
        match function:
            case Routine(bound=bound):
                return self.invoke(function, (*bound, *positional), keywords)
            case Library():
                return self._of_library(function, positional, keywords)
            case Layer(name, first, further):
                return calls.apply(name, (*positional, *first), {**further, **keywords})
            case _:
                raise UnreadableError(f"calls {described(function)}, which is no function that can be read")

    def _of_library(
        self, function: Library, positional: tuple[Value, ...], keywords: dict[str, Value]
    ) -> Value:
        if function.root not in READABLE_ROOTS:
            raise UnreadableError(
                f"comes from {function.root}, which cannot be read here: paste its source too"
            )
        layer = _layer_function(function.name)
        if ".nn." in function.path and layer is not None:
            return Layer(layer, positional, keywords)
        if function.name == "detach":
            return self._detached(positional[0])
        return calls.apply(_tensor_maker(function.name), positional, keywords)

    def _method(
        self, owner: Value, name: str, positional: tuple[Value, ...], keywords: dict[str, Value]
    ) -> Value:
        if isinstance(owner, Opaque):
            return owner
        if name in ("detach", "detach_"):
            return self._detached(owner)
        tree(owner)
        return calls.apply(name, (owner, *positional), keywords)

    def _builtin(self, name: str, positional: tuple[Value, ...], keywords: dict[str, Value]) -> Value:
        if name in ("float", "bool") and positional and isinstance(positional[0], str):
            return _INFINITIES.get(positional[0].strip(" +").lower(), Opaque("text"))
        if name in BUILTINS:
            return calls.apply({"max": "maximum", "min": "minimum"}.get(name, name), positional, keywords)
        if name in ("any", "all") and positional == (NEEDED,):
            return True
        if name == "isinstance" and positional:
            return self._is_tensor(positional[0])
        if name == "type":
            return Opaque("the kind of number")
        if name == "len" and positional and isinstance(positional[0], tuple):
            return building.literal(len(positional[0]))
        raise UnreadableError(REASONS.get(name, UNKNOWN))

    def _is_tensor(self, value: Value) -> bool:
        if isinstance(value, Node):
            raise UnreadableError("asks for the type of a parameter, which may be any")
        return isinstance(value, Cell)


def _plain(value: Value) -> bool:
    return value is None or isinstance(value, str | tuple | Opaque | Library)


def _same(left: Value, right: Value) -> bool:
    tensor = isinstance(left, Cell | Node) or isinstance(right, Cell | Node)
    if tensor and left is not None and right is not None:
        raise UnreadableError("compares a tensor or parameter with something that is no number")
    return left == right


def _layer_function(name: str) -> str | None:
    """The function of a layer: leaky_relu for ``nn.LeakyReLU``; None for what is no such layer."""
    if not name[:1].isupper():
        return None
    return next((word for word in TEMPLATES if word.replace("_", "") == name.lower()), None)


def _tensor_maker(name: str) -> str:
    return "tensor" if name.endswith("Tensor") else name

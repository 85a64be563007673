"""Calls in the pasted code: the callable that a name means, and its arguments bound as Python binds them."""

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial, reduce

from explorer.formula import FUNCTIONS
from explorer.formula.constants import IEEE_HELPERS, THROUGH_HELPER
from explorer.formula.operands import has_elements
from explorer.reading import drawing, functions, values, vocabulary
from explorer.reading.arithmetic import operation, through
from explorer.reading.errors import RaisesError, UnreadableError, require
from explorer.reading.functions import of_dtype, refusal
from explorer.reading.sums import NUMPY
from explorer.reading.tracking import assigned
from explorer.reading.values import Function, Library, Quantity, Tensor, Value
from explorer.reading.vocabulary import UNKNOWN

OF_NUMBERS = "takes a single number, not a tensor: use the function of torch"
OF_TENSORS = "takes a tensor, not a number: use the function of math"
READABLE_ROOTS = ("torch", "math", "numpy", "copy")
UNKNOWN_KEYWORD = (
    "has the keyword {}, with which it cannot be read here: leave it out, or write out what it does"
)
_KEYWORD = re.compile(r"unexpected keyword argument '(\w+)'")


@contextmanager
def sensible(what: str) -> Iterator[None]:
    """Turn Python's own TypeError and ValueError in this block into UnreadableError."""
    try:
        yield
    except (TypeError, ValueError) as reason:
        words = str(reason)
        if word := _KEYWORD.search(words):
            raise UnreadableError(UNKNOWN_KEYWORD.format(word[1])) from None
        raise UnreadableError(f"{what}: {words}") from None


def called(function: Value, positional: tuple[Value, ...], keywords: Mapping[str, Value]) -> Value:
    """The result of a call, its arguments bound as Python binds them.

    ``out=`` and ``inplace=True`` change a tensor; keywords without a meaning for values are ignored.
    """
    if isinstance(function, Library):
        _require_suited(function, next(iter(positional), None))
    if isinstance(function, Library | partial):  # none of the text's: what is a list is read as a tuple
        positional = tuple(map(values.fixed, positional))
        keywords = {name: values.fixed(value) for name, value in keywords.items()}
    function = row_of(function) if isinstance(function, Library) else function
    if type(function) is Quantity and drawing.CALLED.get() is not None:
        return drawing.loss_at(function.node, positional, keywords)
    require(not isinstance(function, Quantity), UNKNOWN)
    what = values.WORDS.get(type(function), "an object")
    require(callable(function), f"calls {what}, which is not a function that can be read")
    return _result(function, positional, keywords)


def _result(function: Function, positional: tuple[Value, ...], keywords: Mapping[str, Value]) -> Value:
    """The result of a Python callable, where code and callable may name and count arguments differently."""
    with sensible("has arguments that cannot be read"):
        signature = inspect.signature(function)
        takes = signature.parameters
        kinds = {parameter.kind for parameter in takes.values()}
        fixed = "inplace" not in takes and inspect.Parameter.VAR_POSITIONAL not in kinds
        if fixed and len(positional) == len(takes) + 1 and isinstance(positional[-1], bool):
            positional, keywords = positional[:-1], {**keywords, "inplace": positional[-1]}  # nn.ReLU(True)
        first = "input" if "input" in takes else next(iter(takes), "")
        takes_any = inspect.Parameter.VAR_KEYWORD in kinds
        ignored = () if takes_any else vocabulary.IGNORED_KEYWORDS.difference(takes)
        passed = {name: value for name, value in keywords.items() if name not in ignored}
        named = {first if name == "input" else name: value for name, value in passed.items()}
        target = None if "out" in takes else named.pop("out", None)
        if "inplace" not in takes and keywords.get("inplace") is True and positional:
            target = positional[0]
        bound = signature.bind(*positional, **named)
    bound.apply_defaults()
    result = function(*bound.args, **bound.kwargs)
    if "dtype" in set(keywords).difference(takes):
        result = of_dtype(result, keywords["dtype"])
    return result if target is None else assigned(target, result)


def row_of(library: Library) -> Function:
    """The callable that a name of a library stands for; UnreadableError where it has no meaning here."""
    root, name = library.path.split(".")[0], library.name
    if library.path == "copy.copy":  # of a tensor it shares the memory
        return lambda a: values.List(a) if isinstance(a, list) else a
    if root == "numpy":
        NUMPY.set(True)
    if root == "builtins":
        return functions.BUILTINS.get(name) or refusal(UNKNOWN)
    require(root in READABLE_ROOTS, f"comes from {root}, which cannot be read here: paste its source too")
    layer = _LAYERS.get(name.lower())
    if layer and name[:1].isupper() and ".nn." in library.path:  # called, then called
        return lambda *more, **named: lambda a: called(layer, (a, *more), named)
    return of_name("tensor" if name.endswith("Tensor") else name)


def of_name(name: str) -> Function:
    """The row of a function or method; with an underscore at its end it changes its first argument."""
    if name in drawing.FILLS:
        return drawing.FILLS[name]
    if name.endswith("_"):
        row = of_name(name[:-1])
        return lambda a, *more, **named: assigned(a, called(row, (a, *more), named))
    return functions.TABLE.get(name) or refusal(UNKNOWN)


def _require_suited(function: Library, first: Value) -> None:
    """Raise RaisesError where a function of tensors is given a number, or one of numbers a tensor."""
    root, row = function.path.split(".")[0], FUNCTIONS.get(function.name)
    whole = isinstance(first, Tensor) and has_elements(first.node)
    require(not (root == "math" and whole), OF_NUMBERS, RaisesError)
    alone = root == "torch" and row is not None and row.arity == 1
    require(not (alone and values.is_number(first)), OF_TENSORS, RaisesError)


def _in_turn(self: Value, *layers: Value) -> Value:
    """The result of layers called one after another."""
    return reduce(lambda a, layer: called(layer, (a,), {}), layers, self)


_LAYERS = functions.LAYERS | {"sequential": _in_turn}
# What exported code defines, by the text of the definition.
HELPERS: dict[str, Function] = {
    ast.unparse(ast.parse(THROUGH_HELPER)): through,
    ast.unparse(ast.parse(IEEE_HELPERS["_ieee"])): lambda function, *numbers: called(function, numbers, {}),
    ast.unparse(ast.parse(IEEE_HELPERS["_divided"])): partial(operation, "/"),
}

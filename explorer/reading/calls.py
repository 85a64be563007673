"""The callable for each name in pasted code, and the binding of its arguments by Python's rules."""

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial, reduce

from explorer.formula import FUNCTIONS
from explorer.formula.constants import IEEE_HELPERS, THROUGH_HELPER
from explorer.formula.operands import has_elements
from explorer.reading import functions, randomness, values, vocabulary
from explorer.reading.arithmetic import apply_binary, interpolate_points
from explorer.reading.errors import RaisesError, UnreadableError, require
from explorer.reading.functions import convert_dtype, make_refusal
from explorer.reading.sums import NUMPY
from explorer.reading.tracking import assign
from explorer.reading.values import Function, Library, Quantity, Tensor, Value
from explorer.reading.vocabulary import UNKNOWN

OF_NUMBERS = "takes a single number, not a tensor: use the function of torch"
OF_TENSORS = "takes a tensor, not a number: use the function of math"
READABLE_ROOTS = ("torch", "math", "numpy", "copy")
UNKNOWN_KEYWORD = "has the keyword {}, which is not supported here: leave it out, or write out its effect"
_KEYWORD = re.compile(r"unexpected keyword argument '(\w+)'")


@contextmanager
def convert_errors(context: str) -> Iterator[None]:
    """Raise UnreadableError, beginning with ``context``, for a TypeError or ValueError inside the block."""
    try:
        yield
    except (TypeError, ValueError) as reason:
        words = str(reason)
        if word := _KEYWORD.search(words):
            raise UnreadableError(UNKNOWN_KEYWORD.format(word[1])) from None
        raise UnreadableError(f"{context}: {words}") from None


def call_function(function: Value, positional: tuple[Value, ...], keywords: Mapping[str, Value]) -> Value:
    """Call a function of the pasted code on traced values, with arguments bound by Python's rules.

    ``out=`` and ``inplace=True`` change a tensor. Keywords that do not affect values are ignored.
    """
    if isinstance(function, Library):
        first, row = next(iter(positional), None), FUNCTIONS.get(function.name)
        root = function.path.split(".")[0]
        is_tensor = isinstance(first, Tensor) and has_elements(first.node)
        require(not (root == "math" and is_tensor), OF_NUMBERS, RaisesError)
        is_unary = root == "torch" and row is not None and row.arity == 1
        require(not (is_unary and values.is_number(first)), OF_TENSORS, RaisesError)
    if isinstance(function, Library | partial):  # library functions receive tuples instead of lists
        positional = tuple(map(values.freeze_lists, positional))
        keywords = {name: values.freeze_lists(value) for name, value in keywords.items()}
    function = find_library_function(function) if isinstance(function, Library) else function
    if type(function) is Quantity and randomness.LOSS_INPUTS.get() is not None:
        return randomness.evaluate_loss(function.node, positional, keywords)
    require(not isinstance(function, Quantity), UNKNOWN)
    kind = values.WORDS.get(type(function), "an object")
    require(callable(function), f"calls {kind}, which is not a function that can be read")
    return _call_bound(function, positional, keywords)


def _call_bound(function: Function, positional: tuple[Value, ...], keywords: Mapping[str, Value]) -> Value:
    """Call a Python function of traced values with arguments in any way that torch accepts.

    ``input=`` is the first argument, ``inplace`` and ``out=`` change a tensor, and ``dtype=`` converts the
    result.
    """
    with convert_errors("has arguments that cannot be read"):
        signature = inspect.signature(function)
        parameters = signature.parameters
        kinds = {parameter.kind for parameter in parameters.values()}
        is_plain = "inplace" not in parameters and inspect.Parameter.VAR_POSITIONAL not in kinds
        if is_plain and len(positional) == len(parameters) + 1 and isinstance(positional[-1], bool):
            positional, keywords = positional[:-1], {**keywords, "inplace": positional[-1]}  # nn.ReLU(True)
        first = "input" if "input" in parameters else next(iter(parameters), "")
        takes_any = inspect.Parameter.VAR_KEYWORD in kinds
        ignored = () if takes_any else vocabulary.IGNORED_KEYWORDS.difference(parameters)
        used = {name: value for name, value in keywords.items() if name not in ignored}
        named = {first if name == "input" else name: value for name, value in used.items()}
        target = None if "out" in parameters else named.pop("out", None)
        if "inplace" not in parameters and keywords.get("inplace") is True and positional:
            target = positional[0]
        bound = signature.bind(*positional, **named)
    bound.apply_defaults()
    result = function(*bound.args, **bound.kwargs)
    if "dtype" in set(keywords).difference(parameters):
        result = convert_dtype(result, keywords["dtype"])
    return result if target is None else assign(target, result)


def find_library_function(library: Library) -> Function:
    """Return a callable on formula trees for a function of torch, NumPy, math or Python.

    Raises UnreadableError if the function is not supported.
    """
    root, name = library.path.split(".")[0], library.name
    if library.path == "copy.copy":  # a shallow copy shares the tensor's memory
        return lambda a: values.List(a) if isinstance(a, list) else a
    if root == "numpy":
        NUMPY.set(True)
    if root == "builtins":
        return functions.BUILTINS.get(name) or make_refusal(UNKNOWN)
    require(root in READABLE_ROOTS, f"comes from {root}, which cannot be read here: paste its source too")
    layer = _LAYERS.get(name.lower())
    if layer and name[:1].isupper() and ".nn." in library.path:  # called next, as in torch.nn.ReLU()(x)
        return lambda *more, **named: lambda a: call_function(layer, (a, *more), named)
    return find_row("tensor" if name.endswith("Tensor") else name)


def find_row(name: str) -> Function:
    """Return a callable on formula trees for the torch function or tensor method with this name.

    If the name ends with an underscore, the callable changes its first argument in place.
    """
    if name in randomness.FILLS:
        return randomness.FILLS[name]
    if name.endswith("_"):
        row = find_row(name[:-1])
        return lambda a, *more, **named: assign(a, call_function(row, (a, *more), named))
    return functions.TABLE.get(name) or make_refusal(UNKNOWN)


_LAYERS = functions.LAYERS | {
    "sequential": lambda self, *layers: reduce(lambda a, layer: call_function(layer, (a,), {}), layers, self)
}
# Helpers in exported code, by the text of their definition.
HELPERS: dict[str, Function] = {
    ast.unparse(ast.parse(THROUGH_HELPER)): interpolate_points,
    ast.unparse(ast.parse(IEEE_HELPERS["_ieee"])): lambda function, *numbers: call_function(
        function, numbers, {}
    ),
    ast.unparse(ast.parse(IEEE_HELPERS["_divided"])): partial(apply_binary, "/"),
}

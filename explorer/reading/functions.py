"""Torch names, tensor methods, layers and Python's own functions: tables of callables.

Each takes and returns values as the code that is read would, so that Python's own rules for
arguments hold. Nothing here computes on tensors: the results are formula trees.
"""

import math
import re
from dataclasses import replace
from functools import partial, reduce
from itertools import islice
from typing import Any

from explorer.formula import FUNCTIONS, Function
from explorer.formula.aliases import CALLS, CallAlias
from explorer.formula.operands import has_elements
from explorer.formula.tree import VARIABLES, Call, Name, Node, children, find_names, is_condition
from explorer.reading import drawing, values, vocabulary
from explorer.reading.arithmetic import like, made, operation
from explorer.reading.building import ONE, ZERO, built, detach, filled, known, mask
from explorer.reading.errors import RaisesError, UnreadableError, require
from explorer.reading.sums import NUMPY, REMARKS, arranged, expanded, larger, statistic, summed_to, total
from explorer.reading.tracking import AUTOGRAD, assigned, detached
from explorer.reading.values import SHAPE, Library, Quantity, Tensor, Value, quantity, several
from explorer.reading.vocabulary import ELEMENTWISE, KINDS, OPERATORS, REASONS, words

OF_ONE_DTYPE = "takes two tensors of one dtype, as torch.heaviside(a, torch.zeros_like(a)) does"
WRAPS = "wraps around, for {} holds nothing beyond {}: clamp to a range within first"
MASKED_BY = "fills with a tensor, and torch takes a single number: use torch.where"


def refusal(reason: str) -> values.Function:
    """A function that cannot be read when it is called."""
    return lambda *_positional, **_keywords: require(False, reason)


def of_dtype(value: Value, dtype: Value) -> Value:
    """A tensor or number as one of a kind of number; any other value as it is."""
    return TABLE["to"](value, dtype) if isinstance(value, Quantity) else value


def _maths(text: str, *arguments: Value, kind: str = "float32") -> Value:
    """The value of a formula in a, b, c and d for as many arguments."""
    operands = [quantity(value) for value in arguments]
    return like(filled(text, [operand.node for operand in operands]), *operands, kind=kind)


def _formula(call: CallAlias) -> values.Function:
    def row(*arguments: Value, **named: Value) -> Value:
        return _maths(call.text, *(call.bind_operands(*arguments, **named) or ()))

    row.__signature__ = call.signature  # type: ignore[attr-defined]  # what inspect.signature looks for
    return row


def _is_whole(name: str, call: CallAlias) -> bool:
    """Whether a call is all that its name stands for: ``log`` of one number is a function of its own."""
    return name not in FUNCTIONS or FUNCTIONS[name].arity > 1 or call.bind_operands(ZERO) is not None


def _of_one(row: Function) -> values.Function:
    return lambda self: made(row.name, self)


def _scaled(sign: str, self: Value, other: Value, alpha: Value = 1) -> Value:
    return operation(sign, self, other if alpha == 1 else operation("*", alpha, other))


def _logical(sign: str, *arguments: Value) -> Value:
    return made(sign, *(_Torch.to(value, "bool") for value in arguments))


def _product(self: Value, *_along: Value, **_named: Value) -> Value:
    """The product of the sizes of a tensor is the number of its elements."""
    require(isinstance(self, tuple) and len(self) == 1, REASONS["prod"])
    return counted(self[0])


def counted(size: Value) -> Value:
    """The number of elements of a value with this size."""
    of = size.of if isinstance(size, values.Opaque) else None
    return size if of is None else _Torch.numel(Tensor(of) if has_elements(of) else Quantity(of))


def _largest(name: str, *arguments: Value) -> Value:
    """Python's own max."""
    arguments = (
        several(arguments[0]) if len(arguments) == 1 and isinstance(arguments[0], tuple) else arguments
    )
    return reduce(partial(made, name), arguments) if len(arguments) > 1 else larger(name, *arguments)


def _listed(function: values.Function, *arguments: Value, **named: Value) -> Value:
    """The items of one of Python's own iterables, as a tuple."""
    try:
        return several(tuple(islice(function(*arguments, **named), values.MAX_VALUES + 1)))
    except (TypeError, ValueError):
        raise UnreadableError("is a loop over what has no known length: a formula has none") from None


def _settled(function: values.Function, arguments: Value) -> Value:
    """The result of ``all`` or ``any`` where each item is known."""
    require(isinstance(arguments, tuple) and {bool}.issuperset(map(type, arguments)), REASONS["sum"])
    return function(arguments)


def _expanded_as(self: Value, other: Value) -> Value:
    """A tensor in the shape of another."""
    return expanded(self, _size(other)) if values.sum_of(self) else _Torch.view(self, SHAPE)


def _size(tensor: Value) -> values.Opaque:
    """The dimension that a size was read from."""
    if not isinstance(tensor, Quantity):
        return SHAPE
    whole = not tensor.within and not values.sum_of(tensor)
    known = whole and (has_elements(tensor.node) or _is_input(tensor))
    return replace(SHAPE, of=tensor.node) if known else SHAPE


def _is_input(held: Quantity) -> bool:
    return type(held) is Quantity and isinstance(held.node, Name)


def _filled(fill_value: Value) -> Value:
    """Memory of some size, full of a number."""
    require(not values.sum_of(fill_value), REASONS["sum"])
    return Tensor(quantity(fill_value).node, sized=True)


# Kinds of number that are none of the known ones: float8_e4m3fn, complex64, uint16, qint8, bits8.
_NUMBERS = re.compile(r"(q?u?int|float|bfloat|complex|bits|fp)\d\w*")


_LARGEST_INTEGERS = {"int8": 127, "int16": 32767}


def _is_clamped(node: Node, largest: int) -> bool:
    """Return whether a value is clamped to numbers within ±``largest``, rounded before or after."""
    while isinstance(node, Call) and node.function in ("round", "floor", "ceil", "trunc"):
        (node,) = children(node)
    if not (isinstance(node, Call) and node.function == "clamp"):
        return False
    low, high = map(known, children(node)[1:])
    return low is not None and high is not None and -largest - 1 <= low and high <= largest


class _Torch:
    """Functions and methods of tensors."""

    def to(self: Value, dtype: Value = None, *_more: Value, device: Value = None) -> Value:
        """A value as bool, byte, int or float; as it is where no such kind is named."""
        held = quantity(self)
        name = dtype.name if isinstance(dtype, Library) else getattr(dtype, "kind", dtype)
        last = str(name).rsplit(".", 1)[-1]
        if cast := vocabulary.FORMATS.get(last):
            return _maths(cast, self)
        kind = KINDS.get(last.removesuffix("Tensor").lower())
        is_mask = is_condition(held.node)
        short = isinstance(name, str) and not kind and _NUMBERS.fullmatch(name.rsplit(".", 1)[-1])
        require(
            not short and kind != "narrow" and (kind != "uint8" or is_mask), REASONS["quantize_per_tensor"]
        )
        if largest := _LARGEST_INTEGERS.get(kind or ""):
            require(is_mask or _is_clamped(held.node, largest), WRAPS.format(kind, largest))
            kind = "int64"
        if kind in (None, held.kind):
            return _Torch.clone(self) if dtype in ("double", "float64") else self
        whole = kind == "int64" and not is_mask
        node = mask(held.node) if kind == "bool" else built("trunc", held.node) if whole else held.node
        return like(node, held, kind=kind)

    def invert(self: Value) -> Value:
        """The other mask; of an integer, every bit turned."""
        kind = quantity(self).kind
        other = "turns the bits of a byte, or of what may be no whole number: compare it first"
        require(kind in ("bool", "int64"), other)
        return made("~", self) if kind == "bool" else _maths("-a - 1", self, kind=kind)

    def clone(self: Value, source: Value = None) -> Value:
        a = self if source is None else source
        return replace(a, frozen=False, upstream=False) if isinstance(a, Tensor) else a

    def clamp(self: Value, min: Value = None, max: Value = None) -> Value:
        bounds = {"_min": min, "_max": max}
        finite = {name: bound for name, bound in bounds.items() if bound not in (None, math.inf, -math.inf)}
        name = "clamp" + "".join(finite) * (len(finite) == 1)
        return made(name, self, *finite.values()) if finite else self

    def fake_quantize_per_tensor_affine(
        self: Value, scale: Value, zero_point: Value, quant_min: Value, quant_max: Value
    ) -> Value:
        """Levels and back; under autograd g is passed where the level is one of them."""
        level = operation("+", _maths("round(a / b)", self, scale), zero_point)
        clamped = made("clamp", level, quant_min, quant_max)
        result = operation("*", operation("-", clamped, zero_point), scale)
        if not AUTOGRAD.get():
            return result
        inside = operation("&", made(">=", level, quant_min), made("<=", level, quant_max))
        return made("where", inside, _maths("a + detach(b - a)", self, result), _maths("detach(a)", result))

    def fake_quantize_per_channel_affine(
        self: Value, scale: Value, zero_point: Value, axis: Value, quant_min: Value, quant_max: Value
    ) -> Value:
        return _Torch.fake_quantize_per_tensor_affine(self, scale, zero_point, quant_min, quant_max)

    def item(self: Value) -> Value:
        held = quantity(self)
        require(not has_elements(held.node), f"takes a single number out of a tensor: {ELEMENTWISE}")
        return like(detach(held.node), held, kind=held.kind)

    def numel(self: Value) -> Value:
        """The number of elements, known for x, y, g and values computed from them."""
        if not isinstance(self, Tensor) or not has_elements(self.node) or self.summed:
            known = isinstance(self, Quantity) and _is_input(self)
            return replace(SHAPE, counts=find_names(self.node)[0]) if known else SHAPE
        require(not self.within, "counts the elements picked out by a mask, which a formula cannot")
        first = next((name for name in find_names(self.node) if name in VARIABLES), "x")
        return Quantity(Call("numel", (Name(first),)), "int64", number=True)

    def nan_to_num(self: Value, nan: Value = 0, posinf: Value = None, neginf: Value = None) -> Value:
        result = made("nan_to_num", self)
        for infinity, value in ((_INFINITY, posinf), (_MINUS_INFINITY, neginf)):
            result = result if value is None else made("where", made("==", self, infinity), value, result)
        return (
            result if nan is True or nan in (0, None) else made("where", made("!=", self, self), nan, result)
        )

    def gelu(self: Value, approximate: Value = "none") -> Value:
        require(approximate in ("none", "tanh"), "is approximated in a way that cannot be read")
        return made("gelu_tanh" if approximate == "tanh" else "gelu", self)

    def div(self: Value, other: Value, rounding_mode: Value = None) -> Value:
        require(rounding_mode in (None, "floor", "trunc"), "rounds in a way that cannot be read")
        ratio = operation("//" if rounding_mode == "floor" else "/", self, other)
        return made("trunc", ratio) if rounding_mode == "trunc" else ratio

    def new(self: Value, *data: Value) -> Value:
        """The same memory under another name for a tensor; for sizes, memory that is still to be written."""
        first = next(iter(data), None)
        if isinstance(first, tuple) and first != (SHAPE,):
            return _Torch.tensor(first)
        return first if isinstance(first, Tensor) else Tensor(ZERO, sized=True)

    def tensor(self: Value) -> Value:
        if isinstance(self, tuple):
            several_of = tuple(map(_Torch.tensor, self))
            return several_of if len(self) != 1 else values.shaped(several_of[0])
        held = quantity(self)
        same = {name: getattr(held, name, default) for name, default in _ALIKE.items()}
        return Tensor(detach(held.node), held.kind, held.within, **same)

    def view(self: Value, *shape: Value) -> Value:
        """The same tensor, where it keeps one dimension or is given the shape of another."""
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        if values.sum_of(self):
            return values.shaped(self)
        if not isinstance(self, Tensor) or not has_elements(self.node):
            return self
        if sizes in ((), (-1,), (SHAPE,)):
            return replace(self, folded=False) if self.folded else self
        self.frozen = True
        return replace(self, folded=True)


def _masked_fill(self: Value, mask: Value, value: Value) -> Value:
    whole = isinstance(value, Tensor) and has_elements(value.node)
    require(not whole, MASKED_BY, RaisesError)
    return made("where", mask, value, self)


def _heaviside(input: Value, values: Value) -> Value:
    _require_one_dtype(input, values)
    return made("heaviside", input, values)


def _require_one_dtype(*each: Value) -> None:
    """Raise RaisesError for a number beside a tensor, and for an integer or a mask beside a float."""
    kinds = {quantity(one).kind for one in each}
    require(
        NUMPY.get() or not (len(kinds) > 1 or any(map(values.is_number, each))), OF_ONE_DTYPE, RaisesError
    )


def _float(self: Value) -> Value:
    if not isinstance(self, str):
        return _Torch.to(self, "float")
    return float(self) if self.strip().lower() in ("inf", "+inf", "-inf") else values.Opaque("text")


def _isinstance(self: Value, kinds: Value) -> Value:
    """Whether a value is of a type, or of one of several; a parameter is taken for a number."""
    wanted = kinds if isinstance(kinds, tuple) else (kinds,)
    types = [kind if isinstance(kind, type) else _TYPES.get(getattr(kind, "name", "")) for kind in wanted]
    if type(self) is Quantity:
        return int in types or float in types
    return isinstance(self, tuple(kind for kind in types if kind))


_TYPES = {
    "Tensor": Tensor, "Variable": Tensor, "FloatTensor": Tensor, "tuple": tuple, "list": tuple, "Size": tuple,
    "bool": bool, "str": str, "dict": dict, "int": int, "float": float, "Number": float,
}  # fmt: skip
_ALIKE: dict[str, Any] = {"folded": False, "sized": False, "summed": None}  # what a copy of a tensor keeps
_FLOAT32 = type("finfo", (values.Pasted,), {"eps": 2.0**-23, "tiny": 2.0**-126})


def _finfo(dtype: Value = None) -> type:
    """The limits of float32, or the largest number of a format of eight bits."""
    largest = vocabulary.LARGEST.get(dtype.name) if isinstance(dtype, Library) else None
    if largest is None:
        return _FLOAT32
    return type("finfo", (values.Pasted,), {"max": largest, "min": -largest})


_INFINITY = Quantity(built("/", ONE, ZERO))
_MINUS_INFINITY = Quantity(built("-", _INFINITY.node))
LEARNED = "has a weight that learns: here it stays at its first value, {}"

_ROWS: dict[str, values.Function] = {
    **{name: _of_one(row) for name, row in FUNCTIONS.items() if row.arity == 1},
    **{name: _formula(call) for name, calls in CALLS.items() for call in calls if _is_whole(name, call)},
    **{name: partial(_scaled, sign) for sign, _, *names in OPERATORS for name in names},
    **{name: partial(_Torch.to, dtype=name) for name in KINDS},
    **{name: row for name, row in vars(_Torch).items() if not name.startswith("__")},
    "detach": detached,
    **{name: partial(statistic, name) for name in ("mean", "amax", "amin", "std")},
    "isnan": lambda self: made("!=", self, self),
    "isinf": lambda self: made("==", made("abs", self), _INFINITY),
    "isfinite": lambda self: made("<", made("abs", self), _INFINITY),
    "isposinf": lambda self: made("==", self, _INFINITY),
    "isneginf": lambda self: made("==", self, _MINUS_INFINITY),
    **dict.fromkeys(words("unsqueeze t transpose permute"), arranged),
    **dict.fromkeys(words("expand repeat broadcast_to tile"), expanded),
    "expand_as": _expanded_as,
    "sum": total,
    "sum_to_size": summed_to,
    "prod": _product,
    "view_as": lambda self, other: _Torch.view(self, SHAPE),
    "numpy": lambda self: NUMPY.set(True) and self,
    "stride": lambda self, *_dimension: SHAPE,
    "element_size": lambda self: SHAPE,
    "contiguous": lambda self, *_others, **_keywords: self,
    "zeros": lambda *_sizes, **_keywords: Tensor(ZERO, sized=True),
    "ones": lambda *_sizes, **_keywords: Tensor(ONE, sized=True),
    "dim": lambda self: 1,
    "size": lambda self, dim=None: (_size(self),) if dim is None else values.picked((SHAPE,), dim),
    "full": lambda self, fill_value: _filled(fill_value),
    "logical_and": partial(_logical, "&"),
    "logical_or": partial(_logical, "|"),
    "logical_xor": partial(_logical, "^"),
    "logical_not": partial(_logical, "~"),
    "neg": lambda self: -self if isinstance(self, int | float) else made("-", self),
    "new_full": lambda self, size, fill_value: TABLE["full"](size, fill_value),
    "new_tensor": lambda self, data: of_dtype(_Torch.tensor(data), PROPERTIES["dtype"](self)),
    "get_default_dtype": lambda: Library("torch.float32"),
    "type": lambda self, dtype=None: _Torch.to(self, dtype) if dtype else PROPERTIES["dtype"](self),
    "round": lambda self, decimals=0: _maths("round(a * 10**b) / 10**b", self, decimals),
    "pow": lambda self, exponent: operation("**", self, exponent),
    "rsub": lambda self, other: operation("-", other, self),
    "clamp_min": lambda self, min: _Torch.clamp(self, min),
    "clamp_max": lambda self, max: _Torch.clamp(self, None, max),
    "where": lambda condition, input, other: made("where", condition, input, other),
    "masked_fill": _masked_fill,
    "heaviside": _heaviside,
    "max": partial(larger, "max"),
    "min": partial(larger, "min"),
    "is_available": lambda: False,
    "is_tensor": lambda self: isinstance(self, Tensor),
    "is_floating_point": lambda self: quantity(self).kind == "float32",
    "device": lambda *_kind: values.Opaque("the device"),
    "finfo": _finfo,
    **drawing.ROWS,
}
TABLE: dict[str, values.Function] = {
    **{name: refusal(reason) for name, reason in REASONS.items()},
    **_ROWS,
    **{alias: _ROWS[name] for alias, name in vocabulary.ALIASES.items()},
}
CONSTANTS: dict[str, Value] = {
    "pi": Quantity(Name("pi")), "e": Quantity(Name("e")), "inf": math.inf, "Inf": math.inf, "newaxis": None,
}  # fmt: skip
METHODS: dict[str, values.Function] = {
    "where": lambda self, condition, other: made("where", condition, self, other),
    "detach_": lambda self: assigned(self, like(detach(self.node), self)) if AUTOGRAD.get() else self,
    "requires_grad_": lambda self, requires_grad=True: self,
}
PROPERTIES: dict[str, values.Function] = {
    "data": detached,
    "shape": lambda a: (_size(a),),
    "ndim": lambda _a: 1,
    "dtype": lambda a: Library(f"torch.{quantity(a).kind}"),
    **dict.fromkeys(("device", "layout"), lambda _a: values.Opaque("the device")),
    "is_cuda": lambda _a: False,
    "requires_grad": lambda _a: True,
}


def _prelu(self: Value, num_parameters: Value = 1, init: Value = 0.25) -> Value:
    """The layer of a slope that learns; of several slopes each begins with the same."""
    result = TABLE["prelu"](self, init)
    REMARKS.get().append((quantity(result).node, LEARNED.format(init)))
    return result


LAYERS: dict[str, values.Function] = {
    **{name.replace("_", ""): row for name, row in TABLE.items()},
    "prelu": _prelu,
    **drawing.LAYERS,
}
BUILTINS: dict[str, values.Function] = {
    **{name: TABLE[name] for name in ("abs", "pow", "round", "int", "bool")},
    "float": _float,
    "isinstance": _isinstance,
    **{row.__name__: partial(_listed, row) for row in (tuple, range, enumerate, zip, reversed)},
    "list": lambda items=(): values.List(_listed(list, items)),
    **{row.__name__: partial(_settled, row) for row in (all, any)},
    "max": partial(_largest, "max"),
    "min": partial(_largest, "min"),
    "sum": lambda numbers, start=0: reduce(partial(operation, "+"), several(numbers), start),
    "str": lambda _a: values.Opaque("text"),
    "type": lambda _a: values.Opaque("the kind of number"),
    "len": lambda self: len(self) if isinstance(self, tuple | list | dict | str) else SHAPE,
}

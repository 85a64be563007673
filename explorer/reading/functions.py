"""Tables of callables that represent torch functions, tensor methods, layers and Python builtins.

The callables take and return the same values as in the pasted code, so that Python's own rules for arguments
apply. They compute formula trees instead of tensors.
"""

import math
import re
from dataclasses import replace
from functools import partial, reduce
from itertools import islice
from typing import Any

from explorer.formula import FUNCTIONS
from explorer.formula.aliases import CALLS, CallAlias
from explorer.formula.operands import has_elements
from explorer.formula.tree import VARIABLES, Call, Name, Node, children, find_names, is_condition
from explorer.reading import randomness, sums, values, vocabulary
from explorer.reading.arithmetic import apply_binary, compute, make_result
from explorer.reading.building import ONE, ZERO, build, detach, evaluate_constant, fill_formula, to_mask
from explorer.reading.errors import RaisesError, UnreadableError, require
from explorer.reading.sums import NUMPY, compute_extreme
from explorer.reading.tracking import AUTOGRAD, assign, detach_tensor
from explorer.reading.values import SHAPE, Library, Quantity, Tensor, Value, to_quantity, unpack
from explorer.reading.vocabulary import ELEMENTWISE, KINDS, OPERATORS, REASONS, split_words

OF_ONE_DTYPE = "takes two tensors of one dtype, as torch.heaviside(a, torch.zeros_like(a)) does"
WRAPS = "wraps around, for {} holds nothing beyond {}: clamp to a range within first"
MASKED_BY = "fills with a tensor, and torch takes a single number: use torch.where"


def make_refusal(reason: str) -> values.Function:
    """Return a function that raises UnreadableError with the given reason when called."""
    return lambda *_positional, **_keywords: require(False, reason)


def convert_dtype(value: Value, dtype: Value) -> Value:
    """Return a tensor or number converted to a dtype, or any other value unchanged."""
    return TABLE["to"](value, dtype) if isinstance(value, Quantity) else value


def _apply_formula(text: str, *arguments: Value, kind: str = "float32") -> Value:
    operands = [to_quantity(value) for value in arguments]
    return make_result(fill_formula(text, [operand.node for operand in operands]), *operands, kind=kind)


def _make_row(call: CallAlias) -> values.Function:
    def row(*arguments: Value, **named: Value) -> Value:
        return _apply_formula(call.text, *(call.bind_operands(*arguments, **named) or ()))

    row.__signature__ = call.signature  # type: ignore[attr-defined]  # read by inspect.signature
    return row


def _is_complete(name: str, call: CallAlias) -> bool:
    """Return whether an alias of a function's name covers every use of the name.

    ``log`` with one argument, for example, is a function of the formula language itself.
    """
    return name not in FUNCTIONS or FUNCTIONS[name].arity > 1 or call.bind_operands(ZERO) is not None


def _apply_scaled(sign: str, self: Value, other: Value, alpha: Value = 1) -> Value:
    return apply_binary(sign, self, other if alpha == 1 else apply_binary("*", alpha, other))


def _apply_logical(sign: str, *arguments: Value) -> Value:
    return compute(sign, *(_Torch.to(value, "bool") for value in arguments))


def _count_product(self: Value, *_along: Value, **_named: Value) -> Value:
    """Return the product of the items of a tensor's size, which is the number of its elements."""
    require(isinstance(self, tuple) and len(self) == 1, REASONS["prod"])
    return count_elements(self[0])


def count_elements(size: Value) -> Value:
    """Return the number of elements of a value of size ``size``, or the size itself if it is unknown."""
    node = size.of if isinstance(size, values.Opaque) else None
    if node is None:
        return size
    return _Torch.numel(Tensor(node) if has_elements(node) else Quantity(node))


def _find_extreme(name: str, *arguments: Value) -> Value:
    if len(arguments) == 1 and isinstance(arguments[0], tuple):
        arguments = unpack(arguments[0])
    return reduce(partial(compute, name), arguments) if arguments[1:] else compute_extreme(name, *arguments)


def _list_items(function: values.Function, *arguments: Value, **named: Value) -> Value:
    try:
        return unpack(tuple(islice(function(*arguments, **named), values.MAX_VALUES + 1)))
    except (TypeError, ValueError):
        raise UnreadableError("is a loop of unknown length, which a formula cannot express") from None


def _reduce_known(function: values.Function, arguments: Value) -> Value:
    require(isinstance(arguments, tuple) and {bool}.issuperset(map(type, arguments)), REASONS["sum"])
    return function(arguments)


def _make_size(tensor: Value) -> values.Opaque:
    if not isinstance(tensor, Quantity):
        return SHAPE
    is_complete = not tensor.within and not values.get_sum(tensor)
    is_known = is_complete and (has_elements(tensor.node) or _is_input(tensor))
    return replace(SHAPE, of=tensor.node) if is_known else SHAPE


def _is_input(operand: Quantity) -> bool:
    return type(operand) is Quantity and isinstance(operand.node, Name)


def _make_filled(fill_value: Value) -> Value:
    require(not values.get_sum(fill_value), REASONS["sum"])
    return Tensor(to_quantity(fill_value).node, sized=True)


# Unsupported kinds of number by name: float8_e4m3fn, complex64, uint16, qint8, bits8.
_NUMBERS = re.compile(r"(q?u?int|float|bfloat|complex|bits|fp)\d\w*")


_LARGEST_INTEGERS = {"int8": 127, "int16": 32767}


def _is_clamped(node: Node, largest: int) -> bool:
    while isinstance(node, Call) and node.function in ("round", "floor", "ceil", "trunc"):
        (node,) = children(node)
    if not (isinstance(node, Call) and node.function == "clamp"):
        return False
    low, high = map(evaluate_constant, children(node)[1:])
    return low is not None and high is not None and -largest - 1 <= low and high <= largest


class _Torch:
    """Torch's tensor functions and methods, under torch's own names, which compute formula trees."""

    def to(self: Value, dtype: Value = None, *_more: Value, device: Value = None) -> Value:
        """Convert a value to a bool, byte, integer, float or float8; an unknown dtype leaves it unchanged.

        Raises UnreadableError for other number formats, and for a short integer unless the value is clamped.
        """
        operand = to_quantity(self)
        name = dtype.name if isinstance(dtype, Library) else getattr(dtype, "kind", dtype)
        last = str(name).rsplit(".", 1)[-1]
        if cast := vocabulary.FORMATS.get(last):
            return _apply_formula(cast, self)
        kind = KINDS.get(last.removesuffix("Tensor").lower())
        is_mask = is_condition(operand.node)
        short = isinstance(name, str) and not kind and _NUMBERS.fullmatch(name.rsplit(".", 1)[-1])
        require(
            not short and kind != "narrow" and (kind != "uint8" or is_mask), REASONS["quantize_per_tensor"]
        )
        if largest := _LARGEST_INTEGERS.get(kind or ""):
            require(is_mask or _is_clamped(operand.node, largest), WRAPS.format(kind, largest))
            kind = "int64"
        if kind in (None, operand.kind):
            return _Torch.clone(self) if dtype in ("double", "float64") else self
        truncates = kind == "int64" and not is_mask
        node = build("trunc", operand.node) if truncates else operand.node
        return make_result(to_mask(node) if kind == "bool" else node, operand, kind=kind)

    def invert(self: Value) -> Value:
        kind = to_quantity(self).kind
        refusal = "flips the bits of a byte, or of a value that may not be an integer: compare it first"
        require(kind in ("bool", "int64"), refusal)
        return compute("~", self) if kind == "bool" else _apply_formula("-a - 1", self, kind=kind)

    def clone(self: Value, source: Value = None) -> Value:
        a = self if source is None else source
        return replace(a, frozen=False, belongs_to="") if isinstance(a, Tensor) else a

    def clamp(self: Value, min: Value = None, max: Value = None) -> Value:
        bounds = {"_min": min, "_max": max}
        finite = {name: bound for name, bound in bounds.items() if bound not in (None, math.inf, -math.inf)}
        name = "clamp" + "".join(finite) * (len(finite) == 1)
        return compute(name, self, *finite.values()) if finite else self

    def fake_quantize_per_tensor_affine(
        self: Value, scale: Value, zero_point: Value, quant_min: Value, quant_max: Value
    ) -> Value:
        """Return a value rounded to quantization levels and converted back to its scale.

        Under autograd, the gradient passes where the level is within bounds.
        """
        level = apply_binary("+", _apply_formula("round(a / b)", self, scale), zero_point)
        clamped = compute("clamp", level, quant_min, quant_max)
        result = apply_binary("*", apply_binary("-", clamped, zero_point), scale)
        if not AUTOGRAD.get():
            return result
        inside = apply_binary("&", compute(">=", level, quant_min), compute("<=", level, quant_max))
        passed, stopped = (
            _apply_formula("a + detach(b - a)", self, result),
            _apply_formula("detach(a)", result),
        )
        return compute("where", inside, passed, stopped)

    def fake_quantize_per_channel_affine(
        self: Value, scale: Value, zero_point: Value, axis: Value, quant_min: Value, quant_max: Value
    ) -> Value:
        return _Torch.fake_quantize_per_tensor_affine(self, scale, zero_point, quant_min, quant_max)

    def item(self: Value) -> Value:
        operand = to_quantity(self)
        require(not has_elements(operand.node), f"takes a single number out of a tensor: {ELEMENTWISE}")
        return make_result(detach(operand.node), operand, kind=operand.kind)

    def numel(self: Value) -> Value:
        """Return the number of elements, which is known for x, y, g and values computed from them."""
        if not isinstance(self, Tensor) or not has_elements(self.node) or self.summed:
            is_input = isinstance(self, Quantity) and _is_input(self)
            return replace(SHAPE, counts=find_names(self.node)[0]) if is_input else SHAPE
        require(not self.within, "counts the elements picked out by a mask, which a formula cannot")
        first = next((name for name in find_names(self.node) if name in VARIABLES), "x")
        return Quantity(Call("numel", (Name(first),)), "int64", number=True)

    def nan_to_num(self: Value, nan: Value = 0, posinf: Value = None, neginf: Value = None) -> Value:
        result = compute("nan_to_num", self)
        for infinity, value in ((_INFINITY, posinf), (_MINUS_INFINITY, neginf)):
            if value is not None:
                result = compute("where", compute("==", self, infinity), value, result)
        if nan is True or nan in (0, None):
            return result
        return compute("where", compute("!=", self, self), nan, result)

    def gelu(self: Value, approximate: Value = "none") -> Value:
        require(
            approximate in ("none", "tanh"), 'has an approximation that cannot be read: use "none" or "tanh"'
        )
        return compute("gelu_tanh" if approximate == "tanh" else "gelu", self)

    def div(self: Value, other: Value, rounding_mode: Value = None) -> Value:
        require(
            rounding_mode in (None, "floor", "trunc"),
            'has a rounding mode that cannot be read: use None, "floor" or "trunc"',
        )
        ratio = apply_binary("//" if rounding_mode == "floor" else "/", self, other)
        return compute("trunc", ratio) if rounding_mode == "trunc" else ratio

    def new(self: Value, *data: Value) -> Value:
        """Return a new tensor from data or sizes, as the old ``tensor.new`` does.

        The result for a tensor shares its memory. For sizes, it is a tensor that is still to be written.
        """
        first = next(iter(data), None)
        if isinstance(first, tuple) and first != (SHAPE,):
            return _Torch.tensor(first)
        return first if isinstance(first, Tensor) else Tensor(ZERO, sized=True)

    def tensor(self: Value) -> Value:
        if isinstance(self, tuple):
            several_of = tuple(map(_Torch.tensor, self))
            return several_of if len(self) != 1 else values.reshape_sum(several_of[0])
        operand = to_quantity(self)
        copied = {name: getattr(operand, name, default) for name, default in _COPIED.items()}
        return Tensor(detach(operand.node), operand.kind, operand.within, **copied)

    def view(self: Value, *shape: Value) -> Value:
        """Return the tensor with a new shape.

        The result is marked as folded, unless it is flat or has the shape of another tensor.
        """
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        if values.get_sum(self):
            return values.reshape_sum(self)
        if not isinstance(self, Tensor) or not has_elements(self.node):
            return self
        if sizes in ((), (-1,), (SHAPE,)):
            return replace(self, folded=False) if self.folded else self
        self.frozen = True
        return replace(self, folded=True)


def _fill_masked(self: Value, mask: Value, value: Value) -> Value:
    is_tensor = isinstance(value, Tensor) and has_elements(value.node)
    require(not is_tensor, MASKED_BY, RaisesError)
    return compute("where", mask, value, self)


def _apply_heaviside(input: Value, values: Value) -> Value:
    _require_one_dtype(input, values)
    return compute("heaviside", input, values)


def _require_one_dtype(*operands: Value) -> None:
    kinds = {to_quantity(operand).kind for operand in operands}
    require(
        NUMPY.get() or not (len(kinds) > 1 or any(map(values.is_number, operands))), OF_ONE_DTYPE, RaisesError
    )


def _to_float(self: Value) -> Value:
    if not isinstance(self, str):
        return _Torch.to(self, "float")
    return float(self) if self.strip().lower() in ("inf", "+inf", "-inf") else values.Opaque("text")


def _check_isinstance(self: Value, kinds: Value) -> Value:
    requested = kinds if isinstance(kinds, tuple) else (kinds,)
    types = [kind if isinstance(kind, type) else _TYPES.get(getattr(kind, "name", "")) for kind in requested]
    if type(self) is Quantity:
        return int in types or float in types
    return isinstance(self, tuple(kind for kind in types if kind))


_TYPES = {
    "Tensor": Tensor, "Variable": Tensor, "FloatTensor": Tensor, "tuple": tuple, "list": tuple, "Size": tuple,
    "bool": bool, "str": str, "dict": dict, "int": int, "float": float, "Number": float,
}  # fmt: skip
_COPIED: dict[str, Any] = {"folded": False, "sized": False, "summed": None}  # a copy keeps these
_FLOAT32 = type("finfo", (values.PastedClass,), {"eps": 2.0**-23, "tiny": 2.0**-126})


def _make_finfo(dtype: Value = None) -> type:
    largest = vocabulary.LARGEST.get(dtype.name) if isinstance(dtype, Library) else None
    if largest is None:
        return _FLOAT32
    return type("finfo", (values.PastedClass,), {"max": largest, "min": -largest})


_INFINITY = Quantity(build("/", ONE, ZERO))
_MINUS_INFINITY = Quantity(build("-", _INFINITY.node))
LEARNED = "has a weight that learns: here it stays at its first value, {}"

_ROWS: dict[str, values.Function] = {
    **{name: partial(compute, row.name) for name, row in FUNCTIONS.items() if row.arity == 1},
    **{name: _make_row(call) for name, calls in CALLS.items() for call in calls if _is_complete(name, call)},
    **{name: partial(_apply_scaled, sign) for sign, _, *names in OPERATORS for name in names},
    **{name: partial(_Torch.to, dtype=name) for name in KINDS},
    **{name: row for name, row in vars(_Torch).items() if not name.startswith("__")},
    "detach": detach_tensor,
    **{name: partial(sums.compute_statistic, name) for name in ("mean", "amax", "amin", "std")},
    "isnan": lambda self: compute("!=", self, self),
    "isinf": lambda self: compute("==", compute("abs", self), _INFINITY),
    "isfinite": lambda self: compute("<", compute("abs", self), _INFINITY),
    "isposinf": lambda self: compute("==", self, _INFINITY),
    "isneginf": lambda self: compute("==", self, _MINUS_INFINITY),
    **dict.fromkeys(split_words("unsqueeze t transpose permute"), sums.arrange),
    **dict.fromkeys(split_words("expand repeat broadcast_to tile"), sums.expand),
    "expand_as": lambda self, other: (
        sums.expand(self, _make_size(other)) if values.get_sum(self) else _Torch.view(self, SHAPE)
    ),
    "sum": sums.compute_sum,
    "sum_to_size": sums.sum_to_shape,
    "prod": _count_product,
    "view_as": lambda self, other: _Torch.view(self, SHAPE),
    "numpy": lambda self: NUMPY.set(True) and self,
    "stride": lambda self, *_dimension: SHAPE,
    "element_size": lambda self: SHAPE,
    "contiguous": lambda self, *_others, **_keywords: self,
    "zeros": lambda *_sizes, **_keywords: Tensor(ZERO, sized=True),
    "ones": lambda *_sizes, **_keywords: Tensor(ONE, sized=True),
    "dim": lambda self: 1,
    "size": lambda self, dim=None: (_make_size(self),) if dim is None else values.pick((SHAPE,), dim),
    "full": lambda self, fill_value: _make_filled(fill_value),
    "logical_and": partial(_apply_logical, "&"),
    "logical_or": partial(_apply_logical, "|"),
    "logical_xor": partial(_apply_logical, "^"),
    "logical_not": partial(_apply_logical, "~"),
    "neg": lambda self: -self if isinstance(self, int | float) else compute("-", self),
    "new_full": lambda self, size, fill_value: TABLE["full"](size, fill_value),
    "new_tensor": lambda self, data: convert_dtype(_Torch.tensor(data), PROPERTIES["dtype"](self)),
    "get_default_dtype": lambda: Library("torch.float32"),
    "type": lambda self, dtype=None: _Torch.to(self, dtype) if dtype else PROPERTIES["dtype"](self),
    "round": lambda self, decimals=0: _apply_formula("round(a * 10**b) / 10**b", self, decimals),
    "pow": lambda self, exponent: apply_binary("**", self, exponent),
    "rsub": lambda self, other: apply_binary("-", other, self),
    "clamp_min": lambda self, min: _Torch.clamp(self, min),
    "clamp_max": lambda self, max: _Torch.clamp(self, None, max),
    "where": lambda condition, input, other: compute("where", condition, input, other),
    "masked_fill": _fill_masked,
    "heaviside": _apply_heaviside,
    "max": partial(compute_extreme, "max"),
    "min": partial(compute_extreme, "min"),
    "is_available": lambda: False,
    "is_tensor": lambda self: isinstance(self, Tensor),
    "is_floating_point": lambda self: to_quantity(self).kind == "float32",
    "device": lambda *_kind: values.Opaque("the device"),
    "finfo": _make_finfo,
    **randomness.ROWS,
}
TABLE: dict[str, values.Function] = {
    **{name: make_refusal(reason) for name, reason in REASONS.items()},
    **_ROWS,
    **{alias: _ROWS[name] for alias, name in vocabulary.ALIASES.items()},
}
CONSTANTS: dict[str, Value] = {
    "pi": Quantity(Name("pi")), "e": Quantity(Name("e")), "inf": math.inf, "Inf": math.inf, "newaxis": None,
}  # fmt: skip
METHODS: dict[str, values.Function] = {
    "where": lambda self, condition, other: compute("where", condition, self, other),
    "detach_": lambda self: assign(self, make_result(detach(self.node), self)) if AUTOGRAD.get() else self,
    "requires_grad_": lambda self, requires_grad=True: self,
}
PROPERTIES: dict[str, values.Function] = {
    "data": detach_tensor,
    "shape": lambda a: (_make_size(a),),
    "ndim": lambda _a: 1,
    "dtype": lambda a: Library(f"torch.{to_quantity(a).kind}"),
    **dict.fromkeys(("device", "layout"), lambda _a: values.Opaque("the device")),
    "is_cuda": lambda _a: False,
    "requires_grad": lambda _a: True,
}


def _apply_prelu(self: Value, num_parameters: Value = 1, init: Value = 0.25) -> Value:
    result = TABLE["prelu"](self, init)
    sums.REMARKS.get().append((to_quantity(result).node, LEARNED.format(init)))
    return result


LAYERS: dict[str, values.Function] = {
    **{name.replace("_", ""): row for name, row in TABLE.items()},
    "prelu": _apply_prelu,
    **randomness.LAYERS,
}
BUILTINS: dict[str, values.Function] = {
    **{name: TABLE[name] for name in ("abs", "pow", "round", "int", "bool")},
    "float": _to_float,
    "isinstance": _check_isinstance,
    **{row.__name__: partial(_list_items, row) for row in (tuple, range, enumerate, zip, reversed)},
    "list": lambda items=(): values.List(_list_items(list, items)),
    **{row.__name__: partial(_reduce_known, row) for row in (all, any)},
    "max": partial(_find_extreme, "max"),
    "min": partial(_find_extreme, "min"),
    "sum": lambda numbers, start=0: reduce(partial(apply_binary, "+"), unpack(numbers), start),
    "str": lambda _a: values.Opaque("text"),
    "type": lambda _a: values.Opaque("the kind of number"),
    "len": lambda self: len(self) if isinstance(self, tuple | list | dict | str) else SHAPE,
}

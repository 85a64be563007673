"""A tensor: a flat array of JavaScript, its shape and its dtype."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from . import layout, tape
from .dtypes import OF_NUMBERS, DType, MissingError, bool_, finfo, float32, float64, int64, int_, wider
from .kernel import arrays
from .layout import Size as Size

_EXACT = ("+", "-", "*", "/")  # a number beside a half is of float32 there, as in torch
_WHOLE, CPU = slice(None), "cpu"
Flag: TypeAlias = bool  # a tensor has methods of these names
Number: TypeAlias = float

operation = cache(arrays.operation)


class Extreme(NamedTuple):
    """What ``min`` and ``sort`` return along a dimension."""

    values: Tensor
    indices: Tensor


class _Named(type):
    """What a tensor lacks can be named, as in a table of functions, but not called."""

    def __getattr__(cls, name: str) -> Any:
        return missing(f"Tensor.{name}")


@cache
def missing(name: str) -> Any:
    """What stands for something that is not here: MissingError once it is called."""

    def call(*_: Any, **__: Any) -> Any:
        raise MissingError(name)

    return call


class Tensor(metaclass=_Named):
    """As torch's, as far as it goes; anything else raises MissingError."""

    __slots__ = ("__weakref__", "data", "dtype", "grad", "grad_fn", "is_leaf_that_needs", "shape")

    def __init__(self, data: Any, shape: Sequence[int], dtype: DType) -> None:
        self.data = data
        self.shape = shape if type(shape) is Size else Size(shape)
        self.dtype = dtype
        self.grad_fn: tape.Node | None = None
        self.grad: Tensor | None = None
        self.is_leaf_that_needs = False

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise MissingError(f"Tensor.{name}")

    # What it is.

    @property
    def requires_grad(self) -> Flag:
        return self.is_leaf_that_needs or self.grad_fn is not None

    def requires_grad_(self, needed: Flag = True) -> Tensor:
        self.is_leaf_that_needs = needed
        return self

    @property
    def device(self) -> str:
        return CPU

    def dim(self) -> int:
        return len(self.shape)

    def numel(self) -> int:
        return self.shape.numel()

    def is_floating_point(self) -> Flag:
        return self.dtype.rank == 2

    def __len__(self) -> int:
        return self.shape[0]

    def item(self) -> Any:
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        value = float(self.data[0])
        return OF_KINDS[self.dtype.rank](value)

    def __float__(self) -> Number:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    __index__ = __int__

    def __bool__(self) -> Flag:
        return bool(self.item())

    def tolist(self) -> Any:
        kind = OF_KINDS[self.dtype.rank]
        values: list[Any] = self.data.to_py().tolist()
        values = values if kind is float else [kind(value) for value in values]
        for size in reversed(self.shape[1:]):
            values = [values[at : at + size] for at in range(0, len(values), size)]
        return values if self.shape else values[0]

    def tobytes(self) -> bytes:
        return bytes(self.data.to_py())

    def __contains__(self, value: Any) -> Flag:
        return bool((self == value).any())

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.unbind())

    def numpy(self) -> Tensor:
        return self

    def detach(self) -> Tensor:
        return Tensor(self.data, self.shape, self.dtype)

    def clone(self) -> Tensor:
        copy = Tensor(self.data.slice(), self.shape, self.dtype)
        return tape.record(copy, (self,), lambda g: (g,))

    contiguous = clone

    def to(self, dtype: Any) -> Tensor:
        if isinstance(dtype, Tensor):
            return self.to(dtype.dtype)
        if dtype is self.dtype or dtype == CPU:
            return self
        result = Tensor(_converted(self.data, self.dtype, dtype), self.shape, dtype)
        return tape.record(result, (self,), lambda g: (g,)) if dtype.rank == 2 else result

    astype = to

    def double(self) -> Tensor:
        return self.to(float64)

    def float(self) -> Tensor:
        return self.to(float32)

    def bool(self) -> Tensor:
        return self.to(bool_)

    def full_like(self, value: Any) -> Tensor:
        return filled(self.shape, value, self.dtype)

    def new_zeros(self, *shape: Any) -> Tensor:
        return filled(_sizes(shape), 0.0, self.dtype)

    # Shapes.

    def _laid(self, found: layout.Layout) -> Tensor:
        """What a layout picks, and the way back: into zeros at the same places."""
        result = Tensor(arrays.strided(self.data, found.view, found.length), found.shape, self.dtype)
        if not tape.needs(self):
            return result

        def back(g: Tensor) -> tuple[Tensor]:
            tape.refuse("an index", g)
            whole = g.new_zeros(*self.shape)
            arrays.put(whole.data, found.view, g.data)
            return (whole,)

        return tape.record(result, (self,), back)

    def reshape(self, *shape: Any) -> Tensor:
        result = Tensor(self.data, layout.resolved(_sizes(shape), self.numel()), self.dtype)
        return tape.record(result, (self,), lambda g: (g.reshape(self.shape),))

    view = reshape

    def ravel(self) -> Tensor:
        return self.reshape(-1)

    def flatten(self, first: int = 0, last: int = -1) -> Tensor:
        if not self.shape:
            return self.reshape(1)
        last %= len(self.shape)
        return self.reshape(
            *self.shape[:first], math.prod(self.shape[first : last + 1]), *self.shape[last + 1 :]
        )

    def expand(self, *shape: Any) -> Tensor:
        wanted = _sizes(shape)
        if wanted == self.shape:
            return self
        found = layout.expanded(self.shape, wanted)
        result = Tensor(arrays.strided(self.data, found.view, found.length), found.shape, self.dtype)
        return tape.record(result, (self,), lambda g: (g.sum_to_size(self.shape),))

    def expand_as(self, other: Tensor) -> Tensor:
        return self.expand(other.shape)

    def sum_to_size(self, *shape: Any) -> Tensor:
        wanted = _sizes(shape)
        result = self
        while len(result.shape) > len(wanted):
            result = result.sum(0)
        for dim, (size, target) in enumerate(zip(result.shape, wanted, strict=True)):
            if size != target:
                result = result.sum(dim, keepdim=True)
        return result

    def transpose(self, one: int, other: int) -> Tensor:
        order = list(range(len(self.shape)))
        order[one], order[other] = order[other], order[one]
        return self._laid(layout.turned(self.shape, tuple(order)))

    @property
    def T(self) -> Tensor:  # noqa: N802  # torch's name
        return self.transpose(0, 1)

    def diagonal(self, *, dim1: int = 0, dim2: int = 1) -> Tensor:
        if (dim1, dim2) != (len(self.shape) - 2, len(self.shape) - 1):
            raise MissingError("diagonal of other dimensions than the last two")
        return self._laid(layout.diagonal(self.shape))

    def unbind(self, dim: int = 0) -> list[Tensor]:
        before = (_WHOLE,) * (dim % len(self.shape))
        return [self[(*before, place)] for place in range(self.shape[dim])]

    def repeat(self, times: int) -> Tensor:
        if len(self.shape) != 1:
            raise MissingError("repeat of more than one dimension")
        return self[None].expand(times, len(self)).flatten()

    def repeat_interleave(self, times: int, dim: int = 0) -> Tensor:
        if dim:
            raise MissingError("repeat_interleave of another dimension than the first")
        return self[:, None].expand(len(self), times, *self.shape[1:]).flatten(0, 1)

    def roll(self, by: int) -> Tensor:
        flat = self.flatten()
        return joined([flat[-by:], flat[:-by]], 0).reshape(self.shape)

    def __getitem__(self, index: Any) -> Tensor:
        parts = tuple(map(_part, index if type(index) is tuple else (index,)))
        places = [place for place, part in enumerate(parts) if isinstance(part, Tensor | list)]
        if not places:
            return self._laid(layout.indexed(self.shape, parts))
        tape.refuse("an index of places", self)
        if places == [0, 1] and len(parts) == 2:
            merged = parts[0] * self.shape[1] + parts[1]
            return self.flatten(0, 1)[merged]
        if len(places) > 1 or any(part is None or part is Ellipsis for part in parts):
            raise MissingError("several indices that are tensors")
        (place,) = places
        dim = sum(isinstance(part, slice) for part in parts[:place])
        plain = (*parts[:place], _WHOLE, *parts[place + 1 :])
        whole = (
            self if all(part == _WHOLE for part in plain) else self._laid(layout.indexed(self.shape, plain))
        )
        return whole._picked(parts[place], dim)

    def _picked(self, index: Any, dim: int) -> Tensor:
        """The parts at places, or where a mask is true, along a dimension."""
        index = tensor(index) if isinstance(index, list) else index
        if index.dtype is bool_ and len(index.shape) > 1:
            return self.flatten(dim, dim + len(index.shape) - 1)._picked(index.flatten(), dim)
        outer, length, inner = layout.parted(self.shape, dim)
        if index.dtype is bool_ and index.shape[0] != length:
            raise IndexError(f"a mask of {index.shape[0]} beside a dimension of {length}")
        places = arrays.nonzero(index.data) if index.dtype is bool_ else index.data
        shape = (int(places.length),) if index.dtype is bool_ else index.shape
        found = arrays.picked(self.data, places, outer, length, inner)
        return Tensor(found, (*self.shape[:dim], *shape, *self.shape[dim + 1 :]), self.dtype)

    def __setitem__(self, index: Any, value: Any) -> None:
        tape.refuse("a change in place", self, value)
        if isinstance(index, Tensor | list):
            self._put(tensor(index) if isinstance(index, list) else index, value)
            return
        found = layout.indexed(self.shape, index if type(index) is tuple else (index,))
        given = value
        if isinstance(value, Tensor):
            given = value.expand(found.shape).to(self.dtype).data
        arrays.put(self.data, found.view, given if isinstance(value, Tensor) else _fit(value, self.dtype))

    def _put(self, index: Tensor, value: Any) -> None:
        """A number where a mask is true, or at places of a row."""
        if index.dtype is bool_ and index.shape == self.shape:
            places = arrays.nonzero(index.data)
        elif index.dtype.rank == 1 and len(self.shape) == 1:
            places = arrays.within(index.data, len(self))
        else:
            raise MissingError("a change at places of several dimensions")
        arrays.putAt(self.data, places, _fit(value, self.dtype))

    # Arithmetic.

    def __add__(self, other: Any) -> Tensor:
        return elementwise("+", self, other)

    def __sub__(self, other: Any) -> Tensor:
        return elementwise("-", self, other)

    def __mul__(self, other: Any) -> Tensor:
        return elementwise("*", self, other)

    def __truediv__(self, other: Any) -> Tensor:
        return elementwise("/", self, other)

    def __pow__(self, other: Any) -> Tensor:
        return elementwise("**", self, other)

    def __radd__(self, other: Any) -> Tensor:
        return elementwise("+", self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return elementwise("-", other, self)

    def __rmul__(self, other: Any) -> Tensor:
        return elementwise("*", self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return elementwise("*", elementwise("reciprocal", self), other)

    def __rpow__(self, other: Any) -> Tensor:
        return elementwise("**", other, self)

    def __neg__(self) -> Tensor:
        return elementwise("neg", self)

    def __matmul__(self, other: Tensor) -> Tensor:
        return product(self, other)

    def __eq__(self, other: Any) -> Tensor:  # type: ignore[override]
        return condition("==", self, other)

    def __ne__(self, other: Any) -> Tensor:  # type: ignore[override]
        return condition("!=", self, other)

    def __lt__(self, other: Any) -> Tensor:
        return condition("<", self, other)

    def __le__(self, other: Any) -> Tensor:
        return condition("<=", self, other)

    def __gt__(self, other: Any) -> Tensor:
        return condition(">", self, other)

    def __ge__(self, other: Any) -> Tensor:
        return condition(">=", self, other)

    def __and__(self, other: Any) -> Tensor:
        return condition("&", self, other)

    def __or__(self, other: Any) -> Tensor:
        return condition("|", self, other)

    def __invert__(self) -> Tensor:
        return condition("not", self)

    __hash__ = object.__hash__

    def logical_and(self, other: Tensor) -> Tensor:
        return self & other

    def isfinite(self) -> Tensor:
        return condition("isfinite", self)

    def isnan(self) -> Tensor:
        return condition("isnan", self)

    def isinf(self) -> Tensor:
        return self.abs() == math.inf

    def abs(self) -> Tensor:
        return elementwise("abs", self)

    __abs__ = abs

    def exp(self) -> Tensor:
        return elementwise("exp", self)

    def log(self) -> Tensor:
        return elementwise("log", self)

    def sqrt(self) -> Tensor:
        return elementwise("sqrt", self)

    def sin(self) -> Tensor:
        return elementwise("sin", self)

    def relu(self) -> Tensor:
        return elementwise("relu", self)

    def square(self) -> Tensor:
        return elementwise("**", self, 2)

    def clamp(self, min: Any = None, max: Any = None) -> Tensor:
        if min is None or max is None:
            bounds = [each for each in (min, max) if each is not None]
            return elementwise("clamp_min" if max is None else "clamp_max", self, *bounds)
        return elementwise("clamp", self, min, max)

    def nan_to_num(self, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Tensor:
        if (nan, posinf, neginf) == (0.0, None, None) and tape.needs(self):
            return elementwise("nan_to_num", self)
        tape.refuse("nan_to_num", self)
        most = finfo(self.dtype).max if self.is_floating_point() else 0.0
        ends = most if posinf is None else posinf, -most if neginf is None else neginf
        return Tensor(arrays.replaced(self.data, nan, *ends), self.shape, self.dtype)

    # Reductions.

    def _reduced(self, name: str, dim: int | None, keepdim: Flag, dtype: DType) -> Tensor:
        whole = (1, self.numel(), 1)
        sizes = whole if dim is None or not self.shape else layout.parted(self.shape, dim)
        if not sizes[1] and name not in ("sum", "all", "any"):
            raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0")
        found = arrays.reduced(name, dtype.code, self.data, *sizes)
        if dim is None or not self.shape:
            return Tensor(found, (1,) * len(self.shape) if keepdim else (), dtype)
        dim %= len(self.shape)
        return Tensor(found, (*self.shape[:dim], *(1,) * keepdim, *self.shape[dim + 1 :]), dtype)

    def sum(self, dim: int | None = None, keepdim: Flag = False) -> Tensor:
        result = self._reduced("sum", dim, keepdim, self.dtype if self.dtype.rank == 2 else int64)

        def back(g: Tensor) -> tuple[Tensor]:
            if dim is None or keepdim:
                return (g.expand(self.shape),)
            return (g[(*(_WHOLE,) * (dim % len(self.shape)), None)].expand(self.shape),)

        return tape.record(result, (self,), back)

    def mean(self, dim: int | None = None) -> Tensor:
        return self.sum(dim) / (self.numel() if dim is None else self.shape[dim])

    def std(self) -> Tensor:
        tape.refuse("std", self)
        apart = self - self.mean()
        return ((apart * apart).sum() / (self.numel() - 1)).sqrt()

    def all(self, dim: int | None = None) -> Tensor:
        return self._reduced("all", dim, False, bool_)

    def any(self, dim: int | None = None) -> Tensor:
        return self._reduced("any", dim, False, bool_)

    def amax(self, dim: int | None = None) -> Tensor:
        tape.refuse("amax", self)
        return self._reduced("amax", dim, False, self.dtype)

    def amin(self, dim: int | None = None) -> Tensor:
        tape.refuse("amin", self)
        return self._reduced("amin", dim, False, self.dtype)

    def argmax(self, dim: int | None = None, keepdim: Flag = False) -> Tensor:
        return self._reduced("argmax", dim, keepdim, int64)

    def argmin(self, dim: int | None = None, keepdim: Flag = False) -> Tensor:
        return self._reduced("argmin", dim, keepdim, int64)

    def max(self) -> Tensor:
        return self.amax()

    def min(self, dim: int | None = None) -> Any:
        return self.amin() if dim is None else Extreme(self.amin(dim), self.argmin(dim))

    def cumsum(self, dim: int) -> Tensor:
        _row("cumsum", self)
        return Tensor(arrays.cumulated(self.dtype.code, self.data), self.shape, self.dtype)

    def diff(self) -> Tensor:
        _row("diff", self)
        return self[1:] - self[:-1]

    def argsort(self, *, stable: Flag = False) -> Tensor:
        _row("argsort", self)
        return Tensor(arrays.sorted(self.data), self.shape, int64)

    def sort(self) -> Extreme:
        places = self.argsort()
        return Extreme(self[places], places)

    def gather(self, dim: int, index: Tensor) -> Tensor:
        if dim % len(self.shape) != len(self.shape) - 1 or self.shape[:-1] != index.shape[:-1]:
            raise MissingError("gather along another dimension than the last")
        tape.refuse("gather", self)
        found = arrays.gathered(self.data, index.data, self.shape[-1], index.shape[-1])
        return Tensor(found, index.shape, self.dtype)

    def nonzero(self) -> Tensor:
        _row("nonzero", self)
        places = arrays.nonzero(self.data)
        return Tensor(places, (int(places.length), 1), int64)


OF_KINDS = (bool, int, float)


def _part(index: Any) -> Any:
    """A part of an index, whose slices have whole numbers for ends."""
    if type(index) is not slice or not any(isinstance(end, Tensor) for end in (index.start, index.stop)):
        return index
    return slice(*(None if end is None else int(end) for end in (index.start, index.stop, index.step)))


def _row(what: str, of: Tensor) -> None:
    if len(of.shape) != 1:
        raise MissingError(f"{what} of more than one dimension")
    tape.refuse(what, of)


def _sizes(shape: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape


def _converted(data: Any, before: DType, after: DType) -> Any:
    if after is bool_:
        return operation("true")(0, data)
    if after.rank == 1 and before.rank == 2:
        return operation("trunc")(0, data)
    return operation("to")(after.code, data) if after.digits < before.digits or not before.digits else data


def _fit(value: Any, dtype: DType) -> Any:
    value = float(value)
    return arrays.rounded(dtype.code, value) if dtype.code else value


def common(values: Sequence[Any]) -> DType:
    """The dtype of what is made of tensors and numbers: tensors with dimensions decide if they can."""
    groups: list[list[DType]] = [[], [], []]
    for each in values:
        if isinstance(each, Tensor):
            groups[not each.shape].append(each.dtype)
        elif type(each) in OF_NUMBERS:
            groups[2].append(OF_NUMBERS[type(each)])
        else:
            raise MissingError(f"{type(each).__name__} beside a tensor")
    found: DType | None = None
    for best in (wider(group) for group in groups if group):
        if found is None or best.rank > found.rank:
            found = float64 if found is int_ else best
    assert found
    return found


def _together(values: Sequence[Any], dtype: DType, shape: Size, exact: bool) -> list[Any]:
    """The arrays of tensors in one dtype and shape, and numbers as they count beside them."""
    found = []
    for each in values:
        if not isinstance(each, Tensor):
            number = float(each)
            found.append(arrays.rounded(1 if exact else dtype.code, number) if dtype.code else number)
            continue
        data = each.data
        if each.dtype is not dtype and each.dtype is not bool_:
            data = _converted(data, each.dtype, dtype)
        if each.shape != shape:
            placed = layout.expanded(each.shape, shape)
            data = arrays.strided(data, placed.view, placed.length)
        found.append(data)
    return found


def computed(name: str, values: Sequence[Any], condition: bool = False) -> Tensor:
    """An operation on each element, without a way back."""
    tensors = [each for each in values if isinstance(each, Tensor)]
    first = tensors[0]
    dtype, shape = first.dtype, first.shape
    alike = all(each.dtype is dtype and each.shape == shape for each in tensors)
    if not alike:
        shape = layout.broadcast(*(each.shape for each in tensors))
    if not alike or len(tensors) < len(values) or (name == "/" and dtype.rank < 2):
        dtype = common(values)
        if name == "/" and dtype.rank < 2:
            dtype = float64 if dtype is int_ else float32
    if dtype is bool_ and name in ("+", "-"):
        raise MissingError(f"conditions with {name}")
    if alike and len(tensors) == len(values) and dtype is first.dtype:
        data: list[Any] = [each.data for each in tensors]
    else:
        data = _together(values, dtype, shape, name in _EXACT)
    found = operation(name)(0 if condition else dtype.code, *data)
    return Tensor(found, shape, bool_ if condition else dtype)


def condition(name: str, *values: Any) -> Tensor:
    """What is true or false of each element."""
    return computed(name, values, condition=True)


def elementwise(name: str, *values: Any) -> Tensor:
    """An operation or a function of the formula language on each element."""
    result = computed(name, values)
    if tape.is_recording() and tape.needs(*values):
        tape.record(result, values, tape.by_formula(name, values))
    return result


def filled(shape: tuple[int, ...], value: Any, dtype: DType) -> Tensor:
    """One number everywhere."""
    if (
        dtype.rank == 2
        and math.isfinite(value)
        and abs(arrays.rounded(dtype.code, value) if dtype.code else 0) == math.inf
    ):
        raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")
    return Tensor(arrays.full(math.prod(shape), _fit(value, dtype)), shape, dtype)


def tensor(
    value: Any, dtype: DType | None = None, *, device: str = CPU, requires_grad: bool = False
) -> Tensor:
    """A number, or nested lists of numbers and tensors of one number."""
    shape, flat = [], [value]
    while flat and isinstance(flat[0], list | tuple):
        shape.append(len(flat[0]))
        flat = [each for row in flat for each in row]
    if flat and isinstance(flat[0], Tensor):
        flat = [each.item() for each in flat]
    kinds = [OF_NUMBERS[type(each)] for each in flat] or [float32]
    dtype = dtype or max(kinds, key=lambda each: each.rank)
    packed = arrays.listed(*map(float, flat))
    made = Tensor(operation("to")(dtype.code, packed) if dtype.code else packed, shape, dtype)
    return made.requires_grad_(requires_grad)


def joined(parts: Sequence[Tensor], dim: int) -> Tensor:
    """Tensors behind each other along a dimension."""
    tape.refuse("cat", *parts)
    parts = [part for part in parts if part.shape != (0,)] or list(parts[:1])
    dtype = common(parts)
    parts = [part.to(dtype) for part in parts]
    outer = layout.parted(parts[0].shape, dim)[0]
    dim %= len(parts[0].shape)
    size = sum(part.shape[dim] for part in parts)
    shape = (*parts[0].shape[:dim], size, *parts[0].shape[dim + 1 :])
    return Tensor(arrays.joined(outer, *(part.data for part in parts)), shape, dtype)


def product(one: Tensor, other: Tensor) -> Tensor:
    """Torch's matmul."""
    tape.refuse("matmul", one, other)
    if len(one.shape) < 2:
        return product(one[None], other)[0]
    if len(other.shape) == 1:
        return product(one, other[:, None])[..., 0]
    batch = layout.broadcast(one.shape[:-2], other.shape[:-2])
    (m, k), n = one.shape[-2:], other.shape[-1]
    left, right = one.expand(*batch, m, k), other.expand(*batch, k, n)
    found = arrays.multiplied(left.data, right.data, m, k, n)
    return Tensor(operation("to")(one.dtype.code, found), (*batch, m, n), one.dtype)


def nextafter(x: Tensor, toward: Tensor) -> Tensor:
    """The neighbour of each number on the way to another; the number itself where they are the same."""
    if x.dtype.code > 1:
        raise MissingError("nextafter of a half")
    up, down = (Tensor(arrays.beside(x.dtype.code, x.data, way), x.shape, x.dtype) for way in (True, False))
    chosen = operation("where")(0, (toward < x).data, down.data, x.data)
    return Tensor(operation("where")(0, (toward > x).data, up.data, chosen), x.shape, x.dtype)

"""Shapes: what an index, an expansion or a turn picks of an array that lies in memory row by row."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from .dtypes import MissingError
from .kernel import arrays


class Size(tuple[int, ...]):
    """A shape."""

    __slots__ = ()

    def numel(self) -> int:
        """How many numbers."""
        return math.prod(self)


class Layout:
    """The shape that comes out of it, and what ``arrays.strided`` and ``arrays.put`` are told."""

    def __init__(self, start: int, shape: tuple[int, ...], steps: tuple[int, ...]) -> None:
        self.shape = Size(shape)
        self.length = math.prod(shape)
        self.view = arrays.view(start, *shape, *steps)


def steps(shape: tuple[int, ...]) -> tuple[int, ...]:
    """How far apart neighbours along each dimension are."""
    return tuple(math.prod(shape[place + 1 :]) for place in range(len(shape)))


@lru_cache(maxsize=4096)
def expanded(shape: tuple[int, ...], wanted: tuple[int, ...]) -> Layout:
    """A shape broadcast to another; −1 stands for what it is."""
    missing = len(wanted) - len(shape)
    own = (1,) * missing + shape
    full = tuple(size if target == -1 else target for size, target in zip(own, wanted, strict=False))
    if missing < 0 or any(size not in (1, target) for size, target in zip(own, full, strict=True)):
        raise RuntimeError(f"shape {list(shape)} does not expand to {list(wanted)}")
    apart = (0,) * missing + steps(shape)
    return Layout(0, full, tuple(0 if size == 1 else step for size, step in zip(own, apart, strict=True)))


@lru_cache(maxsize=4096)
def broadcast(*shapes: tuple[int, ...]) -> Size:
    """The shape that shapes have together."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    found = []
    for sizes in zip(*padded, strict=True):
        others = {size for size in sizes if size != 1}
        if len(others) > 1:
            raise RuntimeError(f"shapes {', '.join(map(str, shapes))} do not go together")
        found.append(others.pop() if others else 1)
    return Size(found)


@lru_cache(maxsize=4096)
def turned(shape: tuple[int, ...], order: tuple[int, ...]) -> Layout:
    """The dimensions in another order."""
    own = steps(shape)
    return Layout(0, tuple(shape[dim] for dim in order), tuple(own[dim] for dim in order))


@lru_cache(maxsize=4096)
def diagonal(shape: tuple[int, ...]) -> Layout:
    """The diagonal of the last two dimensions, as the last one."""
    own = steps(shape)
    return Layout(0, (*shape[:-2], min(shape[-2:])), (*own[:-2], own[-1] + own[-2]))


@lru_cache(maxsize=4096)
def indexed(shape: tuple[int, ...], index: tuple[Any, ...]) -> Layout:
    """What whole numbers, slices, None and one … pick."""
    if Ellipsis in index:
        place, named = index.index(Ellipsis), sum(part is not None for part in index) - 1
        index = index[:place] + (slice(None),) * (len(shape) - named) + index[place + 1 :]
    start, sizes, apart = 0, [], []
    dims = iter(zip(shape, steps(shape), strict=True))
    for part in index:
        if part is None:
            sizes.append(1)
            apart.append(0)
            continue
        size, step = next(dims, (0, 0))
        if isinstance(part, slice):
            first, last, pace = part.indices(size)
            sizes.append(len(range(first, last, pace)))
            apart.append(step * pace)
            start += first * step
        else:
            if not -size <= part < size:
                raise IndexError(f"index {part} is out of bounds for a dimension of size {size}")
            start += (part % size) * step
    rest = list(dims)
    return Layout(start, (*sizes, *(size for size, _ in rest)), (*apart, *(step for _, step in rest)))


def resolved(shape: tuple[int, ...], count: int) -> Size:
    """A shape with what −1 stands for, of so many numbers."""
    if -1 in shape:
        rest = -math.prod(shape)
        shape = tuple((count // rest if rest else 0) if size == -1 else size for size in shape)
    if math.prod(shape) != count:
        raise RuntimeError(f"shape {list(shape)} is invalid for input of size {count}")
    return Size(shape)


def parted(shape: tuple[int, ...], dim: int) -> tuple[int, int, int]:
    """How many there are before a dimension, along it, and behind it."""
    if not -len(shape) <= dim < len(shape):
        raise MissingError(f"dimension {dim} of {shape}")
    dim %= len(shape)
    return math.prod(shape[:dim]), shape[dim], math.prod(shape[dim + 1 :])

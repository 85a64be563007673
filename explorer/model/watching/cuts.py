"""Values that leave autograd's graph and come back: the detach trick, ``no_grad``, ``.data``, masks.

``x + (round(x) - x).detach()`` is round forward and the identity backward, and autograd never meets round.
What is computed from a tensor is followed through sums, products and cuts, over a short window. Where a sum
of a value with gradient and one without restores what was computed on the side without, it is a trick.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch._C._functorch import (
    get_unwrapped,
    is_functorch_wrapped_tensor,
)  # torch has no public name for these

from explorer.model.watching.nodes import explain

Kind = Literal["cut", "sum", "product", "choice", "plain", "behind"]
_WINDOW, _MOST = 64, 16  # tensors that are followed at a time, and of which each may be made

_NAMES: Mapping[Kind, tuple[str, ...]] = {
    "cut": ("detach", "gt", "ge", "lt", "le", "eq", "ne", "__gt__", "__ge__", "__lt__", "__le__"),
    "sum": ("add", "sub", "rsub", "__add__", "__radd__", "__sub__", "__rsub__", "subtract"),
    "product": ("mul", "div", "multiply", "divide", "true_divide", "__mul__", "__rmul__", "__truediv__"),
    "choice": ("where", "masked_fill"),
    "plain": ("neg", "__neg__", "clone", "float", "to", "type", "type_as", "double", "contiguous"),
}


def _followed() -> dict[Any, Kind]:
    kinds: dict[Any, Kind] = {
        function: kind
        for kind, names in _NAMES.items()
        for name in names
        for home in (torch, Tensor)
        if callable(function := getattr(home, name, None))
    }
    data: Any = Tensor.data
    kinds[data.__get__], kinds[data.__set__] = "cut", "behind"
    return kinds


FOLLOWED: Mapping[Any, Kind] = _followed()
"""torch's function -> what it does to a value that is followed."""


class Followed:
    """A call of an op of which it is known whether its y left the graph.

    Attributes:
        cut: how y left it, in a few words; "" where it did not.
        y_key: the identity of y.
    """

    cut: str = ""
    y_key: int = 0


class _Probing(threading.local):
    def __init__(self) -> None:
        self.now = SimpleNamespace(on=False)


_PROBING = _Probing()


def probing() -> SimpleNamespace:
    """This thread's sign ``on``, under which gradients are asked for by us, not by a backward of theirs."""
    return _PROBING.now


@contextmanager
def _probe() -> Iterator[None]:
    _PROBING.now.on = True
    try:
        yield
    finally:
        _PROBING.now.on = False


class Tag(NamedTuple):
    """The origin of a tensor.

    Attributes:
        tensor: itself.
        members: the tensors it was computed from, the oldest first.
        calls: those of ops among them.
    """

    tensor: Tensor
    members: tuple[Tensor, ...]
    calls: tuple[Followed, ...]


class Cut(NamedTuple):
    """A detach trick: forward one value, backward the gradient of another.

    Attributes:
        x: the tensor it is a function of.
        slope: the derivative of the result for x, elementwise; None for 1 everywhere, in torch.func.
        result: y.
        calls: the calls of ops whose values it restores, in their order.
        parts: all calls that left the graph for it.
    """

    x: Tensor
    slope: Tensor | None
    result: Tensor
    calls: tuple[Followed, ...]
    parts: tuple[Followed, ...]


class Masked(NamedTuple):
    """A product, or a choice, by a value that was made of the same tensor without gradient."""

    result: Tensor


class Tracker:
    """The tensors that are followed, of one thread."""

    def __init__(self) -> None:
        self._tags: dict[int, Tag] = {}

    def clear(self) -> None:
        """Forget all."""
        self._tags.clear()

    def called(self, call: Followed, x: Tensor, y: Tensor) -> None:
        """Follow what an op computed."""
        tag = self._tags.get(id(x))
        members = tag.members if tag else ()
        self._put(y, (*members, x, y), (*(tag.calls if tag else ()), call))

    def follow(self, function: Any, args: Sequence[Any], result: Any) -> Cut | Masked | None:
        """Follow a call of torch; the trick or the mask that it completes."""
        kind, tensors = FOLLOWED[function], [each for each in args if isinstance(each, Tensor)]
        if kind == "cut":
            self._cut(tensors, result)
            return None
        if kind == "behind":
            for call in self._calls(tensors[1:]):
                call.cut = "its output is written behind autograd's back, by .data"
            return None
        if kind == "choice" and isinstance(result, Tensor) and result.requires_grad:
            explain(result, None)  # by a mask from elsewhere it is linear; by its own it is told below
        tags = [tag for tensor in tensors if (tag := self._tags.get(id(tensor)))]
        if not tags or not isinstance(result, Tensor) or any(result is tensor for tensor in tensors):
            return None
        members = [member for tag in tags for member in tag.members] + tensors
        self._put(result, members, tuple(dict.fromkeys(call for tag in tags for call in tag.calls)))
        met = self._met(kind, tensors, result)
        if isinstance(met, Cut):
            del self._tags[id(result)]  # a function of x like any other from here on
        return met

    def tagged(self, tensor: Tensor) -> bool:
        """Whether a tensor was made of what is followed."""
        return id(tensor) in self._tags

    def _met(self, kind: Kind, tensors: Sequence[Tensor], result: Tensor) -> Cut | Masked | None:
        if not result.requires_grad or len(tensors) < 2:
            return None
        with_gradient = [each for each in tensors if each.requires_grad]
        without = [self._tags[id(each)] for each in tensors if not each.requires_grad and self.tagged(each)]
        if not with_gradient or not without:
            return None
        if kind == "sum":
            return self._trick(with_gradient[0], without[0], result) if len(tensors) == 2 else None
        if kind in ("product", "choice"):
            same = any(_among(each, tag.members) for tag in without for each in with_gradient)
            shaped = all(tag.tensor.shape == result.shape for tag in without)
            return Masked(result) if same and shaped else None
        return None

    def _cut(self, tensors: Sequence[Tensor], result: Any) -> None:
        for call in self._calls(tensors):
            call.cut = call.cut or "its output is detached"
        sources = [each for each in tensors if each.requires_grad or id(each) in self._tags]
        if sources and isinstance(result, Tensor):
            tags = [self._tags[id(each)] for each in sources if id(each) in self._tags]
            members = [member for tag in tags for member in tag.members]
            self._put(result, (*members, *sources), tuple(call for tag in tags for call in tag.calls))

    def _calls(self, tensors: Sequence[Tensor]) -> list[Followed]:
        return [call for each in tensors if (tag := self._tags.get(id(each))) for call in tag.calls]

    def _put(self, tensor: Tensor, members: Sequence[Tensor], calls: tuple[Followed, ...]) -> None:
        distinct = {id(each): each for each in members if each is not tensor}
        self._tags[id(tensor)] = Tag(tensor, (*[*distinct.values()][-_MOST:],), calls)
        while len(self._tags) > _WINDOW:
            del self._tags[next(iter(self._tags))]

    def _trick(self, carrier: Tensor, cut: Tag, result: Tensor) -> Cut | None:
        """The trick of a sum, where it restores a value that was computed without gradient."""
        both = self._tags[id(result)]
        values = [each for each in both.members if each is not carrier]
        value = next((each for each in reversed(values) if _equal(each, result)), None)
        tag = self._tags.get(id(value)) if value is not None else None
        if tag is None or not tag.calls or _equal(carrier, result):  # what was cut has added nothing
            return None
        if is_functorch_wrapped_tensor(result):  # whose graph cannot be asked here
            return Cut(carrier, None, result, tag.calls, cut.calls) if _among(carrier, cut.members) else None
        return self._measured(carrier, cut, tag, result)

    def _measured(self, carrier: Tensor, cut: Tag, value: Tag, result: Tensor) -> Cut | None:
        both = self._tags[id(result)]
        sources = [each for each in both.members if each.requires_grad]
        with _probe():
            slopes = torch.autograd.grad(
                result, sources, torch.ones_like(result), retain_graph=True, allow_unused=True
            )
        known = {id(each): slope for each, slope in zip(sources, slopes, strict=True) if slope is not None}
        left = tuple(call for call in both.calls if call.y_key not in known)
        restored = tuple(call for call in value.calls if call in left)
        first = [carrier] if _among(carrier, cut.members) else []
        behind = [each for each in (*first, *both.members) if id(each) in known]
        if not restored or not behind or id(value.tensor) in known:  # one that autograd follows was not cut
            return None
        x, slope = behind[0], known[id(behind[0])]
        return Cut(x, slope, result, restored, left) if slope.shape == result.shape else None


def _among(tensor: Tensor, members: Sequence[Tensor]) -> bool:
    return any(each is tensor for each in members)


def _bare(tensor: Tensor) -> Tensor:
    while is_functorch_wrapped_tensor(tensor):
        tensor = get_unwrapped(tensor)
    return tensor.detach()


def _equal(one: Tensor, other: Tensor) -> bool:
    """Whether two values are the same up to rounding."""
    left, right = _bare(one), _bare(other)
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    scale = float(right.abs().max()) if right.numel() else 0.0
    return torch.allclose(left, right, rtol=0.0, atol=1e-5 * scale + 1e-12)

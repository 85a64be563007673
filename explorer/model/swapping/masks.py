"""Masks as numbers, through which the gradient of a swapped comparison passes by the chain rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from explorer.model.swapping.bridge import UnreachedError, build_bridge
from explorer.model.tape import Call, Value
from explorer.model.tape.names import CARRIERS, LINEAR, UNMEASURED, find_tensors, may_write, replace_tensor

_AS_NUMBERS: dict[str, Callable[..., Any]] = {
    "and": lambda a, b: a * b,
    "or": lambda a, b: a + b - a * b,
    "xor": lambda a, b: a + b - 2 * a * b,
    "not": lambda a: 1 - a,
    "where": lambda mask, a, b: mask * a + (1 - mask) * b,
    "masked_fill": lambda mask, x, value: mask * value + (1 - mask) * x,
}
_AS_NUMBERS |= {
    f"{kind}_{name}": rule for name, rule in _AS_NUMBERS.items() for kind in ("logical", "bitwise")
}
_AS_NUMBERS["invert"] = _AS_NUMBERS["not"]
_TO_INTEGERS = {"int", "long", "bool", "byte", "short", "char"}


class Masks:
    """The results of a swapped comparison, and what is computed from them, as numbers with a gradient.

    ``owner`` is the swap's ``Pass``, whose module imports this one.

    Attributes:
        number: the result of the running call as a number with a gradient; None if no such mask comes in.
    """

    def __init__(self, owner: Any) -> None:
        self._owner = owner
        self._numbers: dict[Value, Tensor] = {}
        self.number: Any = None

    def compute(self, name: str, function: Any, args: Any, kwargs: Any) -> None:
        """Set ``number`` for a call that will run. Raises UnreachedError for a gradient without bound."""
        self.number = None
        if not self._numbers or may_write(function, args, kwargs):
            return
        given = [(a, self._numbers.get(self._owner.value_of(a))) for a in find_tensors((args, kwargs))]
        if all(number is None for _, number in given):
            return
        if name == "masked_fill" and math.inf in map(abs, [a for a in args if isinstance(a, float)]):
            raise UnreachedError(
                f"{self._owner.target.told}: its mask fills in an infinite number, so that its gradient "
                "would be infinite: swap masked_fill, or fill in a finite number"
            )
        is_method = name == "where" and isinstance(args[0], Tensor) and args[0].dtype != torch.bool
        if name == "masked_fill" or is_method:  # x.where(mask, other)
            args = (args[1], args[0], *args[2:])
        for item, number in given:
            if number is not None:
                args, kwargs = replace_tensor((args, kwargs), item, number)
        with torch.enable_grad():
            self.number = _compute_with_numbers(name, function, args, kwargs)

    def keep(self, call: Call, number: Tensor, y: Tensor) -> Tensor | None:
        """Keep the number for a result y that is a mask, or return what replaces y with its gradient."""
        if not y.is_floating_point():
            self._numbers[call.outputs[0]] = number
            return None
        if number.shape != y.shape:
            return None
        owner, new = self._owner, number.to(y.dtype)
        is_same = torch.equal(new, y) and torch.equal(new.signbit(), y.signbit())
        if owner.exchange.op is None and not is_same:
            new = build_bridge(number, y.detach(), lambda _, y, g: g)
            owner.note_origin(call, new)
        owner.put_bridge(call.name, call, [*call.inputs, owner.value_of(number)], new)
        return new


def _compute_with_numbers(name: str, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Return a call's result, a tensor, with numbers in place of masks. None if the result is unknown.

    A mask comes first: ``a & b`` is a · b, and ``where(m, a, b)`` is m · a + (1 − m) · b.
    """
    if name in _TO_INTEGERS:
        return args[0]
    if name in _AS_NUMBERS:
        items = [*args, *kwargs.values()]
        return _AS_NUMBERS[name](*items) if name != "where" or len(items) == 3 else None
    if name not in LINEAR | UNMEASURED or name in ("detach", ".data"):
        return None
    result = function(*args, **kwargs)
    is_number = isinstance(result, Tensor) and result.is_floating_point()
    return result if is_number else args[0] if name in CARRIERS else None

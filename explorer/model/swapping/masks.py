"""Masks as numbers, through which the gradient of a swapped comparison passes by the chain rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from explorer.model.tape.names import CARRIERS, LINEAR, UNMEASURED


def _select(mask: Any, a: Any, b: Any) -> Any:
    return mask * a + (1 - mask) * b


_AS_NUMBERS: dict[str, Callable[..., Any]] = {
    "and": lambda a, b: a * b,
    "or": lambda a, b: a + b - a * b,
    "xor": lambda a, b: a + b - 2 * a * b,
    "not": lambda a: 1 - a,
    "where": _select,
    "masked_fill": lambda mask, x, value: _select(mask, value, x),
}
_AS_NUMBERS |= {
    f"{kind}_{name}": rule for name, rule in _AS_NUMBERS.items() for kind in ("logical", "bitwise")
}
_AS_NUMBERS["invert"] = _AS_NUMBERS["not"]
_TO_INTEGERS = {"int", "long", "bool", "byte", "short", "char"}


def is_selecting_by_second(name: str, args: Sequence[Any]) -> bool:
    """Return whether a call's mask is its second argument, as in ``x.where(mask, other)``."""
    is_method = name == "where" and isinstance(args[0], Tensor) and args[0].dtype != torch.bool
    return name == "masked_fill" or is_method


def compute_with_numbers(name: str, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
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

"""Torch's modes: what is asked before a function of torch is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_entered: list[TorchFunctionMode] = []


class TorchFunctionMode:
    """While it is entered, ``__torch_function__`` is called instead of a function of the formula language."""

    def __enter__(self) -> TorchFunctionMode:
        _entered.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _entered.pop()

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        raise NotImplementedError


def passing(call: Callable[..., Any]) -> Callable[..., Any]:
    """A function that asks the mode that was entered last, and is itself where there is none."""

    def through(*values: Any, **named: Any) -> Any:
        if not _entered:
            return call(*values, **named)
        mode = _entered.pop()
        try:
            return mode.__torch_function__(through, (), values, named)
        finally:
            _entered.append(mode)

    return through

"""In torch's place, for Python in the browser: as much of it as checks, near rules and words need.

It is no torch: tensors are arrays of JavaScript (``arrays.js``), functions are those of the formula language,
and gradients are the ones that it writes out. What is not here raises MissingError once it is called.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from explorer.formula.functions import FUNCTIONS

from . import tape
from .dtypes import DType, MissingError, bool_, float32, int64
from .dtypes import bfloat16 as bfloat16
from .dtypes import finfo as finfo
from .dtypes import float16 as float16
from .dtypes import float64 as float64
from .dtypes import int8 as int8
from .kernel import VERSION, arrays
from .layout import broadcast
from .modes import TorchFunctionMode, passing
from .tape import Function
from .tape import enable_grad as enable_grad
from .tape import is_recording as is_grad_enabled  # noqa: F401  # torch's name
from .tape import no_grad as no_grad
from .tensor import Size as Size
from .tensor import (
    Tensor,
    common,
    computed,
    elementwise,
    filled,
    joined,
    missing,
    operation,
    tensor,
)
from .tensor import nextafter as nextafter

inf, __version__ = math.inf, VERSION


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return missing(f"torch.{name}")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) else value


def zeros(*shape: Any, dtype: DType = float32) -> Tensor:
    return filled(_sizes(shape), 0.0, dtype)


def ones(*shape: Any, dtype: DType = float32) -> Tensor:
    return filled(_sizes(shape), 1.0, dtype)


def full(shape: tuple[int, ...], value: Any, *, dtype: DType | None = None) -> Tensor:
    return filled(shape, value, dtype or tensor(value).dtype)


def _sizes(shape: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(shape[0]) if shape and isinstance(shape[0], tuple | list) else shape


def zeros_like(like: Tensor) -> Tensor:
    return filled(like.shape, 0.0, like.dtype)


def ones_like(like: Tensor, *, dtype: DType | None = None) -> Tensor:
    return filled(like.shape, 1.0, dtype or like.dtype)


def full_like(like: Tensor, value: Any) -> Tensor:
    return filled(like.shape, _plain(value), like.dtype)


def eye(size: int, *, dtype: DType = float32) -> Tensor:
    return diag(ones(size, dtype=dtype))


def arange(start: float, stop: float | None = None, *, dtype: DType | None = None) -> Tensor:
    first, last = (0, start) if stop is None else (start, stop)
    kind = dtype or (int64 if isinstance(first, int) and isinstance(last, int) else float32)
    return Tensor(arrays.stepped(first, 1, math.ceil(last - first)), (math.ceil(last - first),), kind)


def linspace(start: Any, stop: Any, count: int, *, dtype: DType = float32) -> Tensor:
    return Tensor(arrays.even(dtype.code, float(start), float(stop), count), (count,), dtype)


def logspace(start: Any, stop: Any, count: int, *, dtype: DType = float32) -> Tensor:
    return computed("**", (10.0, linspace(start, stop, count, dtype=dtype)))


def cat(parts: Sequence[Tensor], dim: int = 0) -> Tensor:
    return joined(parts, dim)


def stack(parts: Sequence[Tensor], dim: int = 0) -> Tensor:
    rank = len(parts[0].shape)
    dim %= rank + 1
    shape = parts[0].shape
    return joined([part.reshape(*shape[:dim], 1, *shape[dim:]) for part in parts], dim)


def where(test: Tensor, yes: Any, no: Any) -> Tensor:
    kind = common((yes, no)) if isinstance(yes, Tensor) or isinstance(no, Tensor) else float32
    shape = broadcast(*(each.shape for each in (test, yes, no) if isinstance(each, Tensor)))
    chosen = [_laid(each, shape, kind) for each in (yes, no)]
    picked = Tensor(operation("where")(0, test.expand(shape).data, *map(_data, chosen)), shape, kind)

    def back(g: Tensor) -> tuple[None, Tensor, Tensor]:
        return None, where(test, g, 0.0), where(test, 0.0, g)

    return tape.record(picked, (test, *chosen), back)


def _laid(value: Any, shape: tuple[int, ...], kind: DType) -> Any:
    return value.to(kind).expand(shape) if isinstance(value, Tensor) else tensor(value, kind).item()


def _data(value: Any) -> Any:
    return value.data if isinstance(value, Tensor) else float(value)


def clamp(x: Tensor, min: Any = None, max: Any = None) -> Tensor:
    return x.clamp(min, max)


def isclose(left: Tensor, right: Tensor, rtol: float = 1e-5, atol: float = 1e-8) -> Tensor:
    return _close(left, right, rtol, atol, False)


def allclose(
    left: Tensor, right: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: Any = False
) -> Any:
    return _close(left, right, rtol, atol, equal_nan).all().item()


def _close(left: Tensor, right: Tensor, rtol: float, atol: float, equal_nan: Any) -> Tensor:
    if left.dtype is not right.dtype:
        raise RuntimeError(f"{left.dtype} did not match {right.dtype}")
    apart = (left - right).abs()
    same = (left == right) | (apart.isfinite() & (apart <= atol + (rtol * right).abs()))
    return same | (left.isnan() & right.isnan()) if equal_nan else same


def equal(left: Tensor, right: Tensor) -> Any:
    return left.shape == right.shape and (left == right).all().item()


def trapezoid(y: Tensor, x: Tensor) -> Tensor:
    return (x.diff() * (y[1:] + y[:-1])).sum() / 2.0


def diag(values: Tensor) -> Tensor:
    return diag_embed(values)


def diag_embed(values: Tensor) -> Tensor:
    size = values.shape[-1]
    unit = Tensor(
        arrays.listed(*(float(i == j) for i in range(size) for j in range(size))), (size, size), values.dtype
    )
    return where(unit == 1, values[..., None], 0.0)


def solve(matrices: Tensor, right: Tensor) -> Tensor:
    if right.shape != matrices.shape[:-1]:
        raise MissingError("solve with several right sides")
    return Tensor(arrays.solved(matrices.data, right.data, right.shape[-1]), right.shape, right.dtype)


def pinv(matrices: Tensor) -> Tensor:
    *batch, m, n = matrices.shape
    return Tensor(arrays.inverted(matrices.data, m, n), (*batch, n, m), matrices.dtype)


def from_numpy(values: Tensor) -> Tensor:
    return values.detach()


def _function(path: str) -> Callable[..., Any]:
    """A function of the table, by its name below torch and torch's keywords."""
    rows = {row.keywords: row for row in FUNCTIONS.values() if row.torch == path}

    def call(x: Any, *others: Any, **keywords: Any) -> Any:
        row = rows[tuple(keywords.items())]
        if row.reduces:
            return getattr(x, row.name)()
        return elementwise(row.name, x, *others)

    return passing(call)


def _module(name: str, **members: Any) -> ModuleType:
    module = ModuleType(f"torch.{name}")
    vars(module).update(members, __getattr__=__getattr__)
    sys.modules[module.__name__] = module
    return module


def _below(names: str) -> dict[str, Any]:
    """The functions of the table in a module of torch."""
    paths = {row.torch for row in FUNCTIONS.values()}
    own = {path.removeprefix(names): path for path in paths if path.startswith(names)}
    return {name: _function(path) for name, path in own.items() if "." not in name and name not in globals()}


globals().update(_below(""))
linalg = _module("linalg", solve=solve, pinv=pinv)
nn = _module(
    "nn", functional=_module("nn.functional", **_below("nn.functional.")), Module=type("Module", (), {})
)
autograd = _module(
    "autograd",
    Function=Function,
    grad=tape.grad,
    backward=tape.backward,
    function=_module("autograd.function", BackwardCFunction=tape.BackwardCFunction),
    Variable=type("Variable", (), {"_execution_engine": tape.Engine()}),
)
overrides = _module("overrides", TorchFunctionMode=TorchFunctionMode)
_C = _module("_C", _functorch=_module("_C._functorch", is_functorch_wrapped_tensor=lambda _: False))
dtype, bool = DType, bool_

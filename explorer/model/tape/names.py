"""Names of torch functions that are elementwise, that are linear, or whose results leave torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import torch
from torch import Tensor

EXITS = {
    "item": "a Python number", "tolist": "a Python list", "numpy": "NumPy", "array": "NumPy",
    "float": "a Python number", "int": "a Python number", "dlpack": "another library",
    "bool": "a Python truth value", "index": "a Python number",
}  # fmt: skip
"""Functions whose result is no tensor -> what their result is."""

VALUE_ATTRIBUTES = {".data", ".data=", ".requires_grad=", ".T", ".mT", ".real", ".imag"}
"""Attributes of a tensor that are values."""

SCALINGS = {"mul", "rmul", "imul", "multiply", "div", "truediv", "itruediv", "divide", "true_divide"}
"""Functions that multiply a gradient by their second argument, or by one over it."""

FORMATS = {
    torch.float8_e4m3fn: "fp8_e4m3", torch.float8_e5m2: "fp8_e5m2", torch.float8_e8m0fnu: "float8_e8m0fnu",
    torch.float8_e4m3fnuz: "float8_e4m3fnuz", torch.float8_e5m2fnuz: "float8_e5m2fnuz",
}  # fmt: skip
"""Types of eight bits -> the op of a cast to the type and back, which is one call, or a name for it."""

SUMS = {"add": (1, 1), "iadd": (1, 1), "sub": (1, -1), "isub": (1, -1), "rsub": (-1, 1), "neg": (-1,)}
"""Functions that add their inputs up -> the sign of each."""

STEPS = {
    "fake_quantize_per_tensor_affine", "fake_quantize_per_channel_affine", "fused_moving_avg_obs_fake_quant",
    "fake_quantize_learnable_per_tensor_affine", "fake_quantize_learnable_per_channel_affine",
    *FORMATS.values(), "bernoulli", "heaviside", "gumbel_softmax", "floor_divide", "trunc_divide",
}  # fmt: skip
"""Functions with steps that are sites, besides the ops of the catalogue."""

STEP_SIGNS = {
    "gt": 1, "ge": 1, "greater": 1, "greater_equal": 1, "lt": -1, "le": -1, "less": -1, "less_equal": -1,
}  # fmt: skip
"""Comparisons of x with a threshold -> 1 for step(x − threshold), -1 for step(threshold − x)."""

REFLECTIONS = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge"}
"""Comparisons -> the comparison that gives the same result for swapped operands."""

EXTREMES = {"max", "min", "maximum", "minimum", "fmax", "fmin"}
"""Functions of two tensors, in either order."""

INDICES = {"argmin", "argmax", "argsort", "bucketize", "searchsorted"}
"""Functions whose results are indices."""

LOGICAL = {
    "and", "or", "xor", "invert", "logical_and", "logical_or", "logical_xor", "logical_not", "bitwise_and",
    "bitwise_or", "bitwise_xor", "bitwise_not",
}  # fmt: skip
"""Functions that combine masks."""

COMPARISONS = STEP_SIGNS.keys() | {"eq", "ne", "isclose", "signbit", "logical_not"}

CARRIERS = {
    "detach", ".data", ".data=", "to", "float", "type", "type_as", "half", "double", "bfloat16", "contiguous",
    "view_as", "clone", "requires_grad", "from_numpy", "cpu", "cuda",
}  # fmt: skip
"""Functions that return the value they are given."""

VIEWS = {
    "view", "reshape", "flatten", "permute", "transpose", "unsqueeze", "squeeze", "expand", "t", ".T", ".mT",
    "getitem", "expand_as", "broadcast_to", "unflatten", "movedim", "select", "narrow",
}  # fmt: skip
"""Functions that return values they are given, in another shape."""

INTEGERS = {"int", "long", "bool", "byte", "short", "char"}
"""Functions that cast to integers."""

LINEAR = CARRIERS | LOGICAL - {"logical_not"} | {
    "add", "sub", "rsub", "radd", "mul", "rmul", "div", "rdiv", "truediv", "rtruediv", "true_divide",
    "divide", "multiply", "subtract", "neg", "negative", "lerp", "addcmul", "addcdiv", "where", "masked_fill",
    "setitem", "dropout", "alpha_dropout", "iadd", "isub", "imul", "itruediv", "full_like",
    "isfinite", "isnan", "isinf", "maximum_", "nan_to_num", "positive", "copy", "fill", "zero",
    "binary_cross_entropy_with_logits", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "real", "imag",
}  # fmt: skip
"""Functions that are linear in each input, and losses: they are no sites of their own."""

UNMEASURED = {
    "linear", "conv1d", "conv2d", "conv3d", "matmul", "bmm", "addmm", "add", "sub", "rsub", "neg", "cat",
    "stack", "view", "reshape", "permute", "transpose", "getitem", "flatten", "unsqueeze", "squeeze", "mean",
    "sum", "batch_norm", "layer_norm", "expand", "unbind", "split", "chunk", "cross_entropy", "mse_loss",
    "max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d",
} | (CARRIERS - {"requires_grad"})  # fmt: skip
"""Functions that stop a gradient only by the values they are given: their backward is not measured."""

_WRITING = {"set", "setitem", "iadd", "isub", "imul", "itruediv"}  # operators that write into a tensor
_POINTWISE = CARRIERS | STEPS | {"rsub", "masked_fill", "setitem"}


def find_tensors(items: Any) -> list[Tensor]:
    """Return the tensors in nested lists, tuples and dicts, in order."""
    kind = _kind_of(items.__class__)
    if kind is Tensor:
        return [items]
    tensors: list[Tensor] = []
    for item in () if kind is None else items.values() if kind is dict else items:
        kind = _kind_of(item.__class__)
        if kind is Tensor:
            tensors.append(item)
        elif kind is not None and item:
            tensors += find_tensors(item)
    return tensors


@lru_cache(maxsize=1024)  # five times faster than isinstance
def _kind_of(kind: type) -> type | None:
    return next((base for base in (Tensor, dict, tuple, list) if issubclass(kind, base)), None)


def replace_tensor(items: Any, old: Tensor, new: Any) -> Any:
    """Return nested lists, tuples and dicts with ``new`` in place of the tensor ``old``."""
    if items is old:
        return new
    if isinstance(items, dict):
        changed = {key: replace_tensor(item, old, new) for key, item in items.items()}
        return changed if type(items) is dict else type(items)(**changed)  # such as a library's output class
    if isinstance(items, tuple | list):
        each_new = [replace_tensor(item, old, new) for item in items]
        return type(items)(*each_new) if hasattr(items, "_fields") else type(items)(each_new)
    return items


@cache
def name_of(function: Any) -> str:
    """Return torch's name of a function without outer underscores; ".data" or ".data=" for an attribute."""
    name = str(getattr(function, "__name__", None) or function)
    if name in ("__get__", "__set__"):
        return f".{function.__self__.__name__}" + ("=" if name == "__set__" else "")
    name = name.split("::")[-1].split(".")[0]
    return str(name.strip("_") or name)


@cache
def is_pointwise(name: str) -> bool:
    """Return whether the function with this name is elementwise, according to the tags of ATen."""
    packet: Any = getattr(torch.ops.aten, name, None)
    overloads = packet.overloads()[:1] if hasattr(packet, "overloads") else ()
    return name in _POINTWISE or any(torch.Tag.pointwise in getattr(packet, item).tags for item in overloads)


def may_write(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Return whether a call may write into its first tensor."""
    return _is_in_place(function) or kwargs.get("inplace") is True or bool([a for a in args if a is True])


@cache
def _is_in_place(function: Any) -> bool:
    name = getattr(function, "__name__", "")
    return name == name.rstrip("_") + "_" or (name[:2] == "__" and name.strip("_") in _WRITING)

"""The torch functions that compute ops of the catalogue, with the names of their parameters.

Functions are found by the op's key and its aliases: ``torch.round``, ``F.relu``, ``Tensor.clip_``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional
from torch import Tensor

from explorer.catalogue import OPS
from explorer.model.tape.names import may_write

# Torch's keywords for the parameters of each op, in the order of the op's parameters.
_KEYWORDS: dict[str, tuple[str, ...]] = {
    "round": (), "floor": (), "ceil": (), "trunc": (), "sign": (), "relu": (), "relu6": (), "selu": (),
    "leaky_relu": ("negative_slope",), "prelu": ("weight",), "elu": ("alpha",), "celu": ("alpha",),
    "gelu": (), "silu": (), "mish": (), "hardswish": (), "hardsigmoid": (), "softplus": (),
    "clamp": ("min", "max"), "hardtanh": ("min_val", "max_val"), "tanh": (), "sigmoid": (), "softsign": (),
    "softshrink": ("lambd",), "hardshrink": ("lambd",), "abs": (), "square": (), "sqrt": (), "exp": (),
    "log": (), "sin": (), "reciprocal": (),
    "fake_quantize": ("scale", "zero_point", "quant_min", "quant_max"),
}  # fmt: skip
_OTHER_NAMES = {"sigmoid": ("expit",), "abs": ("absolute",)}  # aliases that only torch has
_ONE_BOUND = {"clamp_min": ("min",), "clamp_max": ("max",)}
_POWERS: dict[float, str] = {2: "square", 3: "cube"}
_WITHOUT_BOUND = {"min": -math.inf, "max": math.inf}
_HOMES = (torch, torch.special, torch.nn.functional, Tensor)


class TorchCall(NamedTuple):
    """A torch function that computes an op.

    Attributes:
        op: the op's key; "" for a power, whose op depends on the exponent.
        keywords: torch's names of the arguments after x, in order.
    """

    op: str
    keywords: tuple[str, ...]


def _list_calls() -> dict[Any, TorchCall]:
    named = [
        *((name, TorchCall(op, keywords)) for op, keywords in _KEYWORDS.items()
          for name in (op, *OPS[op].also, *_OTHER_NAMES.get(op, ()))),
        *((name, TorchCall("clamp", keywords)) for name, keywords in _ONE_BOUND.items()),
        ("pow", TorchCall("", ("exponent",))),
    ]  # fmt: skip
    found = [
        (getattr(home, spelled, None), call)
        for name, call in named for home in _HOMES for spelled in (name, f"{name}_", f"__{name}__")
    ]  # fmt: skip
    return {function: call for function, call in found if callable(function)}


CALLS: Mapping[Any, TorchCall] = _list_calls()
"""torch's function -> the op that it computes."""


class CallInput(NamedTuple):
    """The x of a call, from before the call runs, with the op and its parameters.

    Attributes:
        key: the op that the call computes; "" if it is not in the catalogue.
        parameters: the parameters in the call, by the op's own names.
        is_margin: whether x is a comparison's x − threshold, or threshold − x for "lt" and "le".
    """

    x: Tensor
    key: str
    parameters: dict[str, float | Tensor]
    is_margin: bool = False


def read_input(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], x: Tensor) -> CallInput:
    """Return x, op and parameters of a call that will run. x is copied if the call may write into it."""
    call = CALLS.get(function)
    key = op_key_of(call, args, kwargs) if call else None
    x = x.clone() if may_write(function, args, kwargs) else x
    return CallInput(x, key or "", parameters_of(call, args, kwargs) if call and key else {})


def _get_argument(position: int, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    return args[position] if len(args) > position else kwargs.get(name)


def op_key_of(call: TorchCall, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str | None:
    """Return the key of the op that a call computes. None for a power whose exponent has no op."""
    if call.op:
        return call.op
    exponent = _get_argument(1, "exponent", args, kwargs)
    return _POWERS.get(exponent) if isinstance(exponent, int | float) else None


def parameters_of(
    call: TorchCall, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, float | Tensor]:
    """Return a dict of a call's arguments after x, by the names of the op's parameters."""
    if not call.op:
        return {}
    arguments = {name: _get_argument(at, name, args, kwargs) for at, name in enumerate(call.keywords, 1)}
    values: dict[str, float | Tensor] = {}
    for parameter, name in zip(OPS[call.op].parameters, _KEYWORDS[call.op], strict=True):
        value = arguments.get(name)
        if value is None and name in _WITHOUT_BOUND:
            value = _WITHOUT_BOUND[name]
        if value is not None:
            values[parameter.name] = value
    return values

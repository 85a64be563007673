"""A device that is only pretended: torch takes it for an accelerator, and its values are computed on the CPU.

It refuses what accelerators refuse: tensors of two devices in one call, another device's generator, NumPy. So
code that forgets to follow its tensors fails here as on a GPU, and results equal the CPU's bit for bit. It
stays for the rest of the process. It rests on experimental parts of torch; tried with torch 2.13.
"""

import gc
import math
from collections.abc import Collection
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils import backend_registration
from torch.utils._pytree import tree_leaves, tree_map

NAME = "pretended"
# Calls that may take tensors of both devices, as on CUDA.
_ACROSS = ("aten::copy_", "aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_")
_refused: set[torch.dtype] = set()
limits: dict[str, float] = {"bytes": math.inf}  # of one tensor
_fallback, _own = (torch.library.Library(names, "IMPL") for names in ("_", "aten"))


class Pretended(Tensor):
    """A tensor that says it is on the pretended device; ``values`` are on the CPU."""

    values: Tensor

    @staticmethod
    def __new__(cls, values: Tensor) -> "Pretended":
        if values.dtype in _refused:
            raise TypeError(f"the pretended device has no {values.dtype}")
        if values.nbytes > limits["bytes"]:
            raise torch.OutOfMemoryError(f"{NAME} out of memory. Tried to allocate {values.nbytes} bytes")
        place = values.shape, values.stride(), values.storage_offset()
        kind = {"dtype": values.dtype, "device": torch.device(NAME, 0)}
        tensor = Tensor._make_wrapper_subclass(cls, *place, **kind)
        tensor.values = values
        return tensor

    def __repr__(self, **_options: Any) -> str:
        return f"Pretended({self.values!r})"

    def tolist(self) -> Any:
        return self.values.tolist()

    @classmethod
    def __torch_dispatch__(cls, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _compute(func, *args, **(kwargs or {}))


def count_pretended_bytes() -> int:
    stores = [each.values.untyped_storage() for each in gc.get_objects() if type(each) is Pretended]
    return sum({each.data_ptr(): each.nbytes() for each in stores}.values())


class _Module(backend_registration._DummyBackendModule):
    """What torch asks of ``torch.pretended``; its random numbers are the CPU's."""

    def get_rng_state(self, _device: Any = None) -> Tensor:
        return torch.get_rng_state()

    def set_rng_state(self, state: Tensor, _device: Any = None) -> None:
        torch.set_rng_state(state)


def pretend_device(refused: Collection[torch.dtype] = ()) -> str:
    """Give this process a pretended accelerator, and return its name.

    ``refused``: dtypes that it lacks, as Apple's GPU lacks float64.
    """
    _refused.update(refused)
    backend_registration._setup_privateuseone_for_python_backend(NAME, _Module())
    _fallback.fallback(_compute, "PrivateUse1")
    copy = torch.ops.aten._to_copy.default  # torch.tensor and lists as indices call it past the fallback
    _own.impl("_to_copy", partial(_compute, copy), "PrivateUse1")
    return NAME


def _compute(func: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the result of a call of torch, on the device where an accelerator would have it."""
    given = tree_leaves((args, kwargs))
    ours = [each for each in given if isinstance(each, Pretended)]
    asked = kwargs.get("device")
    if ours:
        _require_one_device(func, given)
    if asked is not None and asked.type == NAME:
        kwargs = kwargs | {"device": torch.device("cpu")}
    found = func(*tree_map(_unwrap, args), **tree_map(_unwrap, kwargs))
    if asked is not None and asked.type != NAME:
        return found
    wrappers = {id(each.values): each for each in ours}  # of what comes back in the tensor that it came in

    def wrap(value: Any) -> Any:
        if not isinstance(value, Tensor) or isinstance(value, Pretended):
            return value
        return wrappers[id(value)] if id(value) in wrappers else Pretended(value)

    return tree_map(wrap, found)


def _unwrap(value: Any) -> Any:
    return value.values if isinstance(value, Pretended) else value


def _require_one_device(func: Any, given: list[Any]) -> None:
    """Raise RuntimeError, as CUDA does, for numbers of the CPU beside tensors of the device."""
    others = [each for each in given if isinstance(each, Tensor) and not isinstance(each, Pretended)]
    if any(each.dim() for each in others) and func._schema.name not in _ACROSS:
        raise RuntimeError(f"{func}: expected all tensors to be on the same device, found {NAME} and cpu")
    if any(isinstance(each, torch.Generator) for each in given):
        raise RuntimeError(f"{func}: expected a generator of the device, found one of the CPU")

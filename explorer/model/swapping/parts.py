"""A swapped model and its submodules, which are objects of subclasses of the modules' own classes.

They share attributes, state and parameters with the modules. Only their calls differ, as these use the
exchanged backward.
"""

from __future__ import annotations

import copy
import inspect
from collections import UserDict
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial, wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import torch
from torch import nn

if TYPE_CHECKING:
    import pandas as pd

Call = Callable[..., Any]


class CalledModule(NamedTuple):
    """A module that was called, with its path in the model."""

    path: str
    module: nn.Module


Owner: TypeAlias = Any  # a ModelSwap, whose module imports this one


class Parts(UserDict[str, Any]):
    """Submodules by name, each as part of a swapped model. Assignments change the original module."""

    def __init__(self, owner: Owner, prefix: str, own: Any) -> None:
        self._owner, self._prefix, self.data = owner, prefix, own

    def __getitem__(self, name: str) -> nn.Module | None:
        module = self.data[name]
        origin = CalledModule(f"{self._prefix}{name}", module)
        return None if module is None else make_part(self._owner, origin)  # a module may have no truth value

    def __setitem__(self, name: str, module: nn.Module | None) -> None:
        self.data[name] = unwrap(module)


class Swapped:
    """A swapped model or a part of it; the class is combined with the module's own class.

    Parameters, buffers, methods and submodules are those of the module.
    """

    __slots__ = ("_origin", "_owners")
    _origin: CalledModule
    _owners: tuple[Owner, ...]  # both swaps of a model that is swapped twice, the outer one first
    __dict__: dict[str, Any]

    @property
    def sites(self) -> pd.DataFrame:
        """A table with one row per site that calls have reached so far.

        site, op: as named by ``explorer.observe``; rule; calls: their number; change: the largest change of y
        by another op; note: why the rule had no effect, that it gets x − threshold, or which parameter stays
        without gradient, otherwise "".
        """
        return self._owners[0].make_frame()  # type: ignore[no-any-return]  # Owner is Any

    def undo(self) -> nn.Module:
        """End the swap and return the original model. The swapped model then computes the same."""
        return self._owners[0].undo()  # type: ignore[no-any-return]

    def extra_repr(self) -> str:
        """Return the target and the rule as text, for the swapped model but not for each of its parts."""
        inner: str = super().extra_repr()  # type: ignore[misc]  # that of nn.Module
        return inner if self._origin.path else f"{inner}{', ' * bool(inner)}{self._owners[0].told}"

    @property
    def _modules(self) -> Any:
        modules = getattr(super(), "_modules", self.__dict__["_modules"])
        for owner in reversed(self._owners):
            modules = Parts(owner, f"{self._origin.path}." if self._origin.path else "", modules)
        return modules

    @_modules.setter
    def _modules(self, modules: Any) -> None:
        self.__dict__["_modules"] = {name: unwrap(module) for name, module in modules.items()}

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, unwrap(value))

    def __getattr__(self, name: str) -> Any:
        value = super().__getattr__(name)  # type: ignore[misc]  # that of nn.Module
        return self._modules[name] if isinstance(value, nn.Module) else value

    def __eq__(self, other: object) -> bool:
        is_part = isinstance(other, Swapped) and other.__dict__ is self.__dict__
        return is_part and other._owners == self._owners  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return id(self.__dict__)

    def __reduce__(self) -> tuple[Call, tuple[Any, ...]]:
        owner, path = self._owners[0], self._origin.path
        return owner.make_recipe() if self is owner.root else (nn.Module.get_submodule, (owner.root, path))

    def __deepcopy__(self, memo: dict[int, Any]) -> nn.Module:
        owner = self._owners[0]
        if self is not owner.root:
            root: nn.Module = copy.deepcopy(owner.root, memo)
            return root.get_submodule(self._origin.path)
        twin: nn.Module = replace(owner, model=copy.deepcopy(owner.model, memo), reached={}).root
        return twin

    def apply(self, function: Callable[[nn.Module], None]) -> Swapped:
        """Call a function with the original module and each of its submodules."""
        self._origin.module.apply(function)
        return self


def unwrap(value: Any) -> Any:
    """Return the original module of a swapped part. Any other value is returned unchanged."""
    return value._origin.module if isinstance(value, Swapped) else value


class ScriptedPart(nn.Module):
    """A TorchScript module in a swapped model. Its class cannot be extended."""

    def __init__(self, owner: Owner, origin: CalledModule) -> None:
        super().__init__()
        self.__dict__["_owner"], self.__dict__["_origin"] = owner, origin

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the output of the module."""
        origin: CalledModule = self.__dict__["_origin"]
        return self.__dict__["_owner"].call_swapped(origin.module, origin, True, *args, **kwargs)


def make_part(owner: Owner, origin: CalledModule) -> nn.Module:
    """Return a wrapper of a submodule, of the same class, whose calls use the exchanged backward."""
    module = origin.module
    if isinstance(module, torch.jit.ScriptModule):
        return ScriptedPart(owner, origin)
    owners: tuple[Owner, ...] = (owner,)
    if isinstance(module, Swapped):
        owners, origin = (owner, *module._owners), module._origin
    kind: Any = type(origin.module)
    part: Any = object.__new__(_make_class(kind))
    for name, value in (("__dict__", module.__dict__), ("_owners", owners), ("_origin", origin)):
        object.__setattr__(part, name, value)
    return part  # type: ignore[no-any-return]


@lru_cache(maxsize=256)
def _make_class(base: Any) -> type[Swapped]:
    """Return a subclass of a module's class for swapped parts. Calling it makes a module of that class."""
    members: dict[str, Any] = {
        name: getattr(base, name) for name in ("__module__", "__qualname__", "__doc__")
    }
    members |= {"__slots__": (), "__new__": lambda _, *args, **kwargs: base(*args, **kwargs)}
    members |= {name: _make_method(getattr(base, name), is_forward=True) for name in ("forward", "__call__")}
    for kind in base.__mro__[: base.__mro__.index(nn.Module)]:
        for name, value in vars(kind).items() if not kind.__module__.startswith("torch.") else ():
            if name in members or name in vars(Swapped) or (name.startswith("__") and name.endswith("__")):
                continue
            if inspect.isfunction(value):
                members[name] = _make_method(value)
            elif isinstance(value, property) and value.fget is not None:
                members[name] = property(_make_method(value.fget), value.fset, value.fdel)
    return type(base.__name__, (Swapped, base), members)


def _make_method(function: Call, is_forward: bool = False) -> Call:

    @wraps(function)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        call: Call = partial(function, self._origin.module)
        for owner in reversed(self._owners):
            call = partial(owner.call_swapped, call, self._origin, is_forward)
        return call(*args, **kwargs)

    return method

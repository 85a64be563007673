"""A swapped model and its submodules: new objects of the modules' own classes, with the same attributes.

It shares state and parameters with the module. Only its calls differ: they run with the exchanged
backward.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, MutableMapping
from functools import lru_cache, partial, wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import torch
from torch import nn

if TYPE_CHECKING:
    import pandas as pd

Call = Callable[..., Any]
Modules = MutableMapping[str, "nn.Module | None"]


class CalledModule(NamedTuple):
    """A module that is called alone, and its path."""

    path: str
    module: nn.Module


Owner: TypeAlias = Any  # a ModelSwap, whose module imports this one


class Parts(Modules):
    """Submodules by name, each as a part of a swapped model. Assignments change the module."""

    def __init__(self, owner: Owner, prefix: str, own: Modules) -> None:
        self._owner, self._prefix, self._own = owner, prefix, own

    def __getitem__(self, name: str) -> nn.Module | None:
        module = self._own[name]
        return module and make_part(self._owner, CalledModule(f"{self._prefix}{name}", module))

    def __setitem__(self, name: str, module: nn.Module | None) -> None:
        self._own[name] = unwrap(module)

    def __delitem__(self, name: str) -> None:
        del self._own[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)


class Swapped:
    """A swapped model, or a submodule of one; it precedes the module's own class.

    Parameters, buffers, methods and submodules are the module's own.
    """

    __slots__ = ("_origin", "_owners")
    _origin: CalledModule
    _owners: tuple[Owner, ...]  # of a model that is swapped twice both, the outer one first
    __dict__: dict[str, Any]

    @property
    def sites(self) -> pd.DataFrame:
        """One row a site that was reached so far.

        site, op: as ``explorer.observe`` calls them; rule; calls; change: by how much another op changed y at
        most; note: where the rule had no effect, why.
        """
        frame: pd.DataFrame = self._owners[0].frame
        return frame

    def undo(self) -> nn.Module:
        """Return the original model; this one computes the same."""
        model: nn.Module = self._owners[0].undo()
        return model

    def extra_repr(self) -> str:
        """Return target and rule."""
        inner: str = super().extra_repr()  # type: ignore[misc]  # that of nn.Module
        return f"{inner}{', ' * bool(inner)}{self._owners[0].told}"

    @property
    def _modules(self) -> Modules:
        modules: Modules = getattr(super(), "_modules", self.__dict__["_modules"])
        for owner in reversed(self._owners):
            modules = Parts(owner, f"{self._origin.path}." if self._origin.path else "", modules)
        return modules

    @_modules.setter
    def _modules(self, modules: Modules) -> None:
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
        return owner.make_recipe() if self is owner.root else (_find_part, (owner.root, path))

    def __deepcopy__(self, memo: dict[int, Any]) -> nn.Module:
        owner = self._owners[0]
        if id(self) in memo:
            return memo[id(self)]  # type: ignore[no-any-return]
        if self is not owner.root:
            return _find_part(copy.deepcopy(owner.root, memo), self._origin.path)
        twin: nn.Module = owner.copy_to(copy.deepcopy(owner.model, memo))
        memo[id(self)] = twin
        return twin

    def apply(self, function: Callable[[nn.Module], None]) -> Swapped:
        """Call a function with the module and each of its submodules, unswapped."""
        self._origin.module.apply(function)
        return self


def unwrap(value: Any) -> Any:
    """Return the module itself of a swapped part; anything else unchanged."""
    return value._origin.module if isinstance(value, Swapped) else value


def _find_part(root: nn.Module, path: str) -> nn.Module:
    return root.get_submodule(path)


class ScriptedPart(nn.Module):
    """A module of TorchScript, whose class cannot be extended, in a swapped model."""

    def __init__(self, owner: Owner, origin: CalledModule) -> None:
        super().__init__()
        self.__dict__["_owner"], self.__dict__["_origin"] = owner, origin

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the output of the module."""
        origin: CalledModule = self.__dict__["_origin"]
        return self.__dict__["_owner"].call_swapped(origin.module, args, kwargs, origin, True)


def make_part(owner: Owner, origin: CalledModule) -> nn.Module:
    """Return the submodule that is called with the exchanged backward."""
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
    """Return the class of parts of a module's class. Called, as a slice does, it makes a plain module."""
    members: dict[str, Any] = {
        "__slots__": (),
        "__new__": lambda _, *args, **kwargs: base(*args, **kwargs),
        "__module__": base.__module__,
        "__qualname__": base.__qualname__,
        "__doc__": base.__doc__,
    }
    for name in ("forward", "__call__"):
        members[name] = _make_method(getattr(base, name), is_forward=True)
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
    """Return a method that calls the module's own with the exchanged backward."""

    @wraps(function)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        call: Call = partial(function, self._origin.module)
        for owner in reversed(self._owners):
            call = partial(_call_through, owner, call, self._origin, is_forward)
        return call(*args, **kwargs)

    return method


def _call_through(
    owner: Owner, call: Call, origin: CalledModule, is_forward: bool, /, *args: Any, **kwargs: Any
) -> Any:
    return owner.call_swapped(call, args, kwargs, origin, is_forward)

"""The submodules of a swapped model: called by themselves, they run with the exchanged backward too.

A part is another object of its module's own class, with the very same attributes: what it computes, keeps and
learns is the module's. Only its calls differ, which the swapped model makes.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, MutableMapping
from functools import lru_cache, partial, wraps
from typing import Any, NamedTuple, Protocol

import torch
from torch import nn

Call = Callable[..., Any]
Modules = MutableMapping[str, "nn.Module | None"]


class Called(NamedTuple):
    """A module that is called by itself, and its path."""

    path: str
    module: nn.Module


class Owner(Protocol):
    """A swapped model."""

    def through(self, call: Call, args: Any, kwargs: Any, whole: Called | None) -> Any:
        """The result of a call with the exchanged backward; ``whole``: the part called; None: a method."""

    def scripted(self, module: nn.Module) -> nn.Module:
        """What stands for a module of TorchScript, which has no Python class."""

    def get_submodule(self, target: str) -> nn.Module:
        """The part at a path."""


class Parts(Modules):
    """Submodules by name, each as a part of a swapped model. What is set is the module's own."""

    def __init__(self, owner: Owner, before: str, own: Modules) -> None:
        self._owner, self._before, self._own = owner, before, own

    def __getitem__(self, name: str) -> nn.Module | None:
        module = self._own[name]
        return module if module is None else _part(self._owner, Called(f"{self._before}{name}", module))

    def __setitem__(self, name: str, module: nn.Module | None) -> None:
        self._own[name] = own(module)

    def __delitem__(self, name: str) -> None:
        del self._own[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)


class Part:
    """A submodule of a swapped model; it stands before the module's own class."""

    __slots__ = ("_called", "_owners")
    _called: Called
    _owners: tuple[Owner, ...]  # of a model that is swapped twice both, the outer one first
    __dict__: dict[str, Any]

    @property
    def _modules(self) -> Modules:
        modules: Modules = getattr(super(), "_modules", self.__dict__["_modules"])
        for owner in reversed(self._owners):
            modules = Parts(owner, f"{self._called.path}.", modules)
        return modules

    @_modules.setter
    def _modules(self, modules: Modules) -> None:
        self.__dict__["_modules"] = {name: own(module) for name, module in modules.items()}

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, own(value))

    def __getattr__(self, name: str) -> Any:
        value = super().__getattr__(name)  # type: ignore[misc]  # that of nn.Module
        return self._modules[name] if isinstance(value, nn.Module) else value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Part) and other.__dict__ is self.__dict__ and other._owners == self._owners

    def __hash__(self) -> int:
        return id(self.__dict__)

    def __reduce__(self) -> tuple[Call, tuple[Owner, str]]:
        return _again, (self._owners[0], self._called.path)

    def __deepcopy__(self, memo: dict[int, Any]) -> nn.Module:
        owner, path = self.__reduce__()[1]
        return _again(copy.deepcopy(owner, memo), path)

    def apply(self, function: Callable[[nn.Module], None]) -> Part:
        """Call a function with the module and each of its submodules, all as they are in the model."""
        self._called.module.apply(function)
        return self


def own(value: Any) -> Any:
    """The module itself that a part is of; anything else as it is."""
    return value._called.module if isinstance(value, Part) else value


def _again(owner: Owner, path: str) -> nn.Module:
    return owner.get_submodule(path)


def _part(owner: Owner, called: Called) -> nn.Module:
    module = called.module
    if isinstance(module, torch.jit.ScriptModule):
        return owner.scripted(module)
    owners: tuple[Owner, ...] = (owner,)
    if isinstance(module, Part):
        owners, called = (owner, *module._owners), module._called
    kind: Any = type(called.module)
    part: Any = object.__new__(_kind(kind))
    for name, value in (("__dict__", module.__dict__), ("_owners", owners), ("_called", called)):
        object.__setattr__(part, name, value)
    return part  # type: ignore[no-any-return]


@lru_cache(maxsize=256)
def _kind(base: Any) -> type[Part]:
    """The class of parts of a module's class; called as a slice of it does, it makes one of the module's."""
    members: dict[str, Any] = {
        "__slots__": (),
        "__new__": lambda _, *args, **kwargs: base(*args, **kwargs),
        "__module__": base.__module__,
        "__qualname__": base.__qualname__,
        "__doc__": base.__doc__,
    }
    for name in ("forward", "__call__"):
        members[name] = _passing(getattr(base, name), whole=True)
    for kind in base.__mro__[: base.__mro__.index(nn.Module)]:
        for name, value in vars(kind).items() if not kind.__module__.startswith("torch.") else ():
            if name in members or name in vars(Part) or (name.startswith("__") and name.endswith("__")):
                continue
            if inspect.isfunction(value):
                members[name] = _passing(value)
            elif isinstance(value, property) and value.fget is not None:
                members[name] = property(_passing(value.fget), value.fset, value.fdel)
    return type(base.__name__, (Part, base), members)


def _passing(function: Call, whole: bool = False) -> Call:
    """A method that the swapped models call; ``whole``: it is the module's call itself."""

    @wraps(function)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        call: Call = partial(function, self)
        for owner in reversed(self._owners):
            call = partial(_through, owner, call, self._called if whole else None)
        return call(*args, **kwargs)

    return method


def _through(owner: Owner, call: Call, whole: Called | None, /, *args: Any, **kwargs: Any) -> Any:
    return owner.through(call, args, kwargs, whole)

"""The target of a swap: the calls in a model whose backward is exchanged."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import nn
from torch.autograd import Function

from explorer.catalogue import OPS, suggest_key
from explorer.formula import quote
from explorer.model.tape import CALLS, Call, Site, names
from explorer.model.tape.names import REFLECTIONS, is_pointwise, name_of
from explorer.model.tape.private import forward_class

_STEP_OPS = {"step", "step_open"}  # the ops that a comparison computes
_LINE = re.compile(r":\d+")
_NAMES = names.STEPS | names.COMPARISONS | names.EXITS.keys() | {
    "argmax", "one_hot", "bucketize", "where", "int", "long", "detach", "argmin", "argsort", "scatter",
    "topk",
}  # fmt: skip


@dataclass(frozen=True)
class Target:
    """The calls whose backward a swap exchanges.

    Attributes:
        told: the target's name in sentences.
        op: an op or torch function, wherever it is called; "" for another target.
        owner: a Function class, wherever it is called; None for another target.
        modules: the paths of submodules.
        site: the name of a site.
        parameter: the name of a parameter of the model; its calls are those computed elementwise from it.
    """

    told: str
    op: str = ""
    owner: type[Function] | None = None
    modules: frozenset[str] = frozenset()
    site: str = ""
    parameter: str = ""

    def is_meant(self, call: Call) -> bool:
        """Return whether a call in the model belongs to the target."""
        if self.owner is not None:
            owner = forward_class(call.function) or call.name
            return call.kind == "function" and owner in (self.owner, self.owner.__name__)
        if self.op:
            is_reflected = call.name in REFLECTIONS and self.op == name_of(call.function)
            is_step = self.op in _STEP_OPS and call.name in (*names.STEP_SIGNS, "heaviside")
            return is_reflected or is_step or self.op in (call.op, call.name)
        if self.site:
            return call.place.path is not None and self.site in call.site.names
        return self.is_inside(call.place.path)

    def is_inside(self, path: str | None) -> bool:
        """Return whether the submodule at a path belongs to the target, or is inside one that does."""
        return path is not None and any(is_inside(path, item) for item in self.modules)


def is_inside(path: str, outer: str) -> bool:
    """Return whether the submodule at ``path`` is that at ``outer`` or inside it; "" is the model."""
    return not outer or f"{path}.".startswith(f"{outer}.")


def target_of(model: nn.Module, what: Any) -> Target:
    """Return the target for the argument ``what`` of ``swap``. Raises ValueError if there is no such part."""
    owner = getattr(what, "__self__", None) if getattr(what, "__name__", "") == "apply" else what
    if isinstance(owner, type) and issubclass(owner, Function):
        return Target(owner.__name__, owner=owner)
    if isinstance(what, Site):
        return Target(str(what), site=what.names[-1])
    submodules = [(name, module) for name, module in model.named_modules() if name]
    if isinstance(what, type) and issubclass(what, nn.Module):
        if paths := frozenset(name for name, module in submodules if isinstance(module, what)):
            return Target(what.__name__, modules=paths)
        raise ValueError(f"the model has no submodule of the class {what.__name__}")
    if isinstance(what, nn.Module):
        if paths := frozenset(name for name, module in submodules if module.__dict__ is what.__dict__):
            return Target(next(iter(paths)), modules=paths)
        raise ValueError(f"this {type(what).__name__} is no submodule of the model")
    if isinstance(what, nn.Parameter):
        for name, item in model.named_parameters():
            if item is what:
                return Target(name, parameter=name)
        raise ValueError("this parameter does not belong to the model")
    return _find_text(model, what) if isinstance(what, str) else _find_function(what)


def _find_text(model: nn.Module, what: str) -> Target:
    if what and what in dict(model.named_modules()):
        return Target(what, modules=frozenset({what}))
    if what in dict(model.named_parameters()):
        return Target(what, parameter=what)
    if _LINE.search(what):
        return Target(what, site=what)
    if what in OPS or what in _NAMES or is_pointwise(what):
        return Target(what, op=what)
    suggestion = suggest_key("op", what)
    raise ValueError(
        f"the model has no submodule or site {quote(what)}, and it is no op"
        + (f": {suggestion}" if suggestion else ": explorer.observe(model) names its sites")
    )


def _find_function(what: Callable[..., Any]) -> Target:
    call = CALLS.get(what) if callable(what) else None
    if call is not None and call.op:
        return Target(call.op, op=call.op)
    name = name_of(what) if callable(what) else ""
    if name in _NAMES or (name and is_pointwise(name)):
        return Target(name, op=name)
    shown_name = getattr(what, "__name__", type(what).__name__)
    raise ValueError(
        f"{shown_name} is no op of the catalogue: what takes a function such as torch.round, a class of "
        "modules or Functions, or the name of a submodule, parameter or site"
    )

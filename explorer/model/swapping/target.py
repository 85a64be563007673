"""The target of a swap: which calls of a model it is to reach."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import nn
from torch.autograd import Function

from explorer.catalogue import OPS, hint
from explorer.formula import quoted
from explorer.model.watching import CALLS, Site

_LINE = re.compile(r":\d+")


@dataclass(frozen=True)
class Target:
    """The calls that a swap is to reach.

    Attributes:
        told: its name in sentences.
        op: an op wherever it is called; "" for another target.
        owner: a Function class wherever it is called; None for another target.
        modules: the paths of submodules inside which all ops are meant.
        site: the name of a site.
    """

    told: str
    op: str = ""
    owner: type[Function] | None = None
    modules: frozenset[str] = frozenset()
    site: str = ""

    def hits(self, site: Site, owner: type[Function] | None) -> bool:
        """Whether a call at a site is meant."""
        if self.owner is not None:
            return owner is self.owner
        if self.op:
            return site.op == self.op
        if self.site:
            return self.site in site.names
        return any(site.module == path or site.module.startswith(f"{path}.") for path in self.modules)


def target_of(model: nn.Module, what: Any) -> Target:
    """The target that ``what`` names, see ``explorer.swap``. Raises ValueError with a plain sentence."""
    owner = getattr(what, "__self__", None)
    if getattr(what, "__name__", "") == "apply" and _is_function(owner):
        what = owner
    if _is_function(what):
        return Target(what.__name__, owner=what)
    if isinstance(what, Site):
        return Target(str(what), site=what.names[-1])
    if isinstance(what, type) and issubclass(what, nn.Module):
        return _of_class(model, what)
    if isinstance(what, nn.Module):
        return _of_module(model, what)
    if isinstance(what, str):
        return _of_text(model, what)
    return _of_call(what)


def _is_function(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Function)


def _of_class(model: nn.Module, kind: type[nn.Module]) -> Target:
    paths = frozenset(name for name, module in model.named_modules() if isinstance(module, kind) and name)
    if not paths:
        raise ValueError(f"the model has no submodule of the class {kind.__name__}")
    return Target(kind.__name__, modules=paths)


def _of_module(model: nn.Module, wanted: nn.Module) -> Target:
    paths = frozenset(name for name, module in model.named_modules() if module is wanted and name)
    if not paths:
        raise ValueError(f"this {type(wanted).__name__} is no submodule of the model")
    return Target(next(iter(paths)), modules=paths)


def _of_text(model: nn.Module, what: str) -> Target:
    if what and what in dict(model.named_modules()):
        return Target(what, modules=frozenset({what}))
    if what in OPS:
        return Target(what, op=what)
    if _LINE.search(what):
        return Target(what, site=what)
    meant = hint("op", what)
    raise ValueError(
        f"the model has no submodule or site {quoted(what)}, and it is no op"
        + (f": {meant}" if meant else ": explorer.observe(model) names its sites")
    )


def _of_call(what: Callable[..., Any]) -> Target:
    call = CALLS.get(what) if callable(what) else None
    name = getattr(what, "__name__", type(what).__name__)
    if call is None or not call.op:
        raise ValueError(
            f"{name} is no op of the catalogue: what takes a function such as torch.round, a class of "
            "modules or Functions, or the name of a submodule or site"
        )
    return Target(call.op, op=call.op)

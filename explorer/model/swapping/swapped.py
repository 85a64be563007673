"""A model whose backward is exchanged at some sites: the same parameters, forward the same."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import torch
from torch import fx, nn

from explorer.catalogue import Op, Rule, find_op
from explorer.model.swapping.exchange import Exchange
from explorer.model.swapping.inplace import Replaced, replaced
from explorer.model.swapping.parts import Called, Modules, Parts, own
from explorer.model.swapping.passing import UNTRACED, Pass, Swapping, UnreachedError
from explorer.model.swapping.target import target_of
from explorer.model.watching import WATCHED, compiled, names_of, watched

if TYPE_CHECKING:
    import pandas as pd

_SHARED = ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set")


class Swapped(nn.Module):
    """A model with an exchanged backward: called, trained, copied and saved like the model it is made of.

    Parameters and buffers are the model's own, under the same names; so are its methods and submodules,
    which run with the exchanged backward when they are called by themselves too: ``fixed.encoder(x)``.
    """

    def __init__(self, model: nn.Module, swapping: Swapping) -> None:
        super().__init__()
        ours = self.__dict__
        for name in _SHARED:
            ours[name] = model.__dict__[name]
        ours[WATCHED], ours["_swapping"] = model, swapping
        self.training = model.training

    @property  # type: ignore[override]  # where torch has a dict
    def _modules(self) -> Modules:
        return Parts(self, "", self._own._modules)

    @_modules.setter
    def _modules(self, modules: dict[str, nn.Module | None]) -> None:
        self.__dict__["_modules"] = modules

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, own(value))

    @property
    def sites(self) -> pd.DataFrame:
        """One row a site that was reached so far.

        site, op: as ``explorer.observe`` calls them; rule; calls; change: by how much another op changed y at
        most, in its first call; note: where the rule had no effect, why.
        """
        import pandas as pd

        swapping = self._swap
        records = [
            (str(site), site.op, swapping.exchange.key, seen.calls, seen.change, seen.note)
            for site, seen in swapping.seen.items()
        ]
        return pd.DataFrame(records, columns=["site", "op", "rule", "calls", "change", "note"])

    def undo(self) -> nn.Module:
        """The model as it was; this one computes the same from now on."""
        self._swap.active = False
        return self._own

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the output of the model."""
        if isinstance(args, fx.Proxy):
            raise UnreachedError(UNTRACED)
        return self.through(self._own, args, kwargs, Called("", self._own))

    def train(self, mode: bool = True) -> Self:
        """Set training mode, as the model itself does."""
        self._own.train(mode)
        self.training = mode
        return self

    def extra_repr(self) -> str:
        """The target and its rule."""
        return f"{self._swap.target.told} → {self._swap.exchange.key}"

    def __getattr__(self, name: str) -> Any:
        try:
            value = super().__getattr__(name)
        except AttributeError:
            if WATCHED not in self.__dict__:
                raise
            if isinstance(inspect.getattr_static(type(self._own), name, None), property):
                return self.through(getattr, (self._own, name), {})
            value = getattr(self._own, name)
        if isinstance(value, nn.Module):
            return self._modules.get(name, value)
        if not inspect.ismethod(value):
            return value

        @wraps(value)
        def method(*args: Any, **kwargs: Any) -> Any:
            return self.through(value, args, kwargs)

        return method

    def apply(self, fn: Callable[[nn.Module], None]) -> Self:
        """Call a function with the model and each of its submodules, all as they are."""
        self._own.apply(fn)
        return self

    def through(self, call: Callable[..., Any], args: Any, kwargs: Any, whole: Called | None = None) -> Any:
        """The result of a call with the exchanged backward; ``whole``: the part that it calls, else a method.

        torch.compile leaves it as it is: what is swapped is found while it runs.
        """
        run = _disabled() if "torch._dynamo" in sys.modules else Swapped._passed
        return run(self, call, args, kwargs, whole)

    def scripted(self, module: nn.Module) -> Swapped:
        """A swap of a submodule of TorchScript by itself."""
        return Swapped(module, self._swap)

    @property
    def _own(self) -> nn.Module:
        own: nn.Module = self.__dict__[WATCHED]
        return own

    @property
    def _swap(self) -> Swapping:
        swapping: Swapping = self.__dict__["_swapping"]
        return swapping

    def _passed(self, call: Callable[..., Any], args: Any, kwargs: Any, whole: Called | None) -> Any:
        swapping = self._swap
        idle = not torch.is_grad_enabled() and swapping.exchange.op is None
        if idle or not swapping.active or swapping.running:
            return call(*args, **kwargs)
        one = Pass(swapping, names_of(self))
        with watched(one):
            result = call(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            one.finish(result, (args, kwargs), whole)
        return result


@cache
def _disabled() -> Callable[..., Any]:
    disabled: Callable[..., Any] = torch.compiler.disable(Swapped._passed)  # type: ignore[no-untyped-call]
    return disabled


@overload
def swap(
    model: nn.Module,
    what: Any,
    rule: str | Rule,
    op: str | Op | None = None,
    *,
    inplace: Literal[False] = False,
    **parameters: float,
) -> Swapped: ...


@overload
def swap(
    model: nn.Module,
    what: Any,
    rule: str | Rule,
    op: str | Op | None = None,
    *,
    inplace: Literal[True],
    **parameters: float,
) -> Replaced: ...


def swap(
    model: nn.Module,
    what: Any,
    rule: str | Rule,
    op: str | Op | None = None,
    *,
    inplace: bool = False,
    **parameters: float,
) -> Swapped | Replaced:
    """Exchange the backward of a model at some sites, and nothing else.

        fixed = explorer.swap(model, torch.round, rule="straight_through")
        fixed = explorer.swap(model, nn.ReLU, rule="leaky_backward", slope=0.1)

    Args:
        model: anybody's; it is not changed, and shares its parameters with what is returned.
        what: a function of torch (``torch.round``, ``F.relu``: however the model calls the op), a class of
            modules, a Function class, a submodule or its name, a site or its name from ``observe``, or an
            op's key. Of a submodule all ops inside are meant.
        rule: key of ``RULES``, ``"formula: …"``, or a ``Rule``.
        op: an op in place of the model's own call; None keeps what the model computes. ``.sites`` says by
            how much another one changes y.
        inplace: replace modules of the model itself by ``explorer.Layer``, which torch.compile and
            torch.export read; functions called in a forward are refused there.
        **parameters: of op and rule. An op's are else those of the model's call.

    Returns:
        A module: call it, train it, copy it, stack it by torch.func. ``.sites`` has what was reached,
        ``.undo()`` returns the model. Another tensor that a call learns, as of PReLU, keeps its gradient. A
        detach trick is exchanged as a whole. With ``inplace``, what stands for the model's changed modules.

    Raises:
        ValueError: a plain sentence for what cannot be: an unknown key or name, a rule that does not suit.
            UnreachedError, which is one, is raised by a forward pass that misses what it was made for:
            nothing of it was called, it has left autograd's graph, or its call cannot be seen.
    """
    if not isinstance(model, nn.Module):
        raise ValueError(f"swap takes a model, an nn.Module, not a {type(model).__name__}")
    if compiled(model):
        raise ValueError("the model is compiled, at least in part: swap its rules first, and compile then")
    target = target_of(model, what)
    exchange = Exchange(op, rule, parameters)
    known = op if op is not None else target.op
    if known:
        exchange.require_suitable(find_op(known))
    elif unknown := sorted({*parameters} - _possible(exchange)):
        raise ValueError(f"unknown parameter {unknown[0]!r}: {exchange.key} takes {_takes(exchange)}")
    if inplace:
        return replaced(model, target, exchange)
    return Swapped(model, Swapping(target, exchange))


def _possible(exchange: Exchange) -> set[str]:
    return {parameter.name for parameter in exchange.entry.parameters}


def _takes(exchange: Exchange) -> str:
    return ", ".join(sorted(_possible(exchange))) or "none"

"""One forward pass of a swapped model: its calls, and whether the exchanged ones are reached."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch._C._functorch import is_functorch_wrapped_tensor  # torch has no public name for it
from torch.autograd import Function
from torch.autograd.graph import Node

from explorer.gradient import BOUNDARY
from explorer.model.swapping.exchange import Exchange, beside
from explorer.model.swapping.parts import Called
from explorer.model.swapping.target import Target
from explorer.model.watching import (
    Asked,
    Cut,
    Followed,
    Run,
    Site,
    Tracker,
    enclosing,
    explained,
    handlers,
    node_names,
    place_of,
    reached,
    site_of,
)

_OPAQUE = {
    "DifferentiableGraphBackward": "TorchScript, into which a swap does not reach: swap before torch.jit",
    "CompiledFunctionBackward": "compiled code, into which a swap does not reach: swap first",
}


UNTRACED = (
    "torch.fx cannot trace a swapped model, since its graph would lose the rule: swap with inplace=True, and "
    "use torch.export"
)


class UnreachedError(ValueError):
    """A swap does not reach what it was made for."""


@dataclass
class Swapping:
    """A swap as data, the same for all passes.

    Attributes:
        target, exchange: which calls, and what they get.
        seen: the sites that were reached -> calls, and the largest change of y.
        active: False once it is undone.
    """

    target: Target
    exchange: Exchange
    seen: dict[Site, Reached] = field(default_factory=dict)
    active: bool = True

    @property
    def running(self) -> bool:
        """Whether a pass of it runs in this thread."""
        return any(isinstance(each, Pass) and each.swapping is self for each in handlers())


@dataclass
class Reached:
    """The facts about a site that a swap reaches."""

    calls: int = 0
    change: float = 0.0
    note: str = ""


class _Hit(Followed):
    """A call that is meant, and its y."""

    def __init__(self, site: Site, x: Tensor, live: bool) -> None:
        self.site, self.x, self.live = site, x, live
        self.y: Tensor | None = None
        self.node: Node | None = None
        self.joined = False  # its trick has been exchanged


class _Other(Followed):
    """A call that is not meant."""

    def __init__(self, site: Site) -> None:
        self.site = site


class Pass:
    """A handler of one forward pass."""

    def __init__(self, swapping: Swapping, names: dict[int, str]) -> None:
        self.swapping, self._names = swapping, names
        owner = swapping.target.owner
        self.functions: Sequence[type[Function]] = (owner,) if owner is not None else BOUNDARY
        self._tracker = Tracker()
        self._hits: list[_Hit] = []

    def handle(self, asked: Asked) -> Run:
        """The run of a call: exchanged where it is meant."""
        place = place_of(self._names)
        live = torch.is_grad_enabled()
        around = "" if live else enclosing()
        if place is None or around == "function":
            return asked.run
        site = site_of(place, asked.op)
        if not self.swapping.target.hits(site, asked.owner):
            return partial(self._other, site, asked.run)
        exchange = self.swapping.exchange
        run = exchange.run_of(asked) if live or exchange.op is not None else asked.run
        asked.rule = exchange.key
        return partial(self._exchanged, site, asked.run, run, again=around == "checkpoint")

    def follow(self, function: Any, args: Sequence[Any], result: Any) -> Any:
        """The result, where it completes a meant detach trick with the exchanged backward."""
        met = self._tracker.follow(function, args, result)
        return self._joined(met) if isinstance(met, Cut) else result

    def meet(self, other: object) -> None:
        """Refuse to be traced by torch.fx, whose graph would lose the rule."""
        if isinstance(other, fx.Proxy):
            raise UnreachedError(UNTRACED)

    def finish(self, result: Any, arguments: Any, whole: Called | None) -> None:
        """Raise UnreachedError where the swap misses what it was made for; warn where it misses a part.

        arguments: of the call, behind which nothing of the model lies; whole: the model, or the submodule
        that was called by itself; None for a method, which need not reach anything.
        """
        if whole is not None and not self._hits and self._expected(whole):
            raise UnreachedError(f"the forward pass has not called {self._name()}{_hint(whole.module)}")
        if not torch.is_grad_enabled() or any(_wrapped(hit) for hit in self._hits):
            return
        nodes = reached(result, arguments)
        if missed := next(self._missed(nodes), ""):
            raise UnreachedError(f"the swap of {self._name()} does not reach all of it: {missed}")
        behind = set(nodes)
        lost = [hit for hit in self._hits if not hit.joined and _lost(hit, behind)]
        for hit in lost:
            self.swapping.seen[hit.site].note = hit.cut or "called under no_grad"
        if not lost or not nodes:
            return
        said = f"{lost[0].site} has left autograd's graph ({self.swapping.seen[lost[0].site].note})"
        if len(lost) == len(self._hits) and whole is not None and not whole.path:
            raise UnreachedError(f"{said}, so that no rule there has any effect")
        warnings.warn(f"{said}: the rule there has no effect", stacklevel=4)

    def _expected(self, whole: Called) -> bool:
        """Whether a call that reached nothing should have: of the model, of a target, of what hides it."""
        meant = any(f"{path}.".startswith(f"{whole.path}.") for path in self.swapping.target.modules)
        return not whole.path or meant or bool(_hiding(whole.module))

    def _name(self) -> str:
        return self.swapping.target.told

    def _other(self, site: Site, run: Run, x: Tensor) -> Any:
        result = run(x)
        if isinstance(result, Tensor):
            call = _Other(site)
            call.y_key = id(result)
            self._tracker.called(call, x, result)
        return result

    def _exchanged(self, site: Site, own: Run, run: Run, x: Tensor, again: bool) -> Any:
        hit = _Hit(site, x, torch.is_grad_enabled() or again)
        y = run(x)
        seen = self.swapping.seen.setdefault(site, Reached())
        seen.calls += 1
        if self.swapping.exchange.op is not None and seen.calls == 1 and not is_functorch_wrapped_tensor(x):
            seen.change = _change(own, x, y)
        hit.y, hit.y_key, hit.node = y, id(y), y.grad_fn
        self._hits.append(hit)
        self._tracker.called(hit, x, y)
        return y

    def _joined(self, cut: Cut) -> Tensor:
        """The result of a detach trick with the exchanged backward, where a call of it is meant."""
        hits = [call for call in cut.parts if isinstance(call, _Hit)]
        if not hits:
            return cut.result
        exchange = self.swapping.exchange
        for hit in hits:
            hit.joined = True
        if exchange.op is not None:
            asked = Asked(hits[0].site.op, cut.x, lambda _x: cut.result.detach(), {}, ())
            y: Tensor = exchange.run_of(asked)(cut.x)
            return y
        calls = [call for call in cut.calls if isinstance(call, _Hit | _Other)]
        rule = exchange.backward_for(hits[0].site.op, {})
        single = len(calls) == 1 and isinstance(calls[0], _Hit) and _same(calls[0], cut)
        if (rule.needs_x or rule.needs_y) and not single:
            ops = " → ".join(call.site.op for call in calls)
            raise UnreachedError(
                f"the detach trick at {hits[0].site} restores {ops} of another scale than {hits[0].site.op} "
                f"alone, so that {exchange.key} is not told its x: say op=… and its parameters"
            )
        return beside(cut.x, cut.result.detach(), rule)

    def _missed(self, nodes: Sequence[Node]) -> Iterator[str]:
        target = self.swapping.target
        names = node_names(target.op) if target.op else frozenset()
        made = getattr(target.owner, "_backward_cls", None)
        for node in nodes:
            name = node.name().rpartition("::")[2]
            if explained(node):
                continue
            if (target.op or target.owner) and name in _OPAQUE:
                yield f"the model holds {_OPAQUE[name]}"
            if name in names:
                yield f"autograd's graph has a {name} whose call is not seen, as in TorchScript or C++"
            if made is not None and isinstance(node, made):
                yield f"autograd's graph has a {name} whose call is not seen, as in another thread"


def _hint(model: nn.Module) -> str:
    return _hiding(model) or ": nothing is swapped; explorer.observe(model) names the sites that there are"


def _hiding(model: nn.Module) -> str:
    """The words for what may hide a call in a model; "" where nothing does."""
    kinds = {type(each) for each in model.modules()}
    if any(issubclass(kind, fx.GraphModule) for kind in kinds):
        return ": it was traced by torch.fx, which inlines a Function's forward and loses its backward"
    if any(issubclass(kind, torch.jit.ScriptModule) for kind in kinds):
        return ": it holds TorchScript, into which a swap does not reach"
    return ""


def _wrapped(hit: _Hit) -> bool:
    return is_functorch_wrapped_tensor(hit.x)


def _lost(hit: _Hit, behind: set[Node]) -> bool:
    """Whether what a call computes has left the graph for good."""
    if not hit.live:
        return True
    return bool(hit.cut) and (hit.node is None or hit.node not in behind)


def _change(own: Run, x: Tensor, y: Tensor) -> float:
    with torch.no_grad():
        before = own(x)
        return float((before - y).abs().max()) if before.shape == y.shape and y.numel() else 0.0


def _same(hit: _Hit, cut: Cut) -> bool:
    """Whether a trick restores the y of one call, of the very x that the trick is a function of."""
    if hit.y is None:
        return False
    if is_functorch_wrapped_tensor(cut.x):
        return hit.x is cut.x
    alike = torch.equal(hit.x.detach(), cut.x.detach())
    return alike and torch.allclose(hit.y.detach(), cut.result.detach(), rtol=1e-4, atol=1e-6)

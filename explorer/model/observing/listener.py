"""A listener to forward passes of anybody's model: what each call was given, and what its backward met."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch._C._functorch import is_functorch_wrapped_tensor  # torch has no public name for it
from torch.autograd import Function
from torch.utils._pytree import tree_leaves

from explorer.model.observing.record import Record, hook_on
from explorer.model.observing.seen import Seen
from explorer.model.observing.words import UNNEEDED
from explorer.model.watching import (
    Asked,
    Cut,
    Masked,
    Run,
    Site,
    Tracker,
    Unseen,
    compiled,
    elementwise_nodes,
    enclosing,
    explain,
    names_of,
    place_of,
    probing,
    reached,
    site_of,
    unseen_in,
    watched,
)

_MOST_KEPT = 2**25  # elements that calls hold before older ones are added up: 128 MB of float32
_PASSES = 3  # forward passes whose graph is searched for what no site explains


class Listener:
    """A listener to the forward passes of a model between ``enter`` and ``leave``, which may come again.

    Attributes:
        functions: the Function classes that are watched.
        sites: all calls, by site and kind.
        passes: the number of forward passes begun.
        turns: the passes, from 1, that a backward has met.
        unseen: autograd's nodes of elementwise functions that no site explains.
    """

    def __init__(self, model: nn.Module, functions: Sequence[type[Function]]) -> None:
        self.functions = functions
        self.sites: dict[tuple[Site, str], Seen] = {}
        self.passes = self._depth = 0
        self.turns: set[int] = set()
        self.unseen: dict[Unseen, None] = {}
        self._model, self._names = model, names_of(model)
        self._outer: FrameType | None = None
        self._tracker, self._stack = Tracker(), ExitStack()
        self._searched = 0

    def enter(self, outer: FrameType) -> None:
        """Begin to listen; ``outer``: the frame that the model is called from."""
        elementwise_nodes()  # asks torch, before anybody listens
        self._names, self._outer = names_of(self._model), outer
        if compiled(self._model):  # what is compiled calls no function of torch
            self._stack.enter_context(torch.compiler.set_stance("force_eager"))
        hooks = (
            self._model.register_forward_pre_hook(self._begins),
            self._model.register_forward_hook(self._ends, with_kwargs=True, always_call=True),
        )
        for hook in hooks:
            self._stack.callback(hook.remove)
        self._stack.enter_context(watched(self))

    def leave(self) -> None:
        """Listen no longer; no hook is left."""
        self._stack.close()
        self._outer = None
        self._tracker.clear()

    def handle(self, asked: Asked) -> Run:
        """The run of a call, with its tensors kept."""
        place = place_of(self._names, self._outer)
        if place is None or (not torch.is_grad_enabled() and enclosing()):
            return asked.run
        site = site_of(place, asked.op)
        return partial(self._called, asked, site, asked.run)

    def follow(self, function: Any, args: Sequence[Any], result: Any) -> Any:
        """The result as it is; a detach trick that it completes is a site."""
        met = self._tracker.follow(function, args, result)
        if isinstance(met, Cut):
            self._tricked(met)
        elif isinstance(met, Masked):
            self._masked(function, met)
        return result

    def meet(self, other: object) -> None:
        """Nothing is observed of what is no tensor."""

    def _called(self, asked: Asked, site: Site, run: Run, x: Tensor) -> Any:
        if is_functorch_wrapped_tensor(x):
            return run(x)
        live = torch.is_grad_enabled() and x.requires_grad
        record = self._record(site, x, live)
        seen = self.sites[site, ""]
        seen.rule, seen.run = asked.rule, run
        seen.parameters = {
            name: each for name, each in asked.parameters.items() if not isinstance(each, Tensor)
        }
        if not live:
            record.cut = self._reason(asked, x)
            result = run(x)
            self._tracker.called(record, x, _first(result))
            return result
        alias = x.view_as(x)
        hook_on(alias, record.take_in)
        result = run(alias)
        y = _first(result)
        if y.requires_grad:
            hook_on(y, record.take_out)
            explain(y, alias.grad_fn)
        else:
            record.live, record.cut = False, "its output requires no gradient"
        record.y_key = id(y)
        self._tracker.called(record, x, y)
        return result

    def _reason(self, asked: Asked, x: Tensor) -> str:
        """Why autograd does not follow a call."""
        if asked.in_place and self._tracker.tagged(asked.x):
            return "it writes behind autograd's back, by .data: the gradient passes as if nothing were done"
        return "called under no_grad" if x.requires_grad else UNNEEDED

    def _record(self, site: Site, x: Tensor, live: bool, kind: str = "") -> Record:
        if (site, kind) not in self.sites:
            self.sites[site, kind] = Seen(site, x)
            self.sites[site, kind].kind = kind
        record = Record(site, self.passes, x, live)
        self.sites[site, kind].records.append(record)
        return record

    def _tricked(self, cut: Cut) -> None:
        calls = [call for call in cut.calls if isinstance(call, Record)]
        site = calls[0].site if len(calls) == 1 else self._joined(calls)
        record = self._record(site, cut.x, True, "detach trick")
        for part in cut.parts:
            if isinstance(part, Record):
                part.merged = True
        slope = None if cut.slope is None else cut.slope.detach()

        def take(g: Tensor) -> None:
            record.take_out(g)
            record.take_in(g if slope is None else g * slope)

        hook_on(cut.result, take)

    def _joined(self, calls: Sequence[Record]) -> Site:
        ops = " → ".join(call.site.op for call in calls)
        place = place_of(self._names, self._outer)
        last = calls[-1].site
        return site_of(place, ops) if place else Site(last.module, ops, last.function, last.file, last.line)

    def _masked(self, function: Any, masked: Masked) -> None:
        place = place_of(self._names, self._outer)
        if place is None:
            return
        explain(masked.result, None)
        name = getattr(function, "__name__", str(function)).strip("_")
        site = site_of(place, name)
        reason = f"by a value that is made of the same tensor without gradient, at {site}, as in (x > 0) * x"
        self.unseen[Unseen(name, 1, reason)] = None

    def _begins(self, *_: object) -> None:
        self._depth += 1
        if self._depth == 1:
            self.passes += 1
            self._tracker.clear()
            with torch._C.DisableTorchFunction():
                self._let_go()

    def _ends(self, _model: nn.Module, args: Any, kwargs: Any, result: Any) -> None:
        self._depth -= 1
        if self._depth == 0 and torch.is_grad_enabled():
            self._await_backward(result)
            if self._searched < _PASSES:
                self._searched += 1
                self.unseen |= dict.fromkeys(unseen_in(reached(result, (args, kwargs))))

    def _await_backward(self, result: Any) -> None:
        """Notice where a backward of this forward pass arrives."""
        turn, sign = self.passes, probing()
        for each in tree_leaves(result):
            if isinstance(each, Tensor) and each.requires_grad:
                hook_on(each, lambda _g: None if sign.on else self.turns.add(turn))

    def _let_go(self) -> None:
        """Add the calls of older passes up where they hold much."""
        self.find_turns()
        kept = sum(record.elements for seen in self.sites.values() for record in seen.records)
        if kept > _MOST_KEPT:
            for seen in self.sites.values():
                seen.add_up(self.turns)

    def find_turns(self) -> None:
        """Take up the passes of calls that a backward has met."""
        self.turns |= {
            record.turn for seen in self.sites.values() for record in seen.records if record.g is not None
        }


def _first(result: Any) -> Tensor:
    """The tensor that a Function returns, the first of several."""
    return result if isinstance(result, Tensor) else next(each for each in result if isinstance(each, Tensor))

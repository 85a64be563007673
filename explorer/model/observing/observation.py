"""An observation: what the backward of anybody's model meets at each of its ops."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor, nn
from torch._C._functorch import is_functorch_wrapped_tensor  # torch has no public name for it
from torch.autograd import Function
from torch.utils._pytree import tree_leaves

from explorer.gradient import BOUNDARY
from explorer.model.observing.record import Record, hook_on
from explorer.model.observing.seen import Seen
from explorer.model.observing.slopes import Slope, slope_of
from explorer.model.observing.table import rows_of
from explorer.model.observing.words import UNNEEDED, sentences
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

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

_MOST_KEPT = 2**25  # elements that calls hold before older ones are added up: 128 MB of float32
_PASSES = 3  # forward passes whose graph is searched for what no site explains


class Observation:
    """The result of ``explorer.observe``: a context manager, and what was seen in it.

    Attributes:
        unseen: autograd's nodes of elementwise functions that no site explains, see ``Unseen``. They are
            searched for behind what ``model(x)`` returns, in its first passes; empty where all is explained.
    """

    def __init__(self, model: nn.Module, functions: Sequence[type[Function]] = ()) -> None:
        if not isinstance(model, nn.Module):
            raise ValueError(f"observe takes a model, an nn.Module, not a {type(model).__name__}")
        self.model = model
        self.functions: Sequence[type[Function]] = (*checked_functions(functions), *BOUNDARY)
        self._names = names_of(model)
        self._outer: Any = None
        self._tracker, self._stack = Tracker(), ExitStack()
        self._sites: dict[tuple[Site, str], Seen] = {}
        self._turn = self._depth = 0
        self._turns: set[int] = set()
        self._kept = 0
        self._unseen: dict[Unseen, None] = {}
        self._searched = 0

    def __enter__(self) -> Self:
        elementwise_nodes()  # asks torch, before anybody listens
        self._names, self._outer = names_of(self.model), sys._getframe(1)
        if compiled(self.model):  # what is compiled calls no function of torch
            self._stack.enter_context(torch.compiler.set_stance("force_eager"))
        hooks = (
            self.model.register_forward_pre_hook(self._begins),
            self.model.register_forward_hook(self._ends, with_kwargs=True, always_call=True),
        )
        for hook in hooks:
            self._stack.callback(hook.remove)
        self._stack.enter_context(watched(self))
        return self

    def __exit__(self, *_error: object) -> None:
        self._stack.close()
        self._outer = None
        self._tracker.clear()

    @property
    def sites(self) -> dict[str, Site]:
        """The sites by the names that tell them apart, in the order of their first calls."""
        return {name: seen.site for name, seen in self._named().items()}

    @property
    def frame(self) -> pd.DataFrame:
        """One row a site, in the order of their first calls.

        site: its name, which ``figure``, ``slope`` and ``explorer.swap`` take; op; rule: what the backward
        equals there, measured, "own" where it is none of the catalogue at its defaults; line; calls; x_mean,
        x_sd; g_out, g_in: the norms of the gradient for y and for x; share_grad, blocked_here, none_came: of
        all elements of x those that get gradient, those that get none though some came, and those to
        whose y none came; units: channels, features, or a parameter's outputs; dead_by_rule,
        dead_from_above: units without gradient in every element, blocked here or not reached; note. NaN
        where there was no backward, or where autograd could not see it, which the note says.
        """
        import pandas as pd

        return pd.DataFrame(rows_of(self._named(), self._turns))

    @property
    def unseen(self) -> tuple[Unseen, ...]:
        """Autograd's nodes of elementwise functions that no site explains."""
        return tuple(self._unseen)

    def describe(self) -> str:
        """Which site is to blame, in sentences."""
        return " ".join(self.sentences)

    @property
    def sentences(self) -> list[str]:
        """The sentences of ``describe``: plain text, never markup."""
        return sentences(rows_of(self._named(), self._turns), self.unseen, bool(self._turns), self._turn > 0)

    def scalars(self, prefix: str = "explorer") -> dict[str, float]:
        """The numbers of all sites as a flat dict, for TensorBoard or W&B: "explorer/act1/share_grad"."""
        rows = rows_of(self._named(), self._turns)
        return {
            f"{prefix}/{row['site']}/{name}": float(value)
            for row in rows
            for name, value in row.items()
            if name not in ("line", "calls") and isinstance(value, int | float) and value == value
        }

    def figure(self, site: str | Site) -> go.Figure:
        """The histogram of x at a site, and over it the gradient that its rule gives for g = 1.

        Raises ValueError for a name that no site has.
        """
        from explorer.model.observing.picture import site_figure

        name, seen = self._found(site)
        return site_figure(name, seen.site.op, seen.statistics(self._turns), seen.run)

    def slope(
        self,
        loss: Callable[[], Tensor],
        site: str | Site,
        sigma: float = 0.25,
        draws: int = 40,
        seed: int = 0,
    ) -> Slope:
        """How much the loss falls along the rule's gradient at a site, x there having noise.

        Where x is noisy the mean loss is smooth, whatever the op: x + ε stands for x, and x is moved along
        the gradient that the rule gives for it. Each draw moves it both ways with the same ε; the model's
        buffers and torch's random state are left as they were.

        Args:
            loss: computes the loss of some data, ``lambda: F.cross_entropy(model(x), y)``.
            site: its name in the frame, or the site.
            sigma: the noise's standard deviation, in those of x; above 0.
            draws: how many; 2 or more.
            seed: of the noise.

        Returns:
            The slope with its standard error, and what the rule promises: the norm of its gradient.

        Raises ValueError for a site of another name, and for one that gets no gradient.
        """
        name, seen = self._found(site)
        return slope_of(self.model, self.functions, loss, name, seen.site, sigma, draws, seed)

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
        seen = self._sites[site, ""]
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
        if (site, kind) not in self._sites:
            self._sites[site, kind] = Seen(site, x)
            self._sites[site, kind].kind = kind
        record = Record(site, self._turn, x, live)
        self._sites[site, kind].records.append(record)
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
        self._unseen[Unseen(name, 1, reason)] = None

    def _begins(self, *_: object) -> None:
        self._depth += 1
        if self._depth == 1:
            self._turn += 1
            self._tracker.clear()
            with torch._C.DisableTorchFunction():
                self._let_go()

    def _ends(self, _model: nn.Module, args: Any, kwargs: Any, result: Any) -> None:
        self._depth -= 1
        if self._depth == 0 and torch.is_grad_enabled():
            self._await_backward(result)
            if self._searched < _PASSES:
                self._searched += 1
                self._unseen |= dict.fromkeys(unseen_in(reached(result, (args, kwargs))))

    def _await_backward(self, result: Any) -> None:
        """Notice where a backward of this forward pass arrives."""
        turn, sign = self._turn, probing()
        for each in tree_leaves(result):
            if isinstance(each, Tensor) and each.requires_grad:
                hook_on(each, lambda _g: None if sign.on else self._turns.add(turn))

    def _let_go(self) -> None:
        """Add the calls of older passes up where they hold much."""
        self._find_turns()
        kept = sum(record.elements for seen in self._sites.values() for record in seen.records)
        if kept > _MOST_KEPT:
            for seen in self._sites.values():
                seen.add_up(self._turns)

    def _find_turns(self) -> None:
        self._turns |= {
            record.turn for seen in self._sites.values() for record in seen.records if record.g is not None
        }

    def _named(self) -> dict[str, Seen]:
        """The sites that have a row, by the shortest name that no other has."""
        self._find_turns()
        visible = [seen for seen in self._sites.values() if seen.added.calls or _alive(seen)]
        taken: dict[str, int] = {}
        for seen in visible:
            for name in seen.site.names:
                taken[name] = taken.get(name, 0) + 1
        named: dict[str, Seen] = {}
        for seen in visible:
            free = (name for name in seen.site.names if taken[name] == 1 and name not in named)
            name = next(free, f"{seen.site.names[-1]} {seen.kind}".strip())
            named[name] = seen
        return named

    def _found(self, site: str | Site) -> tuple[str, Seen]:
        named = self._named()
        for name, seen in named.items():
            if site == name or site == seen.site or site in seen.site.names:
                return name, seen
        known = ", ".join(named) or "none: the model has not been called"
        raise ValueError(f"no site is called {str(site)!r}: the sites are {known}")


def _alive(seen: Seen) -> bool:
    return any(not record.merged for record in seen.records)


def _first(result: Any) -> Tensor:
    """The tensor that a Function returns, the first of several."""
    return result if isinstance(result, Tensor) else next(_tensors(result))


def _tensors(result: Any) -> Iterator[Tensor]:
    yield from (each for each in result if isinstance(each, Tensor))


def checked_functions(functions: Sequence[type[Function]] | type[Function]) -> tuple[type[Function], ...]:
    """Function classes, each once. Raises ValueError for what is none."""
    given = (functions,) if isinstance(functions, type) else tuple(functions)
    for each in given:
        if not (isinstance(each, type) and issubclass(each, Function)):
            name = getattr(each, "__name__", repr(each))
            raise ValueError(f"functions takes classes of torch.autograd.Function, not {name}")
    return tuple(dict.fromkeys(given))


def observe(model: nn.Module, functions: Sequence[type[Function]] = ()) -> Observation:
    """Observe what a model's backward meets at each op of the catalogue that its forward calls.

        with explorer.observe(model, functions=[FakeQuant]) as seen:
            F.cross_entropy(model(x), y).backward()
        seen.frame

    Args:
        model: anybody's, as it is; also one that ``explorer.swap`` returned.
        functions: classes of ``torch.autograd.Function`` that it calls; x is the first argument.

    Returns:
        A context manager, see ``Observation``: ``.frame``, ``.figure(site)``, ``.describe()``, ``.unseen``,
        ``.slope(loss, site)``, ``.scalars()``. It sees modules, functions and methods, in this thread; a
        detach trick is one site with the rule it makes. What raises inside passes through; no hook is left.

    Raises:
        ValueError: no model, or no classes of Functions.
    """
    return Observation(model, functions)

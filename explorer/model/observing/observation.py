"""An observation: what the backward of anybody's model meets at each of its ops."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

from torch import Tensor, nn
from torch.autograd import Function

from explorer.gradient import BOUNDARY
from explorer.model.observing.listener import Listener
from explorer.model.observing.seen import Seen
from explorer.model.observing.slopes import Slope, slope_of
from explorer.model.observing.table import rows_of
from explorer.model.observing.words import sentences
from explorer.model.watching import Site, Unseen

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


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
        self._listener = Listener(model, (*checked_functions(functions), *BOUNDARY))

    def __enter__(self) -> Self:
        self._listener.enter(sys._getframe(1))
        return self

    def __exit__(self, *_error: object) -> None:
        self._listener.leave()

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

        return pd.DataFrame(self._rows())

    @property
    def unseen(self) -> tuple[Unseen, ...]:
        """Autograd's nodes of elementwise functions that no site explains."""
        return tuple(self._listener.unseen)

    def describe(self) -> str:
        """Which site is to blame, in sentences."""
        return " ".join(self.sentences)

    @property
    def sentences(self) -> list[str]:
        """The sentences of ``describe``: plain text, never markup."""
        return sentences(self._rows(), self.unseen, bool(self._listener.turns), self._listener.passes > 0)

    def scalars(self, prefix: str = "explorer") -> dict[str, float]:
        """The numbers of all sites as a flat dict, for TensorBoard or W&B: "explorer/act1/share_grad"."""
        rows = self._rows()
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
        return site_figure(name, seen.site.op, seen.statistics(self._listener.turns), seen.run)

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
        return slope_of(self.model, self._listener.functions, loss, name, seen.site, sigma, draws, seed)

    def _rows(self) -> list[dict[str, Any]]:
        return rows_of(self._named(), self._listener.turns)

    def _named(self) -> dict[str, Seen]:
        """The sites that have a row, by the shortest name that no other has."""
        self._listener.find_turns()
        visible = [seen for seen in self._listener.sites.values() if seen.added.calls or _alive(seen)]
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

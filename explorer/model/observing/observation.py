"""An observation of the backward of a user's model at each of its sites."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from torch import Tensor, nn
from torch.autograd import Function

from explorer.model.observing.listener import Listener
from explorer.model.observing.rows import Row
from explorer.model.observing.slopes import Slope, slope_of
from explorer.model.observing.table import COLUMNS, PARAMETER_COLUMNS, make_parameter_rows, rows_of
from explorer.model.observing.words import sentences
from explorer.model.tape import Site
from explorer.model.tape.sites import require_model

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


@dataclass(frozen=True)
class Unseen:
    """A node of autograd's graph whose call was not seen.

    Attributes:
        node: its name.
        count: number of such nodes.
        reason: why the call was not seen.
    """

    node: str
    count: int
    reason: str = "whose call is not seen, as in TorchScript, C++ or another thread"

    def __str__(self) -> str:
        return f"{self.node}{f' × {self.count}' if self.count > 1 else ''}, {self.reason}"


class Observation:
    """The result of ``explorer.observe``: a context manager, and the sites that it has seen."""

    def __init__(self, model: nn.Module, functions: Sequence[type[Function]] = ()) -> None:
        require_model("observe", model)
        check_functions(functions)
        self.model = model
        self._listener = Listener(model)

    def __repr__(self) -> str:
        return f"Observation({type(self.model).__name__}, sites: {len(self._name_rows())})"

    def __enter__(self) -> Self:
        self._listener.enter()
        return self

    def __exit__(self, *_error: object) -> None:
        self._listener.stop()
        self._listener.leave()

    def stop(self) -> None:
        """Stop observing calls. A backward still counts until ``finish``."""
        self._listener.stop()

    def finish(self) -> None:
        """Find the calls to blame, and leave no hook, after ``stop``."""
        self._listener.leave()

    def begin_model_call(self, args: Any) -> None:
        """Record that the model is called with ``args``, where torch gathered its hooks before."""
        self._listener.handle_call(self.model, args)

    @property
    def sites(self) -> dict[str, Site]:
        """The sites by the names that tell them apart, in the order of their first calls."""
        return {name: row.site for name, row in self._name_rows().items()}

    @property
    def frame(self) -> pd.DataFrame:
        """One row a site, in the order of their first calls.

        site: its name, which ``figure``, ``slope`` and ``explorer.swap`` take; op: the function called, a
        Function by its class's name; computes: the catalogue's op that it equals; rule: what its backward
        equals, measured, "own" if it is no rule of the catalogue; line; calls; x_mean, x_sd; g_out, g_in:
        norms of the gradients for y and for x; share_grad, blocked_here, none_came: shares of the elements of
        x that get gradient, that get none though some came to y, and to whose y none came; units: channels,
        features, or a parameter's outputs; dead_by_rule, dead_from_above: units without gradient in every
        element, blocked here or not reached; note. NaN where there was no backward, or where autograd could
        not see it, which the note says.
        """
        import pandas as pd

        return pd.DataFrame(self._make_rows(), columns=[*COLUMNS])

    @property
    def parameters(self) -> pd.DataFrame:
        """One row a parameter, once a backward has run.

        gradient: "arrives", "zero" (all of it), "none" or "frozen"; site, op, line: the call that is to blame
        if no gradient arrives; why: its reason.
        """
        import pandas as pd

        return pd.DataFrame(self._make_parameter_rows(), columns=[*PARAMETER_COLUMNS])

    @property
    def unseen(self) -> tuple[Unseen, ...]:
        """Autograd's nodes of elementwise functions whose call was not seen, as in TorchScript."""
        return tuple(Unseen(node, count) for node, count in self._listener.unseen.items())

    def describe(self) -> str:
        """Return in sentences which parameters cannot learn, and which sites are to blame."""
        return " ".join(self.sentences)

    @property
    def sentences(self) -> list[str]:
        """The sentences of ``describe``: plain text, never markup."""
        named = self._name_rows()
        rows = rows_of(named)
        for row, row_seen in zip(rows, named.values(), strict=True):
            row["elements"] = row_seen.known
        listener = self._listener
        return sentences(
            rows, self._make_parameter_rows(), self.unseen, bool(listener.turns), listener.passes > 0
        )

    def scalars(self, prefix: str = "explorer") -> dict[str, float]:
        """Return all numbers as a flat dict for TensorBoard or W&B: "explorer/act1/share_grad"."""
        return {
            f"{prefix}/{row['site']}/{name}": float(value)
            for row in self._make_rows()
            for name, value in row.items()
            if name not in ("line", "calls") and isinstance(value, int | float) and value == value
        }

    def figure(self, site: str | Site | None = None) -> go.Figure:
        """Return a picture of a site, or of the whole model if none is given.

        Of a site: the histogram of x, and over it the gradient that its rule gives for g = 1. Of the model:
        its modules in the order of their calls, with the sites between them, coloured by whether gradient
        arrives.

        Raises ValueError for a name that no site has.
        """
        from explorer.model.observing.picture import draw_chain, draw_site

        if site is None:
            return draw_chain(self._listener.modules, self._name_rows(), self._make_parameter_rows())
        name, row = self._find_row(site)
        return draw_site(name, row)

    def slope(
        self,
        loss: Callable[[], Tensor],
        site: str | Site,
        sigma: float = 0.25,
        draws: int = 40,
        seed: int = 0,
    ) -> Slope:
        """Return how much the loss falls along the rule's gradient at a site, x there having noise.

        Where x is noisy the mean loss is smooth, whatever the op: x + ε replaces x, and x is moved along
        the gradient that the rule gives for it. Each draw moves it both ways with the same ε; the model's
        buffers and torch's random state are left unchanged.

        Args:
            loss: computes the loss of some data, ``lambda: F.cross_entropy(model(x), y)``.
            site: its name in the frame, or the site.
            sigma: the noise's standard deviation, in those of x; above 0.
            draws: how many; 2 or more.
            seed: of the noise.

        Returns:
            The slope with its standard error, and the slope that the rule promises: the norm of its gradient.

        Raises ValueError for a site of another name, and for a site without gradient.
        """
        name, row = self._find_row(site)
        return slope_of(self.model, loss, name, row, sigma, draws, seed)

    def _make_rows(self) -> list[dict[str, Any]]:
        return rows_of(self._name_rows())

    def _make_parameter_rows(self) -> list[dict[str, Any]]:
        return make_parameter_rows(
            self._listener, {row.site: name for name, row in self._name_rows().items()}
        )

    def _name_rows(self) -> dict[str, Row]:
        """Return the sites that have a row, by the shortest name that no other has."""
        self._listener.settle()
        visible = [row for row in self._listener.rows.values() if row.listed and row.calls > 0]
        name_counts: dict[str, int] = {}
        for row in visible:
            for name in dict.fromkeys(row.site.names):
                name_counts[name] = name_counts.get(name, 0) + 1
        named: dict[str, Row] = {}
        for row in visible:
            free_names = (name for name in row.site.names if name_counts[name] == 1 and name not in named)
            named[next(free_names, f"{row.site.names[-1]} {row.kind}")] = row
        return named

    def _find_row(self, site: str | Site) -> tuple[str, Row]:
        named = self._name_rows()
        for name, row in named.items():
            if site == name or site == row.site or site in row.site.names:
                return name, row
        known_names = ", ".join(named) or "none: the model has not been called"
        raise ValueError(f"no site is called {str(site)!r}: the sites are {known_names}")


def check_functions(functions: Sequence[type[Function]] | type[Function]) -> tuple[type[Function], ...]:
    """Return Function classes, each once. Raises ValueError for anything else."""
    classes = (functions,) if isinstance(functions, type) else tuple(functions)
    for item in classes:
        if not (isinstance(item, type) and issubclass(item, Function)):
            name = getattr(item, "__name__", repr(item))
            raise ValueError(f"functions takes classes of torch.autograd.Function, not {name}")
    return tuple(dict.fromkeys(classes))


def observe(model: nn.Module, functions: Sequence[type[Function]] = ()) -> Observation:
    """Observe a model's backward at each site, and which parameters no gradient reaches.

        with explorer.observe(model) as seen:
            F.cross_entropy(model(x), y).backward()
        print(seen.describe())

    A site is an op of the catalogue, a Function, a detach trick, a mask, or a place where a value leaves
    autograd's graph. Modules, functions and methods are seen, in this thread.

    Args:
        model: any nn.Module, unchanged; also one that ``explorer.swap`` returned.
        functions: no longer needed: each ``torch.autograd.Function`` is seen under its class's name.

    Returns:
        A context manager, see ``Observation``: ``.frame``, ``.parameters``, ``.describe()``,
        ``.figure(site)``, ``.unseen``, ``.slope(loss, site)``, ``.scalars()``. What raises inside passes
        through; no hook is left.

    Raises:
        ValueError: no model, or no classes of Functions.
    """
    return Observation(model, functions)

"""An observation of the gradients at each site of a user's model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from torch import Tensor, nn
from torch.autograd import Function

from explorer.model.observing.listener import Listener
from explorer.model.observing.rows import Row
from explorer.model.observing.slopes import Slope, slope_of
from explorer.model.observing.table import COLUMNS, PARAMETER_COLUMNS, make_parameter_rows, make_row
from explorer.model.observing.words import sentences
from explorer.model.tape import Site
from explorer.model.tape.sites import name_sites, require_model

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


@dataclass(frozen=True)
class Unseen:
    """A kind of autograd node for which no call was recorded.

    Attributes:
        node: the name of the node.
        count: the number of such nodes.
        reason: why no call was recorded.
    """

    node: str
    count: int
    reason: str = "whose call is not seen, as in TorchScript, C++ or another thread"

    def __str__(self) -> str:
        return f"{self.node}{f' × {self.count}' if self.count > 1 else ''}, {self.reason}"


class Observation:
    """The result of ``explorer.observe``: a context manager that records the sites of a model."""

    def __init__(self, model: nn.Module, functions: Sequence[type[Function]] = ()) -> None:
        require_model("observe", model)
        for item in (functions,) if isinstance(functions, type) else functions:
            if not (isinstance(item, type) and issubclass(item, Function)):
                name = getattr(item, "__name__", repr(item))
                raise ValueError(f"functions takes classes of torch.autograd.Function, not {name}")
        self.model = model
        self.listener = Listener(model)

    def __repr__(self) -> str:
        return f"Observation({type(self.model).__name__}, sites: {len(self._name_rows())})"

    def __enter__(self) -> Self:
        self.listener.listen_to_parameters()
        self.listener.__enter__()
        return self

    def __exit__(self, *_error: object) -> None:
        self.listener.__exit__(None, None, None)
        self.listener.leave()

    @property
    def sites(self) -> dict[str, Site]:
        """A dict from each site's unique name to its ``Site``, in order of the first calls."""
        return {name: row.site for name, row in self._name_rows().items()}

    @property
    def frame(self) -> pd.DataFrame:
        """A table with one row per site, in order of the first calls.

        site: the site's name, as accepted by ``figure``, ``slope`` and ``explorer.swap``; op: the called
        function, or the class name of a Function; computes: the equivalent op of the catalogue; rule: the
        rule that matches the measured gradients, or "own" if the catalogue has none; line; calls; x_mean,
        x_sd; g_out, g_in: norms of the gradients for y and for x; share_grad, blocked_here, none_came:
        fractions of the elements of x that get a gradient, that get none although one came to y, and to whose
        y none came; units: number of channels, features, or outputs of a parameter; dead_by_rule,
        dead_from_above: units without gradient in every element, because it is blocked here or because none
        comes; note. Values are NaN without a backward, and where autograd cannot see it, as the note then
        explains.
        """
        import pandas as pd

        return pd.DataFrame(self._make_rows(), columns=[*COLUMNS])

    @property
    def parameters(self) -> pd.DataFrame:
        """A table with one row per parameter, once a backward has run.

        gradient: "arrives", "zero" (in all elements), "none", "not finite" (in any element) or "frozen";
        site, op, line: the call that is to blame if no finite gradient arrives; why: the reason.
        """
        import pandas as pd

        return pd.DataFrame(self._make_parameter_rows(), columns=[*PARAMETER_COLUMNS])

    @property
    def unseen(self) -> tuple[Unseen, ...]:
        """The autograd nodes of elementwise functions whose calls were not recorded, as in TorchScript."""
        return tuple(Unseen(node, count) for node, count in self.listener.unseen.items())

    def describe(self) -> str:
        """Return sentences on which parameters cannot learn, and which sites are to blame."""
        return " ".join(self.sentences)

    @property
    def sentences(self) -> list[str]:
        """The sentences of ``describe`` as plain text without markup."""
        rows, parameters, listener = self._make_rows(), self._make_parameter_rows(), self.listener
        return sentences(rows, parameters, self.unseen, bool(listener.turns), listener.passes > 0)

    def scalars(self, prefix: str = "explorer") -> dict[str, float]:
        """Return all numbers as a flat dict for TensorBoard or W&B, such as "explorer/act1/share_grad"."""
        return {
            f"{prefix}/{row['site']}/{name}": float(value)
            for row in self._make_rows()
            for name, value in row.items()
            if name not in ("line", "calls", "elements") and isinstance(value, int | float)
            and (value == value or (name in ("g_out", "g_in") and row["elements"]))  # a gradient with NaN
        }  # fmt: skip

    def figure(self, site: str | Site | None = None) -> go.Figure:
        """Return a figure of one site, or of the whole model if ``site`` is None.

        The figure of a site shows the histogram of x and the gradient of the site's rule for g = 1. The
        figure of a model shows its modules and sites in order of their calls, coloured by whether a gradient
        arrives.

        Raises ValueError if no site has the name.
        """
        from explorer.model.observing.picture import draw_chain, draw_site

        if site is None:
            return draw_chain(self.listener.modules, self._name_rows(), self._make_parameter_rows())
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
        """Measure how fast the loss falls along the rule's gradient at a site whose x has noise.

        With noise on x, the mean loss is smooth for every op: x + ε replaces x, and x is moved along the
        rule's gradient. Each draw moves x in both directions with the same ε. The model's buffers and torch's
        random state are left unchanged.

        Args:
            loss: a function that computes the loss, such as ``lambda: F.cross_entropy(model(x), y)``.
            site: a site, or its name in the frame.
            sigma: the standard deviation of the noise in units of that of x; above 0.
            draws: the number of draws, at least 2.
            seed: the seed of the noise.

        Returns:
            The slope with its standard error, and the promised slope, which is the norm of the rule's
            gradient.

        Raises ValueError if no site has the name, or if the site has no gradient.
        """
        name, row = self._find_row(site)
        return slope_of(self.model, loss, name, row, sigma, draws, seed)

    def _make_rows(self) -> list[dict[str, Any]]:
        return [make_row(name, row) for name, row in self._name_rows().items()]

    def _make_parameter_rows(self) -> list[dict[str, Any]]:
        return make_parameter_rows(self.listener, {row.site: name for name, row in self._name_rows().items()})

    def _name_rows(self) -> dict[str, Row]:
        """Return a dict of the rows to show, by the shortest unique name of their site."""
        self.listener.settle()
        rows = [row for row in self.listener.rows.values() if row.listed and row.calls > 0]
        return dict(zip(name_sites((row.site, row.kind) for row in rows), rows, strict=True))

    def _find_row(self, site: str | Site) -> tuple[str, Row]:
        named = self._name_rows()
        for name, row in named.items():
            if site == name or site == row.site or site in row.site.names:
                return name, row
        known_names = ", ".join(named) or "none: the model has not been called"
        raise ValueError(f"unknown site {str(site)!r}: this observation has {known_names}")


def observe(model: nn.Module, functions: Sequence[type[Function]] = ()) -> Observation:
    """Observe the gradients at each site of a model, and find the parameters without gradient.

        with explorer.observe(model) as seen:
            F.cross_entropy(model(x), y).backward()
        print(seen.describe())

    A site is a call of a catalogue op or of a Function, a detach trick, a mask, or a place where a value
    leaves autograd's graph. Calls of modules, functions and methods in this thread are recorded.

    Args:
        model: any nn.Module, which is not changed, or a model returned by ``explorer.swap``.
        functions: no longer needed, since every ``torch.autograd.Function`` is recorded under its class's
            name.

    Returns:
        An ``Observation``, which is a context manager: ``.frame``, ``.parameters``, ``.describe()``,
        ``.figure(site)``, ``.unseen``, ``.slope(loss, site)``, ``.scalars()``. Exceptions in the block pass
        through. No hooks remain afterwards.

    Raises:
        ValueError: if ``model`` is not a model, or ``functions`` has anything but Function classes.
    """
    return Observation(model, functions)

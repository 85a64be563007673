"""The noise lens: an op seen through noise, beside the rules of which it may be the gradient."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from explorer.catalogue import Op, find_op, find_rule, finite, require_fixed, values
from explorer.catalogue import Rule as CatalogueRule
from explorer.catalogue.noises import LENS_WORDS, NARROWEST, NOISES, WIDEST, Noise
from explorer.curves import Curves, sample_curves
from explorer.curves.sampled import POINTS, Floats
from explorer.description.figures import curve_figure
from explorer.formula import listed, percent, quoted, with_minus
from explorer.formula.reference import even_points
from explorer.measures.lens.means import growth
from explorer.measures.lens.parts import Parts, curves_of, parts_of
from explorer.measures.lens.smoothing import smoothed

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

_INK = "#1c2733"
SAME, NEARLY = 1e-12, 1e-6  # of the lens: as near as that a rule is it, or is it but for so much
_NOTHING = 1e-12  # as much as rounding leaves of a lens that is 0
_NO_CELL = 1e-3  # of the mean distance of two x: closer ones lie beside a jump and do not count
_MOST_BENDS = 64  # more are not told apart in a picture
_BESIDE = 1e-6  # of the width: on either side of a place where the lens may jump


@dataclass(frozen=True, eq=False)
class Lens:
    """An op under noise, and the rules beside it.

    Attributes:
        op, noise, width: as they were asked for.
        curves: op and rules over the range, in float64.
        x: (n,) float64, ascending.
        gradient: (n,) g · d/dx E op(x + noise); NaN where there is no mean.
        reason: why there is none anywhere, a key of ``LENS_WORDS``; "" where there is one.
    """

    op: Op
    noise: Noise
    width: float
    curves: Curves
    x: Floats
    gradient: Floats
    reason: str

    def __repr__(self) -> str:
        noise = f"{self.noise.key} noise of width {self.width:g}"
        return f"Lens({self.op.key}, {noise}, x from {self.x[0]:g} to {self.x[-1]:g})"

    @property
    def frame(self) -> pd.DataFrame:
        """A new table: x, gradient."""
        import pandas as pd

        return pd.DataFrame({"x": self.x, "gradient": self.gradient})

    @cached_property
    def distances(self) -> Mapping[str, float]:
        """By rule key: the root mean square of the difference, as a share of the lens's own.

        0 for the same curve, up to ``SAME`` of rounding; infinite beside a lens that is 0 everywhere. Values
        right at a jump do not count.
        """
        return {
            rule.key: distance(self.x, self.gradient, self.curves.at(rule.key, self.x))
            for rule in self.curves.rules
        }

    def describe(self) -> str:
        """Return what the lens shows, in sentences: which rules it is, and how far off the others are."""
        return " ".join(self.sentences.values())

    @cached_property
    def sentences(self) -> Mapping[str, str]:
        """The sentences by their keys in ``LENS_WORDS``; those up to "holes" are about the op alone."""
        known = {
            "op": self.op.label,
            "noise": self.noise.label,
            "width": _number(self.width),
            "meaning": self.noise.width,
            "start": _number(self.curves.start),
            "stop": _number(self.curves.stop),
        }
        if self.reason:
            return {self.reason: LENS_WORDS[self.reason].format(**known)}
        labels = self.curves.labels
        found = [(labels[key], distance) for key, distance in self.distances.items()]
        same = [label for label, distance in found if distance <= SAME]
        nearly = [label for label, distance in found if SAME < distance <= NEARLY]
        apart = [f"{label} {off(distance)}" for label, distance in found if NEARLY < distance < math.inf]
        said: list[tuple[str, Sequence[str] | bool]] = [
            ("lead", True),
            ("holes", bool(np.isnan(self.gradient).any())),
            ("sames" if len(same) > 1 else "same", same),
            ("nearly", nearly),
            ("apart", apart),
            ("unlike", any(math.isinf(distance) for _, distance in found)),
        ]
        return {
            name: LENS_WORDS[name].format(**known, rules=listed(what) if isinstance(what, list) else "")
            for name, what in said
            if what
        }

    def figure(self, **layout: Any) -> go.Figure:
        """The curves of op and rules as ``explorer.figure`` draws them, with the lens dashed.

        ``layout``: Plotly's layout keywords.
        """
        line = {"color": _INK, "width": 2, "dash": "7px,5px"}
        figure = curve_figure(self.curves)
        figure.add_scatter(
            x=self.x, y=self.gradient, yaxis="y2", mode="lines", line=line, connectgaps=False,
            name=f"under {self.noise.label} noise of width {_number(self.width)}",
        )  # fmt: skip
        return figure.update_layout(**layout)


def lens(
    op: str | Op,
    rules: str | CatalogueRule | Sequence[str | CatalogueRule] = "default",
    *,
    noise: str = "uniform",
    width: float = 1.0,
    start: float = -3.0,
    stop: float = 3.0,
    g: float = 1.0,
    **parameters: float,
) -> Lens:
    """Look at an op through noise: g · d/dx E op(x + noise), beside rules.

    Args:
        op: key of ``OPS``, ``"formula: …"`` in x, or an ``Op``.
        rules: one to six, as for ``sample``, whose distance from it is said.
        noise: "uniform" or "triangular", of a width from end to end; "normal", whose width is the standard
            deviation; "logistic", "laplace" or "cauchy", whose width is the scale.
        width: from 0.01 to 10.
        start, stop, g: as for ``sample``.
        **parameters: values by name, or ``rule.name`` for one rule only.

    Returns:
        A ``Lens``: ``.frame`` with columns x and gradient, ``.distances`` by rule, ``.describe()``,
        ``.figure()``. Jumps count by the density of the noise and straight pieces by its distribution, both
        exactly; other pieces by quadrature. Where the op has no mean the gradient is NaN, and ``.describe()``
        says why. A mean in a formula is over the range.

    Raises:
        ValueError: an unknown key, noise or parameter, or a number out of bounds.
    """
    op, chosen = find_op(op), noise_of(noise, width)
    several = [rules] if isinstance(rules, str | CatalogueRule) else list(rules)
    view: dict[str, Any] = {"start": start, "stop": stop, "g": g, "dtype": "float64"}
    require_fixed("the lens", op, *map(find_rule, several))
    curves = sample_curves(op, [find_rule(rule) for rule in several], **(view | parameters))
    settings = values(op, None, curves.parameters)
    x, gradient, reason = seen(op, settings, chosen, float(width), (curves.start, curves.stop))
    return Lens(op, chosen, float(width), curves, x, g * gradient, reason)


def noise_of(key: str, width: float) -> Noise:
    """The noise of a key; ValueError for an unknown one, and for a width that cannot be."""
    if key not in NOISES:
        raise ValueError(f"noise must be one of {', '.join(NOISES)}, not {quoted(key)}")
    if not NARROWEST <= finite("width", width) <= WIDEST:
        raise ValueError(f"width must be a number from {NARROWEST:g} to {WIDEST:g}, not {width:g}")
    return NOISES[key]


def seen(
    op: Op, parameters: Mapping[str, float], noise: Noise, width: float, span: tuple[float, float]
) -> tuple[Floats, Floats, str]:
    """The x and values of d/dx E op(x + noise) over a span, and why there are none."""
    x = even_points(*span, POINTS)
    nowhere = torch.full_like(x, torch.nan).numpy()
    curves = curves_of(op, parameters, span)
    if curves is None:
        return x.numpy(), nowhere, "many"
    reason, reach = growth(curves[0], noise, width)
    if reason:
        return x.numpy(), nowhere, reason
    parts = parts_of(op, parameters, span, reach)
    if parts is None:
        return x.numpy(), nowhere, "many"
    if noise.tail != "none" and parts.holes.numel():
        return x.numpy(), nowhere, "undefined"
    x = grid(x, parts, noise, width)
    return x.numpy(), smoothed(parts, noise, width, reach, x).numpy(), ""


def grid(even: torch.Tensor, parts: Parts, noise: Noise, width: float) -> torch.Tensor:
    """Even x, with those at which the lens may jump or bend and their sides."""
    if noise.tail != "none" or len(parts.at) + parts.straight.shape[1] > _MOST_BENDS:
        return even
    bends = torch.cat([parts.at, *parts.straight[:2]])[:, None].nan_to_num()
    bends = (bends + width * torch.tensor([-noise.reach, 0.0, noise.reach])).flatten()
    near = (bends[:, None] + _BESIDE * width * torch.tensor([-1.0, 0.0, 1.0])).flatten()
    return torch.cat([even, near[(near > even[0]) & (near < even[-1])]]).sort().values


def distance(x: Floats, lens: Floats, rule: Floats) -> float:
    """The root mean square of rule − lens over x as a share of the lens's, where both are finite; (n,) each.

    NaN where they are nowhere; infinite beside a lens that is 0 but for rounding, where such a rule has 0.
    """
    cells = np.diff(x)
    cells[cells < _NO_CELL * cells.mean()] = 0
    weights = (np.concatenate([[0.0], cells]) + np.concatenate([cells, [0.0]])) / (2 * (x[-1] - x[0]))
    both = np.isfinite(lens) & np.isfinite(rule)
    if not both.any():
        return math.nan
    size, rest = (float(np.sqrt(np.sum(weights[both] * some[both] ** 2))) for some in (lens, rule - lens))
    if size <= _NOTHING:
        return math.inf if rest > _NOTHING else 0.0
    return rest / size


def off(distance: float) -> str:
    """A distance in words: 12 %, 250 %."""
    return percent(distance) if distance <= 1 else f"{100 * distance:.0f} %"


def _number(value: float) -> str:
    return with_minus(f"{value:.6g}")

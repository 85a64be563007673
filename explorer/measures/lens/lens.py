"""Compute the slope of an op's mean under noise, the "lens", and compare backward rules with it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from explorer.catalogue import Op, find_op, find_rule, require_deterministic, resolve_values, to_finite
from explorer.catalogue import Rule as CatalogueRule
from explorer.catalogue.colours import INK
from explorer.catalogue.noises import LENS_WORDS, NARROWEST, NOISES, WIDEST, Noise
from explorer.curves import Curves, sample_curves
from explorer.curves.sampled import POINTS, Floats
from explorer.description.figures import curve_figure
from explorer.formula import format_number, format_percent, join_texts, quote
from explorer.formula.reference import make_even_points
from explorer.measures.lens.means import check_mean
from explorer.measures.lens.parts import Parts, bind_curves, split_op
from explorer.measures.lens.smoothing import compute_mean_slope

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

EXACT, NEARLY_EXACT = 1e-12, 1e-6  # maximum relative distances at which a rule equals the smoothed slope
_ZERO = 1e-12  # a smaller root mean square is a rounding error
_MIN_CELL = 1e-3  # points closer to a jump than this fraction of the mean step have no weight
_MAX_KINKS = 64  # more kinks could not be distinguished in a plot
_SIDE = 1e-6  # distance of samples from a possible jump, as a fraction of the noise's width


@dataclass(frozen=True, eq=False)
class Lens:
    """The result of ``lens``: the gradient of an op under noise, with backward rules to compare.

    Attributes:
        op: the op.
        noise: the noise.
        width: the width of the noise, as passed to ``lens``.
        curves: op and rules over the range, in float64.
        x: (n,) float64, ascending.
        gradient: (n,) g · d/dx E op(x + noise); NaN if the op has no mean at x.
        reason: a key of ``LENS_WORDS`` that says why the op has no mean at any x; "" if it has one.
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
        """The op's gradient under noise as a new DataFrame with the columns x and gradient."""
        import pandas as pd

        return pd.DataFrame({"x": self.x, "gradient": self.gradient})

    @cached_property
    def distances(self) -> Mapping[str, float]:
        """A dict from each rule's key to the rule's distance from the op's gradient under noise.

        The distance is the root mean square of the difference, relative to that of the gradient. It is 0 for
        the same curve (within ``EXACT``), infinite if the gradient is 0 everywhere and the rule is not, and
        NaN if the op has no mean. Values directly at a jump are ignored.
        """
        return {
            rule.key: measure_distance(self.x, self.gradient, self.curves.evaluate(rule.key, self.x))
            for rule in self.curves.rules
        }

    def describe(self) -> str:
        """Return sentences on the distance of each backward rule from the op's gradient under noise."""
        return " ".join(self.sentences.values())

    @cached_property
    def sentences(self) -> Mapping[str, str]:
        """The sentences of ``describe`` by keys of ``LENS_WORDS``; up to "holes" about the op alone."""
        fields = {
            "op": self.op.label,
            "noise": self.noise.label,
            "width": format_number(self.width, 6),
            "meaning": self.noise.width,
            "start": format_number(self.curves.start, 6),
            "stop": format_number(self.curves.stop, 6),
        }
        if self.reason:
            return {self.reason: LENS_WORDS[self.reason].format(**fields)}
        labels = self.curves.labels
        pairs = [(labels[key], distance) for key, distance in self.distances.items()]
        exact = [label for label, distance in pairs if distance <= EXACT]
        nearly = [label for label, distance in pairs if EXACT < distance <= NEARLY_EXACT]
        distant = [
            f"{label} {format_percent(distance) if distance <= 1 else f'{100 * distance:.0f} %'}"
            for label, distance in pairs
            if NEARLY_EXACT < distance < math.inf
        ]
        candidates: list[tuple[str, Sequence[str] | bool]] = [
            ("lead", True),
            ("holes", bool(np.isnan(self.gradient).any())),
            ("sames" if len(exact) > 1 else "same", exact),
            ("nearly", nearly),
            ("apart", distant),
            ("unlike", any(math.isinf(distance) for _, distance in pairs)),
        ]
        return {
            name: LENS_WORDS[name].format(
                **fields, rules=join_texts(content) if isinstance(content, list) else ""
            )
            for name, content in candidates
            if content
        }

    def figure(self, **layout: Any) -> go.Figure:
        """Return a figure of op and rules, with the op's gradient under noise as a dashed line.

        Args:
            **layout: keywords of Plotly's layout.
        """
        line = {"color": INK, "width": 2, "dash": "7px,5px"}
        figure = curve_figure(self.curves)
        figure.add_scatter(
            x=self.x, y=self.gradient, yaxis="y2", mode="lines", line=line, connectgaps=False,
            name=f"under {self.noise.label} noise of width {format_number(self.width, 6)}",
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
    """Compute an op's gradient under noise, g · d/dx E op(x + noise), and compare backward rules with it.

    Args:
        op: key of ``OPS``, ``"formula: …"`` in x, or an ``Op``.
        rules: one to six rules to compare, as for ``sample``.
        noise: "uniform" or "triangular", whose width is measured from end to end; "normal", whose width is
            the standard deviation; "logistic", "laplace" or "cauchy", whose width is the scale.
        width: from 0.01 to 10.
        start: lower end of x, as for ``sample``.
        stop: upper end of x, as for ``sample``.
        g: upstream gradient, as for ``sample``.
        **parameters: values by name, or ``rule.name`` for one rule only.

    Returns:
        A ``Lens``: ``.frame`` with columns x and gradient, ``.distances`` by rule, ``.describe()``,
        ``.figure()``. The contributions of jumps, weighted by the density of the noise, and of straight
        pieces, weighted by its distribution, are exact. Other pieces are integrated numerically. If the op
        has no mean at an x, the gradient is NaN, and ``.describe()`` says why. A mean in a formula is taken
        over the range.

    Raises:
        ValueError: for an unknown key, noise or parameter, or a number out of bounds.
    """
    op, noise_entry = find_op(op), find_noise(noise, width)
    entries = [rules] if isinstance(rules, str | CatalogueRule) else list(rules)
    window: dict[str, Any] = {"start": start, "stop": stop, "g": g, "dtype": "float64"}
    require_deterministic("the lens", op, *map(find_rule, entries))
    curves = sample_curves(op, [find_rule(rule) for rule in entries], **(window | parameters))
    settings = resolve_values(op, None, curves.parameters)
    x, gradient, reason = compute_lens(op, settings, noise_entry, float(width), (curves.start, curves.stop))
    return Lens(op, noise_entry, float(width), curves, x, g * gradient, reason)


def find_noise(key: str, width: float) -> Noise:
    """Return the noise with a key. Raises ValueError for an unknown key or a width out of bounds."""
    if key not in NOISES:
        raise ValueError(f"noise must be one of {', '.join(NOISES)}, not {quote(key)}")
    if not NARROWEST <= to_finite("width", width) <= WIDEST:
        raise ValueError(f"width must be a number from {NARROWEST:g} to {WIDEST:g}, not {width:g}")
    return NOISES[key]


def compute_lens(
    op: Op, parameters: Mapping[str, float], noise: Noise, width: float, span: tuple[float, float]
) -> tuple[Floats, Floats, str]:
    """Compute the slope of an op's mean under noise, d/dx E op(x + noise), over a range.

    Returns:
        The x; the slope at each x, NaN where the op has no mean; and the reason why it has none, a key of
        ``LENS_WORDS``, or "".
    """
    x = make_even_points(*span, POINTS)
    missing = torch.full_like(x, torch.nan).numpy()
    curves = bind_curves(op, parameters, span)
    if curves is None:
        return x.numpy(), missing, "many"
    reason, reach = check_mean(curves[0], noise, width)
    if reason:
        return x.numpy(), missing, reason
    parts = split_op(op, parameters, span, reach)
    if parts is None:
        return x.numpy(), missing, "many"
    if noise.tail != "none" and parts.holes.numel():
        return x.numpy(), missing, "undefined"
    x = make_grid(x, parts, noise, width)
    return x.numpy(), compute_mean_slope(parts, noise, width, reach, x).numpy(), ""


def make_grid(even: torch.Tensor, parts: Parts, noise: Noise, width: float) -> torch.Tensor:
    """Return evenly spaced x and additional points where the slope of the mean may have a kink."""
    if noise.tail != "none" or len(parts.jumps) + parts.straight.shape[1] > _MAX_KINKS:
        return even
    bends = torch.cat([parts.jumps, *parts.straight[:2]])[:, None].nan_to_num()
    bends = (bends + width * torch.tensor([-noise.reach, 0.0, noise.reach])).flatten()
    near = (bends[:, None] + _SIDE * width * torch.tensor([-1.0, 0.0, 1.0])).flatten()
    return torch.cat([even, near[(near > even[0]) & (near < even[-1])]]).sort().values


def measure_distance(x: Floats, lens: Floats, rule: Floats) -> float:
    """Return the root mean square of rule − lens over x, divided by the root mean square of the lens.

    Only x at which both are finite count; the result is NaN if there are none. For a lens that is 0 up to
    rounding, the result is 0 if the rule is 0 too, else infinity.

    Args:
        x: (n,) ascending.
        lens: (n,) the slope of the op's mean under noise.
        rule: (n,) the values of the backward rule.
    """
    cells = np.diff(x)
    cells[cells < _MIN_CELL * cells.mean()] = 0
    weights = (np.concatenate([[0.0], cells]) + np.concatenate([cells, [0.0]])) / (2 * (x[-1] - x[0]))
    is_finite = np.isfinite(lens) & np.isfinite(rule)
    if not is_finite.any():
        return math.nan
    size, residual = (
        float(np.sqrt(np.sum(weights[is_finite] * curve[is_finite] ** 2))) for curve in (lens, rule - lens)
    )
    if size <= _ZERO:
        return math.inf if residual > _ZERO else 0.0
    return residual / size

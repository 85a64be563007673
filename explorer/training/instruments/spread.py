"""The instrument "spread": how a stochastic op's gradient varies with its random numbers, and its bias."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from explorer.formula import format_short
from explorer.gradient import with_float64
from explorer.training.instruments.base import pictures
from explorer.training.instruments.base.exact import Exact, make_exact_estimator
from explorer.training.instruments.base.instrument import Nets, Record, Visible
from explorer.training.nets import ObservedPass
from explorer.training.settings import Settings

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

DRAWS = 8
_MIN_ERRORS = 3.0  # 2 in 1,000 unbiased rules exceed this number of standard errors
_BOUND_ERRORS = 2.0  # standard errors from the estimate to the upper bound of an insignificant bias
_ROUNDING = 1e-9  # the rounding error of float32, as a fraction of the squared exact gradient


class Bias(NamedTuple):
    """The bias of a rule's gradient, relative to the length of the exact gradient.

    Attributes:
        share: the distance of the mean gradient from the exact one; 0 if it is not significant, and NaN if
            the exact gradient cannot be told from 0.
        within: the standard error of ``share``, or if that is 0 an upper bound of the bias. Both are 0 for
            equal gradients. It is NaN if ``share`` is, and NaN or infinite if the exact gradient is too
            uncertain.
    """

    share: float
    within: float


@torch.no_grad()
def measure(nets: Nets) -> dict[int, Record]:
    """Measure how the gradient of each rule varies over independent draws for the next batch, and its bias.

    Returns:
        A dict from the index of each rule to a dict with these keys.

        - ``spread``: the standard deviation of the gradient over draws ÷ the length of its mean, as the
          median over seeds; infinite if the mean cannot be told from 0, NaN without a gradient. Shape (layers
          of weights,), float32.
        - ``bias`` and ``within``: the fields of ``Bias`` for the weights below each layer with the op, from
          all seeds together. The last layer of weights has none: no rule lies between it and the loss. Shape
          (layers with the op,), float32; (0,) without an exact gradient.
    """
    passes = [nets.ensemble.observe(*nets.batch, nets.task.loss, redraw) for redraw in range(1, DRAWS + 1)]
    ratios = torch.stack(
        [
            _compute_ratio(torch.stack([layer.slopes(each.gradients[number]).flatten(1) for each in passes]))
            for number, layer in enumerate(nets.ensemble.layers)
            if layer.shapes
        ],
        1,
    )
    biases = _compute_biases(nets, passes)
    return {
        rule: {"spread": ratios[members].median(0).values.cpu().numpy(), **biases[rule]}
        for rule, members in nets.ensemble.group_by_rule().items()
    }


def _compute_ratio(slopes: Tensor) -> Tensor:
    """Return the standard deviation of each net's gradient over draws ÷ the length of its mean.

    ``slopes`` has one gradient per draw, with shape (draws, nets, weights). The contribution of the variance
    to the squared mean is subtracted. The result, of shape (nets,), is infinite if the mean cannot be told
    from 0, and NaN if all gradients are 0.
    """
    mean = slopes.mean(0)
    variance = (slopes - mean).square().sum((0, 2)) / (DRAWS - 1)
    square = mean.square().sum(1) - variance / DRAWS
    return (variance / square.clamp(min=0)).sqrt()


def _compute_biases(nets: Nets, passes: list[ObservedPass]) -> dict[int, Record]:
    exact = make_exact_estimator(nets)
    gradients = [
        gradients_of_pass
        for observed in passes
        if exact and (gradients_of_pass := _compute_gradients(nets, observed, exact))
    ]
    layers = zip(*gradients, strict=True) if len(gradients) == DRAWS else ()
    wide_gradients = [with_float64(torch.stack(layer, 2)).double() for layer in layers]
    # Inner products of the gradients of all pairs of random samples, (2, nets, draws, draws).
    products = [(each @ each.mT).cpu().numpy() for each in wide_gradients]
    records: dict[int, Record] = {}
    for rule, members in nets.ensemble.group_by_rule().items():
        biases = [estimate_bias(*layer_products[:, members].sum(1)) for layer_products in products]
        shares, within = np.array(biases, np.float32).reshape(-1, 2).T
        records[rule] = {"bias": shares, "within": within}
    return records


def _compute_gradients(nets: Nets, observed: ObservedPass, exact: Exact) -> list[Tensor] | None:
    """Return the error of a rule's weight gradients, and the exact gradients, below each layer with the op.

    The error is the rule's gradient minus the exact one, which ``exact`` estimates from a pass on the next
    batch. Each tensor has shape (2, nets, weights). The result is None without an estimate.
    """
    exact_gradients = exact(observed)
    if exact_gradients is None:
        return None
    numbers = [number for number, layer in enumerate(nets.ensemble.layers) if layer.site]
    return [
        torch.stack(
            [
                nets.ensemble.layers[number - 1]
                .compute_gradients(each, observed.traces[number - 1])[0]
                .flatten(1)
                for each in (observed.traces[number].op.gradient - exact_gradient, exact_gradient)
            ]
        )
        for number, exact_gradient in zip(numbers, exact_gradients, strict=True)
    ]


def estimate_bias(difference: NDArray[float64], exact: NDArray[float64]) -> Bias:
    """Return the bias of a rule's gradient from the inner products of the gradients of all pairs of draws.

    Only products of different draws count: on average they equal squares of means, without the noise of
    single draws. The standard error is that of the jackknife, which leaves out one draw at a time. Both
    arguments have shape (draws, draws).

    Args:
        difference: the inner products of the rule's gradient minus the exact one.
        exact: the inner products of the exact gradient.
    """
    square = _compute_mean(exact)
    if not square > 0:
        return Bias(np.nan, np.nan)
    if difference.trace() <= _ROUNDING * exact.trace():
        return Bias(0.0, 0.0)
    share = _compute_mean(difference) / square
    with np.errstate(all="ignore"):  # the error is NaN or ∞ if the exact gradient is too uncertain
        ratios = _compute_means_without(difference) / _compute_means_without(exact)
        error = float(((DRAWS - 1) * ratios.var()) ** 0.5)
    if share > _MIN_ERRORS * error:
        return Bias(share**0.5, error / (2 * share**0.5))
    return Bias(0.0, (max(share, 0.0) + _BOUND_ERRORS * error) ** 0.5)


def _compute_mean(products: NDArray[float64]) -> float:
    """Return the mean inner product of two different draws: the squared length of the mean gradient."""
    return float(products.sum() - products.trace()) / (DRAWS * (DRAWS - 1))


def _compute_means_without(products: NDArray[float64]) -> NDArray[float64]:
    sums = products.sum(1) - products.diagonal()
    means: NDArray[float64] = (sums.sum() - 2 * sums) / ((DRAWS - 1) * (DRAWS - 2))
    return means


def draw(record: Record) -> list[pictures.Picture]:
    """Return a picture of a rule's ``record``: a bar for the spread in each layer, and a note on the bias."""
    bars = pictures.draw_log_bars(record["spread"], -2, 2, _format_ratio)
    pairs = zip(record["bias"].tolist(), record["within"].tolist(), strict=True)
    biases = ", ".join(f"w{number} {_format_bias(*pair)}" for number, pair in enumerate(pairs, 1))
    note = f"Bias: {biases or 'not measured here'}"
    return [{"words": f"{pictures.describe_bars(bars)}. {note}", "blocks": [bars, pictures.draw_note(note)]}]


def _format_ratio(ratio: float) -> str:
    if math.isnan(ratio):
        return "none"
    return format_short(ratio) if math.isfinite(ratio) else "∞"


def _format_bias(share: float, within: float) -> str:
    if math.isnan(share):
        return "cannot be told"
    if not share > 0:
        if not within < 1:
            return "lost in the noise"
        return f"< {math.ceil(100 * within)} %" if within > 0 else "none"
    if within < 0.00005:
        return f"{format_short(100 * share)} %"
    decimals = 2 if within < 0.00095 else 1 if within < 0.0095 else 0
    return f"{100 * share:.{decimals}f} ± {100 * within:.{decimals}f} %"


def explain_missing(settings: Settings) -> str:
    """Return a sentence if no gradient varies because nothing is random, otherwise ""."""
    if any(entry.is_random for entry in settings.entries):
        return ""
    return "Not measured here: nothing is random, so the gradient of a batch has no spread."


INSTRUMENT = Visible(
    key="spread",
    label="Spread and bias",
    sentence=f"The next batch, with {DRAWS} independent draws. Bars: how far a single gradient lies from the "
    "mean over draws, relative to the length of that mean, for each layer of weights, on a log scale "
    "from 0.01 to 100. Bias: how far that mean lies from the exact gradient of the mean loss, in % of its "
    "length.",
    limits=f"{DRAWS} draws are a rough estimate; ± is a standard error. ∞: the mean is lost in the noise. < "
    "30 %: no bias was detected, and any bias is most likely below 30 %. A mean that points the exact way "
    "but is twice as long has a bias of 100 %. The last layer of weights has none. Bias is measured only "
    "at hidden units, not those of maps or spikes, of an op without a mean whose parameters do not learn: "
    "if it draws one of two outputs and the net is not too wide, or if it is smooth in x for each draw, so "
    "that default autograd has no bias.",
    cost="33 ms for six rules with three seeds and one hidden layer of 16 units, 90 ms with two",
    measure=measure,
    draw=draw,
    panel=pictures.Panel(order=9, rows=2.5, opens=False, when="draws"),
    missing=explain_missing,
)

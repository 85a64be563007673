"""The instrument "alignment": the cosine between a rule's gradient and that of a net smoothed by noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from explorer.catalogue import find_op
from explorer.formula.operands import find_reductions
from explorer.training.instruments.base.flips import count_examples, is_too_wide
from explorer.training.instruments.base.instrument import Nets, Recorded, get_op_site
from explorer.training.instruments.base.smoothing import compute_smoothed_gradient
from explorer.training.limits import EXAMPLES
from explorer.training.settings import Settings

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray


@torch.no_grad()
def measure(nets: Nets) -> NDArray[float32]:
    """Return the agreement of each rule's gradient with the gradient of the net smoothed by noise.

    The result is the cosine and the fraction of equal signs, for the weights and biases below each layer with
    the op; NaN if either gradient is 0 or not finite. Shape (2, active nets, layers with the op).
    """
    n, layers = count_examples(nets), []
    for number in nets.op_layers:
        below, trace = nets.ensemble.layers[number - 1], nets.current_pass.traces[number - 1]
        gradient = nets.current_pass.traces[number].op.gradient[:, :n]
        ours, theirs = (
            torch.cat(parts, 1) if len(parts) > 1 else parts[0]
            for g in (gradient, compute_smoothed_gradient(nets, number, n))
            for parts in [[part.flatten(1) for part in below.compute_gradients(g, trace)]]
        )
        layers.append(compare_directions(ours, theirs))
    return torch.stack(layers, -1).cpu().numpy()


def compare_directions(ours: Tensor, theirs: Tensor) -> Tensor:
    """Return the cosine of each pair of vectors, and the fraction of elements with equal signs.

    Both vectors have shape (nets, n), the result (2, nets). It is NaN if a vector is 0 or not finite.
    """
    # A zero vector becomes NaN. Operations that torch computes slowly (==, bool to float, prod) are avoided.
    ours, theirs = (each / each.abs().amax(1, keepdim=True) for each in (ours, theirs))
    cosine = (ours * theirs).sum(1) / (ours.square().sum(1) * theirs.square().sum(1)).sqrt_()
    differing = (ours.sign_() - theirs.sign_()).abs_().clamp_(max=1).sum(1)
    agreement = (1 - differing / ours.shape[1]).where(cosine.isfinite(), torch.nan)
    return torch.stack([cosine, agreement])


def explain_missing(settings: Settings) -> str:
    """Return a sentence on why a run has no smoothed net to compare gradients with, or "" if it has one."""
    ops = [settings.op, *(str(value) for _, name, value in settings.branch if name == "op")]
    if get_op_site(settings).fires:
        return "Not measured here: flipping a spiking unit also changes its later time steps."
    if not get_op_site(settings).flips:
        return "Not measured here: it needs an op at hidden units, and this task applies the op to weights."
    if any(find_reductions(find_op(op).parsed.tree) for op in ops):
        return "Not measured here: the op averages over all values, so no unit can be flipped alone."
    if any(find_op(op).is_random for op in ops):
        return (
            "Not measured here: the op is random, and noise would smooth each draw, not the mean over draws."
        )
    if is_too_wide(settings.layers):
        return "Not measured here: with layers this wide, flipping every unit would take too long."
    if settings.learn:
        return "Not measured here: a parameter of the op learns, so each net would have another smoothed op."
    return ""


INSTRUMENT = Recorded(
    key="alignment",
    label="Alignment",
    sentence="How well each rule's gradient agrees with the gradient of the net after its op is smoothed "
    "by normal noise of width σ. Cosine 1: same direction, 0: unrelated, −1: opposite.",
    limits="A rule with a lower cosine may still end higher. The smoothed gradient is an approximation. "
    "The loss is taken as straight along the op's slopes, and across jumps that together span less than σ: "
    "up to 8 % off for a number format; on digits, with ReLU, a clamp, tanh or a parabola, 2 to 7 % off at "
    f"σ = 0.25 and 6 to 24 % at σ = 0.5. It uses up to {EXAMPLES} examples, fewer for nets with many "
    "connections: 8 with 8 and 16 maps.",
    cost="1.2 ms for six rules with one hidden layer of 16 units",
    fields=("cosine", "agreement"),
    measure=measure,
    missing=explain_missing,
)

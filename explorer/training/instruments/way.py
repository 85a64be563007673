"""The instrument "way": how each layer scales a gradient on its way back, and which weights it reaches."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch

from explorer.catalogue import Op, Rule
from explorer.checks.linearity import check_linearity
from explorer.curves.user_functions.curve import Curve
from explorer.curves.user_functions.subject import prepare_pair
from explorer.gradient import with_float64
from explorer.training.instruments.base.instrument import Nets, Record, Visible
from explorer.training.nets import OpTrace


@torch.no_grad()
def measure(nets: Nets) -> dict[int, Record]:
    """Measure how each rule scales the gradient of the next batch, and how far the weights have moved.

    Returns:
        A dict from the index of each rule to a dict of means over its seeds.

        - ``passed``: the sum of the gradient's absolute values after the rule ÷ the sum before it, NaN if no
          seed has an upstream gradient. Shape (layers with the op,), float32.
        - ``reached``: the norm of the gradient. Shape (layers of weights,), float32.
        - ``moved``: the distance of the weights from their initial values. Shape (layers of weights,),
          float32.
        - ``of_losses``: whether the rule computes its gradient from losses instead of g.
        - ``biased``: whether any layer has biases, which may learn even if weights do not.
        - ``slope_of``: the op as a subject if the rule is default autograd, or "": "Sign", "The op Q".
        - ``adam``: whether steps are divided by the size of the gradient.
        - ``fault``: how the rule fails the check "linear in g", or "".
        - ``reversed``: the fraction of the op's inputs, of those where neither is 0, at which g and the
          gradient have opposite signs; 0 for default autograd and where y falls with x.
        - ``others``: how each rule's gradient compares with this one's at the same x, y and g: the fraction
          of equal signs where neither is 0, the cosine, and the ratio of the sums of absolute values. NaN
          with a random, learned or averaging op or rule. Shape (rules, 3), float32.
    """
    ensemble = nets.ensemble
    batch_pass = ensemble.run_pass(*nets.batch, nets.task.loss)
    sizes = [
        [with_float64(each).abs().flatten(1).double().sum(1) for each in batch_pass.traces[number].op[2:]]
        for number in nets.op_layers
    ]
    ratios = torch.stack([below / above for above, below in sizes], 1)
    factors = ratios.where(ratios.isfinite(), math.nan).float().cpu().numpy()
    weighted = ensemble.weighted_layers
    reached = torch.stack([ensemble.layers[at].size(batch_pass.gradients[at]) for at in weighted], 1)
    moved = np.array(nets.distances, np.float32).T
    biased = any(layer.biased and len(layer.shapes) > 1 for layer in (ensemble.layers[at] for at in weighted))
    norms = reached.cpu().numpy()
    traces = [batch_pass.traces[number].op for number in nets.op_layers]
    others, opposite = _compare_rules(nets, traces), _count_opposite(traces)
    items, name = tuple(sorted(nets.settings.parameters.items())), nets.op.label.partition(" (")[0]
    op_name = f"The op {name}" if name in [each.label for each in nets.rules] else name
    return {
        rule: {
            "passed": _compute_mean(factors[members]),
            "reached": norms[members].mean(0),
            "moved": moved[members].mean(0),
            "of_losses": entry.needs_loss and entry.parsed is not None and "g" not in entry.parsed.variables,
            "biased": biased,
            "slope_of": op_name if entry.key == "default" else "",
            "adam": nets.settings.optimiser == "adam",
            "fault": _find_fault(nets.op, entry, items),
            "reversed": 0.0 if entry.key == "default" else float(opposite[members].mean()),
            "others": _compute_mean(others[members]),
        }
        for rule, members in ensemble.group_by_rule().items()
        for entry in [nets.rules[rule]]
    }


@lru_cache(maxsize=256)
def _find_fault(op: Op, rule: Rule, items: tuple[tuple[str, float], ...]) -> str:
    if op.is_random or rule.is_random:
        return ""
    result = check_linearity(Curve(prepare_pair(op, rule, dict(items))))
    return re.split(r"[:.] ", result.sentence)[0] if result.verdict == "fails" else ""


def _count_opposite(traces: Sequence[OpTrace]) -> np.ndarray:
    """Return the share of inputs at which each net's rule reverses g. Shape (nets,)."""
    x, y, g, ours = (torch.cat([each[at].flatten(1) for each in traces], 1) for at in range(4))
    signs, rises = g.sign() * ours.sign(), (y.gather(1, x.argsort(1)).diff() >= 0).all(1)
    share = (signs < 0).sum(1) / (signs != 0).sum(1).clamp(min=1)
    return share.where(rises, 0.0).cpu().numpy()


def _compare_rules(nets: Nets, traces: Sequence[OpTrace]) -> np.ndarray:
    """Return ``others`` for each net, over all layers. Shape (nets, rules, 3)."""
    op_rules = nets.op_rules
    result = np.full((len(nets.ensemble.active), len(nets.rules), 3), np.nan, np.float32)
    if op_rules.draw_names or op_rules.has_reduction or op_rules.learned:
        return result
    x, y, g, ours = (torch.cat([each[at].flatten(1) for each in traces], 1) for at in range(4))
    for rule, (_, compute_gradient) in enumerate(op_rules.pairs):
        signs = (theirs := compute_gradient(x, y, g)).sign() * ours.sign()
        same = (signs > 0).sum(1) / (signs != 0).sum(1)
        cosine = torch.cosine_similarity(ours, theirs, eps=0)
        size = theirs.abs().sum(1) / ours.abs().sum(1)
        result[:, rule] = torch.stack([same, cosine, size], 1).cpu().numpy()
    return result


def _compute_mean(factors: np.ndarray) -> np.ndarray:
    has_factor = np.isfinite(factors)
    sums = np.where(has_factor, factors, 0).sum(0)
    return np.where(has_factor.any(0), sums / np.maximum(has_factor.sum(0), 1), np.nan).astype(np.float32)


INSTRUMENT = Visible(
    key="way",
    label="The way back",
    sentence="How much of the gradient each layer with the op passes on, and how far all weights have moved.",
    limits="Size is not direction: a gradient that passes unchanged in size may point the wrong way.",
    cost="0.2 ms for six rules with one hidden layer of 16 units",
    measure=measure,
)

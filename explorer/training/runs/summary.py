"""Summaries of a training in sentences, from its measurements: plain text, never markup."""

import math
from collections.abc import Mapping
from itertools import chain

import torch

from explorer.formula import format_percent, join_texts
from explorer.training.instruments.base.gradients import Gradients
from explorer.training.ranking import Unit, rank, texts
from explorer.training.runs.snapshot import Snapshot

DEVICES = {
    "cpu": "CPU",
    "cuda": "AMD GPU" if torch.version.hip else "NVIDIA GPU",
    "mps": "Apple GPU",
    "xpu": "Intel GPU",
}


def device(name: str) -> str:
    """A device as people call it: "CPU" for "cpu", "NVIDIA GPU" for "cuda:0"."""
    kind = name.partition(":")[0]
    return DEVICES.get(kind, kind.upper())


def number(value: float) -> str:
    """A measured number to four digits: 46,970 or 0.01234."""
    rounded = float(f"{value:.4g}")
    return f"{rounded:,.0f}" if 1e3 <= abs(rounded) < 1e7 else f"{value:.4g}"


def quantile(degrees: int) -> float:
    """The two-sided 95 % quantile of Student's t with ``degrees`` of freedom, from 1: 2.78 for 4."""
    from scipy.special import stdtrit  # half a second and 14 MB, which a run of one seed does not need

    return float(stdtrit(degrees, 0.975))


def sentences(snapshot: Snapshot, labels: Mapping[str, str]) -> list[str]:
    """One sentence or two for each rule of ``labels``; then how they stand beside one another."""
    known = {rule: label for rule, label in labels.items() if rule in snapshot.losses}
    judged = scores(snapshot)
    rules = [_rule(snapshot, rule, label, judged.get(rule, "")) for rule, label in known.items()]
    return [*rules, conclusion(snapshot, known)]


def conclusion(snapshot: Snapshot, labels: Mapping[str, str]) -> str:
    """The standing or the end of a race: on held-out data with its uncertainty, or by its losses."""
    if not snapshot.finished and not snapshot.step:
        return "" if len(labels) == 1 else f"All {len(labels)} rules start from the same weights."
    return _judged(snapshot, labels) if snapshot.metric else _learnt(snapshot, labels)


def _does(snapshot: Snapshot, rules: int = 1) -> str:
    """The verb for so many rules: "ended", or "is" and "are"."""
    return "ended" if snapshot.finished else "is" if rules == 1 else "are"


def scores(snapshot: Snapshot) -> dict[str, str]:
    """The held-out score of each rule of which a seed is still finite, all with the same decimals."""
    return texts({rule: by_seed(snapshot, rule) for rule in snapshot.losses}, unit_of(snapshot))


def _none(snapshot: Snapshot) -> str:
    """The sentence on rules of which none is finite; before the first step no learning rate was at fault."""
    advice = ": try a smaller learning rate" if snapshot.step else ", not even before the first step"
    return f"No rule kept its values finite{advice}."


def _judged(snapshot: Snapshot, labels: Mapping[str, str]) -> str:
    """The ranking on held-out data, and with which of them the first layer never moved."""
    known = {rule: by_seed(snapshot, rule) for rule in labels}
    if not any(map(math.isfinite, chain(*known.values()))):
        return _none(snapshot)
    unit = unit_of(snapshot)
    example = 1 / snapshot.held_out if unit == "%" else 0.0
    ranking = rank({labels[rule]: values for rule, values in known.items()}, example, unit=unit)
    order = sorted(known, key=lambda rule: ranking.means.get(labels[rule], -math.inf), reverse=True)
    return " ".join([ranking.sentence, *_still(snapshot, labels, order)])


def unit_of(snapshot: Snapshot) -> Unit:
    """The unit of its scores."""
    return "%" if snapshot.metric == "accuracy" else "R²"


def by_seed(snapshot: Snapshot, rule: str) -> list[float]:
    """The scores of a rule's seeds, NaN for one that diverged; none without held-out data."""
    scores = snapshot.score[rule]
    return [] if scores is None else scores.tolist()


def _still(snapshot: Snapshot, labels: Mapping[str, str], order: list[str]) -> list[str]:
    """A sentence on rules with which the first layer never moved, or none."""
    moved = {rule: facts.w1_moved for rule in order if (facts := snapshot.gradients[rule])}
    still = [labels[rule] for rule, far in moved.items() if far == 0]
    if not still or not snapshot.step:
        return []
    return [f"With {join_texts(still)} no gradient reached the first layer: it never moved."]


def _learnt(snapshot: Snapshot, labels: Mapping[str, str]) -> str:
    """A sentence on the lowest and the highest loss, and on the way of w1 meanwhile."""
    ended = {
        rule: (loss, gradients)
        for rule in labels
        if (loss := snapshot.loss[rule]) is not None and (gradients := snapshot.gradients[rule])
    }
    lost = [labels[rule] for rule in labels if rule not in ended]
    notes = [f"{join_texts(lost)} diverged and cannot be compared."] if lost else []
    if not ended:
        return _none(snapshot)
    low, high = (pick(ended, key=lambda rule: ended[rule][0]) for pick in (min, max))
    (least, best), (most, worst) = ended[low], ended[high]
    if len(ended) == 1:
        main = f"{labels[low]} {_does(snapshot)} at {number(least)}. {_alone(best)}"
    elif number(least) == number(most):
        named, verb = join_texts([labels[rule] for rule in ended]), _does(snapshot, len(ended))
        main = f"{named} {verb} at the same loss, {number(least)}."
    else:
        lowest = "lower" if len(ended) == 2 else "lowest"
        main = f"{labels[low]} {_does(snapshot)} {lowest}, at {number(least)}; "
        main += f"{labels[high]} at {number(most)}. "
        main += _why(labels[low], best, labels[high], worst)
    return " ".join([main, *notes])


def _why(low: str, best: Gradients, high: str, worst: Gradients) -> str:
    """A sentence on the way of w1 with the rule that ended lower and the one that ended higher."""
    if not best.w1_moved and not worst.w1_moved:
        return "w1 moved with neither: no gradient reached it, only w2 learned."
    if not worst.w1_moved:
        return f"With {high} w1 never moved: no gradient reached it, only w2 learned."
    if not best.w1_moved:
        return (
            f"With {low} w1 never moved, so that w2 learned on hidden values that stood still; "
            f"with {high} they changed all the time, as w1 moved by {number(worst.w1_moved)}."
        )
    return (
        f"w1 moved with both, by {number(best.w1_moved)} and {number(worst.w1_moved)}; "
        f"in size the rules returned {best.passed or 0:.2g} and {worst.passed or 0:.2g} of the gradient "
        "that came."
    )


def _alone(gradients: Gradients) -> str:
    if not gradients.w1_moved:
        return "w1 never moved: no gradient reached it, only w2 learned."
    return f"w1 moved by {number(gradients.w1_moved)}."


def _rule(snapshot: Snapshot, rule: str, label: str, score: str) -> str:
    """A sentence on one rule: loss, score, and whether the gradient reaches the first layer."""
    broken = snapshot.diverged[rule]
    if broken is not None:
        return (
            f"{label} diverged at step {broken}: {snapshot.fallen[rule] or 'a value was no longer finite'}."
        )
    loss, gradients = snapshot.loss[rule], snapshot.gradients[rule]
    rests = f" {snapshot.resting[rule]}" if snapshot.resting[rule] else ""
    words = [f"{label}: no step yet" if loss is None else f"{label}: loss {number(loss)}"]
    if score:
        words.append(f"{score} on held-out data")
    if gradients is None:
        return f"{', '.join(words)}."
    layer = " in layer 1" if snapshot.layers > 1 else ""
    blocked = f"the rule blocks {format_percent(gradients.blocked)} of the gradient{layer}"
    if loss is None:
        return f"{', '.join(words)}; {blocked}."
    first, rest = ("The first layer", "the rest learns") if snapshot.metric else ("w1", "w2 learns")
    if gradients.w1_moved == 0:
        return f"{', '.join(words)}. {first} has not moved: no gradient reaches it, only {rest}.{rests}"
    return f"{', '.join(words)}. {first} has moved by {number(gradients.w1_moved)}; {blocked}.{rests}"

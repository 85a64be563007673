"""Summaries of a training in sentences, from its measurements: plain text, never markup."""

import math
from collections.abc import Mapping
from statistics import fmean, stdev

from explorer.formula import listed, percent
from explorer.training.instruments.base.gradients import Gradients
from explorer.training.runs.snapshot import Snapshot

DEVICES = {"cpu": "CPU", "cuda": "NVIDIA GPU", "mps": "Apple GPU", "xpu": "Intel GPU"}


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
    return [*(_rule(snapshot, rule, label) for rule, label in known.items()), conclusion(snapshot, known)]


def conclusion(snapshot: Snapshot, labels: Mapping[str, str]) -> str:
    """The standing or the end of a race: on held-out data with its uncertainty, or by its losses."""
    if not snapshot.finished and not snapshot.step:
        return "" if len(labels) == 1 else f"All {len(labels)} rules start from the same weights."
    return _judged(snapshot, labels) if snapshot.metric else _learnt(snapshot, labels)


def _does(snapshot: Snapshot, rules: int = 1) -> str:
    """The verb for so many rules: "ended", or "is" and "are"."""
    return "ended" if snapshot.finished else "is" if rules == 1 else "are"


def score(values: list[float], metric: str | None) -> str:
    """Scores of some seeds as people write them: "92 ± 1 %", "95.9 ± 0.4 %", or "0.83" of one alone."""
    scale, unit = (100, " %") if metric == "accuracy" else (1, "")
    spread = stdev(values) * scale if len(values) > 1 else None
    digits = 2 if scale == 1 else 0 if spread is None or spread >= 0.95 else 1
    middle = f"{fmean(values) * scale:.{digits}f}"
    return middle + ("" if spread is None else f" ± {spread:.{digits}f}") + unit


def scores(snapshot: Snapshot) -> dict[str, str]:
    """The held-out score of each rule of which a seed is still finite, as ``score`` writes it."""
    known = {rule: _by_seed(snapshot, rule) for rule in snapshot.losses}
    return {rule: score(list(seeds.values()), snapshot.metric) for rule, seeds in known.items() if seeds}


def apart(one: Mapping[int, float], other: Mapping[int, float]) -> bool:
    """Whether seeds tell two rules apart: their scores by seed differ with 95 % confidence, in pairs."""
    differences = [one[seed] - other[seed] for seed in one if seed in other]
    if len(differences) < 2:
        return False
    least = quantile(len(differences) - 1) * stdev(differences) / math.sqrt(len(differences))
    return abs(fmean(differences)) > least


def _judged(snapshot: Snapshot, labels: Mapping[str, str]) -> str:
    """A sentence on the highest and lowest scores on held-out data, and on ties within uncertainty."""
    known = {rule: _by_seed(snapshot, rule) for rule in labels}
    ended = {rule: seeds for rule, seeds in known.items() if seeds}
    if not ended:
        return "No rule kept its values finite: try a smaller learning rate."
    order = sorted(ended, key=lambda rule: fmean(ended[rule].values()), reverse=True)
    main = _ranking(snapshot, {labels[rule]: ended[rule] for rule in order})
    return " ".join([main, *_still(snapshot, labels, order), *_lost(snapshot, labels)])


def _ranking(snapshot: Snapshot, ended: Mapping[str, Mapping[int, float]]) -> str:
    """The sentence itself, of labels from the highest score to the lowest."""
    best, worst = next(iter(ended)), list(ended)[-1]
    texts = {label: score(list(seeds.values()), snapshot.metric) for label, seeds in ended.items()}
    where = "on held-out data" if snapshot.metric == "accuracy" else "on held-out data, by R²"
    basis = f"mean ± SD of {snapshot.seeds} seeds" if snapshot.seeds > 1 else "one seed"
    level = (
        [label for label in ended if not apart(ended[best], ended[label])] if snapshot.seeds > 1 else [best]
    )
    if len(ended) == 1:
        return f"{best} {_does(snapshot)} at {texts[best]} {where} ({basis})."
    if len(level) == len(ended) > 1:
        names = listed([f"{label} ({text})" for label, text in texts.items()])
        how = "how these ended" if snapshot.finished else "how good these are"
        return f"{snapshot.seeds} seeds cannot tell apart {how} {where}: {names}."
    if texts[best] == texts[worst]:
        return (
            f"{listed(list(ended))} {_does(snapshot, len(ended))} alike {where}, at {texts[best]} ({basis})."
        )
    higher = "higher" if len(ended) == 2 else "highest"
    if len(level) > 1:
        named = listed([f"{label} ({texts[label]})" for label in level])
        main = f"{named} {_does(snapshot, len(level))} highest {where}"
        return (
            f"{main}, and {snapshot.seeds} seeds cannot tell them apart; {worst} at {texts[worst]} ({basis})."
        )
    return (
        f"{best} {_does(snapshot)} {higher} {where}, at {texts[best]}; {worst} at {texts[worst]} ({basis})."
    )


def _by_seed(snapshot: Snapshot, rule: str) -> dict[int, float]:
    """The scores of a rule's seeds that are still finite."""
    scores = snapshot.score[rule]
    values = [] if scores is None else scores.tolist()
    return {seed: value for seed, value in enumerate(values) if math.isfinite(value)}


def _still(snapshot: Snapshot, labels: Mapping[str, str], order: list[str]) -> list[str]:
    """A sentence on rules with which the first layer never moved, or none."""
    moved = {rule: facts.w1_moved for rule in order if (facts := snapshot.gradients[rule])}
    still = [labels[rule] for rule, far in moved.items() if far == 0]
    if not still or not snapshot.step:
        return []
    return [f"With {listed(still)} no gradient reached the first layer: it never moved."]


def _lost(snapshot: Snapshot, labels: Mapping[str, str]) -> list[str]:
    """Sentences on rules with diverged seeds."""
    gone = {labels[rule]: snapshot.seeds - snapshot.going[rule] for rule in labels}
    whole = [label for label, count in gone.items() if count == snapshot.seeds]
    parts = [
        f"{count} of {snapshot.seeds} seeds of {label} diverged."
        for label, count in gone.items()
        if 0 < count < snapshot.seeds
    ]
    return parts + ([f"{listed(whole)} diverged and cannot be compared."] if whole else [])


def _learnt(snapshot: Snapshot, labels: Mapping[str, str]) -> str:
    """A sentence on the lowest and the highest loss, and on the way of w1 meanwhile."""
    ended = {
        rule: (loss, gradients)
        for rule in labels
        if (loss := snapshot.loss[rule]) is not None and (gradients := snapshot.gradients[rule])
    }
    lost = [labels[rule] for rule in labels if rule not in ended]
    notes = [f"{listed(lost)} diverged and cannot be compared."] if lost else []
    if not ended:
        return "No rule kept its values finite: try a smaller learning rate."
    low, high = (pick(ended, key=lambda rule: ended[rule][0]) for pick in (min, max))
    (least, best), (most, worst) = ended[low], ended[high]
    if len(ended) == 1:
        main = f"{labels[low]} {_does(snapshot)} at {number(least)}. {_alone(best)}"
    elif number(least) == number(most):
        named, verb = listed([labels[rule] for rule in ended]), _does(snapshot, len(ended))
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
        f"they passed the gradient on by a mean factor of {best.passed or 0:.2g} and {worst.passed or 0:.2g}."
    )


def _alone(gradients: Gradients) -> str:
    if not gradients.w1_moved:
        return "w1 never moved: no gradient reached it, only w2 learned."
    return f"w1 moved by {number(gradients.w1_moved)}."


def _rule(snapshot: Snapshot, rule: str, label: str) -> str:
    """A sentence on one rule: loss, score, and whether the gradient reaches the first layer."""
    broken = snapshot.diverged[rule]
    if broken is not None:
        return (
            f"{label} diverged at step {broken}: {snapshot.fallen[rule] or 'a value was no longer finite'}."
        )
    loss, gradients = snapshot.loss[rule], snapshot.gradients[rule]
    rests = f" {snapshot.resting[rule]}" if snapshot.resting[rule] else ""
    words = [f"{label}: no step yet" if loss is None else f"{label}: loss {number(loss)}"]
    if seeds := _by_seed(snapshot, rule):
        words.append(f"{score(list(seeds.values()), snapshot.metric)} on held-out data")
    if gradients is None:
        return f"{', '.join(words)}."
    blocked = f"the rule blocks {percent(gradients.blocked)} of the gradient"
    if loss is None:
        return f"{', '.join(words)}; {blocked}."
    first, rest = ("The first layer", "the rest learns") if snapshot.metric else ("w1", "w2 learns")
    if gradients.w1_moved == 0:
        return f"{', '.join(words)}. {first} has not moved: no gradient reaches it, only {rest}.{rests}"
    return f"{', '.join(words)}. {first} has moved by {number(gradients.w1_moved)}; {blocked}.{rests}"

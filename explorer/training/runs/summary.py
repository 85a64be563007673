"""Sentences of plain text that summarise the results of a training run."""

import math
from collections.abc import Mapping
from itertools import chain

import torch

from explorer.formula import format_percent, format_short, join_texts, number_text
from explorer.training.instruments.base.gradients import Gradients
from explorer.training.ranking import Unit, format_scores, rank
from explorer.training.runs.advice import advise_after_tie
from explorer.training.runs.snapshot import Snapshot

DEVICES = {
    "cpu": "CPU",
    "cuda": "AMD GPU" if torch.version.hip else "NVIDIA GPU",
    "mps": "Apple GPU",
    "xpu": "Intel GPU",
}


def name_device(name: str) -> str:
    """Return the display name of a torch device, such as "CPU" for "cpu" or "NVIDIA GPU" for "cuda:0"."""
    kind = name.partition(":")[0]
    return DEVICES.get(kind, kind.upper())


def compute_quantile(degrees: int) -> float:
    """Return the two-sided 95 % quantile of Student's t distribution: 2.78 for 4 degrees of freedom."""
    # This import takes half a second, and a run of one seed does not need it.
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.975))


def make_sentences(snapshot: Snapshot, labels: Mapping[str, str]) -> list[str]:
    """Return one or two sentences on the result of each backward rule, followed by a comparison.

    ``labels`` maps rules to their names. Rules that the run does not have are ignored.
    """
    labels_in_run = {rule: label for rule, label in labels.items() if rule in snapshot.losses}
    score_texts = format_rule_scores(snapshot)
    rules = [
        _describe_rule(snapshot, rule, label, score_texts.get(rule, ""))
        for rule, label in labels_in_run.items()
    ]
    return [*rules, make_conclusion(snapshot, labels_in_run)]


def make_conclusion(snapshot: Snapshot, labels: Mapping[str, str]) -> str:
    """Return a sentence that compares the rules of a run; "" for a single rule before the first step."""
    if not snapshot.finished and not snapshot.step:
        return "" if len(labels) == 1 else f"All {len(labels)} rules start from the same weights."
    return _describe_ranking(snapshot, labels) if snapshot.metric else _describe_losses(snapshot, labels)


def _choose_verb(snapshot: Snapshot, rules: int = 1) -> str:
    return "ended" if snapshot.finished else "is" if rules == 1 else "are"


def format_rule_scores(snapshot: Snapshot) -> dict[str, str]:
    """Return the held-out score of each backward rule as text, with the same number of decimals.

    Rules without a finite seed are left out.
    """
    return format_scores({rule: get_scores(snapshot, rule) for rule in snapshot.losses}, get_unit(snapshot))


def _describe_failure(snapshot: Snapshot) -> str:
    advice = ": try a smaller learning rate" if snapshot.step else ", not even before the first step"
    return f"No rule kept its values finite{advice}."


def _describe_ranking(snapshot: Snapshot, labels: Mapping[str, str]) -> str:
    scores_by_rule = {rule: get_scores(snapshot, rule) for rule in labels}
    if not any(map(math.isfinite, chain(*scores_by_rule.values()))):
        return _describe_failure(snapshot)
    unit = get_unit(snapshot)
    example = 1 / snapshot.held_out if unit == "%" else 0.0
    ranking = rank({labels[rule]: values for rule, values in scores_by_rule.items()}, example, unit=unit)
    order = sorted(scores_by_rule, key=lambda rule: ranking.means.get(labels[rule], -math.inf), reverse=True)
    best = [rule for rule in order if labels[rule] in ranking.best]
    parts = [ranking.sentence, *_describe_unmoved(snapshot, labels, order)]
    return " ".join(filter(None, [*parts, advise_after_tie(snapshot, ranking, best)]))


def get_unit(snapshot: Snapshot) -> Unit:
    """Return the unit in which the scores of a snapshot are written."""
    return "%" if snapshot.metric == "accuracy" else "R²"


def get_scores(snapshot: Snapshot, rule: str) -> list[float]:
    """Return the scores of a backward rule, one per random seed, NaN for a seed that diverged.

    The list is empty without held-out data.
    """
    scores = snapshot.score[rule]
    return [] if scores is None else scores.tolist()


def _describe_unmoved(snapshot: Snapshot, labels: Mapping[str, str], order: list[str]) -> list[str]:
    moved = {rule: facts.w1_moved for rule in order if (facts := snapshot.gradients[rule])}
    unmoved = [labels[rule] for rule, distance in moved.items() if distance == 0]
    if not unmoved or not snapshot.step:
        return []
    return [f"With {join_texts(unmoved)} no gradient reached the first layer, so it never moved."]


def _describe_losses(snapshot: Snapshot, labels: Mapping[str, str]) -> str:
    results = {
        rule: (loss, gradients)
        for rule in labels
        if (loss := snapshot.loss[rule]) is not None and (gradients := snapshot.gradients[rule])
    }
    diverged = [labels[rule] for rule in labels if rule not in results]
    notes = [f"{join_texts(diverged)} diverged and cannot be compared."] if diverged else []
    if not results:
        return _describe_failure(snapshot)
    best_rule, worst_rule = (pick(results, key=lambda rule: results[rule][0]) for pick in (min, max))
    (low_loss, best), (high_loss, worst) = results[best_rule], results[worst_rule]
    if len(results) == 1:
        main = f"{labels[best_rule]} {_choose_verb(snapshot)} at {format_short(low_loss)}. "
        main += (
            f"w1 moved by {format_short(best.w1_moved)}."
            if best.w1_moved
            else "w1 never moved: no gradient reached it, so only w2 learned."
        )
    elif format_short(low_loss) == format_short(high_loss):
        names, verb = join_texts([labels[rule] for rule in results]), _choose_verb(snapshot, len(results))
        main = f"{names} {verb} at the same loss, {format_short(low_loss)}."
    else:
        lowest, verb = "lower" if len(results) == 2 else "lowest", _choose_verb(snapshot)
        start = f"{labels[best_rule]} {verb} {lowest}, at"
        last = {rule: -snapshot.seed_losses[rule][:, -1] for rule in results}
        if snapshot.seeds > 1 and len(rank(last).best) > 1:
            start = f"{snapshot.seeds} seeds do not show which is {lowest}: {labels[best_rule]} {verb} at"
        main = f"{start} {format_short(low_loss)}; {labels[worst_rule]} at {format_short(high_loss)}. "
        main += _explain_difference(labels[best_rule], best, labels[worst_rule], worst)
    return " ".join([main, *notes])


def _explain_difference(low: str, best: Gradients, high: str, worst: Gradients) -> str:
    if not best.w1_moved and not worst.w1_moved:
        return "w1 moved with neither rule: no gradient reached it, so only w2 learned."
    if not worst.w1_moved:
        return f"With {high} w1 never moved: no gradient reached it, so only w2 learned."
    if not best.w1_moved:
        return (
            f"With {low} w1 never moved, so w2 learned from constant hidden values; "
            f"with {high} they kept changing, because w1 moved by {format_short(worst.w1_moved)}."
        )
    return (
        f"w1 moved with both, by {format_short(best.w1_moved)} and {format_short(worst.w1_moved)}. "
        f"The rules passed on {_format_size(best)} and {_format_size(worst)} of the incoming gradient."
    )


def _format_size(gradients: Gradients) -> str:
    return f"{number_text(float(f'{100 * (gradients.passed or 0):.2g}'))} %"


def _describe_rule(snapshot: Snapshot, rule: str, label: str, score: str) -> str:
    diverged_step = snapshot.diverged[rule]
    if diverged_step is not None:
        reason = snapshot.fallen[rule] or "a value became infinite or NaN"
        return f"{label} diverged at step {diverged_step}: {reason}."
    loss, gradients = snapshot.loss[rule], snapshot.gradients[rule]
    resting = f" {snapshot.resting[rule]}" if snapshot.resting[rule] else ""
    words = [f"{label}: no step yet" if loss is None else f"{label}: loss {format_short(loss)}"]
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
        return f"{', '.join(words)}. {first} has not moved: no gradient reaches it, so only {rest}.{resting}"
    return f"{', '.join(words)}. {first} has moved by {format_short(gradients.w1_moved)}; {blocked}.{resting}"

"""Sentences of plain text that summarise the results of a training run."""

import math
from collections.abc import Collection, Mapping

import numpy as np
import torch

from explorer.formula import format_short, join_texts
from explorer.training.limits import MAX_SEEDS
from explorer.training.ranking import ONE_SEED_ADVICE, Ranking, Unit, format_scores, rank
from explorer.training.ranking.quantiles import compute_quantile
from explorer.training.runs.snapshot import Snapshot
from explorer.training.tasks import TASKS

_FEW = 50  # with fewer held-out examples, a sentence warns that each is worth more than two points
_ROUNDING = 1e-6
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


def make_conclusion(snapshot: Snapshot, labels: Mapping[str, str]) -> str:
    """Return a sentence that compares the rules of a run; "" for a single rule before the first step."""
    if not snapshot.finished and not snapshot.step:
        return "" if len(labels) == 1 else f"All {len(labels)} rules start from the same weights."
    return _describe_ranking(snapshot, labels) if snapshot.metric else _describe_losses(snapshot, labels)


def format_rule_scores(snapshot: Snapshot) -> dict[str, str]:
    """Return the held-out score of each backward rule as text, with the same number of decimals.

    Rules without a finite seed are left out.
    """
    return format_scores({rule: get_scores(snapshot, rule) for rule in snapshot.losses}, get_unit(snapshot))


def _describe_failure(snapshot: Snapshot) -> str:
    advice = ": try a smaller learning rate" if snapshot.step else ", not even before the first step"
    return f"No rule kept its values finite{advice}."


def _describe_ranking(snapshot: Snapshot, labels: Mapping[str, str]) -> str:
    ranking = rank_rules(snapshot, labels)
    if not ranking.means and {*ranking.diverged.values()} == {ranking.started}:
        return _describe_failure(snapshot)
    best, example = [rule for rule, label in labels.items() if label in ranking.best], ranking.example
    sentences = [ranking.sentence, advise_after_tie(snapshot, ranking, best)]
    if sentences[1]:  # it is not about seeds if there is only one
        sentences[0] = ranking.sentence.removesuffix(f" {ONE_SEED_ADVICE}")
    if snapshot.finished and snapshot.chance and max(ranking.means.values(), default=1) <= snapshot.chance:
        sentences.append(f"Always guessing the most frequent class scores {100 * snapshot.chance:.1f} %.")
    if example > 1 / _FEW:
        sentences.append(
            f"Each of {snapshot.held_out} held-out examples is worth {100 * example:.1f} points."
        )
    return " ".join(filter(None, sentences))


def advise_after_tie(snapshot: Snapshot, ranking: Ranking, rules: Collection[str]) -> str:
    """Return a sentence on what to try after a run in which several rules may be best, or "".

    It names the first of these reasons that holds: the rules act alike, the task is too easy, more seeds may
    tell, or the rules differ too little here. ``rules`` are those that may be best.
    """
    if not snapshot.finished or len(rules) < 2:
        return ""
    losses = [snapshot.seed_losses[rule] for rule in rules]
    if all(np.array_equal(losses[0], each, equal_nan=True) for each in losses[1:]):
        return "These rules act alike here, with equal losses at each step: try another task or op."
    if ranking.shared < 2:
        return ""
    if is_solved(ranking):
        return "This task is solved: it is too easy to tell these rules apart."
    if ranking.alike:
        return "Their losses differ, but these examples do not tell them apart: try another task or op."
    reaches = [ranking.differences[label] for label in ranking.best[1:]]
    gaps = [((least + most) / 2, (most - least) / 2) for least, most in reaches]
    gap, half = max(gaps, key=lambda each: each[0] / each[1] if each[1] else math.inf)  # the clearest
    counts = range(ranking.shared, MAX_SEEDS + 1)  # of seeds, with the widths of intervals
    widths = [compute_quantile(len(ranking.means), (n - 1) * len(gaps)) / math.sqrt(n) for n in counts]
    if seeds := next((n for n, to in zip(counts, widths, strict=True) if half * to < gap * widths[0]), 0):
        size = f"{100 * gap:.1f} points" if ranking.unit == "%" else f"{gap:.2g} R²"
        return f"More seeds may tell: about {seeds}, if the means stay {size} apart."
    verb = "do not" if ranking.started >= MAX_SEEDS else "would hardly"
    is_own, other = TASKS[snapshot.task].kind == "own", "try a task or op where rules differ more"
    return f"{MAX_SEEDS} seeds {verb} tell these apart: {'get more rows' if is_own else other}."


def is_solved(ranking: Ranking) -> bool:
    """Return whether all rules that may be best are within a held-out example and 0.01 of the maximum."""
    return all(
        1 - ranking.means[label] <= min(ranking.example or 1, 0.01) + _ROUNDING for label in ranking.best
    )


def get_unit(snapshot: Snapshot) -> Unit:
    """Return the unit in which the scores of a snapshot are written."""
    return "%" if snapshot.metric == "accuracy" else "R²"


def rank_rules(snapshot: Snapshot, labels: Mapping[str, str]) -> Ranking:
    """Return the ranking of backward rules by their scores, under their labels."""
    scores = {label: get_scores(snapshot, rule) for rule, label in labels.items()}
    unit = get_unit(snapshot)
    return rank(scores, 1 / snapshot.held_out if unit == "%" else 0.0, unit=unit)


def get_scores(snapshot: Snapshot, rule: str) -> list[float]:
    """Return the scores of a backward rule, one per random seed, NaN for a seed that diverged.

    The list is empty without held-out data.
    """
    scores = snapshot.score[rule]
    return [] if scores is None else scores.tolist()


def _describe_losses(snapshot: Snapshot, labels: Mapping[str, str]) -> str:
    losses = {
        rule: loss
        for rule in labels
        if (loss := snapshot.loss[rule]) is not None and snapshot.gradients[rule]
    }
    if not losses:
        return _describe_failure(snapshot)
    best, worst = (pick(losses, key=lambda rule: losses[rule]) for pick in (min, max))
    low, high = format_short(losses[best]), format_short(losses[worst])
    verb = "ended" if snapshot.finished else "are" if low == high and len(losses) > 1 else "is"
    if low == high:
        same = "the same loss, " if len(losses) > 1 else ""
        sentences = [f"{join_texts([labels[rule] for rule in losses])} {verb} at {same}{low}."]
    else:
        lowest = "lower" if len(losses) == 2 else "lowest"
        start = f"{labels[best]} {verb} {lowest}, at"
        last = {rule: -snapshot.seed_losses[rule][:, -1] for rule in losses}
        if snapshot.seeds > 1 and len(rank(last).best) > 1:
            start = f"{snapshot.seeds} seeds do not show which is {lowest}: {labels[best]} {verb} at"
        sentences = [f"{start} {low}; {labels[worst]} at {high}."]
    if diverged := [labels[rule] for rule in labels if rule not in losses]:
        sentences.append(f"{join_texts(diverged)} diverged and cannot be compared.")
    return " ".join(sentences)

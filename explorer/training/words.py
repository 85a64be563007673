"""What a training did, in sentences read off what was measured: plain text, never markup."""

from collections.abc import Mapping

from explorer.training.net import Gradients
from explorer.training.run import Snapshot

DEVICES = {"cpu": "CPU", "cuda": "NVIDIA GPU", "mps": "Apple GPU", "xpu": "Intel GPU"}


def device(name: str) -> str:
    """A device as people call it: "CPU" for "cpu", "NVIDIA GPU" for "cuda:0"."""
    kind = name.partition(":")[0]
    return DEVICES.get(kind, kind.upper())


def number(value: float) -> str:
    """A measured number to four digits: 46,970 or 0.01234."""
    rounded = float(f"{value:.4g}")
    return f"{rounded:,.0f}" if 1e3 <= abs(rounded) < 1e7 else f"{value:.4g}"


def sentences(snapshot: Snapshot, labels: Mapping[str, str]) -> list[str]:
    """One sentence or two for each rule of ``labels``; at the end which ended lower, and why."""
    known = {rule: label for rule, label in labels.items() if rule in snapshot.losses}
    said = [_rule(snapshot, rule, label) for rule, label in known.items()]
    return [*said, *([conclusion(snapshot, known)] if snapshot.finished else [])]


def conclusion(snapshot: Snapshot, labels: Mapping[str, str]) -> str:
    """Which rule ended lowest and which highest, and what w1 did meanwhile; of a race that is over."""
    ended = {
        rule: (loss, gradients)
        for rule in labels
        if (loss := snapshot.loss[rule]) is not None and (gradients := snapshot.gradients[rule])
    }
    lost = [labels[rule] for rule in labels if rule not in ended]
    notes = [f"{_list(lost)} diverged and cannot be compared."] if lost else []
    if not ended:
        return "No rule kept its values finite: try a smaller learning rate."
    low, high = (pick(ended, key=lambda rule: ended[rule][0]) for pick in (min, max))
    (least, best), (most, worst) = ended[low], ended[high]
    if len(ended) == 1:
        main = f"{labels[low]} ended at {number(least)}. {_alone(best)}"
    elif number(least) == number(most):
        main = f"{_list([labels[rule] for rule in ended])} ended at the same loss, {number(least)}."
    else:
        lowest = "lower" if len(ended) == 2 else "lowest"
        main = f"{labels[low]} ended {lowest}, at {number(least)}; {labels[high]} at {number(most)}. "
        main += _why(labels[low], best, labels[high], worst)
    return " ".join([main, *notes])


def _why(low: str, best: Gradients, high: str, worst: Gradients) -> str:
    """What w1 did with the rule that ended lower and with the one that ended higher."""
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
    """What one rule's training does: the loss, and whether the gradient reaches w1."""
    broken = snapshot.diverged[rule]
    if broken is not None:
        return f"{label} diverged at step {broken}: a value was no longer finite."
    loss, gradients = snapshot.loss[rule], snapshot.gradients[rule]
    words = f"{label}: no step yet" if loss is None else f"{label}: loss {number(loss)}"
    if gradients is None:
        return f"{words}."
    blocked = f"the rule blocks {_percent(gradients.blocked)} of the gradient"
    if loss is None:
        return f"{words}; {blocked}."
    if gradients.w1_moved == 0:
        return f"{words}. w1 has not moved: no gradient reaches it, only w2 learns."
    return f"{words}. w1 has moved by {number(gradients.w1_moved)}; {blocked}."


def _list(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _percent(share: float) -> str:
    """A share in whole percent; 0 % and 100 % only where it is exactly that."""
    whole = round(100 * share)
    return f"{whole if share in (0, 1) else min(max(whole, 1), 99)} %"

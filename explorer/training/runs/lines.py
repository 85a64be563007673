"""One line of text for each backward rule of a run: the main finding about its gradient, and its result.

The word "so" appears only if the gradient of weights is exactly 0. A fraction of units without a gradient
explains nothing: of 34 rules on 8 tasks, 16 had a fifth or more of such units, and 4 of these were best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from explorer.formula import format_percent, format_short, join_texts
from explorer.training.instruments import Record
from explorer.training.ranking import Ranking, format_interval
from explorer.training.runs.headline import compare_rules
from explorer.training.runs.pair import (
    MAX_WHY,
    MIN_SHARE,
    Pair,
    Reason,
    describe_quiet,
    round_moved,
    round_short,
)
from explorer.training.runs.snapshot import Snapshot
from explorer.training.tasks import TASKS

BASIS = ("way", "causes", "inputs")
"""The instruments that a line needs, in addition to the alignment."""
_MIN_RATIO = 1.5  # a smaller ratio of the data's width to the rule's window is not mentioned
_MIN_GAIN = 1.5  # growth of the gradient by a smaller factor is not mentioned
_MIN_GROWTH = 10.0  # growth of the loss by, or a loss above the lowest by, a smaller factor is not mentioned
_MIN_LEAD = 0.1  # with one seed, a smaller difference of two scores is not explained


@dataclass(frozen=True)
class Line:
    """A line of text about one backward rule in a training run.

    Attributes:
        text: a sentence or two.
        panel, layer: see ``Reason``.
        why: the reason in one sentence of at most 120 characters; "" before the first step.
        other: the rule that the reason compares it with, or None.
    """

    text: str
    panel: str
    why: str
    layer: int | None = None
    other: str | None = None


@dataclass(frozen=True)
class _Statement:
    text: str  # without a full stop
    reason: Reason | None = None
    hinders: bool = True  # whether it is about a gradient that is missing
    other: str | None = None  # the rule that the reason compares it with
    is_fault: bool = False  # whether the rule is wrong, which comes before any other reason


def make_lines(snapshot: Snapshot) -> dict[str, Line]:
    """Return one line of text about each backward rule of a run. Rules without measurements are left out."""
    records_by_key = {key: snapshot.measured.get(key, {}) for key in BASIS}
    result: dict[str, Line] = {}
    ranking = compare_rules(snapshot)
    for rule in snapshot.losses:
        way, causes, inputs = (each.get(rule) for each in records_by_key.values())
        if way and causes and inputs:
            finding = _find_statement(snapshot, rule, way, causes, inputs)
            end = _describe_end(snapshot, rule, finding.hinders, ranking)
            if end and finding.is_fault:
                end = _Statement(end.text.partition("; ")[0])
            result[rule] = _make_line(snapshot, [finding, end] if end else [finding])
        elif all(records_by_key.values()) and snapshot.diverged[rule] is not None:
            result[rule] = _make_line(snapshot, [_describe_divergence(snapshot, rule)])
    return result


def _make_line(snapshot: Snapshot, statements: Sequence[_Statement]) -> Line:
    """Return a line of statements, with the reason of the last one that has a reason."""
    source, reason = next((each, each.reason) for each in reversed(statements) if each.reason)
    text = " ".join(f"{each.text}." for each in statements)
    return Line(text, reason.panel, f"{reason.why}." if snapshot.step else "", reason.layer, source.other)


def _describe_divergence(snapshot: Snapshot, rule: str) -> _Statement:
    text, rate = f"Diverged at step {snapshot.diverged[rule]}", f"rate {format_short(snapshot.lr)}"
    losses = [float(each) for each in snapshot.losses[rule] if math.isfinite(each)] or [math.nan]
    norms = {key: float(next(iter(each), math.nan)) for key, each in snapshot.w1_norms.items()}
    norm, most = norms.pop(rule), max(norms.values(), default=0)
    growth = f"the loss grew from {round_short(losses[0])} to {round_short(losses[-1])}"
    why = f"{text}, {rate}: {snapshot.fallen[rule] or snapshot.faults[rule]}"
    if losses[-1] > _MIN_GROWTH * losses[0] and not snapshot.fallen[rule]:
        why += f"; {growth}"
        if most and norm > _MIN_GAIN * most:
            other = f"times {'the other' if len(norms) == 1 else 'the next largest'}; {growth}"
            why = f"Diverged at {rate}: its first gradient of w1 was {round_short(norm / most, 2)} {other}"
    return _Statement(text, Reason("loss" if len(losses) > 2 else "", why))


def _find_statement(snapshot: Snapshot, rule: str, way: Record, causes: Record, inputs: Record) -> _Statement:
    if not all(map(math.isfinite, way["reached"])):
        step = "next" if snapshot.step else "first"
        text = f"A gradient of the {step} step is infinite or NaN"
        return _Statement(text, Reason("norms", f"{text}: with that step its weights would be so too"))
    if way["fault"]:
        fault, why = "It fails the check “linear in g”", way["fault"]
        lost = "Its gradient does not depend on g: " * why.endswith("whatever g is")
        why = f"{lost}{why[0].lower()}{why[1:]}" if lost else f"{fault}: {why[0].lower()}{why[1:]}"
        return _Statement(fault, Reason("inputs", why, 0), is_fault=True)
    if way["reversed"] >= MIN_SHARE:
        text = f"Its gradient is reversed for {format_percent(way['reversed'])} of the op's inputs"
        why = f"{text}, of those where neither it nor g is 0"
        return _Statement(text, Reason("inputs", why, 0), is_fault=True)
    norms = zip(way["reached"], way["moved"], strict=True)
    unreached = [layer for layer, (norm, moved) in enumerate(norms, 1) if norm == 0 and moved == 0]
    if unreached:
        effect = _describe_unreached(snapshot, unreached, way)
        reason = Reason("norms", _explain_unreached(effect, way, causes))
        return _Statement(f"No gradient reaches {effect}", reason)
    parts = [[float(each) for each in shares] for shares in causes["shares"]]
    for shares in ([1 - kept - faint for kept, faint, *_ in parts], [faint for _, faint, *_ in parts]):
        layer = max(range(len(parts)), key=lambda at: (shares[at], at))
        while parts[layer][3] > parts[layer][2] and max([0, *shares[layer + 1 : layer + 2]]) >= MIN_SHARE:
            layer += 1  # towards the layer that stops the gradient
        if shares[layer] >= MIN_SHARE:
            return _describe_lack(snapshot, (way, causes, inputs), layer, shares[layer] == parts[layer][1])
    text = _describe_propagation(snapshot, way)
    moved = [f"w{at} by {round_moved(each)}" for at, each in enumerate(way["moved"], 1)]
    effect = f"so each layer learns: {join_texts(moved).replace('w1', 'w1 moved', 1)}"
    why = f"{text.partition(': w1')[0]}, {effect}"
    high = text.startswith("The whole") and _describe_high_loss(snapshot, rule)
    return high or _Statement(text, Reason("norms", why), hinders=False)


def _describe_lack(snapshot: Snapshot, records: Sequence[Record], layer: int, faint: bool) -> _Statement:
    """Return a statement on the inputs of the op in a layer that get no gradient, or only a ``faint`` one."""
    way, causes, inputs = records
    layers, (kept, small, zero, above) = len(causes["shares"]), map(float, causes["shares"][layer])
    share, what = (small, "under 1 % of the rule's peak") if faint else (1 - kept - small, "no gradient")
    plural = layers == 1 or TASKS[snapshot.task].net.site.per_example
    part = TASKS[snapshot.task].net.site.name_inputs(layer, layers)
    text = f"{format_percent(share)} of {part} {'get' if plural else 'gets'} {what}{' now' * (share == 1)}"
    text = text[0].upper() + text[1:]
    if faint or zero >= above:
        if _MIN_RATIO <= (ratio := float(inputs["ratio"][layer])) < math.inf:
            text += f": {'they' if plural else 'its values'} spread {round_short(ratio, 2)} times as wide as "
            return _Statement(whole := f"{text}the rule's window", Reason("inputs", whole, layer))
        flat = "the op's slope is 0" if way["slope_of"] else "the rule returns 0"
        why = f"{text}: {'the rule is nearly flat' if faint else flat} there"
        return _Statement(text, Reason("causes", why, layer))
    why = "the layers after it return 0" if plural else "its inputs are 0, or the layers after it return 0"
    why = describe_quiet(snapshot) if causes["quiet"] >= MIN_SHARE else why
    text += f", {format_percent(above)} from above" if zero else " from above"
    return _Statement(text, Reason("causes", f"{text}: {why} there", layer))


def _explain_unreached(effect: str, way: Record, causes: Record) -> str:
    """Return a statement on why weights get no gradient.

    The reason lies in the last layer with the op that passes nothing. ``effect`` says which weights get no
    gradient, and what still learns.
    """
    layer = max((at for at, passed in enumerate(way["passed"]) if passed == 0), default=None)
    if layer is None:
        reason = "The loss returns no gradient"
    elif any(causes["shares"][layer][:2]):
        reason = "The op returns 0 on the next batch"
    elif way["slope_of"]:
        reason = f"{way['slope_of']}'s slope is 0, and anything times 0 is 0"
        if len(f"{reason}: nothing reaches {effect}") >= MAX_WHY:
            reason = "The op's slope is 0"
    else:
        reason = "The rule returns 0 for every input"
    return f"{reason}: nothing reaches {effect}"


def _describe_high_loss(snapshot: Snapshot, rule: str) -> _Statement | None:
    """Return a statement on a final loss far above the lowest one of a run without scores, else None."""
    losses, lowest = snapshot.losses[rule], min(filter(None, snapshot.loss.values()), default=math.nan)
    if snapshot.metric or not snapshot.finished or not losses[-1] > _MIN_GROWTH * lowest:
        return None
    last = losses[-max(2, len(losses) // 4) :]
    text = f"Its loss of {format_short(losses[-1])} is {round_short(losses[-1] / lowest, 2)} times the lowest"
    why = f"{text}; in the last quarter it was {round_short(last.min())} to {round_short(last.max())}"
    return _Statement(text, Reason("loss", why), hinders=False)


def _describe_unreached(snapshot: Snapshot, unreached: Sequence[int], way: Record) -> str:
    """Return words for the weights without a gradient and what still learns: "w1, so only w2 learns"."""
    when, verb = ("", "learn") if snapshot.step else (" in the first step", "can learn")
    weights = [f"w{layer}" for layer, _ in enumerate(way["reached"], 1)]
    reached = [name for layer, name in enumerate(weights, 1) if layer not in unreached]
    names = join_texts([f"w{layer}" for layer in unreached]) if reached else "any weight"
    if reached and not TASKS[snapshot.task].net.site.per_example:
        return f"{names}{when}"  # with the op on weights, the biases of these layers may learn
    rest = "only biases" if way["biased"] else "nothing"
    if reached:
        rest = f"only {'the last layer' if reached == weights[-1:] else join_texts(reached)}"
    is_singular = len(reached) == 1 or rest == "nothing"
    return f"{names}{when}, so {rest} {verb}{'s' if is_singular and snapshot.step else ''}"


def _describe_propagation(snapshot: Snapshot, way: Record) -> str:
    """Return words for the fraction of the gradient that reaches w1, and for how far w1 moved.

    On hidden units the gradient passes every layer with the op; on weights it passes only the op of w1.
    """
    is_per_example = TASKS[snapshot.task].net.site.per_example
    remaining = math.prod(map(float, way["passed"][: None if is_per_example else 1]))
    subject = "gradient" if is_per_example else "gradient of w1"
    moved = f": w1 moved by {round_moved(way['moved'][0])}" if snapshot.step else ""
    if way["of_losses"]:
        return f"Its gradient comes from losses, not from g{moved}"
    if not math.isfinite(remaining):
        return f"The {subject} passes{moved}"
    if remaining == 1:
        return f"The whole {subject} passes{moved}"
    if remaining > _MIN_GAIN:
        return f"The rule makes the {subject} {round_short(remaining, 2)} times as large{moved}"
    percent = round_short(100 * remaining, 2 if remaining < 1 else 3)
    return f"The {subject} passes at {percent} % of its size{moved}"


def _describe_end(snapshot: Snapshot, rule: str, hinders: bool, ranking: Ranking | None) -> _Statement | None:
    """Return a statement on a rule's place in the ranking; None if it has none.

    ``hinders`` tells whether its gradient is known to be missing somewhere.
    """
    if ranking is None or rule not in ranking.means:
        return None
    anyway = " anyway" if hinders else ""
    if len(ranking.means) < 2:
        share = " on half of the seeds or more" if ranking.started > 1 else ""
        why = f"Only this rule can be compared: the others diverged{share}"
        return _Statement("The only one left to compare", Reason("score", why))
    pair, is_first = Pair(snapshot, ranking, rule), rule == ranking.best[0]
    if ranking.started == 1 and pair.gap < _MIN_LEAD:
        return None
    if rule in ranking.lower or (ranking.started == 1 and not is_first):
        return _describe_lower(pair, hinders)
    if ranking.best == (rule,) or ranking.started == 1:
        text = "Best" if ranking.started > 1 else "Highest with this seed"
        return _Statement(f"{text}{anyway}", pair.explain(1), other=pair.other)
    text = "The same score as all others"
    if not ranking.alike:
        distance = _describe_distance(pair) if not is_first else f"Highest mean{anyway}"
        text = f"Perhaps {distance}" if distance[0].isdigit() else distance
    return _Statement(text, pair.explain_tie(), other=pair.other)


def _describe_lower(pair: Pair, hinders: bool) -> _Statement:
    reason, (is_still, is_other_still) = pair.explain(-1), pair.lacks_w1
    if is_still or (hinders and (is_other_still or reason.panel in ("causes", "norms"))):
        return _Statement(_describe_distance(pair))  # the finding has more to say about it
    lower = "; ".join(filter(None, [_describe_distance(pair), reason.brief]))
    return _Statement(lower, reason, other=pair.other)


def _describe_distance(pair: Pair) -> str:
    """Return how much lower a rule's mean is, with its interval: "1.3 points lower (95 %: 0.4 to 2.2)"."""
    reach = pair.ranking.differences[pair.rule]
    interval = f" (95 %: {format_interval(pair.ranking, reach)})" if math.isfinite(reach[1]) else ""
    return f"{pair.format(pair.gap)} lower{interval}" if pair.gap else f"The same mean{interval}"

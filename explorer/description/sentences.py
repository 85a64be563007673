"""The sentences that describe curves, the most important first, written without torch."""

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate, takewhile

from explorer.curves.sampled import FORWARD, SampledCurves
from explorer.description import stochastic
from explorer.description.claims import Claim, compare_curves, make_forward_claims, make_gradient_claims
from explorer.description.comparison import write_comparison
from explorer.description.forward import describe_forward
from explorer.description.gradient import describe_gradient
from explorer.description.headline import write_headline
from explorer.description.words import MAIN_LENGTH
from explorer.formula import join_texts

_MAX_NAME = 34  # the maximum length of a name that is not truncated
_IDLE = "g is 0: nothing arrives, so every rule passes 0 back."
_TRUNCATED = 12  # the length of a truncated name


@dataclass(frozen=True)
class Description:
    """Sentences that describe curves, divided by their place on the page.

    Attributes:
        head: the headline about the op.
        main: the main sentences, including those about gradients if they fit.
        rest: the other sentences.
        claims: the claims from which the sentences are rendered.
        below: the sentence below the headline, used if ``main`` equals the headline.
    """

    head: str
    main: str
    rest: str
    claims: tuple[Claim, ...]
    below: str = ""

    @property
    def texts(self) -> dict[str, str]:
        """A dict of the sentences, in the form that the browser expects."""
        below = {"below": self.below} if self.below else {}
        return {"head": self.head, "main": self.main, "rest": self.rest, **below}


def write_description(exact: SampledCurves, limit: float, learning: str = "") -> Description:
    """Return the sentences that describe curves.

    Args:
        exact: the curves in float64.
        limit: the largest number of the plotted dtype.
        learning: the sentence about the parameter that learns, or "".
    """
    names = _truncate_names(exact)
    if exact.op.is_random or any(rule.is_random for rule in exact.rules):
        head, biases = stochastic.summarize_biases(exact, names), stochastic.describe_biases(exact, names)
        descent = stochastic.describe_descent(exact, names)
        texts = [biases if biases != head else "", stochastic.describe_spreads(exact, names), descent]
        below = stochastic.summarize_spreads(exact, names) or descent
        return Description(head, head, " ".join(filter(None, texts)), (), below)
    forward = make_forward_claims(exact, limit)
    gradients = {key: make_gradient_claims(exact, key, limit) for key in exact.gradients}
    compared = list(compare_curves(exact, gradients))
    claims = (claim for group in (forward, *gradients.values(), compared) for claim in group)
    by_words: dict[str, list[str]] = {}
    for key, rule_claims in gradients.items():
        by_words.setdefault(describe_gradient(rule_claims, exact), []).append(names[key])
    ordered = sorted(by_words.items(), key=lambda item: not item[0].startswith("not finite"))
    lines = [f"{join_texts(labels)}: the gradient is {words}." for words, labels in ordered]
    first = f"{names[FORWARD]} {describe_forward(forward)}."
    is_idle = exact.g == 0 and not any(values.any() for values in exact.gradients.values())
    sentences = [_IDLE] if is_idle else write_comparison(compared, gradients, lines, exact, names)
    sentences = [*sentences, first] if len(sentences[0]) <= MAIN_LENGTH else [first, *sentences]
    if forward[0].kind == "many":
        sentences = [first, *(sentence for sentence in sentences if sentence != first)]
    ends = accumulate(len(sentence) + 1 for sentence in takewhile(first.__ne__, sentences))
    count = max(sum(end <= MAIN_LENGTH for end in ends), 1)
    remaining = [*sentences[count:], *([learning] if learning else [])]
    head = write_headline(exact, forward, compared, names)
    return Description(head, " ".join(sentences[:count]), " ".join(remaining), tuple(claims))


def _truncate_names(curves: SampledCurves) -> dict[str, str]:
    cut = {key: _truncate(label) for key, label in curves.labels.items()}
    alike = [name for name, count in Counter(cut.values()).items() if count > 1]
    numbered = enumerate(cut.items(), 1)
    rules = {key: f"Rule {number} ({name})" if name in alike else name for number, (key, name) in numbered}
    label = curves.op.label if len(curves.op.label) <= _MAX_NAME else "Your formula"
    return {FORWARD: f"The op {label}" if label in rules.values() else label, **rules}


def _truncate(label: str) -> str:
    return label if len(label) <= _MAX_NAME else f"{label[:_TRUNCATED].rstrip()}…"

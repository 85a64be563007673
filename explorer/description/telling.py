"""The sentences on curves in float64, the main thing first; they need no torch."""

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate, takewhile

from explorer.curves.sampled import FORWARD, SampledCurves
from explorer.description.claims import Claim, comparisons, forward_claims, gradient_claims
from explorer.description.comparison import comparison_sentences
from explorer.description.drawn import (
    drawn_biases,
    drawn_head,
    drawn_rests,
    drawn_spread_gist,
    drawn_spreads,
)
from explorer.description.forward import forward_words
from explorer.description.gradient import gradient_words
from explorer.description.headline import headline
from explorer.description.words import MAIN_LENGTH
from explorer.formula import listed

_LONGEST = 34  # characters of a name that is said whole
_SHORT = 12  # and of a longer one


@dataclass(frozen=True)
class Description:
    """The headline on the op, the main sentences (about gradients where they can be told), the others, and
    the claims behind them.

    ``below`` stands below the headline, where the main sentence is the headline itself.
    """

    head: str
    main: str
    rest: str
    claims: tuple[Claim, ...]
    below: str = ""

    @property
    def texts(self) -> dict[str, str]:
        """The sentences by name, as the browser takes them."""
        below = {"below": self.below} if self.below else {}
        return {"head": self.head, "main": self.main, "rest": self.rest, **below}


def telling(exact: SampledCurves, limit: float, learning: str = "") -> Description:
    """The sentences on curves.

    ``limit`` is the largest number of the dtype that is drawn, ``learning`` the sentence on the parameter
    that learns, or "".
    """
    if exact.op.draws or any(rule.draws for rule in exact.rules):
        return _of_draws(exact, _brief(exact))
    forward = forward_claims(exact, limit)
    gradients = {key: gradient_claims(exact, key, limit) for key in exact.gradients}
    compared = list(comparisons(exact, gradients))
    claims = (claim for some in (forward, *gradients.values(), compared) for claim in some)
    names = _brief(exact)
    said: dict[str, list[str]] = {}
    for key, stated in gradients.items():
        said.setdefault(gradient_words(stated, exact), []).append(names[key])
    each = [f"{listed(labels)}: the gradient is {words}." for words, labels in said.items()]
    first = f"{names[FORWARD]} {forward_words(forward)}."
    sentences = comparison_sentences(compared, gradients, each, exact, names)
    sentences = [*sentences, first] if len(sentences[0]) <= MAIN_LENGTH else [first, *sentences]
    if forward[0].kind == "many":
        sentences = [first, *(sentence for sentence in sentences if sentence != first)]
    ends = accumulate(len(sentence) + 1 for sentence in takewhile(first.__ne__, sentences))
    count = max(sum(end <= MAIN_LENGTH for end in ends), 1)
    rest = [*sentences[count:], *([learning] if learning else [])]
    head = headline(exact, forward, compared, names)
    return Description(head, " ".join(sentences[:count]), " ".join(rest), tuple(claims))


def _of_draws(curves: SampledCurves, names: dict[str, str]) -> Description:
    """The sentences on curves that are means over what is drawn."""
    head, biases = drawn_head(curves, names), drawn_biases(curves, names)
    rests = drawn_rests(curves, names)
    told = [biases if biases != head else "", drawn_spreads(curves, names), rests]
    below = drawn_spread_gist(curves, names) or rests
    return Description(head, head, " ".join(filter(None, told)), (), below)


def _brief(curves: SampledCurves) -> dict[str, str]:
    """The name of each curve: its label, or the beginning of a long one, which others may share."""
    cut = {key: _cut(label) for key, label in curves.labels.items()}
    alike = [name for name, count in Counter(cut.values()).items() if count > 1]
    numbered = enumerate(cut.items(), 1)
    rules = {key: f"Rule {number} ({name})" if name in alike else name for number, (key, name) in numbered}
    return {FORWARD: _cut(curves.op.label), **rules}


def _cut(label: str) -> str:
    return label if len(label) <= _LONGEST else f"{label[:_SHORT].rstrip()}…"

"""What curves show, in plain sentences, each rendered from claims.

"Everywhere", "flat" and "unbounded" are meant mathematically; what is known of the drawn points alone
says "in this picture".
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile
from math import comb
from typing import Any

import numpy as np
import pandas as pd

from explorer.claims import MOST_PIECES, Claim, Span, comparisons, forward_claims, gradient_claims
from explorer.curves import FORWARD, Curves, curves_of

MAIN_LENGTH = 110  # characters that stand above the chart
_LARGEST = 7  # power of ten, from which on numbers are written with it
_LONGEST = 34  # characters of a name that is said whole
_SHORT = 12  # and of a longer one


@dataclass(frozen=True)
class Description:
    """The main sentences (about gradients where they can be told), the others, and the claims behind them."""

    main: str
    rest: str
    claims: tuple[Claim, ...]


def describe(shown: Curves | pd.DataFrame) -> str:
    """Say in words what curves show, the main thing first; plain text, no markup.

    ``shown``: Curves, or what ``explorer.sample`` returned. It says where the op is flat, what each
    rule returns for the upstream gradient g, and which rules cannot be told apart. Raises ValueError
    for another table.
    """
    description = described(shown)
    return f"{description.main} {description.rest}".rstrip()


def described(shown: Curves | pd.DataFrame) -> Description:
    """The parts of ``describe``, to be shown apart."""
    curves = curves_of(shown)
    exact, limit = curves.exact, float(np.finfo(curves.x.dtype).max)
    forward = forward_claims(exact, limit)
    gradients = {key: gradient_claims(exact, key, limit) for key in exact.gradients}
    compared = list(comparisons(exact))
    claims = (claim for some in (forward, *gradients.values(), compared) for claim in some)
    names = _brief(exact)
    said: dict[str, list[str]] = {}
    for key, found in gradients.items():
        said.setdefault(_gradient_words(found, exact), []).append(names[key])
    first = f"{names[FORWARD]} {_forward_words(forward)}."
    each = [f"{_listed(labels)}: the gradient is {words}." for words, labels in said.items()]
    overview, left = _overview(compared, exact.g, names)
    sentences = [*overview, *each, first, *(_comparison_words(claim, names) for claim in left)]
    if forward[0].kind == "many" or len(sentences[0]) > MAIN_LENGTH:
        sentences = [first, *(sentence for sentence in sentences if sentence != first)]
    ends = accumulate(len(sentence) + 1 for sentence in takewhile(first.__ne__, sentences))
    count = max(sum(end <= MAIN_LENGTH for end in ends), 1)
    return Description(" ".join(sentences[:count]), " ".join(sentences[count:]), tuple(claims))


def document(curves: Curves) -> dict[str, Any]:
    """Curves with their sentences as plain data: arrays, lists and texts, by name."""
    description = described(curves)
    names = ("start", "stop", "g", "x", "marks", "y", "gradients", "kinks")
    sentences = {"main": description.main, "rest": description.rest}
    return {name: getattr(curves, name) for name in names} | sentences


def _forward_words(claims: list[Claim]) -> str:
    """What follows the label of the op."""
    if claims[0].kind == "many":
        return f"{'has' if claims[0].exact else 'may have'} more kinks here than the chart can show"
    shares = {claim.kind: claim.numbers[0] for claim in claims}
    if shares.get("undefined") == 1:
        return "has no finite value in this picture"
    words = _flat_words(claims[0])
    if "undefined" in shares:
        words += f" and undefined or infinite on {_percent(shares['undefined'])}"
    return words + _overflow_words(shares)


def _flat_words(claim: Claim) -> str:
    where = "here" if claim.exact else "in this picture"
    if claim.kind == "level":
        return f"is flat everywhere {where}"
    (share,) = claim.numbers
    if share in (0, 1):
        everywhere = "almost everywhere" if claim.exact else f"almost everywhere {where}"
        return f"is flat nowhere {where}" if share == 0 else f"is flat {everywhere}"
    return f"is flat on {_percent(share)} of {'the range' if claim.exact else 'this picture'}"


def _overflow_words(shares: Mapping[str, float]) -> str:
    share = shares.get("overflow")
    return f", and too large for 32 bits on {_percent(share)} of the range" if share else ""


def _gradient_words(claims: list[Claim], curves: Curves) -> str:
    """What follows "the gradient is"."""
    shares = {claim.kind: claim.numbers[0] for claim in claims if claim.kind in ("undefined", "overflow")}
    if shares.get("undefined") == 1:
        return "finite nowhere in this picture"
    said = [claim for claim in claims if claim.kind not in shares]
    words = _SAYINGS[said[0].kind](said, curves) + _overflow_words(shares)
    missing = shares.get("undefined")
    return f"not finite on {_percent(missing)} of the range and elsewhere {words}" if missing else words


def _level_words(claims: list[Claim], curves: Curves) -> str:
    levels = [claim for claim in claims if claim.kind == "level"]
    points = [claim for claim in claims if claim.kind == "point"]
    whole = ((float(curves.x[0]), float(curves.x[-1])),)
    bounds = _texts(
        [*(x for claim in levels for span in claim.spans for x in span), *(p.numbers[1] for p in points)]
    )
    parts = []
    for claim in levels:
        where = ["almost everywhere" if points else "everywhere"] if claim.spans == whole else []
        value = _value(claim.numbers[0], curves.g)
        parts.append(
            f"{value} {_listed(where or [_span(span, bounds, claim, curves) for span in claim.spans])}"
        )
        if len(levels) == 2 and claim.numbers == (0.0,):
            parts[-1] = "0 elsewhere"
    parts.sort(key="0 elsewhere".__eq__)
    if len(points) > MOST_PIECES:
        return f"{_listed(parts)}, with other values at {len(points)} single x"
    return _listed(
        [*parts, *(f"{_value(p.numbers[0], curves.g)} at x = {bounds[p.numbers[1]]}" for p in points)]
    )


def _span(span: Span, texts: Mapping[float, str], claim: Claim, curves: Curves) -> str:
    """Where a level holds, and whether at the bounds too: where that is not known it is as words have it."""
    start, stop = (texts[bound] for bound in span)
    first, last = (_holds_at(bound, texts[bound], claim, curves) for bound in span)
    if span[0] == curves.x[0]:
        return f"for x {'up to' if last else 'below'} {stop}"
    if span[1] == curves.x[-1]:
        return f"for x from {start} on" if first else f"for x above {start}"
    return f"for x from {'above ' * (first is False)}{start} to {'below ' * (last is False)}{stop}"


def _holds_at(bound: float, text: str, claim: Claim, curves: Curves) -> bool | None:
    """Whether a curve has its level at a bound too; None where the number that is said is another."""
    if float(text.replace("−", "-")) != bound:
        return None
    values = curves.columns[claim.about[0]]
    return bool(values[np.searchsorted(curves.x, bound)] == claim.numbers[0])


def _among_words(claims: list[Claim], curves: Curves) -> str:
    values = _listed([_value(number, curves.g) for number in claims[0].numbers])
    parts = [claim.numbers for claim in claims if claim.kind == "part"]
    if parts:
        (value, share), *_ = parts
        return f"{_value(value, curves.g)} on {_percent(share)} of the range and 0 elsewhere"
    return f"one of {values}" + (" almost everywhere" if len(claims) > 1 else "")


def _range_words(claims: list[Claim], curves: Curves) -> str:
    low, high, at = claims[0].numbers
    scope = "" if claims[0].exact else " in this picture"
    if low == high:
        return f"{_value(low, curves.g)} at every point of this picture"
    if _number(low) == _number(high):
        return f"about {_number(high)}{scope or ' everywhere'}"
    words = f"between {_number(low)} and {_number(high)}{scope}, strongest near x = {_number(at)}"
    zeros = [claim.numbers[1] for claim in claims if claim.kind == "part"]
    return words + (f", and 0 on {_percent(zeros[0])} of the range" if zeros else "")


_SAYINGS: Mapping[str, Callable[[list[Claim], Curves], str]] = {
    "many": lambda claims, _: (
        f"not summed up here: it {'has' if claims[0].exact else 'may have'} too many kinks"
    ),
    "unbounded": lambda claims, _: f"unbounded near x = {_listed(_some(claims[0].numbers))}",
    "level": _level_words,
    "among": _among_words,
    "range": _range_words,
}


def _overview(compared: list[Claim], g: float, names: Mapping[str, str]) -> tuple[list[str], list[Claim]]:
    """What can be said of all rules in one sentence, or nothing; and the claims that it leaves to be told."""
    alike, different, apart = (
        [claim for claim in compared if claim.kind == kind] for kind in ("alike", "different", "apart")
    )
    if not different:
        return [_comparison_words(claim, names) for claim in alike], apart
    rules, gradients = map(_number, different[0].numbers)
    at = f"at g = {_number(g)}"
    everywhere_else = len(apart) == comb(len(different[0].about), 2) and len(set(map(_places, apart))) == 1
    only = f", but only at {_places(apart[0])}" if everywhere_else else ""
    if not alike:
        return [f"All {rules} gradients differ {at}{only}."], [] if only else apart
    others = [name for key, name in names.items() if key not in (FORWARD, *alike[0].about)]
    another = f"{_listed(others)} {'each another' if len(others) > 1 else 'another'}"
    same = f"{_names(alike[0], names)} show the same gradient {at}, {another}"
    if len(alike) == 1 and len(same) < MAIN_LENGTH:
        fits = len(same + only) < MAIN_LENGTH
        return [f"{same}{only if fits else ''}."], [] if only and fits else apart
    return [f"These {rules} rules show {gradients} different gradients {at}."], alike + apart


def _comparison_words(claim: Claim, names: Mapping[str, str]) -> str:
    them = _names(claim, names)
    if claim.kind == "alike":
        return f"{them} show no difference here at g = {_number(claim.numbers[0])}."
    return f"{them} differ only at {_places(claim)}."


def _names(claim: Claim, names: Mapping[str, str]) -> str:
    return _listed([names[key] for key in claim.about])


def _brief(curves: Curves) -> dict[str, str]:
    """What each curve is called: its label, or the beginning of a long one, which others may share."""
    cut = {key: _cut(label) for key, label in curves.labels.items()}
    alike = [name for name, count in Counter(cut.values()).items() if count > 1]
    places = enumerate(cut.items(), 1)
    rules = {key: f"Rule {place} ({name})" if name in alike else name for place, (key, name) in places}
    return {FORWARD: _cut(curves.op.label), **rules}


def _cut(label: str) -> str:
    return label if len(label) <= _LONGEST else f"{label[:_SHORT].rstrip()}…"


def _places(claim: Claim) -> str:
    return f"x = {_listed(_some(claim.numbers))}{'' if claim.exact else ' in this picture'}"


def _some(numbers: Iterable[float]) -> list[str]:
    return list(dict.fromkeys(map(_number, numbers)))


def _value(level: float, g: float) -> str:
    """A level in digits, and that it is g where it is."""
    same = g not in (0, 1) and np.isclose(level, g, rtol=1e-6, atol=0)
    return f"{_number(level)} (that is g)" if same else _number(level)


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _texts(numbers: Iterable[float]) -> dict[float, str]:
    """Each number with four digits, or as many as keep them apart."""
    texts: dict[float, str] = {}
    different = set(numbers)
    for digits in range(4, 18):
        texts = {number: _number(number, digits) for number in different}
        if len(set(texts.values())) == len(different):
            break
    return texts


def _number(value: float, digits: int = 4) -> str:
    text = f"{value + 0.0:.{digits}g}"
    mantissa, _, exponent = text.partition("e")
    if exponent:
        text = f"{value:.0f}" if 0 < int(exponent) < _LARGEST else f"{mantissa}e{int(exponent)}"
    return text.replace("-", "−")


def _percent(share: float) -> str:
    """A share in whole percent; 0 % and 100 % only where it is exactly that."""
    whole = round(100 * share)
    if share in (0, 1) or 0 < whole < 100:
        return f"{whole} %"
    return "less than 1 %" if whole == 0 else "more than 99 %"

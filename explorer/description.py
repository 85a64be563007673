"""What curves show, in plain sentences, each rendered from claims.

"Everywhere", "flat" and "unbounded" are meant mathematically; what is known of the drawn points alone
says "in this picture".
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, takewhile
from math import comb
from typing import Any

import numpy as np
import pandas as pd

from explorer.claims import MOST_PIECES, Claim, Span, comparisons, forward_claims, gradient_claims
from explorer.curves import FORWARD, Curves, Floats, curves_of
from explorer.formula import percent, with_minus
from explorer.rest import Pull, Rest, normal_numbers, pull

# Of a parameter that learns; in braces what is put in, here and in the browser.
LEARNING_WORDS = {
    "normal": "{count} standard normal numbers",
    "carried": "{data} ({count} numbers in {bins} bins, each at the mean of its bin)",
    "outside": "{share} lie outside this view.",
    "lead": "Over {data}, each with g = y − x:",
    "grow": "{rule}: {name} should grow ({sum})",
    "shrink": "{rule}: {name} should shrink ({sum})",
    "rest": "{rule}: {name} rests here (the sum is 0)",
    "undefined": "{rule}: the sum for {name} is no finite number",
    "cannot": "{rule}: {name} cannot learn",
    "sum": "{total}",
    "scaled": "{total} × {factor} = {gradient}",
    "places": "{rule}: {name} comes to rest at {places}",
    "stretch": "{low} to {high}",
    "many": "{rule}: {name} comes to rest at {count} places from {low} to {high}",
    "grows": "{rule}: {name} grows all the way to {high}",
    "shrinks": "{rule}: {name} shrinks all the way to {low}",
    "nowhere": "{rule}: {name} comes to rest nowhere from {low} to {high}",
    "still": "{rule}: {name} stays wherever it is, for the sum is 0 everywhere",
    "least": "The mean squared error is least at {name} = {at}.",
}
MOST_PLACES = 4  # that are told one by one
MAIN_LENGTH = 110  # characters that stand above the chart
_LARGEST = 7  # power of ten, from which on numbers are written with it
_LONGEST = 34  # characters of a name that is said whole
_MOST_LISTED = 8  # single x that are told one by one
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
    compared = list(comparisons(exact, gradients))
    claims = (claim for some in (forward, *gradients.values(), compared) for claim in some)
    names = _brief(exact)
    said: dict[str, list[str]] = {}
    for key, found in gradients.items():
        said.setdefault(_gradient_words(found, exact), []).append(names[key])
    each = [f"{_listed(labels)}: the gradient is {words}." for words, labels in said.items()]
    first = f"{names[FORWARD]} {_forward_words(forward)}."
    sentences = _compared(compared, gradients, each, exact, names)
    sentences = [*sentences, first] if len(sentences[0]) <= MAIN_LENGTH else [first, *sentences]
    if forward[0].kind == "many":
        sentences = [first, *(sentence for sentence in sentences if sentence != first)]
    ends = accumulate(len(sentence) + 1 for sentence in takewhile(first.__ne__, sentences))
    count = max(sum(end <= MAIN_LENGTH for end in ends), 1)
    rest = [*sentences[count:], *([learning_words(exact)] if exact.learns else [])]
    return Description(" ".join(sentences[:count]), " ".join(rest), tuple(claims))


def learning_words(curves: Curves) -> str:
    """What standard normal numbers make of the parameter that learns, under each rule."""
    numbers = normal_numbers()
    lead = LEARNING_WORDS["lead"].format(data=LEARNING_WORDS["normal"].format(count=f"{len(numbers):,}"))
    given = dict(curves.parameters)
    pulls = [pull(curves.op, rule, curves.learns, numbers, given) for rule in curves.rules]
    return f"{lead} {'; '.join(map(pull_words, pulls))}."


def pull_words(found: Pull) -> str:
    """Where a parameter should go under one rule, and by which sum."""
    numbers = {"total": found.total, "factor": found.factor, "gradient": found.gradient}
    texts = {name: _number(value) for name, value in numbers.items()}
    total = LEARNING_WORDS["scaled" if found.scaled else "sum"].format(**texts)
    return LEARNING_WORDS[found.verdict].format(rule=found.rule.label, name=found.name, sum=total)


def rest_words(found: Rest) -> list[str]:
    """Where a parameter comes to rest under each rule, and where the error is least."""
    told = [_place_words(found, rule.key, rule.label) for rule in found.rules]
    if found.least is not None:
        told.append(LEARNING_WORDS["least"].format(name=found.name, at=_number(found.least)))
    return told


def _place_words(found: Rest, key: str, label: str) -> str:
    places, gradient = found.places[key], found.gradients[key]
    ends = {"low": _number(float(found.at[0])), "high": _number(float(found.at[-1]))}
    texts = [_stretch_words(*place) for place in places]
    if len(places) > MOST_PLACES:
        ends = {"low": _number(min(map(min, places))), "high": _number(max(map(max, places)))}
    said = {"rule": label, "name": found.name, "count": len(places), **ends}
    said["places"] = _listed(texts) if texts else ""
    return LEARNING_WORDS[_manner(len(places), gradient)].format(**said)


def _manner(places: int, gradient: Floats) -> str:
    """Which words fit a parameter that comes to rest at so many places."""
    if places:
        return "places" if places <= MOST_PLACES else "many"
    if (gradient == 0).all():
        return "still"
    if (gradient <= 0).all():
        return "grows"
    return "shrinks" if (gradient >= 0).all() else "nowhere"


def _stretch_words(low: float, high: float) -> str:
    if low == high:
        return _number(low)
    return LEARNING_WORDS["stretch"].format(low=_number(low), high=_number(high))


def document(curves: Curves, words: Description) -> dict[str, Any]:
    """Curves with their sentences as plain data: arrays, lists and texts, by name."""
    names = ("start", "stop", "g", "x", "marks", "y", "gradients", "parts", "kinks")
    return {name: getattr(curves, name) for name in names} | {"main": words.main, "rest": words.rest}


def _forward_words(claims: list[Claim]) -> str:
    """What follows the label of the op."""
    if claims[0].kind == "many":
        return f"{'has' if claims[0].exact else 'may have'} more kinks here than the chart can show"
    shares = _shares(claims)
    if _is_whole(shares.get("undefined")):
        values = "finite values at single x only" if _of(claims, "point") else "no finite value"
        return f"has {values} in this picture"
    words = [_flat_words(claims[0])]
    if "undefined" in shares:
        missing = _part(shares["undefined"])
        scope = missing[missing.index(" of ") :]
        words.append(f"undefined or infinite on {missing.removesuffix(scope * words[0].endswith(scope))}")
    return _listed([*words, *_hole_words(claims)]) + _overflow_words(shares)


def _shares(claims: Iterable[Claim]) -> dict[str, Claim]:
    return {claim.kind: claim for claim in _of(claims, "undefined", "overflow")}


def _is_whole(share: Claim | None) -> bool:
    return share is not None and share.numbers == (1.0,)


def _of(claims: Iterable[Claim], *kinds: str) -> list[Claim]:
    return [claim for claim in claims if claim.kind in kinds]


def _flat_words(claim: Claim) -> str:
    where = "here" if claim.exact else "in this picture"
    if claim.kind == "level":
        return f"is flat everywhere {where}"
    (share,) = claim.numbers
    if share in (0, 1):
        everywhere = "almost everywhere" if claim.exact else f"almost everywhere {where}"
        return f"is flat nowhere {where}" if share == 0 else f"is flat {everywhere}"
    return f"is flat on {_part(claim)}"


def _part(claim: Claim) -> str:
    """A share of the range, or of what is drawn of it."""
    return f"{percent(claim.numbers[-1])} of {'the range' if claim.exact else 'this picture'}"


def _hole_words(claims: Iterable[Claim], *, known: Sequence[float] = ()) -> list[str]:
    """At which single x there is no finite value; ``known`` are those of which more is said."""
    words = []
    for claim in _of(claims, "infinite", "nowhere"):
        left = [x for x in claim.numbers if x not in known]
        what = "infinite" if claim.kind == "infinite" else "undefined"
        if left:
            words.append(f"{what} at {_positions(left)}")
    return words


def _positions(x: Sequence[float]) -> str:
    return f"x = {_listed(_some(x))}" if len(x) <= _MOST_LISTED else f"{len(x)} single x"


def _overflow_words(shares: Mapping[str, Claim]) -> str:
    return f", and too large for 32 bits on {_part(shares['overflow'])}" if "overflow" in shares else ""


def _gradient_words(claims: list[Claim], curves: Curves) -> str:
    """What follows "the gradient is"."""
    shares = _shares(claims)
    if _is_whole(shares.get("undefined")):
        return _alone_words(_of(claims, "point"), curves.g)
    said = next(claim for claim in claims if claim.kind in _SAYINGS)
    words = _SAYINGS[said.kind](claims, curves) + _overflow_words(shares)
    missing = shares.get("undefined")
    return f"not finite on {_part(missing)} and elsewhere {words}" if missing else words


def _alone_words(points: list[Claim], g: float) -> str:
    """Of a gradient that has values at single x at most."""
    if not points:
        return "finite nowhere in this picture"
    if len(points) > MOST_PIECES:
        return f"finite at {len(points)} single x only in this picture"
    values = [f"{_value(point.numbers[0], g)} at x = {_number(point.numbers[1])}" for point in points]
    return f"finite almost nowhere in this picture: {_listed(values)}"


def _level_words(claims: list[Claim], curves: Curves) -> str:
    levels, points, holes = _of(claims, "level"), _of(claims, "point"), _hole_words(claims)
    bounds = _texts(
        [*(x for claim in levels for span in claim.spans for x in span), *(p.numbers[1] for p in points)]
    )
    everywhere = "almost everywhere" if points or holes else "everywhere"
    parts = []
    for claim in levels:
        where = _listed(_spans(claim, bounds, curves, everywhere))
        parts.append(f"{_value(claim.numbers[0], curves.g)} {where}")
    if len(levels) == 2 and levels[0].numbers == (0.0,):
        levels, parts = levels[::-1], parts[::-1]
    if len(levels) == 2 and levels[1].numbers == (0.0,):  # of two levels 0 is what holds elsewhere
        return _listed([parts[0], *_point_words(points, bounds, curves.g), *holes, "0 elsewhere"])
    return _listed([*parts, *_point_words(points, bounds, curves.g), *holes])


def _point_words(points: list[Claim], texts: Mapping[float, str], g: float) -> list[str]:
    if len(points) > MOST_PIECES:
        return [f"other values at {len(points)} single x"]
    return [f"{_value(point.numbers[0], g)} at x = {texts[point.numbers[1]]}" for point in points]


def _spans(
    claim: Claim, texts: Mapping[float, str], curves: Curves, everywhere: str = "everywhere"
) -> list[str]:
    if claim.spans == ((float(curves.x[0]), float(curves.x[-1])),):
        return [everywhere]
    return [_span(span, texts, claim, curves) for span in claim.spans]


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
    (among,), parts, holes = _of(claims, "among"), _of(claims, "part"), _hole_words(claims)
    if parts:
        value = _value(parts[0].numbers[0], curves.g)
        return _listed([f"{value} on {_part(parts[0])}", *holes, "0 elsewhere"])
    values = _listed([_value(number, curves.g) for number in among.numbers])
    almost = " almost everywhere" if holes or _of(claims, "point") else ""
    return _listed([f"one of {values}{almost}", *holes])


def _range_words(claims: list[Claim], curves: Curves) -> str:
    (span,), zeros = _of(claims, "range"), _of(claims, "part")
    low, high, at = span.numbers
    scope = "" if span.exact else " in this picture"
    if low == high:
        words = f"{_value(low, curves.g)} at every point of this picture"
    elif _number(low) == _number(high):
        words = f"about {_number(high)}{scope or ' everywhere'}"
    else:
        words = f"between {_number(low)} and {_number(high)}{scope}, strongest near x = {_number(at)}"
    more = [*(f"0 on {_part(zero)}" for zero in zeros), *_hole_words(claims)]
    return f"{words}, and {_listed(more)}" if more else words


def _pole_words(claims: list[Claim], _curves: Curves) -> str:
    (poles,) = _of(claims, "unbounded")
    return _listed([f"unbounded near {_positions(poles.numbers)}", *_hole_words(claims, known=poles.numbers)])


def _many_words(claims: list[Claim], _curves: Curves) -> str:
    return f"not summed up here: it {'has' if claims[0].exact else 'may have'} too many kinks"


_SAYINGS: Mapping[str, Callable[[list[Claim], Curves], str]] = {
    "many": _many_words,
    "unbounded": _pole_words,
    "level": _level_words,
    "among": _among_words,
    "range": _range_words,
}


def _compared(
    compared: list[Claim],
    gradients: Mapping[str, list[Claim]],
    each: list[str],
    curves: Curves,
    names: Mapping[str, str],
) -> list[str]:
    """What each rule returns, and before it, where that is long, by what they differ."""
    alike, apart = _of(compared, "alike"), _of(compared, "apart")
    groups = _groups(alike, gradients)
    untold = [claim for claim in alike if len(groups) == 1 or gradients[claim.about[0]][0].kind != "level"]
    same = [_comparison_words(claim, names) for claim in untold]
    if len(groups) == 1:
        return [*same, *each]
    only = [_comparison_words(claim, names) for claim in apart]
    if len(" ".join(each)) < MAIN_LENGTH:
        return [*each, *same, *only]
    labels = {group[0]: _listed([names[key] for key in group]) for group in groups}
    differences = _differences(compared, gradients, labels, curves)
    lead = next((text for text in differences if len(text) < MAIN_LENGTH), None)
    return [*([lead] if lead else []), *same, *each, *(text for text in only if text != lead)]


def _groups(alike: Iterable[Claim], keys: Iterable[str]) -> list[tuple[str, ...]]:
    """The keys of all curves, those together that cannot be told apart."""
    groups = {claim.about[0]: claim.about for claim in alike}
    others = {key for group in groups.values() for key in group[1:]}
    return [groups.get(key, (key,)) for key in keys if key not in others]


def _differences(
    compared: list[Claim],
    gradients: Mapping[str, list[Claim]],
    labels: Mapping[str, str],
    curves: Curves,
) -> Iterator[str]:
    """Sentences on what tells curves apart, the most telling first; ``labels`` of those that differ."""
    yield from _apart_words(_of(compared, "apart"), labels, curves.g)
    if len(labels) == 2:
        yield from _gap_words(_of(compared, "gap"), labels, curves)
    else:
        yield from _spot_words({key: _of(gradients[key], "level") for key in labels}, labels, curves)
    yield from _measure_words(compared, labels, curves.g)
    count, at = len(gradients), f"at g = {_number(curves.g)}"
    if 2 < count == len(labels):
        yield f"All {count} gradients differ {at}."
    elif count > 2:
        yield f"These {count} rules show {len(labels)} different gradients {at}."


def _apart_words(apart: list[Claim], labels: Mapping[str, str], g: float) -> Iterator[str]:
    """Where all of the curves differ at a few x only."""
    positions = set(map(_places, apart))
    if len(apart) < comb(len(labels), 2) or len(positions) > 1:
        return
    if len(labels) == 2:
        one, other = labels.values()
        yield f"{_doing(one, 'differ')} from {other} only at {positions.pop()}."
    else:
        yield f"All {len(labels)} gradients differ at g = {_number(g)}, but only at {positions.pop()}."


def _gap_words(gaps: list[Claim], labels: Mapping[str, str], curves: Curves) -> Iterator[str]:
    """Two curves of few values: where which of them gives what, beside torch's own or the first."""
    if not gaps:
        return
    keys = gaps[0].about
    subject, reference = keys if keys[1] == "default" else keys[::-1]
    side = keys.index(reference)
    beside = gaps[0].numbers[side]  # in the widest gap
    told = [gap for gap in gaps if gap.numbers[side] == beside and len(gap.spans) <= MOST_PIECES]
    bounds = _texts(x for gap in told for span in gap.spans for x in span)
    parts = []
    for gap in sorted(told, key=lambda gap: gap.spans):
        level = Claim("level", (subject,), (gap.numbers[1 - side],), gap.spans)
        parts.append(f"{_brief_value(level.numbers[0], curves.g)} {_listed(_spans(level, bounds, curves))}")
    if parts:
        yield (
            f"{_doing(labels[subject], 'give')} {_listed(parts)}, "
            f"where {_doing(labels[reference], 'give')} {_brief_value(beside, curves.g)}."
        )


def _doing(label: str, verb: str) -> str:
    """One rule or several with what they do."""
    return f"{label} {verb}{'' if ' and ' in label else 's'}"


def _spot_words(
    levels: Mapping[str, list[Claim]], labels: Mapping[str, str], curves: Curves
) -> Iterator[str]:
    """Several curves of few values: the widest stretch on which no two of them are the same."""
    ends = sorted({x for some in levels.values() for claim in some for span in claim.spans for x in span})
    texts = _texts(ends)
    for span in sorted(pairwise(ends), key=lambda span: span[0] - span[1]):
        values = {
            key: level for key, some in levels.items() if (level := _level_within(some, span)) is not None
        }
        if len(set(values.values())) == len(labels):
            told = [f"{labels[key]} {_brief_value(level, curves.g)}" for key, level in values.items()]
            yield f"{_stretch(span, texts, curves)}: {', '.join(told)}."
            return


def _level_within(levels: Iterable[Claim], span: Span) -> float | None:
    """The level that holds on all of a span, if one does."""
    for claim in levels:
        if any(start <= span[0] and span[1] <= stop for start, stop in claim.spans):
            return claim.numbers[0]
    return None


def _stretch(span: Span, texts: Mapping[float, str], curves: Curves) -> str:
    start, stop = (texts[x] for x in span)
    if span[0] == curves.x[0]:
        return "Everywhere" if span[1] == curves.x[-1] else f"For x below {stop}"
    return f"For x above {start}" if span[1] == curves.x[-1] else f"For x between {start} and {stop}"


def _measure_words(compared: list[Claim], labels: Mapping[str, str], g: float) -> Iterator[str]:
    """By peak, area and support, as far as they differ: of each curve, or of the least and the most."""
    known = {(claim.kind, claim.about[0]): claim.numbers[0] for claim in _of(compared, *_MEASURES)}
    facts = []
    for kind, (title, text) in _MEASURES.items():
        values = {key: known[kind, key] for key in labels if (kind, key) in known}
        if len(values) == len(labels) and len(set(map(text, values.values()))) > 1:
            facts.append((title, text, values))
    separating = [fact for fact in facts if len(set(map(fact[1], fact[2].values()))) == len(labels)]
    tries = [(_each_measured, some) for some in (facts, facts[:2], separating[:1])]
    tries += [(_extremes, some) for some in (facts, facts[:2], facts[:1])]
    for words, some in tries:
        if some:
            said = "; ".join(words(*fact, labels) for fact in some)
            yield f"{said[0].upper()}{said[1:]}." if g == 1 else f"At g = {_number(g)}: {said}."


def _each_measured(
    title: str, text: Callable[[float], str], values: Mapping[str, float], labels: Mapping[str, str]
) -> str:
    """The values of all curves, the largest first."""
    named: dict[str, list[str]] = {}
    for key in sorted(values, key=lambda key: -values[key]):
        named.setdefault(text(values[key]), []).append(labels[key])
    return f"{title}: {', '.join(f'{_listed(some)} {value}' for value, some in named.items())}"


def _extremes(
    title: str, text: Callable[[float], str], values: Mapping[str, float], labels: Mapping[str, str]
) -> str:
    """The least and the largest value, and whose they are."""
    ends = []
    for extreme in (text(min(values.values())), text(max(values.values()))):
        some = [labels[key] for key, value in values.items() if text(value) == extreme]
        ends.append(f"{extreme} ({some[0] if len(some) == 1 else f'{len(some)} rules'})")
    return f"{title}: {' to '.join(ends)}"


def _brief_value(level: float, g: float) -> str:
    """A level in digits, by its name where it is g."""
    return f"g = {_number(level)}" if g not in (0, 1) and level == g else _number(level)


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
    return with_minus(text)


# How curves are compared: what is said before the values, and how they are written.
_MEASURES: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "peak": ("peaks", _number),
    "area": ("areas here", _number),
    "support": ("not 0 on", percent),
}

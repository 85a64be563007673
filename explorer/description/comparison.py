"""Sentences on the differences between several gradients."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from math import comb
from typing import NamedTuple

from explorer.curves.sampled import SampledCurves
from explorer.description.claims import MOST_PIECES, Claim, Span
from explorer.description.gradient import span_texts
from explorer.description.words import (
    MAIN_LENGTH,
    at_g,
    different_texts,
    each_in_digits,
    in_digits,
    of_kind,
)
from explorer.formula import listed, percent


def comparison_sentences(
    compared: list[Claim],
    gradients: Mapping[str, list[Claim]],
    each: list[str],
    curves: SampledCurves,
    names: Mapping[str, str],
) -> list[str]:
    """Sentences on the gradient of each rule, after one on their differences where those are long."""
    alike, apart = of_kind(compared, "alike"), of_kind(compared, "apart")
    groups = _groups(alike, gradients)
    untold = [claim for claim in alike if len(groups) == 1 or gradients[claim.about[0]][0].kind != "level"]
    same = [_comparison_words(claim, names) for claim in untold]
    if len(groups) == 1:
        return [*same, *each]
    only = [_comparison_words(claim, names) for claim in apart]
    if len(" ".join(each)) < MAIN_LENGTH:
        return [*each, *same, *only]
    labels = {group[0]: listed([names[key] for key in group]) for group in groups}
    differences = _differences(compared, gradients, labels, curves)
    lead = next((text for text in differences if len(text) < MAIN_LENGTH), None)
    of_all = lead in [*_apart_words(apart, labels, curves.g)]  # each pair is said by it
    return [*([lead] if lead else []), *same, *each, *([] if of_all else only)]


def _groups(alike: Iterable[Claim], keys: Iterable[str]) -> list[tuple[str, ...]]:
    """The keys of all curves, those together that cannot be told apart."""
    groups = {claim.about[0]: claim.about for claim in alike}
    others = {key for group in groups.values() for key in group[1:]}
    return [groups.get(key, (key,)) for key in keys if key not in others]


def _differences(
    compared: list[Claim],
    gradients: Mapping[str, list[Claim]],
    labels: Mapping[str, str],
    curves: SampledCurves,
) -> Iterator[str]:
    """Sentences on the differences of curves, the most telling first; ``labels`` of those that differ."""
    yield from _apart_words(of_kind(compared, "apart"), labels, curves.g)
    if len(labels) == 2:
        yield from _gap_words(of_kind(compared, "gap"), labels, curves)
    else:
        yield from _spot_words({key: of_kind(gradients[key], "level") for key in labels}, labels, curves)
    yield from _measure_words(compared, labels, curves.g)
    count, at = len(gradients), at_g(curves.g)
    if 2 < count == len(labels):
        yield f"All {count} gradients differ{at}."
    elif count > 2:
        yield f"These {count} rules show {len(labels)} different gradients{at}."


def _apart_words(apart: list[Claim], labels: Mapping[str, str], g: float) -> Iterator[str]:
    """The sentence for curves that all differ at a few x only."""
    positions = set(map(_positions, apart))
    if len(apart) < comb(len(labels), 2) or len(positions) > 1:
        return
    if len(labels) == 2:
        one, other = labels.values()
        yield f"{_doing(one, 'differ')} from {other} only at {positions.pop()}."
    else:
        yield f"All {len(labels)} gradients differ at g = {in_digits(g)}, but only at {positions.pop()}."


def _gap_words(gaps: list[Claim], labels: Mapping[str, str], curves: SampledCurves) -> Iterator[str]:
    """Two curves of few values: where which of them gives what, beside torch's own or the first."""
    if not gaps:
        return
    keys = gaps[0].about
    subject, reference = keys if keys[1] == "default" else keys[::-1]
    side = keys.index(reference)
    beside = gaps[0].numbers[side]  # in the widest gap
    few = [gap for gap in gaps if gap.numbers[side] == beside and len(gap.spans) <= MOST_PIECES]
    bounds = different_texts(x for gap in few for span in gap.spans for x in span)
    parts = []
    for gap in sorted(few, key=lambda gap: gap.spans):
        level = Claim("level", (subject,), (gap.numbers[1 - side],), gap.spans)
        parts.append(
            f"{_brief_value(level.numbers[0], curves.g)} {listed(span_texts(level, bounds, curves))}"
        )
    if parts:
        yield (
            f"{_doing(labels[subject], 'give')} {listed(parts)}, "
            f"where {_doing(labels[reference], 'give')} {_brief_value(beside, curves.g)}."
        )


def _doing(label: str, verb: str) -> str:
    return f"{label} {verb}{'' if ' and ' in label else 's'}"


def _spot_words(
    levels: Mapping[str, list[Claim]], labels: Mapping[str, str], curves: SampledCurves
) -> Iterator[str]:
    """Several curves of few values: the widest stretch on which no two of them are the same."""
    ends = sorted({x for some in levels.values() for claim in some for span in claim.spans for x in span})
    texts = different_texts(ends)
    for span in sorted(pairwise(ends), key=lambda span: span[0] - span[1]):
        values = {
            key: level for key, some in levels.items() if (level := _level_within(some, span)) is not None
        }
        if len(set(values.values())) == len(labels):
            each = [f"{labels[key]} {_brief_value(level, curves.g)}" for key, level in values.items()]
            yield f"{_stretch(span, texts, curves)}: {', '.join(each)}."
            return


def _level_within(levels: Iterable[Claim], span: Span) -> float | None:
    for claim in levels:
        if any(start <= span[0] and span[1] <= stop for start, stop in claim.spans):
            return claim.numbers[0]
    return None


def _stretch(span: Span, texts: Mapping[float, str], curves: SampledCurves) -> str:
    start, stop = (texts[x] for x in span)
    if span[0] == curves.x[0]:
        return "Everywhere" if span[1] == curves.x[-1] else f"For x below {stop}"
    return f"For x above {start}" if span[1] == curves.x[-1] else f"For x between {start} and {stop}"


class _Measure(NamedTuple):
    """How values of one kind are said: of the least and the most, and of each curve.

    Attributes:
        title: before the least and the most.
        text: a value in digits.
        verbs: of one curve, and of several.
        first, next: the sentence on the largest, and what follows on another.
    """

    title: str
    text: Callable[[float], str]
    verbs: tuple[str, str]
    first: str
    next: str


def _measure_words(compared: list[Claim], labels: Mapping[str, str], g: float) -> Iterator[str]:
    """By peak, area and support, as far as they differ: of each curve, or of the least and the most."""
    known = {(claim.kind, claim.about[0]): claim.numbers[0] for claim in of_kind(compared, *_MEASURES)}
    facts = []
    for kind, measure in _MEASURES.items():
        values = {key: known[kind, key] for key in labels if (kind, key) in known}
        if len(values) == len(labels) and len(set(map(measure.text, values.values()))) > 1:
            facts.append((measure, values))
    separating = [(one, some) for one, some in facts if len(set(map(one.text, some.values()))) == len(labels)]
    tries = [(_each_measured, some) for some in (facts, facts[:2], separating[:1])]
    tries += [(_extremes, some) for some in (facts, facts[:2], facts[:1])]
    for words, some in tries:
        if some:
            said = "; ".join(words(*fact, labels) for fact in some)
            whole = said if g == 1 else f"{at_g(g)} {said}".strip()
            named = whole.startswith(tuple(labels.values()))  # a formula keeps its small letters
            yield f"{whole if named else whole[0].upper() + whole[1:]}."


def _each_measured(measure: _Measure, values: Mapping[str, float], labels: Mapping[str, str]) -> str:
    """The values of all curves, the largest first."""
    named: dict[str, list[str]] = {}
    for key in sorted(values, key=lambda key: -values[key]):
        named.setdefault(measure.text(values[key]), []).append(labels[key])
    (value, some), *rest = named.items()
    first = measure.first.format(them=listed(some), verb=measure.verbs[len(some) > 1], value=value)
    return ", ".join([first, *(measure.next.format(them=listed(more), value=value) for value, more in rest)])


def _extremes(measure: _Measure, values: Mapping[str, float], labels: Mapping[str, str]) -> str:
    """The least and the largest value, and whose they are."""
    ends = []
    for extreme in (measure.text(min(values.values())), measure.text(max(values.values()))):
        some = [labels[key] for key, value in values.items() if measure.text(value) == extreme]
        ends.append(f"{extreme} ({some[0] if len(some) == 1 else f'{len(some)} rules'})")
    return f"{measure.title}: {' to '.join(ends)}"


def _brief_value(level: float, g: float) -> str:
    """A level in digits, by its name where it is g."""
    return f"g = {in_digits(level)}" if g not in (0, 1) and level == g else in_digits(level)


def _comparison_words(claim: Claim, names: Mapping[str, str]) -> str:
    them = listed([names[key] for key in claim.about])
    if claim.kind == "alike":
        return f"{them} give x the same gradient here{at_g(claim.numbers[0])}."
    return f"{them} differ only at {_positions(claim)}."


def _positions(claim: Claim) -> str:
    return f"x = {listed(each_in_digits(claim.numbers))}{'' if claim.exact else ' in this picture'}"


# Measures that curves are compared by, by the kind of claim.
_MEASURES: Mapping[str, _Measure] = {
    "peak": _Measure(
        "peaks", in_digits, ("peaks", "peak"), "{them} {verb} at {value}", "{them} at {value}"
    ),
    "area": _Measure(
        "areas here", in_digits, ("has", "have"), "{them} {verb} area {value} here", "{them} {value}"
    ),
    "support": _Measure(
        "shares that are not 0", percent, ("is", "are"), "{them} {verb} not 0 on {value}",
        "{them} on {value}",
    ),
}  # fmt: skip

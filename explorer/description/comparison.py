"""Sentences on how several gradient curves differ."""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from math import comb

from explorer.curves.sampled import SampledCurves
from explorer.description.claims import MAX_PIECES, Claim, Span
from explorer.description.gradient import describe_spans
from explorer.description.words import MAIN_LENGTH, format_at_g, format_distinct, format_each, select_kinds
from explorer.formula import format_number, format_percent, join_texts


def write_comparison(
    compared: list[Claim],
    gradients: Mapping[str, list[Claim]],
    sentences: list[str],
    curves: SampledCurves,
    names: Mapping[str, str],
) -> list[str]:
    """Return sentences about the gradient of each backward rule, and about their differences.

    If the sentences are long, a sentence about the differences comes first.

    Args:
        compared: claims about several curves, from ``compare_curves``.
        gradients: claims about each single rule, by its key.
        sentences: the sentences about each gradient.
        curves: the sampled curves.
        names: the name of each curve by its key.
    """
    alike, apart_claims = select_kinds(compared, "alike"), select_kinds(compared, "apart")
    by_first = {claim.about[0]: claim.about for claim in alike}
    repeated = {key for group in by_first.values() for key in group[1:]}
    # A curve that equals no other one is a group by itself.
    groups = [by_first.get(key, (key,)) for key in gradients if key not in repeated]
    unmentioned = [
        claim for claim in alike if len(groups) == 1 or gradients[claim.about[0]][0].kind != "level"
    ]
    alike_lines = [_describe_claim(claim, names) for claim in unmentioned]
    if len(groups) == 1:
        return [*alike_lines, *sentences]
    apart_lines = [_describe_claim(claim, names) for claim in apart_claims]
    if len(" ".join(sentences)) < MAIN_LENGTH:
        return [*sentences, *alike_lines, *apart_lines]
    labels = {group[0]: join_texts([names[key] for key in group]) for group in groups}
    differences = _list_differences(compared, gradients, labels, curves)
    lead = next((text for text in differences if len(text) < MAIN_LENGTH), None)
    of_all = lead in [*_describe_single_differences(apart_claims, labels, curves.g)]  # the lead is about all
    return [*([lead] if lead else []), *alike_lines, *sentences, *([] if of_all else apart_lines)]


def _list_differences(
    compared: list[Claim],
    gradients: Mapping[str, list[Claim]],
    labels: Mapping[str, str],
    curves: SampledCurves,
) -> Iterator[str]:
    yield from _describe_single_differences(select_kinds(compared, "apart"), labels, curves.g)
    if len(labels) == 2:
        yield from _describe_gaps(select_kinds(compared, "gap"), labels, curves)
    else:
        levels = {key: select_kinds(gradients[key], "level") for key in labels}
        yield from _describe_spot(levels, labels, curves)
    yield from _describe_measures(compared, labels, curves.g)


def _describe_single_differences(claims: list[Claim], labels: Mapping[str, str], g: float) -> Iterator[str]:
    positions = set(map(_format_positions, claims))
    if len(claims) < comb(len(labels), 2) or len(positions) > 1:
        return
    if len(labels) == 2:
        first, second = labels.values()
        yield f"{_join_verb(first, 'differ')} from {second} only at {positions.pop()}."
    else:
        yield f"All {len(labels)} gradients differ at g = {format_number(g)}, but only at {positions.pop()}."


def _describe_gaps(gaps: list[Claim], labels: Mapping[str, str], curves: SampledCurves) -> Iterator[str]:
    if not gaps:
        return
    keys = gaps[0].about
    subject, reference = keys if keys[1] == "default" else keys[::-1]
    side = keys.index(reference)
    contrast = gaps[0].numbers[side]  # gaps[0] is the widest gap
    short_gaps = [gap for gap in gaps if gap.numbers[side] == contrast and len(gap.spans) <= MAX_PIECES]
    bounds = format_distinct(x for gap in short_gaps for span in gap.spans for x in span)
    parts = []
    for gap in sorted(short_gaps, key=lambda gap: gap.spans):
        level = Claim("gap", (subject, reference), (gap.numbers[1 - side], contrast), gap.spans)
        places = join_texts(describe_spans(level, bounds, curves))
        parts.append(f"{_format_level(level.numbers[0], curves.g)} {places}")
    if parts:
        yield (
            f"{_join_verb(labels[subject], 'give')} {join_texts(parts)}, "
            f"where {_join_verb(labels[reference], 'give')} {_format_level(contrast, curves.g)}."
        )


def _join_verb(label: str, verb: str) -> str:
    return f"{label} {verb}{'' if ' and ' in label else 's'}"


def _describe_spot(
    levels: Mapping[str, list[Claim]], labels: Mapping[str, str], curves: SampledCurves
) -> Iterator[str]:
    ends = sorted({x for claims in levels.values() for claim in claims for span in claim.spans for x in span})
    texts = format_distinct(ends)
    spots: dict[Span, dict[str, list[str]]] = {}  # where rules differ: their labels by level
    for span in pairwise(ends):
        named: dict[str, list[str]] = {}
        for key, claims in levels.items():
            for claim in claims:
                if any(start <= span[0] and span[1] <= stop for start, stop in claim.spans):
                    named.setdefault(_format_level(claim.numbers[0], curves.g), []).append(labels[key])
        is_clear = all(len(them) == 1 or " and " not in "".join(them) for them in named.values())
        if is_clear and len(named) > 1 and sum(map(len, named.values())) == len(labels):
            spots[span] = named
    if spots:
        span = max(spots, key=lambda span: (len(spots[span]), span[1] - span[0], span[0]))
        facts = [f"{_add_colon(join_texts(them))} {level}" for level, them in spots[span].items()]
        yield f"{_describe_interval(span, texts, curves)}: {', '.join(facts)}."


def _describe_interval(span: Span, texts: Mapping[float, str], curves: SampledCurves) -> str:
    start, stop = (texts[x] for x in span)
    if span[0] == curves.x[0]:
        return "Everywhere" if span[1] == curves.x[-1] else f"For x below {stop}"
    return f"For x above {start}" if span[1] == curves.x[-1] else f"For x between {start} and {stop}"


def _describe_measures(compared: list[Claim], labels: Mapping[str, str], g: float) -> Iterator[str]:
    numbers = {(claim.kind, claim.about[0]): claim.numbers[0] for claim in select_kinds(compared, *_MEASURES)}
    facts = []
    for kind, (title, text) in _MEASURES.items():
        values = {key: numbers[kind, key] for key in labels if (kind, key) in numbers}
        if len(values) == len(labels) and len(set(map(text, values.values()))) > 1:
            facts.append((title, text, values))
    texts = ["; ".join(_describe_each(*fact, labels) for fact in facts[:count]) for count in (3, 2, 1)]
    texts += ["; ".join(_describe_extremes(*fact, labels) for fact in facts[:count]) for count in (3, 2, 1)]
    for sentence in filter(None, texts):
        first = f"{format_at_g(g)}, {sentence}".strip(", ") if g != 1 else sentence
        yield f"{first[0].upper()}{first[1:]}."


def _describe_each(
    title: str, text: Callable[[float], str], values: Mapping[str, float], labels: Mapping[str, str]
) -> str:
    named: dict[str, list[str]] = {}
    for key in sorted(values, key=lambda key: -values[key]):
        named.setdefault(text(values[key]), []).append(labels[key])
    parts = (f"{_add_colon(join_texts(names))} {value}" for value, names in named.items())
    return f"{title}: {', '.join(parts)}"


def _add_colon(name: str) -> str:
    """Return a name that a value will follow, with a colon if it is a formula of g or x, or a number."""
    return f"{name}:" if re.search(r"\b[gx]\b|^[−\d.]+$", name) else name


def _describe_extremes(
    title: str, text: Callable[[float], str], values: Mapping[str, float], labels: Mapping[str, str]
) -> str:
    ends = []
    for extreme in (text(min(values.values())), text(max(values.values()))):
        owners = [labels[key] for key, value in values.items() if text(value) == extreme]
        ends.append(f"{extreme} ({owners[0] if len(owners) == 1 else f'{len(owners)} rules'})")
    return f"{title} from {' to '.join(ends)}"


def _format_level(level: float, g: float) -> str:
    return f"g = {format_number(level)}" if g not in (0, 1) and level == g else format_number(level)


def _describe_claim(claim: Claim, names: Mapping[str, str]) -> str:
    subjects = join_texts([names[key] for key in claim.about])
    if claim.kind == "alike":
        return f"{subjects} give x the same gradient here{format_at_g(claim.numbers[0])}."
    return f"{subjects} differ only at {_format_positions(claim)}."


def _format_positions(claim: Claim) -> str:
    return f"x = {join_texts(format_each(claim.numbers))}{'' if claim.exact else ' in this picture'}"


# Measures used to compare curves, by kind of claim: a title, and the function that formats a value.
_MEASURES: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "peak": ("strongest gradients here", format_number),
    "mean": ("mean gradients here", format_number),
    "support": ("nonzero parts here", format_percent),
}

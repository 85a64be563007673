"""Sentences about stochastic ops and rules: bias, standard deviation, and the end of gradient descent."""

from collections.abc import Iterator, Mapping

import numpy as np

from explorer.curves.sampled import FORWARD, Floats, SampledCurves
from explorer.description.words import MAIN_LENGTH, format_positions
from explorer.formula import format_number, join_texts

_NEGLIGIBLE = 1e-5  # differences below this fraction of the largest exact gradient are numerical errors
_UNDETECTABLE = 1e-12  # a mean below this fraction of the standard deviation is 0 up to rounding


def summarize_biases(curves: SampledCurves, names: Mapping[str, str]) -> str:
    """Return a sentence on the biases of all rules, or a summary if that sentence is long."""
    sentence = describe_biases(curves, names)
    if len(sentence) <= MAIN_LENGTH:
        return sentence
    biases = _measure_biases(curves, names)
    return next((text for text in _list_summaries(curves, biases) if len(text) <= MAIN_LENGTH), sentence)


def describe_biases(curves: SampledCurves, names: Mapping[str, str]) -> str:
    """Return one sentence that compares the mean gradient of each rule with the unbiased gradient."""
    if curves.unbiased is None:
        return f"{names[FORWARD]} draws anew for each element and step: the curves show means."
    biases = _measure_biases(curves, names)
    if not biases:
        return "No rule here has a finite mean to compare with the exact gradient."
    parts = _describe_each_bias(curves, biases)
    missing = [names[key] for key in curves.gradients if names[key] not in biases]
    parts += [f"{name} has no finite mean" for name in missing]
    size = f" (the exact gradient is at most {format_number(_find_largest(curves.unbiased), 2)})"
    return f"On average {join_texts(parts)}{size if _select_biased(curves, biases) else ''}."


def _list_summaries(curves: SampledCurves, biases: Mapping[str, float]) -> Iterator[str]:
    off, all_of = _select_biased(curves, biases), f"{len(biases)} rules"
    if len(biases) == len(curves.gradients):
        yield f"On average {join_texts(_describe_each_bias(curves, biases))}."
    else:
        all_of += " with a mean"
    exact, largest = len(biases) - len(off), format_number(max(off.values(), default=0.0), 2)
    if not off:
        yield f"On average all {all_of} are exact for this loss."
    elif not exact:
        yield f"On average none of {all_of} is exact for this loss: they are off by up to {largest}."
    else:
        right = f"{exact} of {all_of} {'are' if exact > 1 else 'is'} exact for this loss"
        remainder = "the others are" if len(off) > 1 else "the other is"
        yield f"On average {right}; {remainder} off by up to {largest}."


def _measure_biases(curves: SampledCurves, names: Mapping[str, str]) -> dict[str, float]:
    assert curves.unbiased is not None
    biases = {names[key]: _measure_bias(values, curves.unbiased) for key, values in curves.gradients.items()}
    return {name: bias for name, bias in biases.items() if bias is not None}


def _select_biased(curves: SampledCurves, biases: Mapping[str, float]) -> dict[str, float]:
    assert curves.unbiased is not None
    least = _NEGLIGIBLE * max(_find_largest(curves.unbiased), _NEGLIGIBLE)
    return {name: bias for name, bias in biases.items() if bias > least}


def _describe_each_bias(curves: SampledCurves, biases: Mapping[str, float]) -> list[str]:
    off = _select_biased(curves, biases)
    right = [name for name in biases if name not in off]
    parts = [f"{join_texts(right)} {_choose_verb(right, 'is', 'are')} exact for this loss"] if right else []
    return parts + [
        f"{name} {'' if right else 'is '}off by up to {format_number(bias, 2)}" for name, bias in off.items()
    ]


def summarize_spreads(curves: SampledCurves, names: Mapping[str, str]) -> str:
    """Return a sentence on the standard deviations of all rules, or on the extremes if that is long."""
    sentence = describe_spreads(curves, names)
    sizes = _measure_spreads(curves, names)
    if len(sentence) <= MAIN_LENGTH or len(sizes) <= 2:
        return sentence
    (first, low), *_, (last, high) = sorted(sizes.items(), key=lambda item: item[1])
    ends = f"{format_number(low, 2)} for {first} to {format_number(high, 2)} for {last}"
    return f"Single draws spread from {ends} (standard deviation)."


def describe_spreads(curves: SampledCurves, names: Mapping[str, str]) -> str:
    """Return a sentence on the standard deviation of each rule's gradient per draw, "" if it is unknown."""
    sizes = _measure_spreads(curves, names)
    if not sizes:
        return ""
    texts = [f"{format_number(size, 2)} for {name}" for name, size in sizes.items() if size]
    if not texts:
        labels = list(sizes)
        moves = any(_find_largest(values) for key, values in curves.gradients.items() if names[key] in sizes)
        returned = _choose_verb(labels, "its mean", "their means") if moves else "0"
        return f"{join_texts(labels)} {_choose_verb(labels, 'returns', 'return')} {returned} on every draw."
    return f"Single draws spread by up to {join_texts(texts)} (standard deviation)."


def _measure_spreads(curves: SampledCurves, names: Mapping[str, str]) -> dict[str, float]:
    return {
        names[key]: _find_largest(curves.spreads[key])
        for key, mean in curves.gradients.items()
        if key in curves.spreads and (np.isfinite(mean) & np.isfinite(curves.spreads[key])).any()
    }


def describe_descent(curves: SampledCurves, names: Mapping[str, str]) -> str:
    """Return a sentence on where gradient descent ends if each rule returns its mean gradient."""
    by_words: dict[tuple[str, str], list[str]] = {}
    zeros = np.zeros(len(curves.x))
    for key, values in curves.gradients.items():
        words = _describe_end(curves.x, values, curves.spreads.get(key, zeros))
        by_words.setdefault(words, []).append(names[key])
    texts = [f"{join_texts(labels)} {_choose_verb(labels, *words)}" for words, labels in by_words.items()]
    if curves.unbiased is not None:
        texts.append(f"the exact gradient {_describe_end(curves.x, curves.unbiased, zeros)[0]}")
    return f"Descent along the mean: {'; '.join(texts)}."


def _describe_end(x: Floats, gradient: Floats, spread: Floats) -> tuple[str, str]:
    """Return a clause on where gradient descent ends, once in the singular and once in the plural.

    Descent ends at an x at which the gradient increases through 0. A mean too small to detect among the
    random values, with standard deviation ``spread``, counts as 0.
    """
    is_finite = np.isfinite(gradient)
    gradient = np.where(np.abs(gradient) <= _UNDETECTABLE * spread, 0.0, gradient)
    x, gradient = x[is_finite].astype(np.float64), gradient[is_finite].astype(np.float64)
    if not len(gradient):
        return "has no mean", "have no mean"
    if not gradient.any():
        return "moves nothing", "move nothing"
    turns = np.flatnonzero((gradient[:-1] < 0) & (gradient[1:] >= 0))
    low, high = gradient[turns], gradient[turns + 1]
    positions = x[turns] + (x[turns + 1] - x[turns]) * (-low / (high - low))
    positions[np.abs(positions) < _NEGLIGIBLE * np.ptp(x)] = 0.0
    if len(positions):
        place = f"at {format_positions([float(f'{each:.3g}') for each in positions])}"
        return f"rests {place}", f"rest {place}"
    if (gradient >= 0).all():
        return "moves x down, out of the picture", "move x down, out of the picture"
    if (gradient <= 0).all():
        return "moves x up, out of the picture", "move x up, out of the picture"
    return "never rests in this picture", "never rest in this picture"


def _measure_bias(gradient: Floats, exact: Floats) -> float | None:
    is_finite = np.isfinite(gradient) & np.isfinite(exact)
    return _find_largest(gradient[is_finite] - exact[is_finite]) if is_finite.any() else None


def _find_largest(values: Floats) -> float:
    sizes = np.abs(values[np.isfinite(values)])
    return float(sizes.max()) if len(sizes) else 0.0


def _choose_verb(names: list[str], singular: str, plural: str) -> str:
    return singular if len(names) == 1 else plural

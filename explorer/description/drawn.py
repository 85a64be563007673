"""Sentences on a pair that draws: the bias of each rule, its spread, and where it comes to rest."""

from collections.abc import Iterator, Mapping

import numpy as np

from explorer.curves.sampled import FORWARD, Floats, SampledCurves
from explorer.description.words import MAIN_LENGTH, in_digits, position_words
from explorer.formula import listed

_NONE = 1e-5  # of the largest exact gradient: what integrals and dtypes are off
_HIDDEN = 1e-12  # of a standard deviation: what is left of a mean of 0


def drawn_head(curves: SampledCurves, names: Mapping[str, str]) -> str:
    """``drawn_biases``, or its gist where that is long."""
    whole = drawn_biases(curves, names)
    if len(whole) <= MAIN_LENGTH:
        return whole
    known = _known_biases(curves, names)
    return next((text for text in _shorter(curves, known) if len(text) <= MAIN_LENGTH), whole)


def drawn_biases(curves: SampledCurves, names: Mapping[str, str]) -> str:
    """One sentence on what the rules return on average, beside the exact gradient."""
    if curves.unbiased is None:
        return f"{names[FORWARD]} draws anew for each element and step: the curves are means."
    known = _known_biases(curves, names)
    if not known:
        return "No rule here has a mean that is a number, to be held against the exact gradient."
    told = _each_bias(curves, known)
    missing = [names[key] for key in curves.gradients if names[key] not in known]
    told += [f"{name} has no mean that is a number" for name in missing]
    size = f" (the exact gradient is at most {in_digits(_largest(curves.unbiased), 2)})"
    return f"On average {listed(told)}{size if _off(curves, known) else ''}."


def _shorter(curves: SampledCurves, biases: Mapping[str, float]) -> Iterator[str]:
    """The gist of the biases, shorter and shorter."""
    off, all_of = _off(curves, biases), f"{len(biases)} rules"
    if len(biases) == len(curves.gradients):
        yield f"On average {listed(_each_bias(curves, biases))}."
    else:
        all_of += " with a mean"
    exact, most = len(biases) - len(off), in_digits(max(off.values(), default=0.0), 2)
    if not off:
        yield f"On average all {all_of} are exact for this loss."
    elif not exact:
        yield f"On average none of {all_of} is exact for this loss: they are off by up to {most}."
    else:
        right = f"{exact} of {all_of} {'are' if exact > 1 else 'is'} exact for this loss"
        others = "the others are" if len(off) > 1 else "the other is"
        yield f"On average {right}; {others} off by up to {most}."


def _known_biases(curves: SampledCurves, names: Mapping[str, str]) -> dict[str, float]:
    """The bias of each rule that has a mean, by its name."""
    assert curves.unbiased is not None
    biases = {names[key]: _bias(values, curves.unbiased) for key, values in curves.gradients.items()}
    return {name: bias for name, bias in biases.items() if bias is not None}


def _off(curves: SampledCurves, biases: Mapping[str, float]) -> dict[str, float]:
    """Those that are more than what integrals and dtypes are off."""
    assert curves.unbiased is not None
    least = _NONE * max(_largest(curves.unbiased), _NONE)
    return {name: bias for name, bias in biases.items() if bias > least}


def _each_bias(curves: SampledCurves, biases: Mapping[str, float]) -> list[str]:
    """First the rules without a bias, then each of the others."""
    off = _off(curves, biases)
    right = [name for name in biases if name not in off]
    told = [f"{listed(right)} {_verb(right, 'is', 'are')} exact for this loss"] if right else []
    return told + [
        f"{name} {'' if right else 'is '}off by up to {in_digits(bias, 2)}" for name, bias in off.items()
    ]


def drawn_spread_gist(curves: SampledCurves, names: Mapping[str, str]) -> str:
    """``drawn_spreads``, or its ends where that is long."""
    whole = drawn_spreads(curves, names)
    sizes = _known_spreads(curves, names)
    if len(whole) <= MAIN_LENGTH or len(sizes) <= 2:
        return whole
    (least, low), *_, (most, high) = sorted(sizes.items(), key=lambda one: one[1])
    ends = f"{in_digits(low, 2)} for {least} to {in_digits(high, 2)} for {most}"
    return f"Single draws spread from {ends} (standard deviation)."


def drawn_spreads(curves: SampledCurves, names: Mapping[str, str]) -> str:
    """How far single draws lie from the mean; "" where that is not known."""
    sizes = _known_spreads(curves, names)
    if not sizes:
        return ""
    each = [f"{in_digits(size, 2)} for {name}" for name, size in sizes.items() if size]
    if not each:
        labels = list(sizes)
        moves = any(_largest(values) for key, values in curves.gradients.items() if names[key] in sizes)
        what = _verb(labels, "its mean", "their means") if moves else "0"
        return f"{listed(labels)} {_verb(labels, 'returns', 'return')} {what}, whatever is drawn."
    return f"Single draws spread by up to {listed(each)} (standard deviation)."


def _known_spreads(curves: SampledCurves, names: Mapping[str, str]) -> dict[str, float]:
    """The largest spread of each rule that has a mean, by its name."""
    return {
        names[key]: _largest(curves.spreads[key])
        for key, mean in curves.gradients.items()
        if key in curves.spreads and (np.isfinite(mean) & np.isfinite(curves.spreads[key])).any()
    }


def drawn_rests(curves: SampledCurves, names: Mapping[str, str]) -> str:
    """Where descent by the mean of each rule comes to rest, one sentence."""
    by_words: dict[tuple[str, str], list[str]] = {}
    none = np.zeros(len(curves.x))
    for key, values in curves.gradients.items():
        words = _rest_words(curves.x, values, curves.spreads.get(key, none))
        by_words.setdefault(words, []).append(names[key])
    each = [f"{listed(labels)} {_verb(labels, *words)}" for words, labels in by_words.items()]
    if curves.unbiased is not None:
        each.append(f"the exact gradient {_rest_words(curves.x, curves.unbiased, none)[0]}")
    return f"Descent by means: {'; '.join(each)}."


def _rest_words(x: Floats, gradient: Floats, spread: Floats) -> tuple[str, str]:
    """Where descent by a gradient ends, of one and of several: where it rises through 0 as x grows.

    A mean that the draws would hide for as long as anybody looks is 0.
    """
    known = np.isfinite(gradient)
    gradient = np.where(np.abs(gradient) <= _HIDDEN * spread, 0.0, gradient)
    x, gradient = x[known].astype(np.float64), gradient[known].astype(np.float64)
    if not len(gradient):
        return "has no mean", "have no mean"
    if not gradient.any():
        return "moves nothing", "move nothing"
    turns = np.flatnonzero((gradient[:-1] < 0) & (gradient[1:] >= 0))
    low, high = gradient[turns], gradient[turns + 1]
    at = x[turns] + (x[turns + 1] - x[turns]) * (-low / (high - low))
    at[np.abs(at) < _NONE * np.ptp(x)] = 0.0
    if len(at):
        where = f"at {position_words([float(f'{each:.3g}') for each in at])}"
        return f"rests {where}", f"rest {where}"
    if (gradient >= 0).all():
        return "moves x down, out of the picture", "move x down, out of the picture"
    if (gradient <= 0).all():
        return "moves x up, out of the picture", "move x up, out of the picture"
    return "rests nowhere in this picture", "rest nowhere in this picture"


def _bias(gradient: Floats, exact: Floats) -> float | None:
    """How far a mean lies from the exact gradient at most; None where there is no mean."""
    known = np.isfinite(gradient) & np.isfinite(exact)
    return _largest(gradient[known] - exact[known]) if known.any() else None


def _largest(values: Floats) -> float:
    sizes = np.abs(values[np.isfinite(values)])
    return float(sizes.max()) if len(sizes) else 0.0


def _verb(names: list[str], one: str, several: str) -> str:
    return one if len(names) == 1 else several

"""Sentences on a pair that draws: the bias of each rule, its spread, and where it comes to rest."""

from collections.abc import Mapping

import numpy as np

from explorer.description.words import in_digits, position_words
from explorer.formula import listed
from explorer.sampled import FORWARD, Floats, Sampled

_NONE = 1e-5  # of the largest exact gradient: what integrals and dtypes are off


def drawn_head(curves: Sampled, names: Mapping[str, str]) -> str:
    """One sentence on what the rules return on average, beside the exact gradient."""
    if curves.unbiased is None:
        return f"{names[FORWARD]} draws anew for each element and step: the curves are means."
    biases = {names[key]: _bias(values, curves.unbiased) for key, values in curves.gradients.items()}
    known = {name: bias for name, bias in biases.items() if bias is not None}
    if not known:
        return "No rule here has a mean that is a number, to be held against the exact gradient."
    size = _largest(curves.unbiased)
    right = [name for name, bias in known.items() if bias <= _NONE * max(size, _NONE)]
    off = {name: bias for name, bias in known.items() if name not in right}
    told = [f"{listed(right)} {_verb(right, 'is', 'are')} exact for this loss"] if right else []
    told += [
        f"{name} {'' if right else 'is '}off by up to {in_digits(bias, 2)}" for name, bias in off.items()
    ]
    told += [f"{name} has no mean that is a number" for name in biases if name not in known]
    most = f" (the exact gradient is at most {in_digits(size, 2)})" if off else ""
    return f"On average {listed(told)}{most}."


def drawn_spreads(curves: Sampled, names: Mapping[str, str]) -> str:
    """How far single draws lie from the mean; "" where that is not known."""
    known = [key for key in curves.gradients if np.isfinite(curves.spreads.get(key, np.nan)).any()]
    if not known:
        return ""
    sizes = {names[key]: in_digits(_largest(curves.spreads[key]), 2) for key in known}
    each = [f"{size} for {name}" for name, size in sizes.items() if size != "0"]
    if not each:
        labels = [names[key] for key in known]
        moves = any(_largest(curves.gradients[key]) for key in known)
        what = _verb(labels, "its mean", "their means") if moves else "0"
        return f"{listed(labels)} {_verb(labels, 'returns', 'return')} {what}, whatever is drawn."
    return f"Single draws spread by up to {listed(each)} (standard deviation)."


def drawn_rests(curves: Sampled, names: Mapping[str, str]) -> str:
    """Where descent by the mean of each rule comes to rest, one sentence."""
    by_words: dict[tuple[str, str], list[str]] = {}
    for key, values in curves.gradients.items():
        by_words.setdefault(_rest_words(curves.x, values), []).append(names[key])
    each = [f"{listed(labels)} {_verb(labels, *words)}" for words, labels in by_words.items()]
    if curves.unbiased is not None:
        each.append(f"the exact gradient {_rest_words(curves.x, curves.unbiased)[0]}")
    return f"Descent by means: {'; '.join(each)}."


def _rest_words(x: Floats, gradient: Floats) -> tuple[str, str]:
    """Where descent by a gradient ends, of one and of several: where it rises through 0 as x grows."""
    known = np.isfinite(gradient)
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

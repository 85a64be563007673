"""Sentences on a parameter that learns: its gradient on data, and the values at which it comes to rest."""

import numpy as np

from explorer.description.words import in_digits
from explorer.formula import listed
from explorer.rest import Pull, Rest, normal_numbers, pull
from explorer.sampled import Floats, Sampled

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
    "unknown": "{rule}: where {name} comes to rest is unknown, for its gradient is not a finite number "
    "everywhere from {low} to {high}",
    "still": "{rule}: {name} stays wherever it is, for the sum is 0 everywhere",
    "least": "The mean squared error is least at {name} = {at}.",
}
MOST_POSITIONS = 4  # that are named one by one


def learning_words(curves: Sampled) -> str:
    """The gradient for the parameter that learns on standard normal numbers, under each rule, in words."""
    numbers = normal_numbers()
    lead = LEARNING_WORDS["lead"].format(data=LEARNING_WORDS["normal"].format(count=f"{len(numbers):,}"))
    parameters = dict(curves.parameters)
    pulls = [pull(curves.op, rule, curves.learns, numbers, parameters) for rule in curves.rules]
    return f"{lead} {'; '.join(map(pull_words, pulls))}."


def pull_words(pull: Pull) -> str:
    """The direction and the sum of a parameter's gradient under one rule, in words."""
    numbers = {"total": pull.total, "factor": pull.factor, "gradient": pull.gradient}
    texts = {name: in_digits(value) for name, value in numbers.items()}
    total = LEARNING_WORDS["scaled" if pull.scaled else "sum"].format(**texts)
    return LEARNING_WORDS[pull.verdict].format(rule=pull.rule.label, name=pull.name, sum=total)


def rest_words(rest: Rest) -> list[str]:
    """Sentences on the values at which a parameter comes to rest, and on that with the least error."""
    sentences = [_position_words(rest, rule.key, rule.label) for rule in rest.rules]
    if rest.least is not None:
        sentences.append(LEARNING_WORDS["least"].format(name=rest.name, at=in_digits(rest.least)))
    return sentences


def _position_words(rest: Rest, key: str, label: str) -> str:
    positions, gradient = rest.positions[key], rest.gradients[key]
    ends = {"low": in_digits(float(rest.at[0])), "high": in_digits(float(rest.at[-1]))}
    texts = [_stretch_words(*position) for position in positions]
    if len(positions) > MOST_POSITIONS:
        ends = {"low": in_digits(min(map(min, positions))), "high": in_digits(max(map(max, positions)))}
    said = {"rule": label, "name": rest.name, "count": len(positions), **ends}
    said["places"] = listed(texts) if texts else ""
    return LEARNING_WORDS[_manner(len(positions), gradient)].format(**said)


def _manner(positions: int, gradient: Floats) -> str:
    """The key of the words for a parameter that comes to rest at so many positions."""
    if positions:
        return "places" if positions <= MOST_POSITIONS else "many"
    if not np.isfinite(gradient).all():
        return "unknown"
    if (gradient == 0).all():
        return "still"
    if (gradient <= 0).all():
        return "grows"
    return "shrinks" if (gradient >= 0).all() else "nowhere"


def _stretch_words(low: float, high: float) -> str:
    if low == high:
        return in_digits(low)
    return LEARNING_WORDS["stretch"].format(low=in_digits(low), high=in_digits(high))

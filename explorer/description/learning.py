"""What becomes of a parameter that learns."""

import numpy as np

from explorer.curves import Curves, Floats
from explorer.description.words import in_digits, listed
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
    "unknown": "{rule}: where {name} comes to rest is unknown, for its gradient is not a finite number "
    "everywhere from {low} to {high}",
    "still": "{rule}: {name} stays wherever it is, for the sum is 0 everywhere",
    "least": "The mean squared error is least at {name} = {at}.",
}
MOST_PLACES = 4  # that are told one by one


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
    texts = {name: in_digits(value) for name, value in numbers.items()}
    total = LEARNING_WORDS["scaled" if found.scaled else "sum"].format(**texts)
    return LEARNING_WORDS[found.verdict].format(rule=found.rule.label, name=found.name, sum=total)


def rest_words(found: Rest) -> list[str]:
    """Where a parameter comes to rest under each rule, and where the error is least."""
    told = [_place_words(found, rule.key, rule.label) for rule in found.rules]
    if found.least is not None:
        told.append(LEARNING_WORDS["least"].format(name=found.name, at=in_digits(found.least)))
    return told


def _place_words(found: Rest, key: str, label: str) -> str:
    places, gradient = found.places[key], found.gradients[key]
    ends = {"low": in_digits(float(found.at[0])), "high": in_digits(float(found.at[-1]))}
    texts = [_stretch_words(*place) for place in places]
    if len(places) > MOST_PLACES:
        ends = {"low": in_digits(min(map(min, places))), "high": in_digits(max(map(max, places)))}
    said = {"rule": label, "name": found.name, "count": len(places), **ends}
    said["places"] = listed(texts) if texts else ""
    return LEARNING_WORDS[_manner(len(places), gradient)].format(**said)


def _manner(places: int, gradient: Floats) -> str:
    """Which words fit a parameter that comes to rest at so many places."""
    if places:
        return "places" if places <= MOST_PLACES else "many"
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

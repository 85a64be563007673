"""Sentences on a parameter that learns: its gradient on data, and the values at which it comes to rest."""

from explorer.curves.sampled import SampledCurves
from explorer.description.pull import Pull, normal_numbers, pull
from explorer.description.words import in_digits

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


def learning_words(curves: SampledCurves) -> str:
    """The gradient on standard normal numbers for what learns, a rule each; "" where something is drawn."""
    if curves.unbiased is not None:
        return ""  # what a parameter gets hangs on the draw as well
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

"""Sentences on how a parameter learns: its gradient on data, and its equilibria."""

from explorer.curves.sampled import SampledCurves
from explorer.description.net_gradient import NetGradient, compute_net_gradient, make_normal_numbers
from explorer.formula import format_number

# Texts about a parameter that learns; Python and the browser fill in the braces.
LEARNING_WORDS = {
    "normal": "{count} standard normal numbers",
    "carried": "{data} ({count} numbers in {bins} bins, each at the mean of its bin)",
    "outside": "{share} lie outside this view.",
    "lead": "Over {data}, each with g = y − x:",
    "grow": "{rule}: {name} should grow ({sum})",
    "shrink": "{rule}: {name} should shrink ({sum})",
    "rest": "{rule}: {name} rests here (the sum is 0)",
    "undefined": "{rule}: the sum for {name} is infinite or NaN",
    "cannot": "{rule}: {name} cannot learn",
    "sum": "{total}",
    "scaled": "{total} × {factor} = {gradient}",
    "places": "{rule}: {name} comes to rest at {places}",
    "stretch": "{low} to {high}",
    "above": "{low} and above",
    "below": "{high} and below",
    "many": "{rule}: {name} comes to rest at {count} places from {low} to {high}",
    "grows": "{rule}: {name} grows all the way to {high}",
    "shrinks": "{rule}: {name} shrinks all the way to {low}",
    "nowhere": "{rule}: {name} never comes to rest between {low} and {high}",
    "unknown": "{rule}: where {name} comes to rest is unknown, because its gradient is not finite "
    "everywhere from {low} to {high}",
    "still": "{rule}: {name} never moves, because the sum is 0 everywhere",
    "least": "The mean squared error is least at {name} = {at}.",
}
MAX_POSITIONS = 4  # if there are more equilibria, they are counted instead of listed


def describe_learning(curves: SampledCurves) -> str:
    """Return sentences on whether the learned parameter grows or shrinks, on standard normal data.

    Returns "" if the op or a rule is stochastic.
    """
    if curves.unbiased is not None:
        return ""  # nothing to say: the parameter's gradient is random
    numbers = make_normal_numbers()
    lead = LEARNING_WORDS["lead"].format(data=LEARNING_WORDS["normal"].format(count=f"{len(numbers):,}"))
    parameters = dict(curves.parameters)
    net_gradients = [
        compute_net_gradient(curves.op, rule, curves.learns, numbers, parameters) for rule in curves.rules
    ]
    return f"{lead} {'; '.join(map(describe_net_gradient, net_gradients))}."


def describe_net_gradient(net: NetGradient) -> str:
    """Return a sentence on whether a parameter grows or shrinks under a backward rule, with the gradient."""
    numbers = {"total": net.total, "factor": net.factor, "gradient": net.gradient}
    texts = {name: format_number(value) for name, value in numbers.items()}
    total = LEARNING_WORDS["scaled" if net.scaled else "sum"].format(**texts)
    return LEARNING_WORDS[net.verdict].format(rule=net.rule.label, name=net.name, sum=total)

"""The questions "pull" and "rest": what data make of a parameter that learns."""

from explorer.catalogue import find_op, find_rule
from explorer.catalogue.losses import require_fixed
from explorer.description.learning import pull_words
from explorer.description.pull import normal_numbers, pull
from explorer.description.resting import least_words, position_words, rest
from explorer.questions import Answer
from explorer.questions.curves import encode


def answer_pull(
    op: str,
    rules: list[str],
    parameters: dict[str, float],
    learns: str,
    numbers: list[float],
    weights: list[float],
) -> Answer:
    """Return {"rules"}: of each rule the `verdict` of data on the parameter `learns`, and `words` on it.

    `numbers` are the data, [] for the standard normal; `weights` say how often each is there, [] for once.
    """
    require_fixed("a parameter that learns", find_op(op), *map(find_rule, rules))
    data = numbers or normal_numbers()
    pulls = {key: pull(op, key, learns, data, parameters, weights) for key in rules}
    return {"rules": {key: {"verdict": one.verdict, "words": pull_words(one)} for key, one in pulls.items()}}


def answer_rest(
    op: str,
    rules: list[str],
    parameters: dict[str, float],
    learns: str,
    numbers: list[float],
    weights: list[float],
) -> Answer:
    """Return where a parameter comes to rest over the range of its control; data as for `answer_pull`.

    `at` are its values and `error` the mean squared errors of the op there, `least` that in words.
    `rules` has of each rule by which it can learn the `gradient` at each value, the `places` at which it
    rests, and `words` on them.
    """
    require_fixed("where it settles", find_op(op), *map(find_rule, rules))
    found = rest(op, rules, learns, numbers or normal_numbers(), parameters, weights)
    by_rule = {
        rule.key: {
            "gradient": found.gradients[rule.key],
            "places": found.positions[rule.key],
            "words": position_words(found, rule.key, rule.label),
        }
        for rule in found.rules
    }
    answer: Answer = encode(
        {"at": found.at, "error": found.error, "least": least_words(found), "rules": by_rule}
    )
    return answer

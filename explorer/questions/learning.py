"""The questions "pull" and "rest": how data change a parameter that learns, and where it stops changing."""

from explorer.catalogue import find_op, find_rule
from explorer.catalogue.losses import require_deterministic
from explorer.description.equilibria import describe_best, describe_positions, find_equilibria
from explorer.description.learning import describe_net_gradient
from explorer.description.net_gradient import compute_net_gradient, make_normal_numbers
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
    """Find whether data increase or decrease the parameter `learns` with each rule.

    `numbers` are the data, [] for the standard normal; `weights` are their counts, [] for one each.

    Returns:
        A dict whose entry "rules" is a dict from each rule to its `verdict` and `words` on it.
    """
    require_deterministic("a parameter that learns", find_op(op), *map(find_rule, rules))
    data = numbers or make_normal_numbers()
    gradients = {key: compute_net_gradient(op, key, learns, data, parameters, weights) for key in rules}
    return {
        "rules": {
            key: {"verdict": net.verdict, "words": describe_net_gradient(net)}
            for key, net in gradients.items()
        }
    }


def answer_rest(
    op: str,
    rules: list[str],
    parameters: dict[str, float],
    learns: str,
    numbers: list[float],
    weights: list[float],
) -> Answer:
    """Find the equilibria of a parameter that learns, over the range of its slider.

    Returns:
        A dict with these keys.

        - `at`: values of the parameter.
        - `error`: the mean squared errors of the op at these values.
        - `least`: a sentence on the smallest error.
        - `rules`: a dict from each rule with which the parameter can learn to a dict of the `gradient` at
          each value, the equilibria `places`, and `words` on them.
    """
    require_deterministic("where it settles", find_op(op), *map(find_rule, rules))
    equilibria = find_equilibria(op, rules, learns, numbers or make_normal_numbers(), parameters, weights)
    by_rule = {
        rule.key: {
            "gradient": equilibria.gradients[rule.key],
            "places": equilibria.positions[rule.key],
            "words": describe_positions(equilibria, rule.key, rule.label),
        }
        for rule in equilibria.rules
    }
    answer: Answer = encode(
        {
            "at": equilibria.points,
            "error": equilibria.error,
            "least": describe_best(equilibria),
            "rules": by_rule,
        }
    )
    return answer

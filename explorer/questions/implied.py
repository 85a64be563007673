"""The question "implied": the antiderivative of each rule, the function that training with it minimises."""

from explorer.measures.implied import ImpliedForwards, compute_implied_forwards
from explorer.questions import Answer
from explorer.questions.curves import encode


def answer_implied(
    op: str, rules: list[str], parameters: dict[str, float], start: float, stop: float
) -> Answer:
    """Return the antiderivative of each rule, with a sentence on each.

    The result is a dict: `lead` is the first sentence, and `rules` maps each rule to a dict of its `words`
    and, if the antiderivative can be plotted, `x` and `y`.
    """
    return encode_implied(compute_implied_forwards(op, rules, start=start, stop=stop, **parameters))


def encode_implied(result: ImpliedForwards) -> Answer:
    """Return antiderivatives as JSON types."""
    x = result.curves.x.astype("f4")
    rules = {
        key: {"words": result.describe(key)} | ({} if each.y is None else {"x": x, "y": each.y.astype("f4")})
        for key, each in result.implied.items()
    }
    answer: Answer = encode({"lead": result.lead, "rules": rules})
    return answer

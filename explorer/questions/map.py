"""The question "map": the gradient of rules over x and g."""

from explorer.measures.maps import RuleMap, describe_linearity, rule_map
from explorer.questions import Answer
from explorer.questions.curves import encode


def answer_map(
    op: str, rules: list[str], parameters: dict[str, float], start: float, stop: float, top: float
) -> Answer:
    """Return the gradient of rules on a grid of x and g as JSON types. g runs from -top to top."""
    return encode_map(rule_map(op, rules, start=start, stop=stop, top=top, **parameters))


def encode_map(result: RuleMap) -> Answer:
    """Return the gradients of rules over x and g as JSON types.

    Returns:
        A dict with the numbers of ``columns`` and ``rows``, and under ``rules`` a dict from each rule to a
        dict with these keys.

        - `words`: a sentence on whether the rule is linear in g.
        - `unit`, for a rule that is linear in g: the gradient at g = 1, (columns,).
        - `values`, for any other rule: the gradients, (rows, columns), flattened, with the largest g first.
    """
    span = result.curves.start, result.curves.stop
    rules = {}
    for key, intervals in result.bent.items():
        if intervals == []:
            values = {"unit": result.curves.evaluate(key, result.x).astype("f4")}
        else:
            values = {"values": result.gradients[key][::-1].astype("f4").ravel()}
        rules[key] = {"words": describe_linearity(intervals, span)} | values
    answer: Answer = encode({"columns": len(result.x), "rows": len(result.g), "rules": rules})
    return answer

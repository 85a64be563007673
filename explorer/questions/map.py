"""The question "map": the gradient of rules over x and g."""

from explorer.measures.maps import RuleMap, describe_linearity, rule_map
from explorer.questions import Answer
from explorer.questions.curves import encode


def answer_map(
    op: str, rules: list[str], parameters: dict[str, float], start: float, stop: float, top: float
) -> Answer:
    """Return the maps of rules, as `encode_map` has them; g goes from -top to top."""
    return encode_map(rule_map(op, rules, start=start, stop=stop, top=top, **parameters))


def encode_map(found: RuleMap) -> Answer:
    """Return {"columns", "rows", "rules"}: of each rule `words` on where it is linear in g, and its map.

    `unit` is (columns,), the gradient at g = 1 of a rule that is linear in g; `values` of another rule is
    (rows, columns) as one array, the largest g first.
    """
    span = found.curves.start, found.curves.stop
    rules = {}
    for key, stretches in found.bent.items():
        if stretches == []:
            values = {"unit": found.curves.evaluate(key, found.x).astype("f4")}
        else:
            values = {"values": found.gradients[key][::-1].astype("f4").ravel()}
        rules[key] = {"words": describe_linearity(stretches, span)} | values
    answer: Answer = encode({"columns": len(found.x), "rows": len(found.g), "rules": rules})
    return answer

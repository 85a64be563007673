"""A rule beside an op that has a name in another meaning: in the browser as in Python."""

import json
from urllib.parse import parse_qs

from explorer.catalogue import Op, Rule, adapt_rule, qualify_name
from explorer.ui.links.link import from_text
from explorer.ui.server import answers
from tests.catalogue.fixed import OPS, RULES
from tests.frontend.choice.test_address import WRITTEN
from tests.frontend.formula.test_curves import Case, assert_equal_curves
from tests.frontend.modules import Node
from tests.selection import take_part

PAIRS = [(op, rule) for op in OPS.values() for rule in RULES.values() if op.kinks]
APART = [(op, rule) for op, rule in PAIRS if adapt_rule(op, rule) is not rule]


def moved(op: Op, rule: Rule) -> dict[str, float]:
    """A value of its own for each parameter that the op has in another meaning."""
    plain = [p for p in adapt_rule(op, rule).parameters if p.plain]
    return {qualify_name(rule, p): (p.default + p.high) / 2 for p in plain}


def test_each_keeps_its_own_value(node: Node) -> None:
    cases = [
        Case(op, (rule,), 1.5, values, -2.03, 2.07) for op, rule in APART for values in ({}, moved(op, rule))
    ]
    assert len(cases) > 100
    assert_equal_curves(node, take_part(cases))


CHANGED = """
    const { setDocument } = await import("./choice/entries.js");
    const { parseMessage } = await import("./choice/message.js");
    const choices = await import("./choice/choice.js");
    const { getCardControls, getControls, getEntries, setOp, setParameter } = choices;
    const { toQuery } = await import("./choice/address.js");
    const { getDisplayName } = await import("./formula/controls.js");
    setDocument(given.document);
    let choice = parseMessage(given.choice);
    const seen = [];
    for (const [name, value] of given.steps) {
      const control = getControls(choice).find((one) => one.name === name);
      choice = name === "op" ? setOp(choice, value) : setParameter(choice, control, value);
      const { rules } = getEntries(choice);
      const shown = rules.flatMap((rule) =>
        getCardControls(choice, rule).map((one) => `${one.name} ${getDisplayName(one.parameter)}`));
      seen.push([choice.parameters, shown, toQuery(choice)]);
    }
    return seen;
"""


def test_a_rule_keeps_its_value_from_op_to_op(node: Node) -> None:
    """The rule's value goes along under the name it has there, and never becomes the op's."""
    document = json.loads(answers.get_files()[f"{answers.get_folder()}/document.json"].content)
    choice = answers.serialize_choice(from_text("op=round&rule=dsq&alpha=0.7")[0])
    steps = [("op", "elu"), ("alpha", 2.0), ("dsq.alpha", 5.0), ("dsq.alpha", 0.4), ("op", "round")]
    seen = node.run(CHANGED, {"document": document, "choice": choice, "steps": steps})
    assert [parameters for parameters, _, _ in seen] == [
        {"dsq.alpha": 0.7},
        {"dsq.alpha": 0.7, "alpha": 2},
        {"dsq.alpha": 0.999999, "alpha": 2},  # as far as it means something
        {"alpha": 2},
        {},
    ]
    assert [shown for _, shown, _ in seen] == [["dsq.alpha alpha"]] * 4 + [["alpha alpha"]]
    assert parse_qs(seen[3][2])["dsq.alpha"] == ["0.4"]  # or alpha=2 would be read as both


def test_links_of_two_meanings_come_back(node: Node) -> None:
    """A link with the op's value alone means both, as when the two were one; one that is written has both."""
    both = "op=elu&rule=reversal&alpha=2"
    texts = [both, f"{both}&reversal.alpha=1", "op=elu&rule=dsq&alpha=2"]
    choices = [from_text(text)[0] for text in texts]
    assert [choice.parameters for choice in choices] == [
        {"alpha": 2.0, "reversal.alpha": 2.0}, {"alpha": 2.0}, {"alpha": 2.0},
    ]  # fmt: skip
    document = json.loads(answers.get_files()[f"{answers.get_folder()}/document.json"].content)
    sent = [answers.serialize_choice(choice) for choice in choices]
    queries = node.run(WRITTEN, {"document": document, "choices": sent, "page": None})
    assert [from_text(query)[0] for query in queries] == choices

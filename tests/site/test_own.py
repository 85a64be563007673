"""Code and maths of own formulas: written by Python alone, they are the app's to the letter."""

from __future__ import annotations

import json
import random
from typing import Any

from explorer.catalogue import OPS, OWN, RULES, Op, Rule, find_op, find_rule, learnable
from explorer.formula import FormulaError
from explorer.site.formatter import formatter
from explorer.site.formulas import formulas
from explorer.site.mathml import mathml
from explorer.ui.links.choice import Choice
from explorer.ui.pages import sections
from explorer.ui.sections.code import LANGUAGES, learned_with, refusal, written
from explorer.ui.sections.formulas import forward_latex, gradient_latex
from explorer.ui.server import answers
from tests.catalogue.test_own_learned import LSQ
from tests.frontend.modules import Node
from tests.site.alone import Ask
from tests.site.test_formulas import leaves, plain
from tests.site.test_python import corpus
from tests.ui.choices import random_choice

Json = dict[str, Any]

QUESTIONS = """
    const { setDocument, find } = await import("./choice/entries.js");
    const { received } = await import("./choice/message.js");
    const { codeQuestion } = await import("./explore/sections/code-text.js");
    setDocument(given.document);
    return given.choices.flatMap((sent) => {
      const choice = received(sent);
      const pair = { op: find("op", choice.op), rule: find("rule", choice.rules[0].key) };
      return given.languages.map((language) => codeQuestion(language, pair, choice));
    });
"""
OWN_OP, LONG = (
    f"{OWN}Bend = a * tanh(x / a) - lo * floor(x)",
    " + ".join(f"w{n} * g * x**{n}" for n in range(9)),
)
WRITTEN = (
    Choice(op=OWN_OP, rules=("clipped",), parameters={"c": 0.3, "lo": -0.0}, learns="a"),
    Choice(op=OWN_OP, rules=("default",), parameters={"a": 1e-7}, range=(-7.5, 9.25), g=-0.3),
    Choice(op="quantize", rules=(LSQ,), range=(-2.0, 2.5)),
    Choice(op="clamp", rules=(f"{OWN}y * g * (g > x)",), parameters={"hi": 2.0}, learns="hi"),
    Choice(op="round", rules=(OWN + LONG,), parameters={"w3": 1e22, "w4": 1 / 3}),
    Choice(op=f"{OWN}1", rules=(f"{OWN}0",)),
    Choice(
        op="stochastic_round", rules=("straight_through",), range=(-1.0, 2.0), f="abs(y - middle)",
        parameters={"middle": 0.2},
    ),
    Choice(op="gaussian_noise", rules=("default",), learns="s", parameters={"target": 0.3}),
    Choice(op=f"{OWN}x - mean(x) + normal()", rules=("default",)),
)  # fmt: skip


def choices() -> list[Choice]:
    """Those above, and random ones with own formulas."""
    rng = random.Random(22)
    result: list[Choice] = []
    while len(result) < 6:
        choice = random_choice(rng)
        rule = choice.rules[0]
        if choice.op.startswith(OWN) or rule.startswith(OWN):
            learns = choice.learns if choice.learns in learnable(find_op(choice.op), find_rule(rule)) else ""
            result.append(
                Choice(op=choice.op, rules=(rule,), parameters=known(choice), learns=learns, g=choice.g)
            )
    return [*WRITTEN, *result]


def known(choice: Choice) -> dict[str, float]:
    """The parameters of a choice that its op and its first rule have by their own names."""
    entries = find_op(choice.op), find_rule(choice.rules[0])
    names = {parameter.name for entry in entries for parameter in entry.parameters}
    return {name: value for name, value in choice.parameters.items() if name in names}


def asked(node: Node, found: list[Choice]) -> list[tuple[str, Json]]:
    """The questions of the browser for the code of the first rule of each choice, in every language."""
    given = {"document": answers.whole_document(), "languages": LANGUAGES}
    sent = [json.loads(json.dumps(answers.chosen(choice))) for choice in found]
    return [("code", each) for each in node.run(QUESTIONS, given | {"choices": sent})]


def apps(choice: Choice, language: str) -> Json:
    """The app's code of a choice in a language."""
    op, (rule,) = choice.entries
    learns = learned_with(op, rule, choice.learns)
    text = written(language, op, rule, choice.parameters, learns, lambda: sections._drawing(choice, rule))
    return {"text": text or "", "note": refusal(language, op, rule) if text is None else ""}


def test_the_code_of_own_formulas_is_the_apps(ask: Ask, node: Node) -> None:
    result = choices()
    answers = iter(ask(asked(node, result)))
    for choice in result:
        for language in LANGUAGES:
            assert next(answers) == apps(choice, language), (language, choice)
    assert any(choice.learns for choice in result)


def test_own_formulas_are_set_as_the_app_sets_them(ask: Ask) -> None:
    pairs = [(choice.op, list(choice.rules)) for choice in choices()]
    answers = ask([("formulas", {"op": op, "rules": rules}) for op, rules in pairs])
    for (op, rules), one in zip(pairs, answers, strict=True):
        entries = [find_op(op)], [find_rule(rule) for rule in rules]
        assert one == json.loads(json.dumps(formulas(*entries)))
        assert one["math"][one["forward"][entries[0][0].key]] == mathml(forward_latex(entries[0][0]))
        for rule in filter(lambda rule: rule.parsed, entries[1]):
            assert one["math"][one["rules"][rule.key]] == mathml(gradient_latex(entries[0][0], rule))


def test_whatever_can_be_read_can_be_set() -> None:
    """No sign of a formula is left out."""
    count = 0
    for kind, text in corpus():
        try:
            entry: Op | Rule = find_op(OWN + text) if kind == "op" else find_rule(OWN + text)
        except FormulaError:
            continue
        latex = forward_latex(entry) if isinstance(entry, Op) else gradient_latex(OPS["identity"], entry)
        assert "".join(leaves(mathml(latex))) == plain(latex), text
        math = formulas([entry], []) if isinstance(entry, Op) else formulas([OPS["identity"]], [entry])
        count += len(math["math"])
    assert count > len(RULES)


def test_the_formatter_comes_along_with_what_it_needs_and_its_licences() -> None:
    result = formatter()
    assert {"black/__init__.py", "black/linegen.py", "blib2to3/Grammar.txt", "pytokens/__init__.py"} <= set(
        result
    )
    assert not {path.partition("/")[0] for path in result} & {"blackd", "vim"}
    licences = {path.partition("-")[0] for path in result if "LICENSE" in path}
    packages = {"black", "click", "mypy_extensions", "packaging", "pathspec", "platformdirs", "pytokens"}
    assert licences == {*packages, "blib2to3/LICENSE"}
    assert sum(map(len, result.values())) < 2_200_000

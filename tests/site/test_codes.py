"""Code that comes along: with the chosen numbers in its places it is what the app writes, to the letter."""

from __future__ import annotations

import random
from typing import Any

from explorer.catalogue import Op, Parameter, Rule, checked, learnable
from explorer.curves import sample_curves
from explorer.sampled import part_key
from explorer.site.codes import NEEDS_PYTHON, codes, notebooks
from explorer.snippets import custom_op_snippet, jax_snippet, notebook, snippet
from explorer.ui.links.choice import Choice, parameters_of
from explorer.ui.sections.code import LANGUAGES, learned_with, refusal
from explorer.ui.server import answers
from tests.catalogue.fixed import OPS, RULES
from tests.frontend.modules import Node
from tests.selection import take_part

WRITERS = dict(zip(LANGUAGES, (snippet, custom_op_snippet, jax_snippet), strict=False))

WRITTEN = """
    const { setDocument, find } = await import("./choice/entries.js");
    const { codeText, notebookText, textsOf } = await import("./explore/sections/code-text.js");
    const { beside } = await import("./formula/controls.js");
    setDocument(given.document);
    return given.cases.map(({ op, rule, choice }) => {
      const codes = given.codes[op];
      const known = find("op", op);
      const pair = { op: known, rule: beside(known, find("rule", rule)) };
      const texts = textsOf(codes, rule, choice.learns);
      const write = (language) =>
        typeof texts[language] === "string"
          ? texts[language]
          : codeText(codes, texts[language], texts, pair, choice.parameters);
      const written = Object.fromEntries(given.languages.map((language) => [language, write(language)]));
      const cells = { introduction: written.Notebook, code: written.PyTorch };
      return { ...written, Notebook: notebookText(given.notebooks, cells, texts, pair, choice) };
    });
"""


def chosen(rng: random.Random, op: str, rule: str) -> Choice:
    """Usual values, crooked ones and tiny ones; a range with many kinks now and then; one that learns."""
    parameters = parameters_of(OPS[op], [RULES[rule]])
    moved = {name: value(rng, known) for name, known in parameters.items() if rng.random() < 0.7}
    moved = {name: value for name, value in moved.items() if takes(OPS[op], RULES[rule], {name: value})}
    learns = rng.choice(["", *learnable(OPS[op], RULES[rule])])
    span = rng.choice([(-3.0, 3.0), (-7.5, 9.25), (0.125, 1e-3 + 0.125)])
    g = rng.choice([1.0, -0.3, 1e-05])
    return Choice(op=op, rules=(rule,), parameters=moved, range=span, g=g, learns=learns)


def takes(op: Op, rule: Rule, parameters: dict[str, float]) -> bool:
    """Return whether the values are in the domains of the op and the rule."""
    try:
        checked(op, [rule], parameters)
    except ValueError:
        return False
    return True


def value(rng: random.Random, known: Parameter) -> float:
    crooked = rng.uniform(known.low, known.high)
    return rng.choice([crooked, float(round(crooked, 1)), float(round(crooked)), known.low, known.default])


def cases() -> list[tuple[str, str, Choice]]:
    rng, rules = random.Random(5), list(RULES)
    pairs = take_part(zip(OPS, rng.sample(rules, len(rules)), strict=False))
    pairs += [
        ("quantize", "lsq"),
        ("clamp", "masked"),
        ("clamp", "default"),
        ("prelu", "default"),
        ("clamp", "pact"),
    ]
    return [(op, rule, chosen(rng, op, rule)) for op, rule in pairs]


def test_the_browser_writes_what_the_app_writes(node: Node) -> None:
    result = cases()
    printed = {op: codes(op, {rule for other, rule, _ in result if other == op}) for op, _, _ in result}
    given = {
        "document": answers.whole_document(),
        "languages": LANGUAGES,
        "codes": printed,
        "notebooks": notebooks({op for op, _, _ in result}),
        "cases": [{"op": op, "rule": rule, "choice": answers.chosen(choice)} for op, rule, choice in result],
    }
    learned = 0
    for (op, rule, choice), texts in zip(result, node.run(WRITTEN, given), strict=True):
        learns = learned_with(OPS[op], RULES[rule], choice.learns)
        learned += bool(learns)
        for language, write in WRITERS.items():
            expected = write(op, rule, choice.parameters, learns)
            assert texts[language] == (expected or refusal(language, OPS[op], RULES[rule])), (
                language,
                choice,
            )
        draws = OPS[op].draws or RULES[rule].draws
        expected = NEEDS_PYTHON if draws else ""
        assert texts["Notebook"] == (expected or expected_notebook(op, rule, choice, learns)), choice
    assert 0 < learned < len(result)


def expected_notebook(op: str, rule: str, choice: Choice, learns: list[str]) -> str:
    result: dict[str, Any] = dict(sample_curves(op, rule, **choice.sampling).kinks)
    kinks = sorted({*(result[rule] or ()), *(result.get(part_key(rule)) or ())})
    start, stop = choice.range
    return notebook(op, rule, choice.parameters, learns, start=start, stop=stop, g=choice.g, kinks=kinks)


def test_every_text_of_an_op_is_in_its_lines() -> None:
    """Each line once, every rule there, and a place in none of them that is not filled."""
    result = codes("prelu", ("default", "straight_through", "lsq"))
    assert len(result["lines"]) == len({str(line) for line in result["lines"]})
    assert set(result["rules"]) == {"default", "straight_through", "lsq"}
    assert not [line for line in result["lines"] if "zq_" in str(line) or "\x1f" in str(line)]

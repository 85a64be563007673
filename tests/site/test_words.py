"""Words where there is no torch: Python in the browser says on JavaScript's numbers what the app says."""

import random
from typing import Any
from urllib.parse import urlencode

import pytest

from explorer.catalogue import OPS, RULES, find_op, find_rule, learnable
from explorer.measures.nearest.neighbours import suiting
from explorer.site.words import words
from explorer.ui.links.choice import Choice
from explorer.ui.links.link import from_text
from explorer.ui.server import answers
from tests.catalogue.test_own_learned import LSQ
from tests.frontend.modules import Node
from tests.questions.asking import ask_curves
from tests.selection import take_part
from tests.site.alone import Ask
from tests.ui.choices import query_of, random_choice

Json = dict[str, Any]

QUESTIONS = """
    const { setDocument } = await import("./choice/entries.js");
    const { received } = await import("./choice/message.js");
    const { questionOf } = await import("./explore/stage/telling.js");
    setDocument(given.document);
    return given.choices.map((choice) => questionOf(received(choice)));
"""
SAID = (
    Choice(op="bernoulli", rules=("sigmoid_st", "reinforce", "disarm", "st_gumbel", "flip")),
    Choice(
        op="bernoulli", rules=("reinmax", "reinforce_baseline"), f="(y - 0.3)**4", g=2.0, range=(-4.0, 5.0)
    ),
    Choice(op="gumbel_sigmoid", rules=("default",), parameters={"tau": 0.4}),
    Choice(op="gumbel_sigmoid", rules=("default",), f="1 / sqrt(y)"),  # a mean without a spread
    Choice(op="bernoulli", rules=("sigmoid_st", "flip"), f="1 / (y - 1)"),  # and no mean
    Choice(
        op="formula: tanh(k * x)",
        rules=("formula: g / (1 + abs(x))",),
        parameters={"k": 2.0},
        range=(-1.0, 4.0),
    ),
    Choice(op="formula: sin(1 / x)", rules=("default", "straight_through", "zero"), g=-2.0),
    Choice(op="formula: x - mean(x)", rules=("straight_through", "formula: g * (x < 2)"), range=(0.0, 5.0)),
    Choice(op="formula: log(x)", rules=("default", "formula: g / x**2"), g=0.5),
    Choice(op="formula: round(1000 * x)", rules=("default", "straight_through")),
    Choice(op="formula: relu(x)**2", rules=("default", "formula: g * (x > -1) * (x < 1) + (x > 2)")),
    Choice(op="formula: exp(x**2)", rules=("default", "formula: g * y"), range=(-30.0, 20.0)),
    Choice(op="formula: sign(x)", rules=("default", "formula: g * cos(x)", "formula: g * cos(x) * (x != 2)")),
    Choice(op="quantize", rules=(LSQ, "default"), parameters={"s": 0.3}, learns="s"),
    Choice(op="prelu", rules=("default", "zero"), learns="a", g=3.3),
    Choice(op="relu", rules=("default", "zero"), range=(1.0, 1.00001)),  # which is drawn in float64
)


def moved(op: str, rule: str, rng: random.Random) -> dict[str, float]:
    """Most of the parameters of a pair somewhere between their bounds; none where the pair refuses them."""
    result = {}
    for parameter in (*find_op(op).parameters, *find_rule(rule).parameters):
        if rng.random() < 0.7:
            result[parameter.name] = float(f"{rng.uniform(parameter.low, parameter.high):.3g}")
    return result


def varied() -> list[Choice]:
    """An op of each family with one to three rules that suit it, over other ranges, at other g, learning."""
    rng = random.Random(23)
    families = {
        op.family: [other.key for other in OPS.values() if other.family == op.family] for op in OPS.values()
    }
    result = []
    for place, key in enumerate(rng.choice(keys) for keys in families.values()):
        fit = [rule.key for rule in suiting(OPS[key])]
        rules = rng.sample(fit, min(1 + place % 3, len(fit)))
        can = sorted({name for rule in rules for name in learnable(OPS[key], RULES[rule])})
        result.append(
            Choice(
                op=key,
                rules=tuple(rules),
                parameters={name: value for rule in rules for name, value in moved(key, rule, rng).items()},
                learns=rng.choice(can) if can else "",
                range=rng.choice([(-3.0, 3.0), (-10.0, 4.0), (0.5, 2.0), (-3000.0, 1e4)]),
                g=rng.choice([1.0, -0.5, 2.0, 0.0]),
            )
        )
    return result


def mended(choice: Choice) -> tuple[Choice, str]:
    """A choice as a link of it is read, where bounds that cross are mended, and the link's query."""
    query = urlencode(query_of(choice), doseq=True)
    return from_text(query)[0], query


def _draws(choice: Choice) -> bool:
    op, rules = choice.entries
    return op.draws or any(rule.draws for rule in rules)


@pytest.fixture(scope="module")
def worded(node: Node) -> list[tuple[Json, Json]]:
    """The questions of the page about words, and the app's answers."""
    rng = random.Random(24)
    # At random parameters and g a mean may be as small as the rounding of either side.
    drawn = (random_choice(rng) for _ in range(60))
    others = [*varied(), *(choice for choice in drawn if not _draws(choice))]
    choices = [*SAID, *take_part(others)]
    result = [mended(choice) for choice in choices]
    said = [ask_curves(query) for _, query in result]
    sent = [answers.chosen(choice) for choice, _ in result]
    questions = node.run(QUESTIONS, {"document": answers.whole_document(), "choices": sent})
    words = [{name: one[name] for name in ("head", "main", "rest", "below") if name in one} for one in said]
    return list(zip(questions, words, strict=True))


def test_the_browser_says_what_the_app_says(ask: Ask, worded: list[tuple[Json, Json]]) -> None:
    result = ask([("words", question) for question, _ in worded])
    wrong = [
        ({name: part for name, part in question.items() if name != "drawing"}, one, said)
        for (question, said), one in zip(worded, result, strict=True)
        if one != said
    ]
    assert wrong == []
    assert sum(bool(question["learning"]) for question, _ in worded) > 1


def test_the_sentences_of_an_earlier_choice_are_none_of_the_present_one(node: Node) -> None:
    body = """
        const { setDocument } = await import("./choice/entries.js");
        const { received } = await import("./choice/message.js");
        const { createTelling, sentencesOf } = await import("./explore/stage/telling.js");
        setDocument(given.document);
        const [present, other] = given.choices.map((choice) => received(choice));
        const words = { offer: (begin) => begin?.(), show: () => {} };
        await new Promise((onSentences) =>
          createTelling({ tell: async () => ({ main: "said" }), words, onSentences }).offer(present));
        return [sentencesOf(present).main, sentencesOf(other).main];
    """
    choices = [answers.chosen(Choice()), answers.chosen(Choice(g=2.0))]
    assert node.run(body, {"document": answers.whole_document(), "choices": choices}) == ["said", ""]


def test_what_only_torch_knows_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    class Browser:
        def sampled(self, _text: str) -> Any:
            return self

        def gradient(self, _key: str) -> None:
            return None

    monkeypatch.setattr("explorer.site.words.import_module", lambda _name: Browser())
    chosen = {"op": "round", "rules": ["clipped"], "parameters": {}, "start": -3.0, "stop": 3.0, "g": 1.0}
    said = words(**chosen, learns="", learning="", drawing={})
    assert said == {
        "message": "Only torch knows the gradient of Clipped straight-through: the app says what it shows."
    }

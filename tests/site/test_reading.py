"""Links that the browser reads by itself, as Python reads them."""

import json
import random
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest

from explorer.catalogue import FORMULA_PREFIX, RULES
from explorer.formula.quoting import MAX_QUOTE
from explorer.instrument import make_custom_entry
from explorer.ui.links.choice import Choice
from explorer.ui.links.link import from_text
from explorer.ui.links.presets import PRESETS
from explorer.ui.links.reader import with_pluses
from explorer.ui.server import answers
from tests.frontend.modules import Node
from tests.questions.asking import READY
from tests.ui.choices import query_of, random_choice

READ = """
    const { readLink, readCustomFormulas } = await import("./choice/link-reader.js");
    const first = parseMessage(given.first);
    const answer = given.answers && (async (kind, text) => given.answers[`${kind} ${text}`]);
    const told = [];
    for (const query of given.queries) {
      const own = answer && (await readCustomFormulas(query, answer));
      const { choice, notices } = readLink(query, { first, own });
      told.push({ choice, notices, expected: parseMessage(given.expected[query]) });
    }
    return told;
"""

SENT = """
    const { toMessage } = await import("./choice/message.js");
    return given.choices.map((choice) => toMessage(parseMessage(choice)));
"""

# Whatever can be wrong with a link, and right at its edges.
EDGES = (
    "", "op=sign", "op=rund", "op=", "rule=clipped&rule=clipped&rule=nothing", "rule=STE", "rule=superspike",
    "op=__proto__&rule=constructor",
    "rule=default&rule=straight_through&rule=straight", "&".join(f"rule={rule}" for rule in list(RULES)[:8]),
    "g=2", "g=-0", "g=1e999", "g=nan", "g=0x10", "g=1_0", "g=+.5e1", "g=5.", "g=1&g=3", "g=", "g=1000001",
    "range=3&range=-3", "range=2&range=2", "range=nan&range=3", "range=4", "range=1&range=2&range=3",
    "range=-1e7&range=1", "range=0&range=1e-40", "range=-0&range=1",
    "op=clamp&rule=masked&lo=2&hi=-1", "op=clamp&rule=masked&lo=3", "op=clamp&lo=1e9", "lo=1",
    "op=sign&rule=sigmoid_surrogate&rule=atan_surrogate&a=3",
    "op=sign&rule=sigmoid_surrogate&rule=atan_surrogate&a=3&atan_surrogate.a=1",
    "op=sign&rule=clipped&c=1", "op=sign&rule=clipped&c=0.25&c=0.5", "op=sign&rule=clipped&c=-1",
    "op=elu&rule=reversal&alpha=2", "op=elu&rule=reversal&alpha=2&reversal.alpha=1",
    "op=elu&rule=dsq&alpha=2",
    "op=elu&rule=dsq&rule=reversal&alpha=0.5", "op=elu&rule=dsq&dsq.alpha=1", "op=elu&rule=dsq&alpha=x",
    "op=round&rule=dsq&alpha=1", "op=quantize&rule=lsq&rule=mad&qmin=-3", "op=seq&rule=lsq&s=2&learns=s",
    "op=formula: round(x/s)*s&rule=lsq&s=-1", "op=formula: alpha*x&rule=dsq&alpha=1",
    "op=formula: clamp(x, -lambd, hi)&rule=clipped&lambd=2", "op=dorefa&rule=square_wave&n=4",
    "hide=default", "hide=clipped", "colours=21", "colours=11", "colours=17", "colours=12", "colours=abc",
    "section=code", "section=nothing", "section=", "section=toString",
    "op=quantize&rule=lsq&learns=s", "op=round&learns=s", "op=quantize&rule=lsq&learns=nothing",
    "op=formula: 2x&rule=formula: g*(|x|<=w)&w=2", "op=formula: x*(", "rule=formula: g&rule=formula:  g ",
    "op=formula: Cube = x^3&rule=formula: g*x; s: sum(g)&s=2&learns=s", "rule=formula: z(g)&rule=clipped",
    "op=formula: x&op=formula: a*x&a=3", "op=formula:x**3", "op=formula:x*(", "op=formula:x+1",
    "op=formula: x + 1&rule=formula: g+(x>0)+1e+2*x", "f=(y+-+target)**2+1",
    "op=formula:x 1 2", "op=formula:relu+(x)", "rule=formula: g*2&hide=formula: g * 2", "op=formula:x",
    "rule=formula: g*2&hide=formula: g*2", "rule=formula: __proto__",
    "colour=red", "colour=red&colour=blue", "op=%ff%fe", "op=round%00", "x" * 2001, "op=relu&lesson=clamp",
)  # fmt: skip


@cache  # half a second for every process that would collect it
def make_given() -> dict[str, Any]:
    return {"document": answers.make_page_document(), "first": answers.serialize_choice(Choice())}


def read(node: Node, queries: list[str]) -> list[dict[str, Any]]:
    """The choices that the browser reads of queries; ``expected``: those that Python reads, in its form."""
    expected = {query: answers.serialize_choice(from_text(query)[0]) for query in queries}
    asked = [(kind, parse_qs(query)) for query in queries for kind in ("op", "rule")]
    keys = [(kind, key) for kind, words in asked for key in words.get(kind, [])]
    begin = FORMULA_PREFIX.rstrip()
    texts = {(kind, key.removeprefix(begin).removeprefix(" ")) for kind, key in keys if key.startswith(begin)}
    texts |= {("loss", text) for query in queries for text in parse_qs(query).get("f", [])}
    texts |= {(kind, with_pluses(text)) for kind, text in texts}
    known = {f"{kind} {text}": make_custom_entry(kind, text) for kind, text in texts}
    return node.run(READY + READ, make_given() | {"answers": known, "queries": queries, "expected": expected})


def seen(choice: dict[str, Any]) -> dict[str, Any]:
    """The picture of a choice: all but trainings, which the pages without a server do not read."""
    return {name: value for name, value in choice.items() if name not in ("training", "slow")}


@pytest.mark.parametrize("query", EDGES, ids=range(len(EDGES)))
def test_an_odd_link_shows_what_it_shows_in_the_app(node: Node, query: str) -> None:
    (result,) = read(node, [query])
    assert seen(result["choice"]) == seen(result["expected"])
    assert bool(result["notices"]) == bool(from_text(query)[1]), result["notices"]


@pytest.mark.parametrize(
    "query",
    [
        f"op={'o' * MAX_QUOTE}", f"op={'o' * (MAX_QUOTE + 1)}", "op=Quantise&rule=STRAIGHT-through",
        "op=soft%20sign&rule=Arctan+surrogate", "op=fake_quantise",
        urlencode({"op": "formula: x*(", "rule": ["formula: g*z(x)", "formula: 2g"]}, doseq=True),
    ],
    ids=range(6),
)  # fmt: skip
def test_what_is_unknown_or_spelt_otherwise_or_unreadable_is_said_in_the_words_of_the_app(node, query):
    (result,) = read(node, [query])
    assert result["notices"] == from_text(query)[1] != []
    assert result["choice"]["op"] == result["expected"]["op"]


def test_links_show_what_they_show_in_the_app(node: Node) -> None:
    rng = random.Random(11)
    choices = [random_choice(rng) for _ in range(250)]
    links = [urlencode(query_of(choice), doseq=True) for choice in choices]
    own = [any(key.startswith(FORMULA_PREFIX) for key in (each.op, *each.rules)) for each in choices]
    assert 50 < sum(own) < 200
    queries = [query for query in links if len(query) <= 2000] + [preset.query for preset in PRESETS]
    assert len(queries) > 100
    for query, result in zip(queries, read(node, queries), strict=True):
        assert seen(result["choice"]) == seen(result["expected"]), query
        assert result["notices"] == []


def test_without_python_a_custom_formula_is_refused_with_a_hint_to_the_app(node: Node) -> None:
    query = urlencode({"op": "formula: x**3", "rule": ["clipped", "formula: g * (x < 2)"]}, doseq=True)
    expected = {query: answers.serialize_choice(Choice())}
    given = make_given() | {"answers": None, "queries": [query], "expected": expected}
    (result,) = node.run(READY + READ, given)
    assert result["notices"] == [
        'The link\'s own op "x**3" needs the app, which reads formulas. Round is shown.',
        'The link\'s own rule "g * (x < 2)" needs the app, which reads formulas.',
    ]
    choice = result["choice"]
    assert (choice["op"], [rule["key"] for rule in choice["rules"]]) == ("round", ["clipped"])


def test_the_words_of_a_training_go_along_as_they_are(node: Node) -> None:
    query = "embed=true&task=digits&lr=0.1&branch=5,lr,0.1&branch=9,lr,0.2&slow=gradient&rates=1,2"
    (result,) = read(node, [query])
    expected = {"task": "digits", "lr": "0.1", "branch": "5,lr,0.1\n9,lr,0.2", "rates": "1,2"}
    assert (result["choice"]["training"], result["choice"]["slow"]) == (expected, "gradient")
    assert result["notices"] == []


def test_a_saved_file_has_the_choice_as_python_writes_it(node: Node) -> None:
    rng = random.Random(4)
    choices = [answers.serialize_choice(random_choice(rng)) for _ in range(60)]
    choices += [answers.serialize_choice(preset.choice) for preset in PRESETS]
    sent = node.run(READY + SENT, {"document": answers.make_page_document(), "choices": choices})
    for answer, choice in zip(sent, json.loads(json.dumps(choices)), strict=True):
        assert answer == choice | {"hide": [rule for rule in choice["rules"] if rule in choice["hide"]]}

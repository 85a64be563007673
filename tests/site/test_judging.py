"""Checks, near rules and words where there is no torch: the worker's answers are the app's, word by word.

Each operation of what stands in for torch and NumPy gives there what torch gives, or refuses.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from explorer.catalogue import OPS, RULES, find_op, find_rule, learnable
from explorer.nearest.neighbours import suiting
from explorer.site import python
from explorer.ui.links.choice import Choice
from explorer.ui.links.link import from_text
from explorer.ui.sections import lines
from explorer.ui.sections.words import words
from explorer.ui.server import answers
from tests.catalogue.test_own_learned import LSQ
from tests.site.operations import CASES, PROBE, REFUSED, functions, near
from tests.site.pyodide import Ask, needs_pyodide, started
from tests.ui.choices import query_of

Json = dict[str, Any]
Question = tuple[str, Json]

OWN = (
    ("formula: tanh(k * x)", "formula: g / (1 + abs(x))", {"k": 2.0}),
    ("formula: x * sigmoid(b * x)", "default", {"b": 1.7}),
    ("formula: where(x > 1, x, 0)", "formula: g * (x < 2)", {}),
    ("formula: x - mean(x)", "default", {}),
    ("formula: 1 / x", "default", {}),
    ("formula: hardsigmoid(x)", "default", {}),
    ("relu", "formula: sign(g) * (x > 0)", {}),
    ("quantize", LSQ, {"s": 0.3}),
    ("formula: x +", "default", {}),
)
NEAR = (
    ("sign", "tanh_surrogate", {"a": 1.3}, (-2.0, 2.5)),
    ("formula: sign(x)", "formula: g * (abs(x) <= 1) / 2", {}, (-1.5, 2.0)),
    ("log", "formula: g * log(x)", {}, (-3.0, -1.0)),
)
SAID = (
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
# What is rounding alone, and so another number on another machine.
_NOISE = re.compile(r"difference at most \S+|the gradient lies around \S+e−\d\d: ")
_LEAST = 1e-12


def suited() -> list[tuple[str, str, dict[str, float]]]:
    """Each rule beside an op that it suits, with parameters at random."""
    rng = random.Random(22)
    ops = {rule: [op for op in OPS.values() if RULES[rule] in suiting(op)] for rule in RULES}
    return [
        (op.key, rule, moved(op.key, rule, rng))
        for rule in RULES
        for op in rng.choices(ops[rule] or [*OPS.values()])
    ]


def moved(op: str, rule: str, rng: random.Random) -> dict[str, float]:
    """Most of the parameters of a pair somewhere between their bounds; none where the pair refuses them."""
    found = {}
    for parameter in (*find_op(op).parameters, *find_rule(rule).parameters):
        if rng.random() < 0.7:
            found[parameter.name] = float(f"{rng.uniform(parameter.low, parameter.high):.3g}")
    return found


def varied() -> list[Choice]:
    """An op of each family with one to three rules that suit it, over other ranges, at other g, learning."""
    rng = random.Random(23)
    families = {
        op.family: [other.key for other in OPS.values() if other.family == op.family] for op in OPS.values()
    }
    found = []
    for place, key in enumerate(rng.choice(keys) for keys in families.values()):
        fit = [rule.key for rule in suiting(OPS[key])]
        rules = rng.sample(fit, min(1 + place % 3, len(fit)))
        can = sorted({name for rule in rules for name in learnable(OPS[key], RULES[rule])})
        found.append(
            Choice(
                op=key,
                rules=tuple(rules),
                parameters={name: value for rule in rules for name, value in moved(key, rule, rng).items()},
                learns=rng.choice(can) if can else "",
                range=rng.choice([(-3.0, 3.0), (-10.0, 4.0), (0.5, 2.0), (-3000.0, 1e4)]),
                g=rng.choice([1.0, -0.5, 2.0, 0.0]),
            )
        )
    return found


def told(answer: Any) -> Any:
    """An answer without what is noise."""
    match answer:
        case dict():
            return {name: told(part) for name, part in answer.items()}
        case list():
            return [*map(told, answer)]
        case str():
            return _NOISE.sub("…", answer)
        case float() if abs(answer) < _LEAST:
            return 0.0
    return answer


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """What asks a Python that starts for the first test, which takes seconds, and stays."""
    program = python.judging()
    program |= {"start": "probe", "modules": program["modules"] | {"probe.py": PROBE}}
    with started(program) as ask:
        yield ask


def worded() -> list[tuple[Question, Json]]:
    """What is asked about words, and what the app says."""
    found = []
    for each in (*SAID, *varied()):
        query = urlencode(query_of(each), doseq=True)
        choice, said = from_text(query)[0], answers.confirm(query)  # bounds that cross are mended there
        given = {"op": choice.op, "rules": choice.rules, "parameters": choice.parameters}
        sampled = {name: value for name, value in choice.sampling.items() if name not in choice.parameters}
        found.append((("words", given | sampled), {name: said[name] for name in ("main", "rest")}))
    unread = {
        "op": "formula: x +",
        "rules": ["default"],
        "parameters": {},
        "start": -3.0,
        "stop": 3.0,
        "g": 1.0,
    }
    return [*found, (("words", unread), words(**unread))]


@needs_pyodide
def test_each_operation_gives_what_torch_gives(ask: Ask) -> None:
    cases, refused = CASES + functions(), [(text, "float64") for text in REFUSED]
    here: dict[str, Any] = {}
    exec(PROBE, here)
    expected = [here["told"](*case) for case in cases]
    (said,) = ask([("told", {"asked": cases + refused}, {})])
    found = said["answer"][: len(cases)]
    pairs = zip(cases, found, expected, strict=True)
    assert said["answer"][len(cases) :] == ["MissingError"] * len(refused)
    assert [(case, one, other) for case, one, other in pairs if not near(one, other, case[1])] == []


@needs_pyodide
def test_the_browser_finds_what_torch_finds(ask: Ask) -> None:
    pairs = [*suited(), *OWN]
    keys = ("op", "rule", "parameters", "start", "stop")
    checks: list[Question] = [("checks", dict(zip(keys, pair, strict=False))) for pair in pairs]
    beside: list[Question] = [
        ("neighbours", dict(zip(keys, (*pair, *span), strict=True))) for *pair, span in NEAR
    ]
    expected = [(one, getattr(lines, one[0])(**one[1])) for one in (*checks, *beside)] + worded()
    found = ask([(*question, {}) for question, _ in expected])
    wrong = []
    for (question, answer), one in zip(expected, found, strict=True):
        if told(one.get("answer", one)) != told(answer):
            wrong.append((question, one, answer))
    assert wrong == []
    assert sum("lines" in one["answer"] for one in found) > len(RULES)
    assert "message" in found[-1]["answer"]

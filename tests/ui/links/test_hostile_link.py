"""Queries nobody should send: nothing raises, the rest is kept, and what could not be had is said."""

import random
from contextlib import suppress
from dataclasses import fields
from urllib.parse import parse_qs

import pytest

from explorer.catalogue import FORMULA_PREFIX, MAX_RULES, OPS, RULES
from explorer.catalogue.records import MAX_ABS_X
from explorer.curves import sample
from explorer.instrument.limits import MAX_G, find_reach
from explorer.training import SETTINGS, TASKS, Settings
from explorer.ui.links.choice import Choice, collect_parameters, sort_bounds
from explorer.ui.links.link import from_query
from tests.selection import take_part
from tests.ui.choices import query_of, random_choice

MANY = 2_000

KEYS = [
    *("op", "rule", "range", "g", *SETTINGS, "c", "lo", "hi", "w", "s", "a", "alpha", "masked.lo"),
    *("hide", "section", "p.steps"),
    *("clipped.c", "formula: g * w.w", "", "x", "__class__", "op[]", "OP", "rule.c", "\x00", "<i>", "ключ"),
]  # fmt: skip
NUMBERS = [
    *("nan", "inf", "-inf", "1e999", "-1e999", "1e-999", "0", "-0", "007", "1_000", "1,5", "0x10", "١٢", "½"),
    *("1.0", "-1", "3", "1e3", "1e6", "2.5", "5001", "2147483648", "9" * 400, " 1", "1 ", "+1", ".5", "5."),
]  # fmt: skip
TEXTS = [
    *("", " ", "None", "True", "null", "[]", "{}", "../../etc/passwd", "%s%n{0}", "'; DROP TABLE ops; --"),
    *("<script>alert(1)</script>", "<b>x</b>", "![](http://x)", "\x00", "\n\r\t", "\u202e", "\ud800"),
    *("🙂" * 30, "a" * 1500, "round\n"),
]  # fmt: skip
FORMULAS = [
    *("x**3", "3*x**2*g", "g * w", "", "x +", "x.real", "__import__('os')", "9**9**9**9", "lambda: x"),
    *("(" * 150, "-" * 200 + "x", "x+" * 100 + "x", "x\x00", "\ud800", "1/0", "log(-1)", "mean(x)"),
    *("where(x>0,lo,hi)", "steps", "start", "embed*x", "tan(x)**9", "1/x"),
]  # fmt: skip
VALUES = [*OPS, *RULES, *TASKS, *NUMBERS, *TEXTS, "formula:g", *(FORMULA_PREFIX + text for text in FORMULAS)]


def _hostile(rng: random.Random) -> dict[str, list[str]]:
    query = {}
    for _ in range(rng.randint(0, 7)):
        text = rng.choice(VALUES)
        if rng.random() < 0.2:  # a character changed
            at, high = rng.randint(0, len(text)), rng.randint(128, 0x10FFFF)
            other = rng.choice([rng.randint(0, 127), high])
            text = text[:at] + chr(other) + text[at + 1 :]
        query.setdefault(rng.choice(KEYS), []).append(text)
    if rng.random() < 0.3:
        query |= {key: values for key, values in query_of(random_choice(rng)).items() if rng.random() < 0.7}
    return query


def _assert_usable(choice: Choice) -> None:
    op, rules = choice.entries
    assert 1 <= len(rules) <= MAX_RULES
    controls = collect_parameters(op, rules)
    assert set(choice.parameters) <= set(controls)
    for name, value in choice.parameters.items():
        low, high = find_reach(controls[name])
        assert low <= value <= high
    assert sort_bounds(op, rules, choice.parameters) == (choice.parameters, [])
    start, stop = choice.range
    assert -MAX_ABS_X <= start < stop <= MAX_ABS_X
    assert abs(choice.g) <= MAX_G
    training = {name: getattr(choice, name) for name in SETTINGS}
    asked = {"op": choice.op, "rules": choice.rules, "parameters": choice.parameters, **training}
    with suppress(ValueError):  # which the page says when somebody presses Start
        Settings(**asked)
        return
    with pytest.raises(ValueError, match=r"needs a table|the limit is [\d,]+|asks for fa?\("):
        Settings(**asked)


def test_no_query_raises_and_every_choice_is_usable():
    for count in take_part(range(MANY)):
        rng = random.Random(count)
        choice, notices = from_query(_hostile(rng))
        _assert_usable(choice)
        assert all(notice.isprintable() and len(notice) < 450 for notice in notices)
        assert all(notice.endswith(".") and not notice.endswith("..") for notice in notices)
        assert from_query(query_of(choice)) == (choice, [])
        if count % 10 == 0:
            start, stop = choice.range
            view = {"start": start, "stop": stop, "g": choice.g} | choice.parameters
            assert set(sample(choice.op, choice.rules, points=5, **view)["rule"]) == set(choice.rules)


@pytest.mark.parametrize(
    ("query", "kept", "words"),
    [
        ("op=rund", {"op": "round"}, 'unknown op "rund"'),
        ("rule=zero&rule=strait", {"rules": ("zero",)}, 'unknown rule "strait"'),
        ("op=formula:+x+%2B", {"op": "round"}, 'own op "x +" cannot be read: a value is missing at the end'),
        ("rule=formula:+g*z(1)", {}, 'own rule "g*z(1)" cannot be read: unknown function "z"'),
        ("rule=formula:+g*points", {}, '"points" at column 3 is the name of a setting'),
        ("range=1", {"range": (-3, 3)}, "range needs two values"),
        ("range=nan&range=2", {"range": (-3, 2)}, '"range" = "nan": it must be a number from -1000000'),
        ("range=2&range=-1", {"range": (-1, 2)}, "The range 2 to -1 is reversed: its ends were swapped."),
        ("range=2&range=2", {"range": (1, 3)}, "The range 2 to 2 is empty: it was widened by 1"),
        ("g=inf", {"g": 1}, '"g" = "inf": it must be a number'),
        ("rule=clipped&c=-9", {"parameters": {}}, '"c" = "-9": it must be a number from 1e-06 to 1000000'),
        ("op=clamp&lo=2&hi=1.5", {"parameters": {"lo": 1.5, "hi": 2}}, "lo = 2 lies above hi = 1.5"),
        ("rule=zero&c=2", {"parameters": {}}, 'sets "c", which nothing here uses'),
        ("task=chess", {"task": "digits"}, 'task = "chess": there is no such task'),
        ("steps=0", {"steps": 500}, 'steps = "0": steps must be a whole number from 1 to 5000, not 0. It'),
        ("steps=2.5", {"steps": 500}, "it must be a whole number. It is left at 500."),
        ("hidden=257", {"hidden": 100}, "hidden must be"),
        ("pace=0", {"pace": 50}, "pace must be above 0, not 0.0. It is left at 50."),
    ],
)  # fmt: skip
def test_every_impossible_value_gets_a_notice(query: str, kept: dict, words: str):
    choice, notices = from_query(parse_qs(query, keep_blank_values=True))
    assert {name: getattr(choice, name) for name in kept} == kept
    assert len(notices) == 1
    assert words in notices[0]


def test_one_bad_value_costs_the_others_nothing():
    rng = random.Random(4)
    for _ in range(300):
        choice = random_choice(rng)
        query = query_of(choice)
        key = rng.choice([key for key in query if key not in ("op", "rule", "task")] or ["g"])
        read, notices = from_query(query | {key: ["nan"]})
        assert notices
        untouched = [f.name for f in fields(Choice) if f.name not in (key, "parameters")]
        assert [getattr(read, name) for name in untouched] == [getattr(choice, name) for name in untouched]
        same = {n: v for n, v in choice.parameters.items() if n != key}
        assert key.rpartition(".")[2] in ("lo", "hi") or dict(read.parameters) == same


def test_too_many_rules_and_the_same_twice():
    choice, notices = from_query({"rule": list(RULES)[: MAX_RULES + 2]})
    assert choice.rules == tuple(RULES)[:MAX_RULES]
    assert notices == [f"The link names {MAX_RULES + 2} rules: the first {MAX_RULES} are shown."]
    choice, notices = from_query({"rule": ["formula: g*x", "formula: g  *  x", "zero", "zero"]})
    assert (choice.rules, notices) == (("formula: g * x", "zero"), [])

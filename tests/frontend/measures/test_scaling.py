"""Rules scaled to one area or one width in the browser: against Python's sizes, and read back by Python."""

import math
from typing import Any

import numpy as np
import pytest

import explorer
from explorer.catalogue import beside, find_op, find_rule, values
from explorer.catalogue.own import own_rule
from explorer.checks.curve import Curve
from explorer.curves.foreign import make_pair_subject
from explorer.formula import parse
from explorer.instrument.document import document
from explorer.instrument.entries import entry
from explorer.measures import size_of, suiting
from tests.catalogue.fixed import RULES
from tests.frontend.modules import Node

OPS = ("sign", "step", "quantize", "round")
PAIRS = [(op, rule.key) for op in OPS for rule in suiting(find_op(op))]

SIZES = """
const { sizesOf } = await import("./measures/size.js");
return given.map(([op, rule, settings]) => sizesOf(op, rule, settings));
"""
SCALED = """
const { find, learn } = await import("./choice/entries.js");
const { canScale, rowsOf, scaledTo } = await import("./explore/stage/one-size.js");
const { sampleCurves } = await import("./formula/curves.js");
const { entriesOf, settingsOf } = await import("./choice/choice.js");
for (const rule of given.own) learn("rule", rule);
const choice = { ...given.choice, bounds: {} };
const rows = rowsOf(choice);
if (!canScale(rows, given.kind)) return null;
const { choice: next, done } = scaledTo(choice, rows, given.kind);
const curves = sampleCurves(entriesOf(next), settingsOf(next));
return { keys: next.rules.map(({ key }) => key), done, x: curves.x,
  gradients: Object.values(curves.gradients), kinks: curves.kinks,
  labels: next.rules.map(({ key }) => find("rule", key).label),
  rows: rowsOf(next).map(({ sizes }) => sizes) };
"""


def sizes(node: Node, pairs: list[tuple[str, str]], settings: dict[str, float] | None = None) -> Any:
    records = [(find_op(op), find_rule(rule)) for op, rule in pairs]
    given = [[entry(op), entry(beside(op, rule)), settings or {}] for op, rule in records]
    return node.run(SIZES, given)


def scaled(node: Node, op: str, rules: list[str], kind: str, parameters: dict[str, float]) -> Any:
    chosen = [{"key": key, "slot": slot, "hidden": False} for slot, key in enumerate(rules)]
    choice = {"op": op, "rules": chosen, "parameters": parameters, "learns": "", "slow": "", "training": {},
              "range": [-3, 3], "g": 1}  # fmt: skip
    own = [entry(find_rule(rule)) for rule in rules if rule.startswith("formula")]
    return node.run(SCALED, {"document": document(), "own": own, "choice": choice, "kind": kind})


def test_areas_are_pythons_and_where_there_is_none_the_reason_is_said(node: Node) -> None:
    compared = 0
    for (op, rule), found in zip(PAIRS, sizes(node, PAIRS), strict=True):
        records = find_op(op), find_rule(rule)
        wanted = size_of(Curve(make_pair_subject(*records, values(*records, {})))).area
        if found["area"]["reason"]:
            linear = RULES[rule].linear and "mean" not in (RULES[rule].formula or "")
            assert not linear or not 0 < abs(wanted) < math.inf, (op, rule)
        else:
            assert found["area"]["value"] == pytest.approx(abs(wanted), rel=1e-3), (op, rule)
            compared += 1
    assert compared > 30


# Full widths at half height, by hand.
WIDTHS = {
    "laplace": (2 * math.log(2) / 2, {"a": 2}),
    "gaussian": (2 * math.sqrt(2 * math.log(2)) * 0.3, {"s": 0.3}),
    "atan_surrogate": (4 / (math.pi * 4), {"a": 4}),
    "triangle": (2 / 2 / 2, {"a": 2}),
    "sigmoid_surrogate": (4 * math.acosh(math.sqrt(2)) / 5, {"a": 5}),
    "formula: g / (1 + (x - 3)**2 * 4)": (1, {}),
    "formula: g * exp(-(x + 2.3456)**2) * 7": (2 * math.sqrt(math.log(2)), {}),
}


@pytest.mark.parametrize("rule", WIDTHS, ids=lambda key: key)
def test_widths_by_hand(node: Node, rule: str) -> None:
    wanted, settings = WIDTHS[rule]
    names = {parameter.name for parameter in find_rule(rule).parameters}
    (found,) = sizes(node, [("step", rule)], dict(zip(sorted(names), settings.values(), strict=True)))
    assert found["width"] == {"value": pytest.approx(wanted, rel=1e-6), "reason": ""}
    centre = {"formula: g / (1 + (x - 3)**2 * 4)": 3, "formula: g * exp(-(x + 2.3456)**2) * 7": -2.3456}
    assert found["peak"] == pytest.approx(centre.get(rule, 0), abs=1e-6)
    assert found["peak"] == 0 or rule in centre


@pytest.mark.parametrize(
    ("op", "rule", "kind", "reason"),
    [
        ("step", "straight_through", "area", "has no finite area"),
        ("step", "straight_through", "width", "never falls to half its height"),
        ("step", "clipped", "width", "is flat on top: a mask has no peak"),
        ("step", "multi_gaussian", "width", "has lobes"),
        ("quantize", "rdfs", "width", "has lobes"),
        ("step", "default", "area", "is torch's own gradient of the op"),
        ("step", "zero", "area", "blocks everything"),
        ("step", "formula: g * x * exp(-x**2)", "area", "has an area of 0"),
        ("step", "formula: g * sin(x)", "area", "has no finite area"),
        ("step", "clip_value", "area", "is not linear in g, so its size hangs on g"),
        ("sign", "magnitude_aware", "area", "hangs on all x at once"),
        ("sign", "formula: g * (1 - y**2 / 2) * exp(-abs(x))", "width", "is written in y"),
        ("step", "formula: g * (0 < x <= 1) / x", "area", "cannot be summed"),
    ],
)
def test_what_cannot_be_scaled_has_a_reason(node: Node, op: str, rule: str, kind: str, reason: str) -> None:
    (found,) = sizes(node, [(op, rule)])
    assert found[kind]["reason"].startswith(reason)


FIRST = "formula: 3 * g * relu(1 - abs(x / 2))"


@pytest.mark.parametrize("kind", ["area", "width"])
def test_scaled_rules_have_one_size_and_python_reads_the_same_curves(node: Node, kind: str) -> None:
    """Every surrogate of a step: the factor in the key, the key as Python writes it, torch's curve of it."""
    keys = [rule.key for rule in suiting(find_op("step"))]
    read = 0
    for key in keys:
        found = scaled(node, "step", [FIRST, key], kind, {})
        if found is None:
            assert sizes(node, [("step", key)])[0][kind]["reason"], key
            continue
        (_, own), (_, gradient), (_, sizes_of) = found["keys"], found["gradients"], found["rows"]
        assert sizes_of[kind]["value"] == pytest.approx(found["done"]["size"], rel=1e-5)
        if not found["done"]["factors"]:
            assert own == key, "it had that size"
            continue
        text = own.removeprefix("formula: ")
        assert own_rule(text).key == own
        assert own_rule(text).label == f"{key}_scaled"
        ((_, factor, _),) = found["done"]["factors"]
        assert f"{factor if kind == 'area' else 1 / factor:.6g}"[:5] in own
        torchs = explorer.sample("step", [own], start=-3, stop=3, dtype="float64")
        here = dict(zip(found["x"], gradient, strict=True))
        pairs = [(here[x], g) for x, g in zip(torchs.x, torchs.gradient, strict=True) if x in here]
        ours, wanted = np.array(pairs).T
        assert len(pairs) > 500
        apart = np.abs(ours - wanted) > 1e-9 * (1 + np.abs(wanted).max())
        assert apart.sum() <= 1, (own, found["x"][apart])  # a kink that both may place one rounding apart
        read += 1
    assert read > (15 if kind == "area" else 10)


def test_a_parameter_of_the_op_stays_a_name_and_own_ones_become_numbers(node: Node) -> None:
    found = scaled(node, "quantize", ["quantize_masked", "rdfs"], "area", {"s": 0.5})
    key = found["keys"][1]
    assert {p.name for p in own_rule(key.removeprefix("formula: ")).parameters} == {"qmin", "qmax", "s"}
    ((label, factor, lost),) = found["done"]["factors"]
    assert (label, lost) == (RULES["rdfs"].label, ["s"])
    assert f"= {factor:.6g} * " in key
    assert found["rows"][1]["area"]["value"] == pytest.approx(found["done"]["size"], rel=1e-4)


def test_a_scaled_rule_is_scaled_anew_under_its_own_name(node: Node) -> None:
    own = "formula: laplace_scaled = 2 * (g * a / 2 * exp(-a * abs(x)))"
    document_of_own = scaled(node, "step", ["triangle", "laplace"], "width", {})
    assert document_of_own["labels"] == [RULES["triangle"].label, "laplace_scaled"]
    assert own_rule(own.removeprefix("formula: ")).label == "laplace_scaled"


def test_a_formula_is_printed_as_python_prints_it(node: Node) -> None:
    texts = ("(-x) ** 2 * g", "-x ** 2 * g", "(x ** 2) ** 3", "g - (x - 1)", "g / (x / 2)", "2 ** -x")
    trees = [parse(text).data for text in texts]
    script = 'const { printed } = await import("./measures/scaling.js"); return given.map(printed);'
    assert [found["text"] for found in node.run(script, trees)] == [parse(text).text for text in texts]


def test_without_two_rules_there_is_nothing_to_scale(node: Node) -> None:
    assert scaled(node, "round", ["default", "straight_through"], "area", {}) is None
    assert scaled(node, "step", ["triangle", "clipped"], "width", {}) is None


def test_what_draws_has_no_size(node: Node) -> None:
    pairs = [("bernoulli", "st_gumbel"), ("bernoulli", "reinmax"), ("round", "formula: g * u()")]
    for found in sizes(node, pairs):
        for kind in ("area", "width"):
            assert found[kind]["reason"] == "is another one at each draw"
    for found in sizes(
        node, [("bernoulli", rule) for rule in ("flip", "reinforce", "formula: g * (fa() > 1)")]
    ):
        assert found["area"]["reason"] == found["width"]["reason"] == "hangs on the loss"
    (quiet,) = sizes(node, [("bernoulli", "sigmoid_st")])  # which hangs on x alone
    assert quiet["area"]["value"] == pytest.approx(1, rel=1e-6)

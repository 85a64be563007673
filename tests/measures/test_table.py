"""The table of all rules that suit an op."""

import math

import pytest

import explorer
from explorer.catalogue import RULES
from explorer.checks import check_pair
from explorer.measures import compare, compute_lens_distances, list_suitable_rules, make_row
from tests.catalogue import fixed
from tests.catalogue.fixed import OPS

COLUMNS = ["rule", "peak", "area", "support", "share", "lens", "linear", "finite", "fails", "source"]


def test_it_has_a_row_for_each_rule_that_suits_and_no_other():
    table = explorer.compare("clamp", lo=-1, hi=1)
    assert explorer.compare is compare
    assert list(table.columns) == COLUMNS
    wanted = [key for key, rule in RULES.items() if not rule.suits or "bounded" in rule.suits]
    assert list(table["rule"]) == wanted
    rows = table.set_index("rule")
    assert rows.loc["masked", ["peak", "area", "support"]].tolist() == [1, 2, 2]
    assert rows.loc["masked", "share"] == pytest.approx(0.682, abs=1e-3)
    assert rows.loc["published_clamp", ["linear", "fails"]].tolist() == [False, "linear in g"]
    assert rows.loc["pact", "source"] == RULES["pact"].source
    usual = compute_lens_distances("clamp", {"lo": -1, "hi": 1}, "uniform", 1)
    assert rows["lens"].to_dict() == pytest.approx(usual, nan_ok=True)


def test_all_rules_suit_an_own_op():
    assert list_suitable_rules(explorer.catalogue.find_op("formula: x**3")) == [*fixed.RULES.values()]


def test_a_row_says_what_the_checks_say():
    row = make_row(OPS["round"], RULES["rdfs"], {})
    assert not row.finite
    assert row.fails == ", ".join(each.name for each in check_pair("round", "rdfs", {}).failures)
    assert "finite" in row.fails


def test_the_distance_is_that_from_the_lens():
    table = compare("sign", noise="triangular", width=2).set_index("rule")["lens"]
    assert table["approx_sign"] <= 1e-12
    seen = explorer.lens("sign", ["clipped", "ede", "clip_value"], noise="triangular", width=2)
    for rule, distance in seen.distances.items():
        assert table[rule] == pytest.approx(distance, rel=1e-9)
    assert set(map(math.isnan, compute_lens_distances("exp", {}, "laplace", 2).values())) == {True}
    assert compute_lens_distances("round", {}, "uniform", 1)["straight_through"] == 0
    with pytest.raises(ValueError, match="noise must be one of"):
        compare("sign", noise="pink")


def test_values_of_parameters_no_rule_has_are_refused():
    with pytest.raises(ValueError, match="unknown parameter 'nobody'"):
        compare("sign", nobody=1.0)

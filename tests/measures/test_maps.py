"""The gradient over x and g against rules written out by hand, and where it is not linear in g."""

import numpy as np
import pytest
import torch

import explorer
from explorer.lessons import ClampGradient
from explorer.measures import RuleMap, rule_map
from tests.catalogue.fixed import RULES
from tests.selection import take_part

NEAR_ONE = pytest.approx(1, abs=1e-12)
NEAR_ZERO = pytest.approx(0, abs=1e-12)


def published(x, g):
    return np.where(x < 0, 0.0, np.where(x > 1, 1.0, g))


def toward_range(x, g):
    within, back = (x >= 0) & (x <= 1), ((x < 0) & (g < 0)) | ((x > 1) & (g > 0))
    return np.where(within | back, g, 0.0)


# op, rule, its parameters, the same by hand, where it is not linear in g from −3 to 3
BY_HAND = [
    ("clamp", "published_clamp", {}, published, [(NEAR_ONE, 3)]),
    ("clamp", "toward_range", {}, toward_range, [(-3, NEAR_ZERO), (NEAR_ONE, 3)]),
    ("relu", "guided", {}, lambda x, g: np.where((x > 0) & (g > 0), g, 0.0), [(NEAR_ZERO, 3)]),
    ("relu", "clip_value", {"c": 1.0}, lambda x, g: np.clip(g, -1, 1) + 0 * x, [(-3, 3)]),
    ("round", "ewgs", {"delta": 0.2}, lambda x, g: g * (1 + 0.2 * np.sign(g) * (x - np.rint(x))), [(-3, 3)]),
    ("round", "straight_through", {}, lambda x, g: g + 0 * x, []),
    ("round", "formula: g * (abs(g) > 0.1)", {}, lambda x, g: g * (np.abs(g) > 0.1) + 0 * x, [(-3, 3)]),
    ("round", "formula: g * (abs(x * g) <= 1)", {}, lambda x, g: g * (np.abs(x * g) <= 1), [(-3, 3)]),
]


@pytest.mark.parametrize(("op", "rule", "parameters", "by_hand", "bent"), BY_HAND)
def test_a_map_is_the_rule_over_x_and_g(op, rule, parameters, by_hand, bent):
    found = explorer.rule_map(op, rule, top=1.5, **parameters)
    assert (found.g[0], found.g[-1], found.x[0], found.x[-1]) == (-1.5, 1.5, -3, 3)
    assert {-1.0, 0.0, 1.0} <= {round(each, 9) for each in found.g}
    wanted = by_hand(found.x[None, :], found.g[:, None])
    np.testing.assert_allclose(found.gradients[rule], wanted, rtol=1e-15, atol=1e-15)
    assert found.bent[rule] == bent


@pytest.mark.parametrize("op", ["clamp", "sign", "quantize"])
def test_it_is_linear_where_the_catalogue_says_so(op):
    some = take_part(RULES)
    bent = {key: bent for rule in some for key, bent in rule_map(op, rule).bent.items()}
    assert {key: not each for key, each in bent.items()} == {key: RULES[key].linear for key in some}


def test_rules_that_are_not_linear_are_named():
    both = rule_map("clamp", ["published_clamp", "toward_range", "masked"], lo=-1, hi=0.25)
    assert isinstance(both, RuleMap)
    assert both.describe() == (
        "Published clamp (with its bug) is not linear in g where x > 0.25. "
        "Masked, unless towards the range is not linear in g where x < −1 and x > 0.25. "
        "Masked is linear in g."
    )
    inside = rule_map("sign", "formula: where(0.5 < x < 2, g**2, g)")
    assert inside.describe().endswith("is not linear in g where 0.5 < x < 2.")
    often = rule_map("sign", "formula: where(sin(9 * x) > 0, g, 0 * g + 1)")
    assert "on 9 stretches of x" in often.describe()
    assert "anywhere here" in rule_map("relu", "clip_value").describe()
    none = rule_map("sign", "formula: g / 0")
    assert [*none.bent.values()] == [None]
    assert none.describe() == "g / 0 is not known over g here."


def test_a_stretch_narrower_than_the_picture_ends_where_it_ends():
    (ends,) = rule_map("sign", "formula: where(0.1 < x < 0.15, 1, g)").bent.values()
    assert ends == [(pytest.approx(0.1, abs=1e-12), pytest.approx(0.15, abs=1e-12))]


def test_a_function_of_ones_own_has_a_map():
    found = rule_map(torch.round, ClampGradient, start=0.5, stop=2, top=3)
    (gradients,) = found.gradients.values()
    np.testing.assert_array_equal(gradients, published(found.x[None, :], found.g[:, None]))


def test_table_and_figure():
    found = rule_map("clamp", ["published_clamp", "masked"], start=-1, stop=2, top=4)
    table = found.frame
    assert list(table) == ["rule", "x", "g", "gradient"]
    assert len(table) == 2 * len(found.x) * len(found.g)
    row = table[(table.rule == "published_clamp") & (table.x > 1)].iloc[0]
    assert (row.g, row.gradient) == (-4, 1)
    figure = found.figure(height=300)
    assert [trace.type for trace in figure.data] == ["heatmap"] * 2
    assert [each.text for each in figure.layout.annotations] == [RULES[key].label for key in found.gradients]
    assert figure.layout.height == 300
    assert figure.layout.coloraxis.cmin == -figure.layout.coloraxis.cmax == -4

    np.testing.assert_array_equal(figure.data[1].z, found.gradients["masked"])


def test_a_figure_has_three_maps_in_a_row_and_a_pole_does_not_take_all_colours():
    assert rule_map("sign", "zero").figure().layout.coloraxis.cmax == 2
    assert rule_map("sign", "formula: g / 0").figure().layout.coloraxis.cmax == 2
    wide = rule_map("sign", ["formula: g / x", "clipped", "ede", "zero"], start=0).figure()
    assert 9.9 < wide.layout.coloraxis.cmax <= 10
    assert wide.data[3].yaxis == "y4"
    assert wide.layout.height > rule_map("sign", "ede").figure().layout.height


def test_invalid_arguments_are_refused():
    for top in (0, -1):
        with pytest.raises(ValueError, match="top must be a number above 0, got"):
            rule_map("sign", "clipped", top=top)
    with pytest.raises(ValueError, match="top must be a finite number"):
        rule_map("sign", "clipped", top=float("nan"))
    with pytest.raises(ValueError, match="unknown rule"):
        rule_map("sign", "clippd")

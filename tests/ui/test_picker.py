"""The two pickers: what an option says, in which order they stand, and why a rule does not suit."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from explorer.catalogue import FAMILIES, GROUPS, MOST_RULES, OPS, OWN, OWN_FAMILY, RULES
from explorer.ui.controls import OWN_SLOTS
from tests.ui.pages import labelled, opened, sound

LAST = len(OWN_SLOTS)
ONE_OF_EACH = {op.family: op.key for op in reversed(OPS.values())}  # the first op of each family
BREAK = " · "


def _rule_options(op: str) -> list[str]:
    return labelled(opened(urlencode({"op": op, "rule": "zero"})).multiselect, "Backward rules").options


def _labels(options: list[str]) -> list[str]:
    return [option.split(BREAK)[0] for option in options]


def _assert_says(option: str, label: str, formula: str, kind: str) -> None:
    """Label, formula (a long one as far as it fits) and kind stand in an option, to be searched for."""
    first, middle, *rest = option.split(BREAK)
    assert first == label
    assert middle == formula or (len(middle) > 30 and formula.startswith(middle.removesuffix("…")))
    assert kind in rest


def test_an_op_stands_there_with_its_formula_and_family():
    *options, own = labelled(opened().selectbox, "Op").options
    for option, op in zip(options, OPS.values(), strict=True):
        _assert_says(option, op.label, op.formula, FAMILIES[op.family])
    assert own == "own formula…"


def test_a_rule_stands_there_with_its_formula_and_group():
    rules = {rule.label: rule for rule in RULES.values()}
    options = _rule_options("round")[:-LAST]
    assert sorted(_labels(options)) == sorted(rules)
    for option in options:
        rule = rules[option.split(BREAK)[0]]
        _assert_says(option, rule.label, rule.formula or "torch's own", GROUPS[rule.group])


def test_options_can_be_told_apart():
    for options in (labelled(opened().selectbox, "Op").options, _rule_options("round")):
        assert len(set(options)) == len(options)
    assert len({rule.label for rule in RULES.values()}) == len(RULES)


def test_every_family_has_an_op():
    assert set(ONE_OF_EACH) == set(FAMILIES) - {OWN_FAMILY}


@pytest.mark.parametrize("family", ONE_OF_EACH)
def test_rules_made_for_the_op_stand_first(family: str):
    """After the two that everybody needs: those made for its family, those for any op, the others."""
    rest = [rule for rule in RULES.values() if rule.key not in ("default", "straight_through")]
    made = [rule.key for rule in rest if family in rule.suits]
    general = [rule.key for rule in rest if not rule.suits]
    others = [rule.key for rule in rest if rule.suits and family not in rule.suits]
    expected = ["default", "straight_through", *made, *general, *others]
    options = _rule_options(ONE_OF_EACH[family])
    assert _labels(options[:-LAST]) == [RULES[key].label for key in expected]
    assert options[-LAST:] == [f"own formula {number}…" for number in range(1, LAST + 1)]


def test_every_rule_suits_an_own_op():
    options = _rule_options("formula: x - floor(x)")
    assert _labels(options[:2]) == [RULES[key].label for key in ("default", "straight_through")]
    assert options[-LAST:] == [f"own formula {number}…" for number in range(1, LAST + 1)]
    assert sorted(_labels(options[:-LAST])) == sorted(rule.label for rule in RULES.values())


def _captions(op: str, rules: list[str]) -> list[str]:
    test = opened(urlencode({"op": op, "rule": rules}, doseq=True))
    assert labelled(test.multiselect, "Backward rules").value == rules
    return [line for caption in test.caption for line in caption.value.split("  \n")]


PICKY = [key for key, rule in RULES.items() if rule.suits]
SIX = [PICKY[start : start + MOST_RULES] for start in range(0, len(PICKY), MOST_RULES)]


@pytest.mark.parametrize("rules", SIX, ids=lambda rules: rules[0])
def test_why_a_rule_does_not_suit_is_said_where_it_does_not(rules: list[str]):
    """Smooth ops suit none of them."""
    assert all("smooth" not in RULES[key].suits for key in rules)
    assert all(RULES[key].otherwise for key in rules)
    expected = [f"{RULES[key].label}: {RULES[key].otherwise}" for key in rules]
    assert [caption for caption in _captions("tanh", rules) if caption in expected] == expected
    for family in {family for key in rules for family in RULES[key].suits}:
        captions = _captions(ONE_OF_EACH[family], rules)
        shown = [key for key, caption in zip(rules, expected, strict=True) if caption in captions]
        assert shown == [key for key in rules if family not in RULES[key].suits]


def test_nothing_is_said_where_a_rule_suits():
    assert _captions("sign", ["default", "straight_through", "masked", "clipped"]) == []
    assert _captions("formula: 2 * x", ["clipped", "atan_surrogate", "ewgs"]) == []


def test_the_sentence_goes_when_the_op_changes():
    test = opened("op=tanh&rule=clipped")
    sentence = f"{RULES['clipped'].label}: {RULES['clipped'].otherwise}"
    assert sentence in [caption.value for caption in test.caption]
    labelled(test.selectbox, "Op").select("sign")
    sound(test.run())
    assert sentence not in [caption.value for caption in test.caption]


def test_a_choice_survives_another_order_of_the_options():
    """Another op ranks the rules anew; those that are chosen stay chosen, in their order."""
    test = opened("op=tanh&rule=ewgs&rule=zero&rule=clipped")
    for op in ("sign", OWN, "round"):
        labelled(test.selectbox, "Op").select(op)
        sound(test.run())
        assert labelled(test.multiselect, "Backward rules").value == ["ewgs", "zero", "clipped"]

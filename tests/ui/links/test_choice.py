"""A choice: the controls it needs, and the words by which a link says it."""

from explorer.catalogue import OPS, RULES, find_rule
from explorer.ui.links.choice import Choice, collect_parameters, format_training_settings, sort_bounds
from explorer.ui.links.link import from_query


def test_training_settings_are_written_where_they_differ():
    assert format_training_settings(Choice()) == {}
    assert format_training_settings(Choice(steps=40, lr=2e-6)) == {"steps": "40", "lr": "2e-06"}


def test_a_name_with_two_meanings_has_two_controls():
    op, rules = OPS["identity"], [RULES["boxcar"], find_rule("formula: g * w"), RULES["clipped"]]
    controls = collect_parameters(op, rules)
    assert list(controls) == ["boxcar.w", "formula: g * w.w", "c"]
    for name, meant in (("boxcar.w", ["boxcar.w"]), ("w", ["boxcar.w", "formula: g * w.w"])):
        choice, notices = from_query({"op": ["identity"], "rule": [r.key for r in rules], name: ["2"]})
        assert (choice.parameters, notices) == (dict.fromkeys(meant, 2), [])


def test_an_op_shares_its_parameter_with_its_rules():
    assert list(collect_parameters(OPS["clamp"], [RULES["masked"], RULES["published_clamp"]])) == ["lo", "hi"]
    hardtanh = collect_parameters(OPS["hardtanh"], [RULES["masked"]])
    assert hardtanh["lo"].default == -1


def test_pairs_stay_in_order_under_longer_names_too():
    rules = [RULES["masked"], find_rule("formula: g * (lo + hi)")]
    settings = {"masked.lo": 2.0, "masked.hi": 1.5}
    used, notices = sort_bounds(OPS["round"], rules, settings)
    assert used == {"masked.lo": 1.5, "masked.hi": 2.0}
    assert notices == ["masked.lo = 2 lies above masked.hi = 1.5: the two were swapped."]

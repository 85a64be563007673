"""Every entry is whole: words, parameters, families, and formulas that every printer can print."""

import ast
import itertools
import re
from html import unescape

import pytest
import torch

from explorer import catalogue
from explorer.catalogue import FAMILIES, GROUPS, OPS, RULES, Lattice, Op, Rule, find_op, resolve_values
from explorer.formula import MAX_DEPTH, MAX_LENGTH, MAX_NODES, OP_NAMES, RULE_NAMES, parse
from explorer.formula.tree import measure
from tests.catalogue.entry_cases import ENTRIES
from tests.selection import loop_over


def _formulas(entry: Op | Rule) -> list[tuple[str, tuple[str, ...]]]:
    """Every formula an entry holds, with the variables that may stand in it."""
    found = [(entry.formula, OP_NAMES if isinstance(entry, Op) else RULE_NAMES)]
    for kink in entry.kinks or ():
        parts = (kink.offset, kink.spacing, kink.low, kink.high) if isinstance(kink, Lattice) else (kink,)
        found += [(part, ()) for part in parts]
    if isinstance(entry, Rule):
        found.append((entry.antiderivative, ("x",)))
        found.append((None if entry.area == "infinite" else entry.area, ()))
    return [(text, variables) for text, variables in found if text is not None]


@loop_over("entry", ENTRIES)
def test_words(entry):
    assert re.fullmatch(r"[a-z][a-z0-9_]*", entry.key)
    assert entry.label == entry.label.strip() != ""
    for sentence in filter(None, (entry.purpose, entry.note, getattr(entry, "otherwise", ""))):
        assert sentence.endswith(".")
        assert sentence.count(". ") == 0
    assert entry.purpose
    assert not entry.source.endswith(".")


@loop_over("rule", RULES.values())
def test_a_rule_has_a_definition_in_about_six_words(rule):
    assert 3 <= len(rule.brief.split()) <= 8
    assert len(rule.brief) <= 46
    assert re.match(r"[a-z]+[ ',-]", rule.brief)
    assert not rule.brief.endswith(".")


@loop_over("rule", [rule for rule in RULES.values() if re.search("height|area", rule.brief)])
def test_a_height_or_area_in_a_definition_is_that_of_the_rule(rule):
    ((kind, value),) = re.findall(r"of (height|area) (\w+)", rule.brief)
    if kind == "area":
        assert rule.area == value
        return
    parameters = {p.name: 2.5 for p in rule.parameters if p.name == value}
    x = torch.linspace(-4, 4, 4001, dtype=torch.float64)
    heights = rule.parsed.bind(resolve_values(find_op("step"), rule, parameters))(x, x, torch.ones_like(x))
    assert heights.max().item() == pytest.approx(parameters.get(value) or float(value))


@pytest.mark.parametrize(
    ("key", "inside"),
    [
        ("round", "round"), ("relu", "ReLU"), ("leaky_relu", "leaky ReLU"), ("fp8_e4m3", "FP8 E4M3"),
        ("dorefa", "DoReFa"), ("bernoulli", "Bernoulli unit"), ("gumbel_sigmoid", "Gumbel-sigmoid"),
        ("gaussian_noise", "Gaussian noise"), ("stochastic_round", "stochastic rounding"),
        ("absmean_ternary", "absmean ternary (BitNet)"), ("formula: Mine = x * x", "Mine"),
    ],
)  # fmt: skip
def test_inside_a_sentence_an_op_keeps_the_capitals_of_names_alone(key, inside):
    assert find_op(key).sentence_label == inside


def test_keys_and_labels_are_unique():
    for table in (OPS, RULES):
        assert len({entry.label for entry in table.values()}) == len(table)
        assert all(key == entry.key for key, entry in table.items())


@loop_over("entry", ENTRIES)
def test_every_formula_is_read_within_the_limits_and_printed(entry):
    names = [p.name for p in entry.parameters]
    for text, variables in _formulas(entry):
        formula = parse(text, variables=variables, parameters=names)
        count, depth = measure(formula.tree)
        assert count <= MAX_NODES
        assert depth <= MAX_DEPTH
        assert len(formula.text) <= MAX_LENGTH
        assert parse(formula.text, variables=variables, parameters=names) == formula
        assert formula.latex
        for source in (formula.torch_source, formula.jax_source):
            ast.parse(source, mode="eval")


@loop_over("entry", ENTRIES)
def test_parameters_are_used_with_a_default_within_their_bounds_a_scale_and_a_meaning(entry):
    by_name = {p.name: p for p in entry.parameters}
    assert len(by_name) == len(entry.parameters)
    if entry.formula:
        learned = {name for each in getattr(entry, "learned", ()) for name in each.parameter_names}
        assert {*entry.parsed.parameters, *learned} == set(by_name)
    for parameter in entry.parameters:
        assert parameter.low <= parameter.default <= parameter.high
        if parameter.below:
            assert parameter.default <= by_name[parameter.below].default
        assert parameter.scale == ("log" if 0 < 100 * parameter.low <= parameter.high else "linear")
        noun, _, hint = parameter.meaning.partition(":")
        assert re.fullmatch(r"[a-z][a-z0-9 -]*", noun), "a short noun phrase first"
        assert len(noun.split()) <= 4
        assert parameter.meaning == f"{noun}{f': {hint.strip()}' if hint else ''}"


@loop_over("op", OPS.values())
def test_family_of_op(op):
    assert op.family in set(FAMILIES) - {"own"}


@loop_over("rule", RULES.values())
def test_group_and_families_of_rule(rule):
    assert rule.group in set(GROUPS) - {"own"}
    assert set(rule.suits) <= set(FAMILIES) - {"own"}
    assert bool(rule.suits) == bool(rule.otherwise)
    assert rule.source
    assert rule.group == "general" or rule.group in rule.suits
    assert rule.key not in ("tanh_surrogate", "super_spike") or "sign" in rule.suits  # their area is 2


@pytest.mark.parametrize(
    "shelves",
    [[op.family for op in OPS.values()], [rule.group for rule in RULES.values()]],
    ids=["families", "groups"],
)
def test_the_picker_shows_each_family_and_group_in_one_piece(shelves):
    in_order = [shelf for shelf, _ in itertools.groupby(shelves)]
    assert len(in_order) == len(set(in_order))


def test_families_and_groups_are_all_in_use():
    assert {op.family for op in OPS.values()} | {"own"} == set(FAMILIES)
    assert {rule.group for rule in RULES.values()} | {"own"} == set(GROUPS)
    assert find_op("formula: x**3").family == "own"
    assert catalogue.find_rule("formula: 3*x**2*g").group == "own"


def test_the_pickers_begin_with_what_is_used_most():
    assert next(iter(OPS)) == "round"
    assert list(RULES)[:3] == ["default", "straight_through", "masked"]


@loop_over("rule", [rule for rule in RULES.values() if rule.suits])
def test_a_name_shared_with_an_op_it_suits_means_the_same(rule):
    ranges = {p.name: (p.low, p.high) for p in rule.parameters}
    for op in OPS.values():
        if op.family in rule.suits:
            for parameter in op.parameters:
                shared = ranges.get(parameter.name, (parameter.low, parameter.high))
                assert shared == (parameter.low, parameter.high), (op.key, parameter.name)


@loop_over("entry", ENTRIES)
def test_an_entry_shows_itself(entry):
    text, page = repr(entry), entry._repr_html_()
    assert f"{type(entry).__name__} {entry.key}" in text
    for part in (entry.formula or "torch's own", *(f"{p.name}={p.default:g}" for p in entry.parameters)):
        assert part in text
    cells = [unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", page)]
    own = {entry.key, entry.label, entry.formula or "torch's own", entry.purpose, entry.source}
    assert own <= {*cells, ""}
    assert all(any(cell.startswith(p.meaning) for cell in cells) for p in entry.parameters)


def test_a_shared_name_is_one_parameter_with_the_default_of_the_op():
    hardtanh, masked = OPS["hardtanh"], RULES["masked"]
    assert resolve_values(hardtanh, masked, {}) == {"lo": -1.0, "hi": 1.0}
    assert resolve_values(OPS["round"], masked, {}) == {"lo": 0.0, "hi": 1.0}
    assert resolve_values(hardtanh, masked, {"lo": -0.5}) == {"lo": -0.5, "hi": 1.0}
    assert resolve_values(hardtanh, masked, {"masked.lo": -0.5})["lo"] == -1.0
    assert resolve_values(OPS["round"], masked, {"masked.lo": -0.5, "lo": 0.2})["lo"] == -0.5
    assert resolve_values(OPS["round"], masked, {"clipped.c": 3.0, "other": 1.0}) == {"lo": 0.0, "hi": 1.0}
    assert resolve_values(hardtanh, None, {"hi": 2.0}) == {"lo": -1.0, "hi": 2.0}

"""The browser's document: all of the catalogue, in JSON, under an address that changes with it."""

import json

import torch

from explorer import catalogue
from explorer.catalogue import OPS, RULES, Op, Rule, find_op, find_rule, list_learnable
from explorer.catalogue.noises import NOISES
from explorer.formula import Formula, parse
from explorer.formula.tree import Binary, Node
from explorer.instrument import make_document, make_entry
from tests.catalogue import fixed
from tests.formula.reading import read
from tests.selection import loop_over, take_part

RECORDS = [*OPS.values(), *RULES.values()]


def read_text(text: str, record: Op | Rule) -> Formula:
    return parse(text, variables=(), parameters=[p.name for p in record.parameters])


def test_the_document_is_json_and_small():
    text = json.dumps(make_document(), allow_nan=False)
    assert json.loads(text)["ops"].keys() == OPS.keys()
    assert list(make_document()["rules"]) == list(RULES)
    assert len(text) < 1400 * (len(OPS) + len(RULES) + len(NOISES))


@loop_over("record", RECORDS)
def test_an_entry_holds_its_record(record: Op | Rule):
    data = make_entry(record)
    for name in ("key", "label", "purpose", "source", "note", "formula"):
        assert data[name] == getattr(record, name)
    assert [p["name"] for p in data["parameters"]] == [p.name for p in record.parameters]
    assert record.formula is None or Formula(read(data["tree"])) == record.parsed
    for kink, shown in zip(record.kinks or (), data["kinks"] or (), strict=True):
        texts = vars(kink) if isinstance(kink, catalogue.Lattice) else {"": kink}
        trees = shown if isinstance(kink, catalogue.Lattice) else {"": shown}
        for name, text in texts.items():
            expected = text and read_text(text, record)
            assert (trees[name] is None) if text is None else Formula(read(trees[name])) == expected


@loop_over("op", OPS.values())
def test_an_op_has_its_gradient(op: Op):
    assert Formula(read(make_entry(op)["gradient"])) == op.parsed.gradient


def told_contribution(op: Op, rule: Rule, name: str) -> tuple[Node, Node | None]:
    """A contribution and its scale as the browser puts them together from the two entries."""
    of_op, of_rule = make_entry(op), make_entry(rule)
    if own := of_rule["learned"].get(name):
        return read(own["tree"]), own["scale"] and read(own["scale"])
    if rule.parsed and (way := of_op["follows"].get(name)):
        return Binary("+", read(way["outer"]), Binary("*", rule.parsed.tree, read(way["ratio"]))), None
    return read(of_op["torch"][name]["tree"]), None


@loop_over("op", take_part(op for op in fixed.OPS.values() if op.parameters))
def test_the_document_has_the_gradient_of_each_parameter_that_can_learn(op: Op):
    x = torch.linspace(-3.1, 3.3, 65, dtype=torch.float64)
    for given in (find_rule("formula: g * abs(x)"), *fixed.RULES.values()):
        rule = catalogue.adapt_rule(op, given)
        for name in list_learnable(op, rule):
            parameters = catalogue.resolve_values(op, rule, {})
            result = catalogue.find_contribution(op, rule, name)
            tree, scale = told_contribution(op, rule, name)
            sent, wanted = (f.bind(parameters)(x, x.cos(), x.sin()) for f in (Formula(tree), result.formula))
            torch.testing.assert_close(sent, wanted, rtol=1e-12, atol=1e-12)
            assert scale == (result.scale and result.scale.tree)
        unlearned = {p.name for p in op.parameters} - set(list_learnable(op, rule))
        assert not unlearned & {*make_entry(op)["torch"], *make_entry(rule)["learned"]}


def test_learned_parameters_have_descriptions():
    sent = make_entry(RULES["pact"])["learned"]["hi"]
    assert sent["text"] == "g * (x >= hi)"
    assert sent["atBound"] == catalogue.AT_BOUND["published"]
    assert make_entry(RULES["lsq"])["learned"]["s"]["scaleText"] == "1 / sqrt(N * qmax)"
    sent = make_entry(OPS["clamp"])["torch"]["hi"]
    assert sent["text"] == catalogue.find_contribution(OPS["clamp"], RULES["default"], "hi").readable.text
    own, beside = (OPS["clamp"].parsed.derive_gradient(tensors) for tensors in ((), ("hi",)))
    assert sent.get("gradient", make_entry(OPS["clamp"])["gradient"]) == beside.data
    assert ("gradient" in sent) == (own != beside)
    assert "gradient" not in make_entry(OPS["quantize"])["torch"]["s"]
    assert make_document()["origins"] == catalogue.ORIGINS


@loop_over("record", RECORDS)
def test_movable_parameters_are_declared_kinks(record: Op | Rule):
    values = {p.name: p.default + 0.125 for p in record.parameters}
    declared = [read_text(kink, record).value(values) for kink in record.kinks or () if isinstance(kink, str)]
    movable = [(kink["name"], kink["sign"]) for kink in make_entry(record)["movable"]]
    assert {sign * values[name] for name, sign in movable} <= {*declared}
    known = {"clamp": [("lo", 1), ("hi", 1)], "hardshrink": [("lambd", -1), ("lambd", 1)]}
    assert movable == known.get(record.key, movable)


def test_an_own_formula_is_an_entry_of_the_same_shape():
    own = make_entry(find_rule("formula: g * (abs(x) <= width) * y"))
    assert make_entry(RULES["clipped"]).keys() <= own.keys()
    assert own["kinks"] is None
    assert own["usesY"]
    pieces = [Formula(read(piece["tree"])).text for piece in own["pieces"]]
    assert pieces == ["sign(abs(x) - width)", "sign(x)"]
    assert Formula(read(own["slopes"]["y"])).text == "g * (abs(x) <= width)"


def test_a_piece_comes_with_what_turns_between_its_changes():
    own = make_entry(find_op("formula: sqrt(x * x * x - 3 * x + mean(x))"))
    (piece,) = own["pieces"]
    assert Formula(read(piece["tree"])).text == "sign(x * x * x - 3 * x + mean(x))"
    x = torch.linspace(-2, 2, 9, dtype=torch.float64)
    second, first = (Formula(read(turn)).bind()(x) for turn in piece["turns"])
    assert torch.equal(first, torch.sign(3 * x**2 - 3))
    assert torch.equal(second, torch.sign(x))
    # A mean is one number to the search for kinks.
    own = make_entry(find_op("formula: mean(abs(x)) * sign(x)"))
    assert [Formula(read(piece["tree"])).text for piece in own["pieces"]] == ["sign(x)"]
    assert Formula(read(own["slopes"]["x"])).text == "0"
    assert Formula(read(own["gradient"])).text == "mean(g * sign(x)) * sign(x)"

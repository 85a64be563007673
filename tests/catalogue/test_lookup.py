import inspect
import re
from html import escape

import pytest

import explorer
from explorer.catalogue import OPS, RULES, Op, Parameter, Rule, find_op, find_rule
from explorer.catalogue.records import RESERVED_NAMES
from explorer.formula import VARIABLES, FormulaError
from tests.catalogue.entry_cases import ENTRIES
from tests.selection import loop_over


def test_tables_cannot_be_changed():
    with pytest.raises(TypeError):
        OPS["mine"] = OPS["round"]
    with pytest.raises(TypeError):
        del RULES["default"]


@pytest.mark.parametrize("table", [OPS, RULES], ids=["ops", "rules"])
def test_a_table_is_read_like_a_dict(table):
    assert dict(table) == {entry.key: entry for entry in table.values()}
    assert list(reversed(table)) == list(table)[::-1]
    assert [entry.key for entry in reversed(table.values())] == list(table)[::-1]
    assert table.get("unheard_of") is None


def test_find_gives_entries_their_keys_and_own_formulas():
    assert find_op("round") is OPS["round"]
    assert find_op(OPS["round"]) is OPS["round"]
    assert find_rule("masked") is RULES["masked"]
    assert find_rule(RULES["masked"]) is RULES["masked"]
    assert find_rule("formula: k*g").parameters[0].name == "k"


@pytest.mark.parametrize(
    ("find", "key", "meant"),
    [
        (find_op, "sing", "did you mean 'sign'?"), (find_op, "ReLU", "did you mean 'relu'?"),
        (find_op, "swish", "did you mean 'silu'?"), (find_rule, "ste", "did you mean 'straight_through'?"),
        (find_rule, "Arctan", "did you mean 'atan_surrogate'?"),
        (find_rule, "mask", "did you mean 'masked' or 'masked_open' or 'toward_range'?"),
        (find_op, "masked", "it is a rule;"), (find_rule, "relu", "it is an op;"),
    ],
)  # fmt: skip
def test_an_unknown_key_is_refused_with_the_one_that_may_be_meant(find, key, meant):
    kind = find.__name__.removeprefix("find_")
    words = re.escape(f"unknown {kind} {key!r}: {meant} explorer.{kind.upper()}S")
    with pytest.raises(ValueError, match=words):
        find(key)


@pytest.mark.parametrize("word", ["asin", "log2", "exp2", "tan", "sinh", "glu", "logsigmoid", "", "_"])
def test_no_other_function_is_taken_for_a_slip_of_the_pen(word):
    """A word with a meaning of its own is never answered with a function of another meaning."""
    assert OPS.suggest_keys(word) == []
    with pytest.raises(ValueError, match=f"unknown op '{word}': explorer.OPS lists all, and 'formula: …'"):
        find_op(word)


@loop_over("entry", ENTRIES)
def test_every_name_of_an_entry_leads_to_it(entry):
    table = OPS if isinstance(entry, Op) else RULES
    for name in (entry.key, entry.label, entry.label.upper(), *entry.also):
        assert entry.key in table.suggest_keys(name), name
    if len(entry.key) > 4:
        assert entry.key in table.suggest_keys(entry.key[:-2] + entry.key[-1])


def test_an_unknown_key_is_refused():
    with pytest.raises(ValueError, match=r"unknown op 3: explorer\.OPS lists all"):
        find_op(3)
    with pytest.raises(FormulaError, match="column"):
        find_op("formula: g")


def test_a_custom_entry_is_returned_unchanged():
    op, rule = Op("mine", "Mine", "a * x", parameters=(Parameter("a", 2.0),)), Rule("mine", "Mine", "g")
    assert (find_op(op), find_rule(rule)) == (op, rule)
    assert op.family == "own"
    assert op.kinks is rule.kinks is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("start", 1.0), "a parameter cannot be called 'start': choose another name"),
        (("2c", 1.0), "a parameter cannot be called '2c': choose another name"),
        (("c", 20.0), "c = 20.0 must lie between -10.0 and 10.0"),
        (("c", float("nan")), "c = nan must lie between"),
    ],
)
def test_an_impossible_parameter_is_refused(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Parameter(*arguments)


def test_only_keywords_of_the_public_functions_are_taken():
    """A parameter stands among the keyword arguments of sample, apply and snippet."""
    named = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    words = {
        parameter.name
        for function in (explorer.sample, explorer.apply, explorer.snippet)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind in named
    }
    assert words - {*VARIABLES, "f"} == RESERVED_NAMES  # a number given for f is a parameter's
    for word in RESERVED_NAMES:
        with pytest.raises(FormulaError, match="choose another") as caught:
            find_rule(f"formula: g * abs(x - {word})")
        assert caught.value.column == 13
    assert [p.name for p in find_op("formula: x * range + lr + steps").parameters] == ["range", "lr", "steps"]


@pytest.mark.parametrize("table", [OPS, RULES], ids=["ops", "rules"])
def test_a_table_shows_itself(table):
    lines = repr(table).splitlines()
    assert [line.split()[0] for line in lines] == list(table)
    assert max(map(len, lines)) < 130
    for entry, line, row in zip(table.values(), lines, table._repr_html_().split("<tr>")[1:], strict=True):
        assert line.endswith(f"  {entry.label}")
        assert f"<td>{escape(entry.key)}</td>" in row.replace(' style="text-align:left"', "")
        assert escape(entry.formula or "torch's own") in row


def test_user_text_is_escaped():
    page = Op("<i>", "<b>", "x")._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page


def test_the_error_for_an_unknown_key_suggests_a_known_one():
    with pytest.raises(KeyError) as raised:
        RULES["ste"]
    assert str(raised.value) == "unknown rule 'ste': did you mean 'straight_through'?"
    with pytest.raises(KeyError, match="unknown op 'rounf': did you mean 'round'"):
        OPS["rounf"]
    assert ("ste" in RULES, RULES.get("ste"), 3 in RULES) == (False, None, False)

import sys
from functools import partial

import pytest
from hypothesis import given

from explorer.formula import MAX_DEPTH, MAX_LENGTH, MAX_NODES, FormulaError, parse
from explorer.formula.parsing import MAX_NAME, MAX_NESTING
from explorer.formula.quoting import cut_window
from explorer.formula.tree import measure
from tests.formula.hostile import HOSTILE
from tests.formula.strategies import PARAMETERS, many, texts
from tests.selection import loop_over

MOST_CALLS = 20_000  # of functions, Python's and C's; a time would depend on the machine


def refused(text, **given_names):
    with pytest.raises(FormulaError) as caught:
        parse(text, **given_names)
    return caught.value


def count_calls(action):
    """Return the number of functions that `action` calls."""
    events = []
    sys.setprofile(lambda frame, event, argument: events.append(event))
    try:
        action()
    finally:
        sys.setprofile(None)
    return sum(event in ("call", "c_call") for event in events)


@loop_over("text", HOSTILE)
def test_hostile_text_is_refused_at_once(text):
    for known in ((), None):  # these names, any names
        error = refused(text, parameters=known)
        assert 1 <= error.column <= len(text) + 1
        assert error.message == str(error)
        assert "\n" not in error.message
        assert len(error.message) <= 500
        assert count_calls(partial(refused, text, parameters=known)) < MOST_CALLS


@many
@given(texts)
def test_any_text_is_a_formula_or_a_formula_error(text):
    for parameters in (PARAMETERS, None):
        try:
            formula = parse(text, parameters=parameters)
        except FormulaError as found:
            error = found
        else:
            assert parse(formula.text, parameters=parameters) == formula
            assert formula.latex
            assert formula.torch_source
            assert formula.jax_source
            continue
        assert 1 <= error.column <= len(text) + 1
        assert error.mark_column(text).endswith("^")


@pytest.mark.parametrize("value", [None, 5, b"x", ["x"], 1j], ids=repr)
def test_a_formula_that_is_not_text_is_refused(value):
    assert "text" in refused(value).message


WRONG = [
    # text, column, a word of the sentence
    ("x * z", 5, 'unknown name "z" at column 5: use x, y, g or a parameter'),
    ("foo(x)", 1, 'unknown function "foo"'), ("x + sigmiod(x)", 5, "write sigmoid"),
    ("sinn(x)", 1, "write sin"),
    ("1j * x", 2, "operator"), ("1/2x", 4, '"2x" at column 4 can be read in two ways'),
    ("x / -2(x)", 7, '"2(" at column 7 can be read in two ways'),
    ("x²y", 3, '"2y" at column 3 can be read in two ways'),
    ("|x - 1", 1, 'the "|" at column 1 is never closed: add a "|"'),
    ("2 * (|x)", 6, 'the "|" at column 6 is never closed'),
    ("|x > 0|", 2, "an absolute value needs a number"), ("x|x|", 2, "before an absolute value write *"),
    ("(x > 2|x < -2) * 1", 7, '"|" at column 7 needs conditions'),
    ("x + torch.ops", 5, 'unknown name "torch.ops"'),
    ("ln(x, 1, 2)", 1, "ln at column 1 takes 1 argument, but got 3"),
    ("1 + square(x > 0)", 12, "an argument of square needs a number"),
    ("x = 1", 3, "arguments have no names"),
    ("relu(x, inplace=1)", 9, '"inplace=" at column 9: leave it out, the arguments of relu have no names'),
    ("clamp(min=1)", 7, "have no names here"), ("clamp(x, max=)", 14, "a value is missing"),
    ("(x=1)", 3, "assigns nothing"), ("2 (x)", 3, "operator"), ("x y", 3, "operator"),
    ("x(1)", 1, "* is missing"), ("abs", 1, "abs(…)"), ("abs()", 1, "takes 1 argument, but got 0"),
    ("heaviside(x)", 1, "takes 2 arguments, but got 1: the second is its value at 0"),
    ("clamp(x)", 1, "takes 3 arguments, but got 1"), ("abs(x,)", 7, "a value is missing"),
    ("abs(x", 4, "never closed"), ("x)", 2, "closes nothing"), ("", 1, "a value is missing at the end"),
    ("x +", 4, "a value is missing at the end"), ("x + * y", 5, 'a value is missing before "*"'),
    ("()", 2, 'a value is missing before ")"'), ("x // 2", 3, "floor(a / b)"),
    ("x = 2", 3, "use == to compare"), ("(x > 0) && (x < 1)", 9, "use & between"), ("!x", 1, "use ~ before"),
    ("x[0]", 2, "subscripts"), ("x.real", 2, "attributes"), ("x # y", 3, "comments"),
    ("(x > 0) and (x < 1)", 9, "use & between"),
    ("x if x > 0 else 1", 3, "where(condition, then, otherwise)"), ("1 * (not x > 0)", 6, "use ~ before"),
    ("x * True", 5, "use 1"), ("x @ y", 3, "not allowed"), ("x + ½", 5, "not allowed"),
    ("x + \0", 5, "U+0000"), ("x > 0", 1, "is a condition"), ("   (x > 0) & (x < 1)", 4, "is a condition"),
    ("1 * (x > 0 & x < 1)", 12, "put each in parentheses"), ("1 * (x & y)", 8, "needs conditions"),
    ("~x", 1, "needs conditions"), ("1 * (x < (y > 0))", 10, "a comparison needs a number"),
    ("abs(x > 0)", 5, "an argument of abs needs a number"),
    ("where(x, 1, 2)", 7, "the first argument of where"), ("elu(x, y)", 8, "must be a number or a parameter"),
    ("2 * 1e999", 5, "too large"), ("x" * (MAX_LENGTH + 1), MAX_LENGTH + 1, "at most 300 are allowed"),
]  # fmt: skip


@loop_over(("text", "column", "words"), WRONG)
def test_errors_point_at_the_place_and_say_what_to_write(text, column, words):
    error = refused(text)
    assert (error.column, words in error.message) == (column, True), error.message
    shown, caret = error.mark_column(text).split("\n")
    part, place = cut_window(text, column)
    assert len(shown) == len(part)
    assert caret == " " * (place - 1) + "^"
    if "column" in error.message:
        assert f"column {column}" in error.message


def test_variables_that_are_not_there_are_named():
    error = refused("x + g", variables=("x",))
    assert (error.column, error.message) == (5, '"g" at column 5 is not known here: use x')


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("_c", "starts and ends with a letter"), ("c_", "starts and ends with a letter"),
        ("__class__", "starts and ends with a letter"), ("c" * (MAX_NAME + 1), "too long"),
        ("lambda", "means something else"), ("match", "means something else"),
        ("torch", "means something else"), ("surrogate", "means something else"),
    ],
)  # fmt: skip
def test_names_that_make_no_parameter(name, words):
    error = refused(f"x * {name}", parameters=None)
    assert (error.column, words in error.message) == (5, True), error.message


def test_new_names_become_parameters_in_order():
    formula = parse("beta * x + c_1 * x + beta", parameters=None)
    assert (formula.parameters, formula.variables) == (("beta", "c_1"), ("x",))
    assert parse("c" * MAX_NAME, parameters=None).parameters == ("c" * MAX_NAME,)


def test_the_length_limit():
    assert parse("x" + " " * (MAX_LENGTH - 1)).text == "x"
    assert "at most 300 are allowed" in refused("x" + " " * MAX_LENGTH).message


def _flat(leaves):
    """A balanced sum, so that the number of nodes and not the depth meets its limit."""
    return "x" if leaves == 1 else f"({_flat(leaves // 2)}+{_flat(leaves - leaves // 2)})"


def test_one_part_more_than_the_limit_is_refused():
    text = _flat(MAX_NODES // 2)  # n leaves and n - 1 sums
    assert measure(parse(f"-{text}").tree)[0] == MAX_NODES
    assert "more than 96 parts" in refused(f"--{text}").message


def test_one_level_more_than_the_limit_is_refused():
    at_the_limit = "-" * (MAX_DEPTH - 1) + "x"
    assert measure(parse(at_the_limit).tree) == (MAX_DEPTH, MAX_DEPTH)
    error = refused("-" + at_the_limit)
    assert (error.column, "deeper than 16 levels" in error.message) == (1, True)


def test_one_parenthesis_more_than_the_limit_is_refused():
    deepest = MAX_NESTING - 1
    assert parse("(" * deepest + "x" + ")" * deepest).text == "x"
    assert "too many parentheses" in refused("(" * (deepest + 1) + "x" + ")" * (deepest + 1)).message

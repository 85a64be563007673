"""Quotations: short, and around the place that they are about."""

import pickle

import pytest

from explorer.formula import FormulaError, parse, quote, truncate
from explorer.formula.quoting import MAX_QUOTE, cut_window


@pytest.mark.parametrize("value", ["x", "a'b", 1.5, None, ["a", 1], {"a": 1}, (1, 2), float("nan")])
def test_short_values_are_quoted_as_python_writes_them(value):
    assert quote(value) == repr(value)


@pytest.mark.parametrize(
    "value", ["x" * 10**6, ["x" * 50] * 10**5, 10**4000, dict.fromkeys(range(9), "x" * 99)]
)
def test_long_values_are_shortened_to_the_length_of_a_quotation(value):
    assert len(quote(value)) <= MAX_QUOTE
    assert "…" in quote(value)


def test_a_text_is_shortened_to_its_length():
    assert (truncate("abcd", 4), truncate("abcde", 4)) == ("abcd", "abc…")


@pytest.mark.parametrize("length", [79, 80, 81, 200])
def test_a_window_around_a_column_contains_its_character(length):
    text = "".join(chr(0x4E00 + index) for index in range(length))
    for column in range(1, length + 1):
        part, place = cut_window(text, column)
        assert len(part) <= MAX_QUOTE
        assert part[place - 1] == text[column - 1]
    assert cut_window(text, length + 1)[1] == len(cut_window(text, length + 1)[0]) + 1


def test_a_long_formula_is_printed_around_its_mistake():
    text = " + ".join(["x"] * 40) + " + ? + x"
    with pytest.raises(FormulaError) as caught:
        parse(text)
    above, caret = caught.value.mark_column(text).split("\n")
    assert above[caret.index("^")] == "?"
    assert len(above) <= MAX_QUOTE


@pytest.mark.parametrize("text", ["g * (", "x +", "é" * 200])
def test_a_refusal_goes_through_pickle_as_pools_of_processes_send_it(text):
    with pytest.raises(FormulaError) as refused:
        parse(text)
    again = pickle.loads(pickle.dumps(refused.value))
    assert type(again) is FormulaError
    assert (str(again), vars(again)) == (str(refused.value), vars(refused.value))

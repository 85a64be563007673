"""Numbers as people type them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.formula import format_percent, format_short
from tests.frontend.modules import Node

READ = """
    const { explainInvalidNumber, parseNumber } = await import("./formula/numbers.js");
    const explain = (text) => parseNumber(text) === null ? explainInvalidNumber(text) : "";
    return given.map((text) => [parseNumber(text), explain(text)]);
"""
HOW = "write it as 2.5, 1/3, pi/2 or 1e-3."
TYPED: dict[str, float | str] = {
    "2,5": 2.5, "−2.5": -2.5, "0,125": 0.125, ",5": 0.5, " 1 / 3 ": 1 / 3, "pi/2": math.pi / 2,
    "2π": 2 * math.pi, "-3*pi/4": -3 * math.pi / 4, "1/-4": -0.25, "e": math.e, "1e-3": 1e-3, "1E3": 1000.0,
    "1,5e2": 150.0, "1,000": "“1,000” may be 1.000 or 1000: write it without a comma.",
    "1,234,567": "“1,234,567” may be 1234567: write it without a comma.",
    **{
        text: f"“{text}” is not a finite number: {HOW}"
        for text in ("1.234,5", "abc", "1/0", "1e999", "NaN", "3 4 x", "2*", "--1")
    },
}  # fmt: skip


def test_typed_numbers_are_read_or_refused_in_words(node: Node) -> None:
    answers = node.run(READ, list(TYPED))
    both = zip(TYPED, answers, strict=True)
    result = {text: sentence if value is None else value for text, (value, sentence) in both}
    assert result == {text: pytest.approx(value, rel=1e-15) if isinstance(value, float) else value
                     for text, value in TYPED.items()}  # fmt: skip


def test_a_number_beyond_what_is_allowed_is_refused_with_both_bounds(node: Node) -> None:
    script = """
        const { explainOutOfBounds } = await import("./formula/numbers.js");
        return given.map((row) => explainOutOfBounds(...row));
    """
    said = node.run(script, [[1.5, 1e-6, 0.999999], [0.999999, 1e-6, 0.999999], [-1.0, 0.0, 5.0]])
    words = "is not allowed here: choose a number from"
    assert said == [f"1.5 {words} 0.000001 to 0.999999.", "", f"−1 {words} 0 to 5."]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=20))
def test_every_number_that_python_writes_is_read_back(node: Node, values: list[float]) -> None:
    read = node.run(READ, [repr(value) for value in values])
    assert [float(value) for value, _ in read] == [value + 0.0 for value in values]


def test_a_share_is_written_as_in_every_sentence(node: Node):
    shares = [0, 1, 0.001, 0.0049, 0.0051, 0.5, 0.985, 0.9949, 0.9951, 0.999, 1e-12, 1 / 3]
    for share in shares:
        assert node.call("formula/numbers.js formatShare", share) == format_percent(share)
    assert [format_percent(share) for share in shares[2:4]] == ["less than 1 %"] * 2


def test_a_measured_number_is_written_alike_in_python_and_in_the_browser(node: Node):
    values = [0, 1, -2.5, 0.01234567, 0.001, 0.00099994, 3.14159e-7, 999.96, 1234.6, 46970, 9_999_999, 3.1e7]
    for value in values:
        assert node.call("formula/numbers.js formatShort", value) == format_short(value)
    for value, text in {-2.5: "−2.5", 46970: "46,970", 3.1e7: "3.1e7", 1e-5: "1e−5"}.items():
        assert format_short(value) == text

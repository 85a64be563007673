"""The survey of a table before anything is trained."""

import csv
import io
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.training.limits import MAX_TABLE_COLUMNS, MAX_TABLE_ROWS
from explorer.training.tasks.survey import Survey, make_survey
from explorer.training.tasks.table import read_table
from tests.training.tables import CHOSEN, POINTS, mixed_table, replace_line


def column(found: Survey, name: str):
    return next(each for each in found.columns if each.name == name)


def test_a_survey_describes_a_table_and_suggests_a_target():
    result = make_survey(mixed_table())
    assert (result.rows, result.named, result.delimiter, result.decimal) == (60, True, ";", ",")
    assert (result.target, result.without, result.refused) == ("Ecke", ("Nr", "Notiz"), "")
    assert [each.name for each in result.columns] == ["Nr", "links", "Ecke", "rechts", "Notiz"]
    assert column(result, "Ecke").classes == (("a", 30), ("b", 30))
    assert column(result, "Nr").suggested == "It numbers the rows."
    rows = csv.DictReader(io.StringIO(mixed_table()), delimiter=";")
    written = [float(row["links"].replace(",", ".")) for row in rows]
    assert (column(result, "links").low, column(result, "links").high) == (min(written), max(written))
    assert result.head == tuple(tuple(line.split(";")) for line in mixed_table().split("\n")[1:6])


def test_a_survey_keeps_the_chosen_columns():
    result = make_survey(CHOSEN.text, "links", ["Nr", "Notiz"])
    assert (result.target, result.without, result.refused) == ("links", ("Nr", "Notiz"), "")
    words = "such as 'frei 1' in row 1: leave it out, learn it, or let it have 2 to 12 different texts"
    assert make_survey(CHOSEN.text, "links", ["Nr"]).refused == f"column 'Notiz' holds text, {words}"
    gap = make_survey(replace_line(CHOSEN.text, 2, "2;1,0;n/a;1,5;frei"), "links", ["Nr", "Notiz"])
    words = "lacks a value in row 2 (read as missing: n/a): fill it in, or leave out row or column"
    assert (column(gap, "Ecke").fault, gap.refused) == (words, f"column 'Ecke' {words}")
    assert make_survey(POINTS, None, []).target == "corner"  # as saved before there was a choice


def test_an_empty_cell_of_the_target_is_a_gap_and_no_class_without_a_name():
    result = make_survey(replace_line(mixed_table(), 12, "12;1,0;;1,5;frei"))
    assert column(result, "Ecke").classes == (("a", 30), ("b", 29))
    assert result.refused == ("column 'Ecke' lacks a value in row 12: each row needs its class or number")
    assert (result.unusable, make_survey(result.complete).refused) == (1, "")


@pytest.mark.parametrize(
    "text", [mixed_table(), POINTS, mixed_table().replace(";", "\t"), "\n".join(POINTS.split("\n")[1:])]
)
def test_a_survey_counts_rows_with_gaps_and_offers_a_table_without_them(text):
    lines = text.split("\n")
    cut = re.compile(r"-?[\d]+[.,][\d]+")
    for row in (5, 17, 40):
        lines[row] = cut.sub("n/a" if row == 17 else "", lines[row], count=1)
    result = make_survey("\n".join(lines))
    assert (result.unusable, result.worst) == (3, "")
    assert "lacks a value in rows" in result.refused
    kept = [line for row, line in enumerate(lines) if row not in (5, 17, 40)]
    assert result.complete == "\n".join(kept) + "\n"
    again = make_survey(result.complete, result.target, result.without)
    assert (again.refused, again.unusable, again.complete) == ("", 0, "")
    assert (make_survey(text).unusable, make_survey(text).complete) == (0, "")


def test_a_column_is_left_out_where_that_loses_fewer_cells_than_its_rows():
    lines = POINTS.split("\n")
    mixed = ["mixed,", "1,", *["text,"] * len(lines)]
    result = make_survey("\n".join(map(str.__add__, mixed, lines)))
    assert (result.worst, result.unusable) == ("mixed", result.rows - 1)


@pytest.mark.parametrize(
    ("first", "second", "named"),
    [
        ("x,2020,kind", "1,2,a", True),  # a word above numbers
        ("2019,2020,kind", "1,2,a", False),
        ("x,y,kind", ",,a", True),  # the next row has a gap
        (",,kind", "1,2,a", True),
        (",2,a", "1,2,a", False),  # a gap is no word
        ("a,b,c", "x,y,z", False),
    ],
)
def test_a_first_row_with_words_above_numbers_is_read_as_names(first, second, named):
    below = second if named is False and "x" in second else "3,4,b"
    assert make_survey("\n".join([first, second, *[below] * 30])).named == named


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (",a,b\n" + "\n".join(f"{n},{n * n},{n % 2}" for n in range(30)), ["column 1"]),
        ("row_id,a,b\n" + "\n".join(f"{n * 7919 % 101},{n * n},{n % 2}" for n in range(30)), ["row_id"]),
        ("\n".join(f"{n},{n * n},{n % 2}" for n in range(30)), ["column 1"]),
        ("x,y\n" + "\n".join(f"{n},{3 * n + 1}" for n in range(30)), []),  # nothing else would be left
        ("paid,y,z\n" + "\n".join(f"{n % 3},{n * n},{n % 2}" for n in range(30)), []),
    ],
)
def test_columns_that_number_the_rows_are_left_out(text, names):
    assert list(make_survey(text).without) == names


@pytest.mark.parametrize(("text", "delimiter", "decimal", "columns"), [
    ("1,5;2,5;0\n" * 30, ";", ",", 3), ("1.5;2.5;0\n" * 30, ";", ".", 3),
    ("1,5\t2,5\t0\n" * 30, "\t", ",", 3), ("1,2,a;b\n" * 30, ",", ".", 3),
    ("height;weight, in kg, at noon\n" + "1;2\n" * 30, ";", ".", 2),  # commas in one name
    ("a, b, c\tkind\n" + "1.5\tx\n" * 30, "\t", ".", 2), ("a;b\n" + "1,5;2\n" * 30, ";", ",", 2),
    ('x,y\n"1,5",2\n' * 30, ",", ".", 2), ("\ufeffa;b;c\n1,5;2;0\n;;\n", ";", ",", 3),
])  # fmt: skip
def test_separators_and_decimal_marks_are_distinguished(text, delimiter, decimal, columns):
    result = make_survey(text)
    assert (result.delimiter, result.decimal, len(result.columns)) == (delimiter, decimal, columns)


def test_repeated_and_missing_column_names_are_made_distinct():
    found = [each.name for each in make_survey("a,a,,b\n" + "1,2,3,4\n" * 30).columns]
    assert found == ["a", "a (2)", "column 3", "b"]


@given(st.text(alphabet="ab01,;\t\n\"'.-e \ud800\x00é", max_size=60))
def test_any_text_is_either_surveyed_or_refused(text):
    try:
        result = make_survey(text)
    except ValueError as error:
        result = str(error)
    if isinstance(result, str):
        assert "\n" not in result
        return
    assert result.rows * len(result.columns) <= len(text) + len(result.columns)
    assert (result.refused == "") <= (result.rows >= 20)


def test_the_largest_table_is_read_and_a_wider_one_is_refused_early(monkeypatch):
    rows = [",".join(str(a * b % 7) for b in range(MAX_TABLE_COLUMNS)) for a in range(7)]
    largest = "\n".join(rows * (MAX_TABLE_ROWS // 7) + rows[: MAX_TABLE_ROWS % 7])
    assert make_survey(largest).rows == MAX_TABLE_ROWS
    assert make_survey(mixed_table() + "\n;;;;" * (2 * MAX_TABLE_ROWS)).rows == 60  # empty rows at the end
    monkeypatch.setattr(pd, "read_csv", None)
    with pytest.raises(ValueError, match="2 to 64 columns, not 499999"):
        read_table("1," * 499_998 + "1")

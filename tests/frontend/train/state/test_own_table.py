"""A visitor's own table in the browser: what is chosen of it, its file's letters, and what is shown of it."""

import re
from dataclasses import asdict
from typing import Any

import pytest

from explorer.training.tasks.survey import make_survey
from tests.frontend.modules import Node
from tests.frontend.train.conftest import Run
from tests.training.tables import mixed_table, replace_line

NEW = {"text": mixed_table(), "target": None, "without": None}


def test_the_columns_of_a_survey_are_taken_over_and_changed(tell: Run):
    result = asdict(make_survey(mixed_table()))
    read = tell("state/own-table", "asRead", NEW, result)
    assert read == {"text": mixed_table(), "target": "Ecke", "without": ["Nr", "Notiz"]}
    assert tell("state/own-table", "asRead", NEW, {"message": "No."}) == NEW
    other = tell("state/own-table", "withTarget", read, "Nr")
    assert (other["target"], other["without"]) == ("Nr", ["Notiz"])
    assert tell("state/own-table", "withOut", other, "Ecke", True)["without"] == ["Notiz", "Ecke"]
    assert tell("state/own-table", "withOut", read, "Nr", False)["without"] == ["Notiz"]


def test_a_preview_says_what_each_column_holds_and_why_one_cannot_be_taken(tell: Run):
    text = replace_line(mixed_table(), 12, "12;;a;1,5;frei")
    shown = tell("state/own-table", "buildTablePreview", asdict(make_survey(text, "Ecke", ["Nr"])))
    rows = {row["name"]: row for row in shown["rows"]}
    summary = "60 rows, 5 columns split at semicolons; learns Ecke; decimal commas; 1 row cannot be used"
    assert (shown["summary"], shown["unusable"], shown["worst"]) == (summary, 1, "")
    out = {"out": True, "remark": "It numbers the rows.", "holds": "number, 1 to 60"}
    learnt = {"learnt": True, "holds": "2 classes: a 31, b 29", "remark": ""}
    assert rows["Nr"].items() >= out.items()
    assert rows["Ecke"].items() >= learnt.items()
    assert rows["links"]["remark"].startswith("Lacks a value in row 12: fill it in")
    assert rows["Notiz"]["wrong"]
    assert shown["refused"].startswith("Column 'links' lacks a value in row 12")
    shown = tell("state/own-table", "buildTablePreview", asdict(make_survey(text, "links", ["Notiz"])))
    assert shown["rows"][2]["holds"] == "2 categories, an input each: a 31, b 29"
    assert "or from 2 to 12 categories" in shown["rows"][4]["remark"]
    assert len(shown["head"]) == 5
    alike = asdict(make_survey(re.sub(r"frei \d+", "frei", mixed_table())))
    shown = tell("state/own-table", "buildTablePreview", alike)
    row = shown["rows"][4]
    assert (row["holds"], row["remark"]) == ("1 text", "It holds only one text.")
    assert "rules; always guessing their commonest class: 50.0\xa0%;" in shown["summary"], "as in the chart"


def test_rows_that_cannot_be_used_are_left_out_and_what_was_chosen_stays(tell: Run):
    text = replace_line(replace_line(mixed_table(), 12, "12;;a;1,5;frei"), 20, "20;?!;a;1,5;frei")
    found = make_survey(text, "Ecke", ["Nr", "Notiz"])
    assert (found.unusable, make_survey(found.complete, "Ecke", ["Nr", "Notiz"]).refused) == (2, "")
    table = {"text": "before", "target": "Ecke", "without": ["Nr", "Notiz"]}
    assert tell("state/own-table", "dropGaps", table, asdict(found)) == table | {"text": found.complete}
    assert tell("state/own-table", "dropGaps", table, {"message": "No."}) == table


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("größe,b\n1,2\n".encode(), "größe,b\n1,2\n"), ("größe;b\n1;2\n".encode("cp1252"), "größe;b\n1;2\n"),
        ("größe\tb\n".encode("utf-16"), "größe\tb\n"),
        ("größe\tb\n".encode("utf-16-be").join([b"\xfe\xff", b""]), "größe\tb\n"),
        (b"PK\x03\x04 a workbook", "workbook"), (b"\x89PNG\x00\x00", "This is not text"),
        (b"\xef\xbb\xbf \r\n", "This file is empty"),
    ],
)  # fmt: skip
def test_a_file_is_read_in_the_letters_that_spreadsheets_write(node: Node, content: bytes, text: str):
    body = """
        const { decodeFile } = await import("./train/state/own-table.js");
        return decodeFile(new Uint8Array(given).buffer);
    """
    result: dict[str, Any] = node.run(body, list(content))
    assert result.get("text") == text or text in result.get("message", "")

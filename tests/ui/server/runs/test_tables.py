"""The route that tells what was read of a table."""

from explorer.training.limits import MAX_TABLE_BYTES
from tests.training.tables import mixed_table
from tests.ui.server.runs.test_jobs import told


def test_a_table_is_told_with_the_columns_that_suggest_themselves_or_those_that_are_chosen(client):
    new = {"text": mixed_table(), "target": None, "without": None}
    result = client.post("/table", {"table": new}).data
    assert (result["rows"], result["target"], result["without"]) == (60, "Ecke", ["Nr", "Notiz"])
    chosen = client.post("/table", {"table": new | {"target": "links", "without": ["Nr"]}}).data
    assert (chosen["target"], chosen["without"]) == ("links", ["Nr"])
    assert chosen["refused"].startswith("column 'Notiz' holds text")


def test_text_that_is_not_a_table_is_refused_in_a_sentence(client):
    for code, table, words in (
        (400, {"text": "1\n2\n"}, "This table cannot be read: a table needs 2 to 64 columns, not 1."),
        (400, {"text": 3}, "table must be CSV text"), (400, None, "table must be CSV text, not NoneType"),
        (400, {"text": mixed_table(), "without": ["Nr"] * 65}, "65 columns are left out"),
        (413, {"text": "1,2\n" * MAX_TABLE_BYTES}, "at most"),
    ):  # fmt: skip
        assert words in told(client.post("/table", {"table": table}), code)

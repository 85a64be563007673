"""The table of all rules in the browser: its texts, its order, its filter, its CSV."""

import json
from io import StringIO
from typing import Any

import pandas as pd
import pytest

import explorer
from explorer.catalogue import RULES
from tests.frontend.modules import Node
from tests.questions.asking import ask, ask_about_rule

SCRIPT = """
const table = await import("./measures/comparison.js");
const { formatCell, COLUMNS, makeComparisonCsv, filterRows, parseRow, sortRows } = table;
const { distances } = given;
const rows = given.rows.map(({ line, label, share, message }) => ({
  key: line?.rule ?? label, label, source: line?.source ?? "", share: share === "nan" ? NaN : share,
  lens: line ? (distances[line.rule] ?? null) : null,
  measured: line ? parseRow(line) : null, message,
}));
const names = COLUMNS.map(({ name }) => name);
return { cells: rows.map((row) => names.map((name) => formatCell(row, name))), csv: makeComparisonCsv(rows),
  orders: given.orders.map((order) => sortRows(rows, order).map(({ key }) => key)),
  found: given.texts.map((text) => filterRows(rows, text).map(({ key }) => key)) };
"""
CHOSEN = ("straight_through", "zero", "reversal", "clipped", "laplace")


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    lines = {key: ask_about_rule("row", f"op=step&rule={key}")["row"] for key in CHOSEN}
    assert json.loads(json.dumps(lines, allow_nan=False)) == lines
    given = [{"line": line, "share": line["share"], "message": ""} for line in lines.values()]
    return [row | {"label": RULES[row["line"]["rule"]].label} for row in given]


def run(node: Node, rows: list[dict[str, Any]], orders: Any = (), texts: Any = ()) -> dict[str, Any]:
    given = {"rows": rows, "orders": [*orders], "texts": [*texts]}
    given |= ask("distances", op="step", parameters={}, noise="laplace", width=1)
    return node.run(SCRIPT, given)


def test_texts_are_what_python_measured(node: Node, rows: list[dict[str, Any]]) -> None:
    cells = run(node, rows)["cells"]
    assert cells[0][:5] == ["Straight-through", "1", "∞", "∞", "100 %"]
    assert cells[0][6:9] == ["yes", "yes", "none"]
    assert (cells[1][5], cells[4][5]) == ("100 %", "0 %"), "Laplace is the step's slope under Laplace noise"
    assert cells[2][1:3] == ["−1", "−∞"]
    assert cells[3][1:5] == ["1", "2", "2", "68 %"]
    waiting = {"line": None, "label": "Later", "share": None, "message": ""}
    told = waiting | {"message": "Not here.", "share": "nan"}
    later, refused = run(node, [waiting, told])["cells"]
    assert later[:9] == ["Later", "…", "…", "…", "–", "–", "…", "…", "…"]
    assert set(refused[1:9]) == {"–"}


def test_the_csv_is_that_of_the_data_frame(node: Node, rows: list[dict[str, Any]]) -> None:
    table = explorer.compare("step", noise="laplace").set_index("rule").loc[[*CHOSEN]].reset_index()
    found = pd.read_csv(StringIO(run(node, rows)["csv"]))
    pd.testing.assert_frame_equal(found, pd.read_csv(StringIO(table.to_csv(index=False))), rtol=1e-6)


def test_the_comparison_sorts_by_any_column_with_nan_last(node: Node, rows: list[dict[str, Any]]) -> None:
    broken = {**rows[4], "line": {**rows[4]["line"], "area": "nan", "rule": "broken"}}
    orders = [{"by": "area", "down": True}, {"by": "area", "down": False}, {"by": "rule", "down": False},
              {"by": "", "down": True}]  # fmt: skip
    down, up, by_name, usual = run(node, [broken, *rows], orders)["orders"]
    assert down == ["straight_through", "clipped", "laplace", "zero", "reversal", "broken"]
    assert up == ["reversal", "zero", "laplace", "clipped", "straight_through", "broken"]
    assert by_name[0] == "clipped"
    assert usual == ["broken", *CHOSEN]


def test_the_comparison_is_filtered_by_name_source_and_check(node: Node, rows: list[dict[str, Any]]) -> None:
    failing = {**rows[0], "line": {**rows[0]["line"], "fails": "finite"}}
    texts = ["CLIPPED", "hubara", "finite", "nothing like it", ""]
    found = run(node, [failing, *rows[1:]], texts=texts)["found"]
    assert found == [["clipped"], ["clipped"], ["straight_through"], [], list(CHOSEN)]

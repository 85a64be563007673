import json
import re
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
import torch

from explorer.training import Run, Settings
from explorer.training.limits import MAX_TABLE_COLUMNS, MAX_TABLE_ROWS
from explorer.training.tasks.columns import Table
from explorer.training.tasks.table import read_table
from tests.selection import loop_over
from tests.training.driving import build
from tests.training.tables import CHOSEN, POINTS, mixed_table, points, replace_line


def numbers(rows=40):
    """x, and y = 3x + 1."""
    return "\n".join(f"{row / 7},{3 * row / 7 + 1}" for row in range(rows))


def with_cell(text, row, column, cell):
    lines = [line.split(",") for line in text.split("\n")]
    lines[row][column] = cell
    return "\n".join(",".join(line) for line in lines)


@pytest.mark.parametrize(("table", "metric"), [(POINTS, "accuracy"), (numbers(200), "R²")])
def test_a_net_learns_a_class_or_a_number_from_a_table(table, metric):
    run = build(200, table=table, op="relu", rules=("default",))
    snapshot = run.snapshot()
    assert (run.settings.task, snapshot.metric) == ("data", metric)
    assert snapshot.score["default"][0] > 0.9
    if metric == "R²":
        assert (snapshot.accuracy, snapshot.chance) == ({"default": None}, None)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_columns_are_split_at_commas_semicolons_and_tabs(delimiter, end):
    data = read_table(POINTS.replace(",", delimiter).replace("\n", end))
    assert torch.equal(data.train.x, read_table(POINTS).train.x)


def test_columns_are_standardised_and_classes_are_counted():
    data = read_table(POINTS)
    x = torch.cat([part.x for part in (data.train, data.validation, data.held_out)])
    torch.testing.assert_close(x.mean(0), torch.zeros(2), atol=1e-5, rtol=0)
    torch.testing.assert_close(x.std(0, unbiased=False), torch.ones(2))
    assert data.outputs == 2
    assert [len(part.x) for part in (data.train, data.validation, data.held_out)] == [36, 12, 12]


def test_columns_and_classes_keep_their_names():
    data = read_table("\n".join(["a very long name of a column,b,kind", *POINTS.splitlines()[1:]]))
    assert data.labels == {
        "names": data.names, "inputs": ("a very long name of…", "b"), "target": "kind", "unit": (0.0, 1.0),
    }  # fmt: skip


def test_each_text_of_a_column_of_few_is_an_input():
    none = CHOSEN.text.replace(";b;", ";none;")  # a word among words
    data, words = (read_table(Table(text, "links", ("Nr", "Notiz"))) for text in (CHOSEN.text, none))
    assert (data.inputs, words.inputs[1]) == (("Ecke = a", "Ecke = b", "rechts"), "Ecke = none")
    assert set(data.train.x[:, 0].tolist()) == {-1.0, 1.0}  # 1 in half of the rows, standardised
    assert torch.equal(data.train.x[:, 0], -data.train.x[:, 1])
    many = "\n".join(f"{','.join(f'{at}t{row % 11}' for at in range(6))},{row}" for row in range(40))
    with pytest.raises(ValueError, match="have 66 numbers and categories: leave some out, at most 64 fit"):
        read_table(many)


def test_columns_of_any_scale_and_constant_columns_are_standardised():
    rows = "\n".join(f"{row * 1e9},7,{row * 1e-9},{row % 2}" for row in range(50))
    x = read_table(rows).train.x
    assert x.isfinite().all()
    assert x[:, 1].tolist() == [0.0] * len(x)
    torch.testing.assert_close(x[:, 0], x[:, 2])


@loop_over(
    ("text", "words"),
    [
        ("", "the table is empty"),
        (points(10), "at least 20 rows of values, not 10"),
        ("1\n2\n3", "2 to 64 columns, not 1"),
        (with_cell(POINTS, 3, 0, ""), "column 'left' lacks a value in row 3: fill it in"),
        (with_cell(POINTS, 3, 2, ""), "column 'corner' lacks a value in row 3: each row needs its class"),
        (
            re.sub(r"(?m),.*$", ",NA", numbers(60), count=7),
            "column 2 lacks a value in rows 1, 2, 3, 4, 5 and 2 more",
        ),
        (POINTS + "\n1,2,a,4", "line 62 has 4 columns, but the first line has 3: give all lines as many"),
        (POINTS.replace("b", "a"), "only one class"),
        ("\n".join(f"4,5,{row % 2}" for row in range(30)), "every column to learn from is constant"),
        (
            "\n".join(f"{row},text{row}" for row in range(40)),
            "column 2 has 40 different texts: a target has at most 32 classes",
        ),
        ("\n".join(f"{row},2.5" for row in range(40)), "the same target"),
        ("\n".join(["1,2"] * (MAX_TABLE_ROWS + 2)), "at most 4,096 rows"),
        (",".join("1" * (MAX_TABLE_COLUMNS + 1)) + "\n", "columns, not 65"),
        ("1,2\n" * 300_000, "at most 1,000,000 bytes, and this one has more"),
        ('"1,2\n', "the text is not CSV"),
        ("\x00,1\n" * 30, "column 1 holds text, such as '\\x00' in row 1: leave it out"),
    ],
)
def test_unreadable_tables_are_explained_in_a_sentence(text, words):
    with pytest.raises(ValueError, match=r"\w") as caught:
        Settings(table=text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("row", "most"), [("1", 0), ("1,2", MAX_TABLE_ROWS + 2)])
def test_no_more_rows_are_read_than_a_table_may_have(row, most, monkeypatch):
    read = [0]
    whole = pd.read_csv
    monkeypatch.setattr(pd, "read_csv", lambda *a, **k: (frame := whole(*a, **k), read.append(len(frame)))[0])
    with pytest.raises(ValueError, match=r"2 to 64 columns|at most 4,096 rows"):
        read_table(f"{row}\n" * 200_000)
    assert sum(read) == most


def test_a_table_and_the_data_task_require_each_other():
    with pytest.raises(ValueError, match=r'the task "data" needs a table'):
        Settings(task="data")
    with pytest.raises(ValueError, match=r'a table is for the task "data", not for "digits"'):
        Settings(task="digits", table=POINTS)
    with pytest.raises(ValueError, match="table must be CSV text, not int"):
        Settings(task="data", table=3)


def test_settings_and_snapshots_do_not_show_the_table():
    settings = Settings(table=POINTS)
    assert "corner" not in repr(settings)
    snapshot = Run(settings).snapshot()
    assert "corner" not in repr(snapshot)
    assert not any(isinstance(value, str) and "," in value for value in vars(snapshot).values())


def test_a_small_table_is_one_batch():
    run = build(table=POINTS, rules=("default",), batch=64)
    (x,) = run.nets.batch[0]
    assert len(x) == 36
    assert np.isfinite(run.snapshot().score["default"]).all()


def test_any_column_can_be_the_target_of_a_table_with_decimal_commas():
    result, plain = read_table(CHOSEN), read_table(POINTS)
    assert torch.equal(result.train.x, plain.train.x)
    assert torch.equal(result.held_out.y, plain.held_out.y)
    assert result.names == ("a", "b")
    numbers = read_table(Table(mixed_table(), target="links", without=("Nr", "Ecke", "Notiz")))
    assert numbers.train.y.is_floating_point()
    assert numbers.train.x.shape[1] == 1


def test_a_table_with_chosen_columns_survives_json():
    settings = Settings(table=CHOSEN, device="cpu")
    again = Settings(**json.loads(json.dumps(asdict(settings))))
    assert again == settings
    assert hash(again) == hash(settings)
    # As a file saved before there were columns to choose.
    assert Settings(table={"text": POINTS}).table == POINTS


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"target": "height"}, "the table has no column 'height': it has Nr, links, Ecke, rechts, Notiz"),
        ({"without": ["height"]}, "the table has no column 'height'"),
        ({"target": "Nr", "without": ["Nr"]}, "is both the target and left out"),
        ({"without": ["Nr", "links", "Ecke", "Notiz"]}, "at least one other column"),
        ({"without": ["Nr"] * 65}, "65 columns are left out: a table has at most 64"),
        ({"without": "Nr"}, "without must be a list of column names, not 'Nr'"),
        ({"target": 3}, "the target must be the name of a column, not 3"),
        ({"rows": 3}, "unknown key 'rows' in table"),
        ({"target": "Ecke"}, "column 'Notiz' holds text, such as 'frei 1' in row 1: leave it out"),
        ({"target": "Notiz"}, "column 'Notiz' has 60 different texts: a target has at most 32 classes"),
    ],
)
def test_invalid_columns_are_refused_in_a_sentence(chosen, words):
    with pytest.raises(ValueError, match=r"\w") as caught:
        Settings(table={"text": mixed_table()} | chosen)
    assert words in str(caught.value)


def test_a_decimal_point_among_decimal_commas_is_refused():
    with pytest.raises(ValueError, match=r"column 'links' is '1\.234' in row 2"):
        read_table(Table(replace_line(mixed_table(), 2, "2;1.234;a;5,5;frei"), "Ecke", ("Nr", "Notiz")))

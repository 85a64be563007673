"""Nets that learn a number from a table: run, company and exported script agree in every bit."""

import random

import numpy as np
import pytest
import torch

from explorer.scripts import script
from explorer.snippets import layout
from explorer.training import Settings
from tests.training.driving import losses, train

STEPS = 20
RULES = ("straight_through", "zero")
CASES = 42


def draw_table(rng):
    """A table of 20 to 90 rows whose last column is a noisy sum of the others."""
    columns = rng.randint(1, 6)
    rows = [[rng.gauss(0, 1) for _ in range(columns)] for _ in range(rng.randint(20, 90))]
    lines = [",".join(f"{value:.3f}" for value in [*row, sum(row) + rng.gauss(0, 0.1)]) for row in rows]
    return "\n".join([",".join(f"c{column}" for column in range(columns + 1)), *lines])


def draw_settings(seed):
    """Settings of a run on a random table, whose batches are any number of rows or all of them."""
    rng = random.Random(seed)
    return {
        "table": draw_table(rng), "steps": STEPS, "device": "cpu", "bias": rng.random() < 0.7,
        "op": rng.choice(["sign", "tanh", "round", "relu", "clamp"]), "batch": rng.randint(1, 100),
        "hidden": rng.choice([1, 4, 7, 16, 32, (8, 6), (5, 3)]),
        "optimiser": rng.choice(["sgd", "momentum", "adam"]),
    }  # fmt: skip


@pytest.fixture(params=[1, 2, 4], ids="{} threads".format)
def threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def test_a_run_on_a_table_equals_its_script_and_a_run_in_company(threads, tmp_path, monkeypatch):
    monkeypatch.setattr(layout, "format_code", lambda code: code)
    monkeypatch.chdir(tmp_path)
    for seed in range(threads * 100, threads * 100 + CASES // 3):
        given = draw_settings(seed)
        settings = Settings(**given, rules=RULES[:1])
        expected = losses(train(settings, recorded=()))[RULES[0]]
        assert run_script(settings) == expected, seed
        assert losses(train(Settings(**given, rules=RULES), recorded=()))[RULES[0]] == expected, seed


@pytest.mark.parametrize("target", [lambda i: "ab"[i % 2], lambda i: i / 3], ids=["classes", "numbers"])
def test_a_script_leaves_out_the_rows_that_lack_a_value(target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["a,b,kind", *(f"{i},{i % 7},{target(i)}" for i in range(120))]
    settings = Settings(table="\n".join(rows), op="sign", rules=RULES[:1], steps=8, device="cpu")
    rows[9:9] = ["?,3,1", "5,NaN,1", "5,5,"]
    assert "# Save your table as table.csv in the folder in which you run this script.\n" in script(settings)
    assert run_script(settings, "\n".join(rows)) == losses(train(settings, recorded=()))[RULES[0]]


def run_script(settings, file_text=None):
    """The losses of the only rule of a script, run where its table is."""
    with open("table.csv", "w", encoding="utf-8") as file:
        file.write(file_text or settings.table)
    threads, names = torch.get_num_threads(), {}
    exec(script(settings).rpartition("\nfor op")[0], names)
    function = next(value for name, value in names.items() if name.endswith("_straight_through"))
    found, _ = names["train"](function, 0)
    torch.set_num_threads(threads)
    return np.float32(found).tolist()

"""The first held-out examples as bytes, and what is read in them, each computed in another way."""

import numpy as np
import pytest
import torch

from explorer.training import TASKS, Run, Settings
from explorer.training.tasks.task import Draw
from tests.training.tables import points


def records(**settings):
    run = Run(Settings(device="cpu", rules=("default", "straight_through"), **settings), recorded=())
    run.advance(3)
    return run, run.snapshot(("reads",)).measured["reads"]


def held_out(task, table=None):
    return TASKS[task].data(Draw(torch.Generator().manual_seed(0), 64, table)).held_out


def read_by_hand(run, rule, x):
    """The classes that a net with one layer of signs reads, from its weights."""
    of = {name: weight.numpy() for name, weight in run.weights().items()}
    first, second = ([of[f"{rule}.0.{layer}.{part}"] for part in ("weight", "bias")] for layer in ("0", "1"))
    hidden = np.sign(x @ first[0].T + first[1])
    return (hidden @ second[0].T + second[1]).argmax(-1)


def test_reads_match_the_pixels_and_the_answers_of_the_net():
    run, found = records(task="digits", op="sign")
    x, y = (each.numpy() for each in held_out("digits"))
    first = found["default"]
    spread = x.max() - x.min()
    assert first["values"].reshape(48, 64) / 255 == pytest.approx((x[:48] - x.min()) / spread, abs=0.002)
    assert first["classes"].tolist() == y[:48].tolist()
    assert (first["of"], first["judged"], first["width"], first["columns"]) == (len(y), True, 64, 64)
    assert len(found["straight_through"]["values"]) == 0
    for rule, record in found.items():
        assert record["read"].tolist() == read_by_hand(run, rule, x[:48]).tolist()


def test_rows_of_a_table_are_encoded_around_the_byte_of_0():
    table = points(200)
    _, found = records(task="data", op="sign", table=table)
    x, y = (each.numpy() for each in held_out("data", table))
    first = found["default"]
    assert (first["width"], first["of"], first["classes"].tolist()) == (2, len(y), y[:48].tolist())
    back = (first["values"].reshape(-1, 2) - first["zero"]) * (x.max() - x.min()) / 255
    assert back == pytest.approx(x[:48], abs=float(x.max() - x.min()) / 255)


def test_a_regression_task_shows_its_first_columns():
    _, found = records(task="documents", op="relu", seeds=2)
    first = found["default"]
    assert (first["judged"], first["of"], first["width"], first["columns"]) == (False, 64, 64, 1000)
    assert (len(first["classes"]), len(first["read"]), len(first["values"])) == (0, 0, 48 * 64)
    assert (len(first["aims"]), len(first["guesses"])) == (0, 0)


def test_predictions_of_a_number_are_recorded_with_their_targets():
    rows = [f"{row % 13},{row % 7},{2 * (row % 13) + row % 7 + 0.5}" for row in range(300)]
    table = "\n".join(["height,width,price", *rows])
    run, found = records(task="data", op="sign", table=table)
    x, y = (each.numpy() for each in held_out("data", table))
    of = {name: weight.numpy() for name, weight in run.weights().items()}
    for rule, record in found.items():
        assert record["aims"].tolist() == y[:, 0].tolist()
        first, second = (
            [of[f"{rule}.0.{layer}.{part}"] for part in ("weight", "bias")] for layer in ("0", "1")
        )
        guesses = np.sign(x @ first[0].T + first[1]) @ second[0].T + second[1]
        assert record["guesses"] == pytest.approx(guesses[:, 0], abs=1e-5)
        assert record["labels"]["inputs"] == ("height", "width")
        assert (record["labels"]["target"], record["labels"]["names"]) == ("price", ())
        mean, deviation = record["labels"]["unit"]
        prices = {round(mean + deviation * aim, 3) for aim in record["aims"].tolist()}
        assert prices <= {2 * height + width + 0.5 for height in range(13) for width in range(7)}


def test_points_of_a_plane_are_not_shown():
    run = Run(Settings(device="cpu", task="circles", op="sign", rules=("default",)), recorded=())
    snapshot = run.snapshot(("reads",))
    assert "reads" not in snapshot.measured
    assert snapshot.unmeasured["reads"] == "Not shown here: the examples are points."

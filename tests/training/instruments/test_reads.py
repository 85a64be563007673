"""The first held-out examples as bytes, and what is read in them, each computed in another way."""

import pytest
import torch

from explorer.training import TASKS
from explorer.training.tasks.task import Draw
from tests.training.by_hand import read_layers, run_dense
from tests.training.driving import build, measure
from tests.training.tables import points


def records(**settings):
    return measure("reads", 3, rules=("default", "straight_through"), **settings)


def held_out(task, table=None):
    return TASKS[task].data(Draw(torch.Generator().manual_seed(0), 64, table)).held_out


def test_reads_match_the_pixels_and_the_answers_of_the_net():
    run, found = records(task="digits", op="sign")
    x, y = (each.numpy() for each in held_out("digits"))
    first = found["default"]
    spread = x.max() - x.min()
    assert first["values"].reshape(49, 64) / 255 == pytest.approx((x[:49] - x.min()) / spread, abs=0.002)
    assert first["classes"].tolist() == y[:49].tolist()
    assert (first["of"], first["judged"], first["width"], first["columns"]) == (len(y), True, 64, 64)
    assert len(found["straight_through"]["values"]) == 0
    for member, record in enumerate(found.values()):
        outputs = run_dense(torch.from_numpy(x[:49]), read_layers(run, member), lambda x, _: x.sign())[1]
        assert record["read"].tolist() == outputs.argmax(-1).tolist()


def test_rows_of_a_table_are_encoded_around_the_byte_of_0():
    table = points(200)
    _, found = records(task="data", op="sign", table=table)
    x, y = (each.numpy() for each in held_out("data", table))
    first = found["default"]
    assert (first["width"], first["of"], first["classes"].tolist()) == (2, len(y), y[:49].tolist())
    back = (first["values"].reshape(-1, 2) - first["zero"]) * (x.max() - x.min()) / 255
    assert back == pytest.approx(x[:49], abs=float(x.max() - x.min()) / 255)


def test_a_regression_task_shows_its_first_columns():
    _, found = records(task="documents", op="relu", seeds=2)
    first = found["default"]
    assert (first["judged"], first["of"], first["width"], first["columns"]) == (False, 64, 64, 1000)
    assert (len(first["classes"]), len(first["read"]), len(first["values"])) == (0, 0, 49 * 64)
    assert (len(first["aims"]), len(first["guesses"])) == (0, 0)


def test_predictions_of_a_number_are_recorded_with_their_targets():
    rows = [f"{row % 13},{row % 7},{2 * (row % 13) + row % 7 + 0.5}" for row in range(300)]
    table = "\n".join(["height,width,price", *rows])
    run, found = records(task="data", op="sign", table=table)
    x, y = (each.numpy() for each in held_out("data", table))
    for member, record in enumerate(found.values()):
        assert record["aims"].tolist() == y[:, 0].tolist()
        outputs = run_dense(torch.from_numpy(x), read_layers(run, member), lambda x, _: x.sign())[1]
        assert record["guesses"] == pytest.approx(outputs[:, 0], abs=1e-5)
        assert record["labels"]["inputs"] == ("height", "width")
        assert (record["labels"]["target"], record["labels"]["names"]) == ("price", ())
        mean, deviation = record["labels"]["unit"]
        prices = {round(mean + deviation * aim, 3) for aim in record["aims"].tolist()}
        assert prices <= {2 * height + width + 0.5 for height in range(13) for width in range(7)}


def test_points_of_a_plane_are_not_shown():
    snapshot = build(task="circles", op="sign", rules=("default",)).snapshot(("reads",))
    assert "reads" not in snapshot.measured
    assert snapshot.unmeasured["reads"] == "Not shown here: the examples are points."

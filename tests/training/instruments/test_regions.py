"""The classes of a plane: those that the net itself gives, place by place."""

import numpy as np
import pytest
import torch

from explorer.training import Run
from explorer.training.instruments.regions import NO_CLASS, SIDE, _classify_cells, is_plane
from explorer.training.tasks import TASKS, Draw
from tests.training.by_hand import read_layers, run_dense
from tests.training.driving import build, measure, read_records

RULES = ("default", "clipped")
SIGN = lambda x, _: x.sign()  # noqa: E731


@pytest.fixture(scope="module")
def run() -> Run:
    return build(30, task="moons", rules=RULES, seeds=2, seed=3)


def test_each_cell_has_the_class_of_its_centre(run: Run):
    for rule, seen in read_records(run, "regions").items():
        left, bottom, width = seen.square
        cell = width / SIDE
        places = [(at % SIDE + 0.5, at // SIDE + 0.5) for at in range(0, SIDE * SIDE, 41)]
        middles = [(left + across * cell, bottom + up * cell) for across, up in places]
        chances = run_dense(torch.tensor(middles), read_layers(run, 2 * rule), SIGN)[1].softmax(-1)
        cells = torch.from_numpy(seen.cells[::41].astype(int))
        assert torch.equal(cells // seen.levels, chances.argmax(-1))
        sure = (2 * chances.amax(-1) - 1) * seen.levels
        assert ((cells % seen.levels) - sure).abs().max() <= 1.01


def test_shares_and_score_belong_to_the_first_net(run: Run):
    scores = run.snapshot().score
    for (rule, seen), name in zip(read_records(run, "regions").items(), RULES, strict=True):
        assert (seen.seed, seen.of_seed) == (0, 3)
        assert seen.score == pytest.approx(float(scores[name][0]))
        assert seen.shares.sum() == pytest.approx(1)
        assert seen.shares[1] == pytest.approx(np.mean(seen.cells // seen.levels == 1)), rule
        assert f"{seen.score:.0%}"[:-1] in seen.words


def test_one_rule_alone_is_measured_if_only_its_regions_are_drawn(run: Run, monkeypatch):
    whole = read_records(run, "regions")
    counts = []
    forward = run.nets.ensemble.forward_traced
    counted = lambda _, x, members: counts.append(len(members)) or forward(x, members)  # noqa: E731
    monkeypatch.setattr(type(run.nets.ensemble), "forward_traced", counted)
    first, second = run.snapshot(("regions?rule=2",)).measured["regions?rule=2"].values()
    assert first is None
    assert second["cells"].tolist() == whole[1].cells.tolist()
    assert counts == [1, 1]
    assert "regions?rule=3" in run.snapshot(("regions?rule=3",)).unmeasured


def test_examples_of_each_part_lie_within_the_square(run: Run):
    seen = read_records(run, "regions")[0]
    data = run.nets.data[0]
    for points, part in ((seen.trained, data.train), (seen.held_out, data.held_out)):
        across, up, classes = torch.from_numpy(points.reshape(-1, 3).astype("f4")).T
        places = torch.stack([across, up], 1) / 255 * seen.square.width
        x = part.x[: len(places)] - torch.tensor(seen.square[:2])
        assert (places - x).abs().max() < seen.square.width / 255
        assert torch.equal(classes.long(), part.y[: len(places)])
        assert 0 < across.min() < across.max() < 255


def test_a_cell_with_a_non_finite_output_has_no_class():
    outputs = torch.tensor([[[2.0, -1.0], [float("nan"), 0.0], [float("inf"), 0.0], [0.0, 0.0]]])
    cells, shares = _classify_cells(outputs)
    assert cells[0, 1] == cells[0, 2] == NO_CLASS
    assert (cells[0, 0], cells[0, 3]) == (int(127 * (2 / (1 + np.exp(-3)) - 1)), 0)
    assert shares[0].tolist() == [0.5, 0]


def test_a_cell_can_encode_32_classes():
    cells, shares = _classify_cells(torch.eye(32).unsqueeze(0) * 50)
    assert (cells[0] // 7).tolist() == list(range(32))
    assert cells.max() < NO_CLASS
    assert shares[0].tolist() == [1 / 32] * 32


def test_regions_name_the_classes_of_a_table():
    rows = [f"{n},{n % 7},{('a class with a very long name', 'b')[n % 2]}" for n in range(40)]
    table = "\n".join(["left,right,kind", *rows])
    (seen,) = measure("regions", table=table, rules=("default",))[1].values()
    assert seen["names"] == ["a class with a very…", "b"]
    assert "of the plane: a class with a very… " in seen["words"]


def test_tasks_with_two_inputs_and_classes_have_a_plane():
    table = "\n".join(f"{n},{n % 7},{n % 2}" for n in range(40))
    draw = Draw(torch.Generator(), 4, table)
    with_plane = {key for key, task in TASKS.items() if is_plane(task.data(draw))}
    assert with_plane == {"circles", "moons", "spiral", "xor", "data"}
    numbers = "\n".join(f"{n},{n % 7},{n / 3}" for n in range(40))
    data = TASKS["data"].data(Draw(torch.Generator(), 4, numbers))
    assert (is_plane(data), data.names) == (False, ())

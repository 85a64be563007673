"""A training that is watched: the same numbers, as pictures that go on."""

import io
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import explorer
from explorer.notebook import training
from explorer.notebook.training_picture import make_run_picture
from explorer.notebook.training_widget import Training
from explorer.training import Run, Settings
from explorer.training.runs.lines import BASIS

SETTINGS = Settings(task="moons", rules=("default", "clipped"), steps=12, seeds=2)


class Net(torch.nn.Sequential):
    def __init__(self) -> None:
        linear = torch.nn.Linear
        super().__init__(linear(8, 12), torch.nn.ReLU(), torch.nn.Dropout(0.2), linear(12, 2))


def race_arguments() -> tuple[Any, ...]:
    x = torch.randn(200, 8, generator=torch.Generator().manual_seed(0))
    y = (x[:, 0] * x[:, 1] > 0).long()
    return Net, (x[:120], y[:120]), (x[120:], y[120:]), ["default", "zero"]


@pytest.fixture
def pictures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every picture that is drawn, where one is due after each step."""
    drawn: list[Any] = []

    class Shown:
        picture = property(fset=lambda _, picture: drawn.append(picture))

        def update_image(self) -> None:
            drawn.append("image")

    monkeypatch.setattr(training, "_display", lambda draw: drawn.append(draw()) or Shown())
    monkeypatch.setattr(training, "_PAUSE_S", -1e9)
    return drawn


def test_a_run_is_seen_at_every_step(pictures: list[Any]) -> None:
    run = explorer.watch(Run(SETTINGS))
    alone = Run(SETTINGS)
    alone.advance(12)
    assert run.finished
    snapshot = alone.snapshot()
    torch.testing.assert_close(dict(run.weights()), dict(alone.weights()), rtol=0, atol=0)
    png, text = Training(picture=pictures[-2]).draw_image()
    assert Image.open(io.BytesIO(png)).size == (720, 400)
    assert text.startswith("Step 12 of 12\nDefault autograd: ")
    *seen, image = pictures
    last, steps = seen[-1], [int(picture["status"].split()[1]) for picture in seen]
    assert steps == sorted(steps)
    assert (len(steps) > 2, steps[0], steps[-1], image) == (True, 0, 12, "image")
    assert [lane["rule"] for lane in last["lanes"]] == ["default", "clipped"]
    for lane in last["lanes"]:
        y, deviation = snapshot.scores[lane["rule"]], snapshot.score_sd[lane["rule"]]
        assert lane["y"].tolist() == y.tolist()
        np.testing.assert_array_equal((lane["low"], lane["high"]), (y - deviation, y + deviation))
    assert last["lanes"][0]["said"].startswith("No gradient reaches")
    assert last["lanes"][1]["way"]["reached"][0] > 0


def test_a_race_that_is_watched_has_the_same_result(pictures: list[Any]) -> None:
    options = {"what": torch.nn.ReLU, "lrs": [0.003, 0.03], "seeds": 2, "steps": 6}
    alone = explorer.race(*race_arguments(), **options, progress=False)
    result = explorer.watch(explorer.race, *race_arguments(), **options)
    assert result.frame.equals(alone.frame)
    last = pictures[-2]
    assert last["words"] == alone.describe()
    assert [lane["x"][-1] for lane in last["lanes"]] == [6, 6]
    ends = {lane["rule"]: lane["y"][-1] for lane in last["lanes"]}
    assert ends == pytest.approx(dict(alone.best.set_index("rule")["held_out"]), abs=1e-6)
    assert any("Seed 0 at rate 0.003: step " in str(picture) for picture in pictures)


def test_a_race_on_workers_shows_its_scores(pictures: list[Any]) -> None:
    options = {"what": torch.nn.ReLU, "lrs": 0.01, "seeds": 2, "steps": 3}
    with ThreadPoolExecutor(2) as executor:
        result = explorer.watch(explorer.race, *race_arguments(), **options, executor=executor)
    lanes, best = pictures[-2]["lanes"], result.best.set_index("rule")["held_out"]
    assert [lane["said"] for lane in lanes] == ["2 nets at rate 0.01."] * 2
    for lane in lanes:
        assert float(lane["score"].split(" ")[0]) == pytest.approx(100 * best[lane["rule"]], abs=1)


def test_a_stopped_run_keeps_its_last_picture(pictures: list[Any]) -> None:
    def stop(step: int, *_: Any) -> None:
        if step == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explorer.watch(explorer.race, *race_arguments(), what=torch.nn.ReLU, lrs=0.01, steps=6, callback=stop)
    assert pictures[-1] == "image"
    assert "step 2 of 6" in str(pictures[-2])


def test_without_widgets_there_is_a_bar(capfd: pytest.CaptureFixture[str]) -> None:
    assert explorer.watch(Run(SETTINGS)).finished
    assert "12/12" in capfd.readouterr().err


def test_a_loss_has_a_band_from_the_lowest_to_the_highest_seed() -> None:
    run = Run(Settings(hidden=4, batch=8, steps=3, seeds=3, op="relu", rules=("default",)))
    run.advance(3)
    picture = make_run_picture(run.snapshot(BASIS))
    assert picture["heading"] == "Loss: mean and range of 3 seeds"
    (lane,), losses = picture["lanes"], run.snapshot().seed_losses["default"]
    np.testing.assert_array_equal((lane["low"], lane["high"]), (losses.min(0), losses.max(0)))

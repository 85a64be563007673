"""The Train page, with an engine that is driven by hand."""

from __future__ import annotations

import pytest

from explorer.catalogue import RULES
from explorer.training import TASKS, Engine, Limits
from explorer.ui import trainer
from tests.training.driving import Clock, turn_until_idle
from tests.ui.pages import address_of, chart_of, curves_of, labelled, opened, press, sound, words_of

SMALL = "op=relu&rule=default&rule=zero&steps=20&hidden=4&batch=8"


def _metrics(test) -> dict[str, str]:
    return {metric.label: metric.value for metric in test.metric}


def test_the_documents_net_is_the_default(engine):
    test = opened(page="train")
    assert _metrics(test) == {"Step": "0 / 500", "Loss": "–", "Steps/s": "–", "Device": "–"}
    assert [button.label for button in test.button] == ["Start", "Pause", "Step", "Reset"]
    assert labelled(test.selectbox, "Task").value == "documents"
    assert labelled(test.number_input, "Learning rate lr").value == 1e-6
    assert "Ready: press Start." in words_of(test)
    assert curves_of(test) == {}
    assert engine.list() == ()


def test_a_link_restores_the_settings_and_starts_nothing(engine):
    task = list(TASKS)[-1]
    test = opened(f"{SMALL}&lr=0.25&seed=7&task={task}", "train")
    values = {box.label: box.value for box in test.number_input}
    assert values == {
        "Steps": 20, "Learning rate lr": 0.25, "Hidden units": 4, "Batch": 8, "Seed": 7,
    }  # fmt: skip
    assert labelled(test.selectbox, "Task").value == task
    assert labelled(test.multiselect, "Backward rules").value == ["default", "zero"]
    assert address_of(test)["lr"] == ["0.25"]
    assert engine.list() == ()


def test_start_to_the_end(engine):
    test = press(opened(SMALL, "train"), "Start")
    turn_until_idle(engine)
    sound(test.run())
    assert _metrics(test)["Step"] == "20 / 20"
    assert float(_metrics(test)["Loss"]) > 0
    losses = curves_of(test)
    assert list(losses) == ["default", "zero"]
    assert list(losses["default"]) == list(range(20))
    assert chart_of(test)["layout"]["yaxis"]["type"] == "log"
    assert [trace["name"] for trace in chart_of(test)["data"]] == [RULES[key].label for key in losses]
    words = words_of(test)
    assert f"{RULES['zero'].label}: loss" in words
    assert "w1 has not moved" in words


def test_steps_one_by_one_and_reset(engine):
    test = opened(SMALL, "train")
    for count in (1, 2):
        press(test, "Step")
        turn_until_idle(engine)
        sound(test.run())
        assert _metrics(test)["Step"] == f"{count} / 20"
    press(test, "Reset")
    turn_until_idle(engine)
    sound(test.run())
    assert _metrics(test)["Step"] == "0 / 20"


def test_pause_and_resume(engine):
    test = press(opened(SMALL + "&steps=200", "train"), "Start")
    engine.turn()
    press(test, "Pause")
    turn_until_idle(engine)
    sound(test.run())
    paused = _metrics(test)["Step"]
    assert paused not in ("0 / 200", "200 / 200")
    press(test, "Resume")
    turn_until_idle(engine)
    sound(test.run())
    assert _metrics(test)["Step"] == "200 / 200"


def test_other_settings_drop_a_run_that_has_ended(engine):
    test = press(opened(SMALL, "train"), "Start")
    turn_until_idle(engine)
    labelled(test.number_input, "Seed").set_value(3)
    sound(test.run())
    assert _metrics(test)["Step"] == "0 / 20"
    assert curves_of(test) == {}


def test_a_learning_rate_that_diverges_is_said(engine):
    test = press(opened(SMALL + "&lr=1000", "train"), "Start")
    turn_until_idle(engine)
    sound(test.run())
    assert f"{RULES['default'].label} diverged at step" in words_of(test)


def test_a_full_house_is_said(monkeypatch):
    full = Engine(Limits(workers=0, running=0, waiting=0), Clock())
    monkeypatch.setattr(trainer, "shared_engine", lambda: full)
    test = press(opened(SMALL, "train"), "Start")
    assert "Ready: press Start." not in words_of(test)
    assert _metrics(test)["Step"] == "0 / 20"
    assert "again" in words_of(test)


@pytest.mark.parametrize("task", TASKS)
def test_every_task_can_be_trained(engine, task: str):
    test = press(opened(f"{SMALL}&task={task}&lr=0.001&rule=formula:+g*k&k=2", "train"), "Start")
    turn_until_idle(engine)
    sound(test.run())
    assert list(curves_of(test)) == ["default", "zero", "formula: g * k"]


@pytest.mark.parametrize("value", ["nan", "-1", "1e999", "0", "9" * 30, "1e-300", "", "x"])
def test_hostile_settings(engine, value: str):
    names = ("steps", "lr", "hidden", "batch", "seed", "task")
    test = opened("&".join(f"{name}={value}" for name in names), "train")
    assert labelled(test.selectbox, "Task").value == "documents"
    assert f'steps = "{value}"' in words_of(test)


def test_the_choice_stays_from_page_to_page(engine):
    test = opened("op=sign&rule=clipped&rule=formula:+2*g&c=0.5&g=2")
    test.query_params.clear()
    sound(test.switch_page("views/train.py").run())
    assert labelled(test.selectbox, "Op").value == "sign"
    assert labelled(test.multiselect, "Backward rules").value == ["clipped", "formula: 1"]
    assert labelled(test.slider, "c").value == 0.5
    labelled(test.number_input, "Seed").set_value(5)
    sound(test.run())
    test.query_params.clear()
    sound(test.switch_page("views/explore.py").run())
    assert list(curves_of(test)) == ["forward", "clipped", "formula: 2 * g"]
    assert labelled(test.number_input, "Upstream gradient g").value == 2

"""The Train page as its script makes it: a place, and what it is given."""

from __future__ import annotations

import pytest

from explorer.training import SETTINGS, TASKS
from explorer.ui import answers
from tests.ui.pages import mounted, opened, sound, words_of


def training_of(query: str):
    return mounted(opened(query, "train"), "training")["choice"]["training"]


def test_a_link_restores_the_settings_and_starts_nothing(engine):
    task = list(TASKS)[-1]
    given = training_of(f"op=relu&steps=20&hidden=4&batch=8&lr=0.25&seed=7&task={task}&pace=full")
    assert given == {
        "steps": "20",
        "lr": "0.25",
        "hidden": "4",
        "batch": "8",
        "seed": "7",
        "pace": "full",
    } | ({} if task == "documents" else {"task": task})
    assert engine.list() == ()


@pytest.mark.parametrize("value", ["nan", "-1", "1e999", "0", "9" * 30, "1e-300", "", "x"])
def test_hostile_settings(engine, value: str):
    names = ("steps", "lr", "hidden", "batch", "seed", "task")
    test = opened("&".join(f"{name}={value}" for name in names), "train")
    assert "steps" not in mounted(test, "training")["choice"]["training"]
    assert f'steps = "{value}"' in words_of(test)


def test_the_choice_stays_from_page_to_page():
    test = opened("op=sign&rule=clipped&rule=formula:+2*g&c=0.5&g=2&seed=5")
    test.query_params.clear()
    before = mounted(test, "instrument")["choice"]
    sound(test.switch_page("views/train.py").run())
    assert mounted(test, "training")["choice"] == before
    sound(test.switch_page("views/explore.py").run())
    assert mounted(test, "instrument")["choice"] == before


def test_controls_are_drawn_from_the_declared_settings():
    given = {setting["name"]: setting for setting in answers.settings()}
    drawn = {name: setting for name, setting in SETTINGS.items() if setting.shown}
    assert list(given) == list(drawn)
    for name, setting in drawn.items():
        assert setting.read(given[name]["default"]) == setting.default
        assert list(given[name]["words"]) == list(setting.words)
    assert given["task"]["words"] == {key: task.label for key, task in TASKS.items()}
    assert given["task"]["purposes"] == {key: task.purpose for key, task in TASKS.items()}

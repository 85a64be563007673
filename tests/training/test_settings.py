import dataclasses
import json
import pickle

import pytest
import torch

from explorer.catalogue import MOST_RULES
from explorer.formula import FormulaError
from explorer.training import SETTINGS, Settings
from explorer.training.limits import MAX_BATCH, MAX_HIDDEN, MAX_SEED, MAX_STEPS
from explorer.training.settings import devices


def test_defaults_are_the_documents_values():
    assert Settings() == Settings(
        task="documents", op="relu", rules=("default",), parameters={}, steps=500, lr=1e-6, hidden=100,
        batch=64, seed=0, pace=50, device=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("task", "weather", "unknown task 'weather': use one of documents"),
        ("op", "rond", "unknown op 'rond'"),
        ("op", 3, "op must be a key or a formula, not 3"),
        ("rules", "default", "rules must be a list of keys"),
        ("rules", (), f"choose 1 to {MOST_RULES} rules, not 0"),
        ("rules", ("ste",), "unknown rule 'ste'"),
        ("rules", (None,), "a rule must be a key or a formula, not None"),
        ("rules", tuple(f"formula: {n} * g" for n in range(MOST_RULES + 1)), f"1 to {MOST_RULES} rules"),
        ("parameters", {"zz": 1.0}, "unknown parameter 'zz'"),
        ("parameters", {"c": float("nan")}, "parameter c must be a finite number, not nan"),
        ("parameters", {"c": "one"}, "parameter c must be a number, not 'one'"),
        ("parameters", 3, "parameters must be values by name"),
        ("steps", 0, f"steps must be a whole number from 1 to {MAX_STEPS}, not 0"),
        ("steps", MAX_STEPS + 1, f"not {MAX_STEPS + 1}"),
        ("steps", 2.5, "steps must be a whole number"),
        ("steps", True, "steps must be a whole number"),
        ("hidden", MAX_HIDDEN + 1, f"hidden must be a whole number from 1 to {MAX_HIDDEN}"),
        ("batch", MAX_BATCH + 1, f"batch must be a whole number from 1 to {MAX_BATCH}"),
        ("seed", -1, "seed must be a whole number from 0"),
        ("seed", MAX_SEED + 1, f"to {MAX_SEED}, not"),
        ("lr", 0, "lr must be above 0, not 0"),
        ("lr", float("inf"), "lr must be a finite number, not inf"),
        ("lr", 10**400, "lr must be a number"),
        ("lr", "fast", "lr must be a number, not 'fast'"),
        ("pace", 0, "pace must be above 0, not 0"),
        ("pace", "slow", "pace must be a number, not 'slow'"),
        ("device", "abacus", "unknown device 'abacus': use one of cpu"),
    ],
)
def test_says_what_cannot_be(field, value, words):
    with pytest.raises(ValueError, match=r"\w") as caught:
        Settings(**{"rules": ("clipped",)} | {field: value})
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_formula_that_cannot_be_read_says_where():
    with pytest.raises(FormulaError) as caught:
        Settings(rules=("formula: g *",))
    assert caught.value.column > 0


def test_takes_the_limits_themselves():
    settings = Settings(steps=MAX_STEPS, hidden=MAX_HIDDEN, batch=MAX_BATCH, seed=MAX_SEED)
    assert (settings.steps, settings.hidden, settings.batch) == (MAX_STEPS, MAX_HIDDEN, MAX_BATCH)


def test_the_same_rule_counts_once_however_it_is_spelt():
    settings = Settings(rules=["zero", "formula: 2*g", "zero", "formula: 2 * g"])
    assert settings.rules == ("zero", "formula: 2*g")


def test_parameters_of_one_rule_only():
    settings = Settings(op="sign", rules=("clipped",), parameters={"clipped.c": 2})
    assert settings.parameters == {"clipped.c": 2.0}


def test_travels_as_text_and_between_processes():
    settings = Settings(op="sign", rules=("clipped", "formula: k * g"), parameters={"c": 2, "k": 3}, seed=7)
    assert Settings(**json.loads(json.dumps(dataclasses.asdict(settings)))) == settings
    assert pickle.loads(pickle.dumps(settings)) == settings


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_a_setting_is_whole(setting):
    """What a control and a link need stands in the table, and a run takes all of it."""
    assert setting.label
    assert setting.meaning.endswith(".")
    assert getattr(Settings(), setting.name) == setting.default
    for value in (setting.usual, *setting.words, *((setting.low, setting.high) if setting.high else ())):
        assert getattr(Settings(**{setting.name: value}), setting.name) == value
        assert setting.read(str(value)) == value
    for text in ("", "nan", "x", "1e999", "-1"):
        with pytest.raises(ValueError, match=r"\w"):
            setting.read(text)


def test_500_steps_last_about_ten_seconds():
    assert 8 <= SETTINGS["steps"].default / SETTINGS["pace"].default <= 12


def test_is_hashable_and_frozen():
    assert hash(Settings(parameters={})) == hash(Settings())
    assert Settings(seed=1) != Settings()
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().seed = 1


def test_devices_are_those_of_this_machine(monkeypatch):
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda **_: torch.device("cuda", 0))
    assert devices() == ("cpu", "cuda")
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda **_: None)
    assert devices() == ("cpu",)


def test_a_device_can_be_chosen_where_there_is_another():
    only = SETTINGS["device"]
    both = dataclasses.replace(only, words=("cpu", "cuda"))
    assert (both.shown, both.usual, both.live) == (True, "cuda", False)
    assert [both.read(text) for text in ("cpu", "cuda")] == ["cpu", "cuda"]
    one = dataclasses.replace(only, words=("cpu",))
    assert (one.shown, one.usual) == (False, "cpu")
    with pytest.raises(ValueError, match="unknown device 'cuda': use one of cpu"):
        one.read("cuda")
    assert all(setting.shown for name, setting in SETTINGS.items() if name != "device")

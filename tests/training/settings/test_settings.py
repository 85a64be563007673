import dataclasses
import json
import pickle

import pytest
import torch

from explorer.catalogue import MAX_RULES, RULES
from explorer.training import SETTINGS, TASKS, Settings, TrainingSettings
from explorer.training.limits import MAX_BATCH, MAX_HIDDEN, MAX_STEPS
from explorer.training.settings import devices


def test_defaults_are_the_documents_values():
    assert Settings() == Settings(
        task="documents", op="relu", rules=("default",), parameters={}, steps=500, lr=1e-6, hidden=100,
        batch=64, seed=0, seeds=1, optimiser="sgd", bias=False, init_scale=1, pace=50, device=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("task", "weather", "unknown task 'weather': use one of digits"),
        ("op", "rond", "unknown op 'rond'"),
        ("rules", "default", "rules must be a list of keys"),
        ("rules", (), f"choose 1 to {MAX_RULES} rules, not 0"),
        ("rules", ("ste",), "unknown rule 'ste'"),
        ("rules", tuple(f"formula: {n} * g" for n in range(MAX_RULES + 1)), f"1 to {MAX_RULES} rules"),
        ("parameters", {"zz": 1.0}, "unknown parameter 'zz'"),
        ("parameters", {"c": float("nan")}, "parameter c must be a finite number, not nan"),
        ("parameters", 3, "parameters must be a dict of numbers"),
        ("steps", 0, f"steps must be a whole number from 1 to {MAX_STEPS}, not 0"),
        ("steps", 2.5, "steps must be a whole number"),
        ("hidden", MAX_HIDDEN + 1, f"hidden must be a whole number from 1 to {MAX_HIDDEN}"),
        ("batch", MAX_BATCH + 1, f"batch must be a whole number from 1 to {MAX_BATCH}"),
        ("seed", -1, "seed must be a whole number from 0"),
        ("lr", 0, "lr must be above 0, not 0"),
        ("lr", float("inf"), "lr must be a finite number, not inf"),
        ("learn_each", "unit", "unknown learn_each 'unit': use one of layer, channel"),
        ("pace", 0, "pace must be above 0, not 0"),
        ("device", "abacus", "unknown device 'abacus': use one of cpu"),
    ],
)
def test_invalid_settings_are_refused_in_a_sentence(field, value, words):
    with pytest.raises(ValueError, match=r"\w") as caught:
        Settings(**{"rules": ("clipped",)} | {field: value})
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_same_rule_counts_once_however_it_is_spelt():
    settings = Settings(rules=["zero", "formula: 2*g", "zero", "formula: 2 * g"])
    assert settings.rules == ("zero", "formula: 2*g")


def test_a_parameter_can_be_set_for_one_rule():
    settings = Settings(op="sign", rules=("clipped",), parameters={"clipped.c": 2})
    assert settings.parameters == {"clipped.c": 2.0}


def test_settings_survive_json_and_pickle():
    settings = Settings(op="sign", rules=("clipped", "formula: k * g"), parameters={"c": 2, "k": 3}, seed=7)
    assert Settings(**json.loads(json.dumps(dataclasses.asdict(settings)))) == settings
    assert pickle.loads(pickle.dumps(settings)) == settings


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_every_setting_reads_its_own_text_and_refuses_invalid_text(setting):
    """The table holds all that a control and a link need, and a run takes all of it."""
    assert setting.label
    assert setting.meaning.endswith(".")
    ends = (setting.low, setting.high) if setting.high else ()
    usual = setting.default_of("documents")
    for value in (usual, *map(setting.read, setting.words), *ends):
        assert getattr(TrainingSettings(**{setting.name: value}), setting.name) == value
        if value is not None:
            assert setting.read(setting.text_of(value)) == value
    for text in ("", "nan", "x", "1e999", "-1") if setting.kind != "names" else ():
        with pytest.raises(ValueError, match=r"\w"):
            setting.read(text)


@pytest.mark.parametrize("task", TASKS)
def test_omitted_settings_are_the_tasks_defaults(task):
    settings = TrainingSettings(task=task)
    for name, setting in SETTINGS.items():
        assert getattr(settings, name) == setting.default_of(task)
    assert TrainingSettings(task=task, lr=0.5).lr == 0.5


@pytest.mark.parametrize(
    ("text", "value"),
    [("16", 16), ("16,8", (16, 8)), ("1,2,3,256", (1, 2, 3, 256)), ("7,", None), ("", None)],
)
def test_widths_are_read_and_written_as_in_a_link(text, value):
    hidden = SETTINGS["hidden"]
    if value is None:
        with pytest.raises(ValueError, match="number"):
            hidden.read(text)
    else:
        assert hidden.read(text) == value
        assert hidden.text_of(value) == text


def test_a_list_of_one_width_is_that_width():
    assert Settings(hidden=[8]).hidden == 8
    assert Settings(hidden=[8, 4]).hidden == (8, 4)
    with pytest.raises(ValueError, match="1 to 4 widths, not 5"):
        Settings(hidden=(2,) * 5)
    with pytest.raises(ValueError, match="from 1 to 256, not 300"):
        Settings(hidden=(16, 300))


def test_a_switch_is_yes_or_no():
    assert [SETTINGS["bias"].read(text) for text in ("yes", "no")] == [True, False]
    assert [SETTINGS["bias"].text_of(value) for value in (True, False)] == ["yes", "no"]
    with pytest.raises(ValueError, match="True or False, not 1"):
        Settings(bias=1)


def test_settings_beyond_the_size_limits_are_refused():
    with pytest.raises(ValueError, match=r"60 nets of these widths have .* weights; the limit is 2,000,000"):
        Settings(task="digits", rules=tuple(list(RULES)[:6]), seeds=10, hidden=(256, 256))
    with pytest.raises(
        ValueError, match=r"on 256 examples takes .* multiplications; the limit is 2,000,000,000"
    ):
        Settings(task="spikes", rules=tuple(list(RULES)[:6]), seeds=10, hidden=(128, 128), batch=256)
    with pytest.raises(
        ValueError, match=r"60 nets on 1024 examples computes .* numbers; the limit is 50,000,000"
    ):
        Settings(task="digits convolution", rules=tuple(list(RULES)[:6]), seeds=10, batch=1_024)
    Settings(hidden=MAX_HIDDEN, batch=MAX_BATCH, rules=tuple(list(RULES)[:6]))


def test_devices_are_those_of_this_machine(monkeypatch):
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda **_: torch.device("cuda", 0))
    assert devices() == ("cpu", "cuda")
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda **_: None)
    assert devices() == ("cpu",)


def test_a_device_can_be_chosen_where_there_is_another():
    only = SETTINGS["device"]
    both = dataclasses.replace(only, words=("cpu", "cuda"))
    assert (both.visible, both.text_of(None), both.live) == (True, "cuda", False)
    assert [both.read(text) for text in ("cpu", "cuda")] == ["cpu", "cuda"]
    one = dataclasses.replace(only, words=("cpu",))
    assert (one.visible, one.text_of(None)) == (False, "cpu")
    with pytest.raises(ValueError, match="unknown device 'cuda': use one of cpu"):
        one.read("cuda")
    assert all(setting.visible for name, setting in SETTINGS.items() if name != "device")

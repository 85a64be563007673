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


@pytest.mark.parametrize(("field", "value", "words"), [
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
    ("hidden", (2,) * 5, "1 to 4 widths, not 5"),
    ("hidden", (16, 300), "from 1 to 256, not 300"),
    ("bias", 1, "True or False, not 1"),
    ("batch", MAX_BATCH + 1, f"batch must be a whole number from 1 to {MAX_BATCH}"),
    ("seed", -1, "seed must be a whole number from 0"),
    ("lr", 0, "lr must be above 0, not 0"),
    ("lr", float("inf"), "lr must be a finite number, not inf"),
    ("learn_each", "unit", "unknown learn_each 'unit': use one of layer, channel"),
    ("learn", ("z",), "z cannot be trained: "),
    ("learn", ("clipped.z",), "clipped.z cannot be trained: "),
    ("learn", (3,), "learn must be a tuple of parameter names"),
    ("learn", ("c",), "c does not appear in y"),
    ("learn_rate", 0, "learn_rate must be above 0"),
    ("pace", 0, "pace must be above 0, not 0"),
    ("device", "abacus", "unknown device 'abacus': use one of cpu"),
])  # fmt: skip
def test_invalid_settings_are_refused_in_a_sentence(field, value, words):
    with pytest.raises(ValueError, match=r"\w") as caught:
        Settings(**{"rules": ("clipped",)} | {field: value})
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("field", "given", "kept"), [
    ("rules", ["zero", "formula: 2*g", "zero", "formula: 2 * g"], ("zero", "formula: 2*g")),
    ("parameters", {"clipped.c": 2}, {"clipped.c": 2.0}), ("hidden", [8], 8), ("hidden", [8, 4], (8, 4)),
])  # fmt: skip
def test_one_choice_has_one_form_however_it_is_spelt(field, given, kept):
    assert getattr(Settings(**{"op": "sign", "rules": ("clipped",)} | {field: given}), field) == kept


def test_settings_survive_json_and_pickle():
    settings = Settings(op="sign", rules=("clipped", "formula: k * g"), parameters={"c": 2, "k": 3}, seed=7)
    assert Settings(**json.loads(json.dumps(dataclasses.asdict(settings)))) == settings
    assert pickle.loads(pickle.dumps(settings)) == settings


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_every_setting_reads_its_own_text_and_refuses_invalid_text(setting):
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


@pytest.mark.parametrize(("name", "text", "value"), [
    ("hidden", "16", 16), ("hidden", "16,8", (16, 8)), ("hidden", "1,2,3,256", (1, 2, 3, 256)),
    ("bias", "yes", True), ("bias", "no", False),
])  # fmt: skip
def test_widths_and_switches_are_read_and_written_as_in_a_link(name, text, value):
    assert SETTINGS[name].read(text) == value
    assert SETTINGS[name].text_of(value) == text
    with pytest.raises(ValueError, match=r"\w"):
        SETTINGS[name].read("7,")


def test_settings_beyond_the_size_limits_are_refused():
    six = {"rules": tuple(list(RULES)[:6])}
    wide = {"task": "digits", "hidden": (256, 256)}
    spikes = {"task": "spikes", "hidden": (128, 128), "batch": 256}
    maps = {"task": "digits convolution", "batch": 1_024}
    for given, words in (
        (wide, "60 nets of these widths have .* weights; the limit is 2,000,000"),
        (spikes, "on 256 examples takes .* multiplications; the limit is 2,000,000,000"),
        (maps, "60 nets on 1024 examples computes .* numbers; the limit is 50,000,000"),
    ):
        with pytest.raises(ValueError, match=words):
            Settings(**six | given, seeds=10)
    Settings(**six, hidden=MAX_HIDDEN, batch=MAX_BATCH)


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

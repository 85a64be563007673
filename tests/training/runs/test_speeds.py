"""Which device nets train faster on: measured once, in sentences."""

import pytest

from explorer.training.limits import MAX_HIDDEN
from explorer.training.runs import speeds
from explorer.training.runs.speeds import Speed, compare_devices, describe, measure_speeds, measure_step_ms
from explorer.training.tasks import FIRST, TASKS


@pytest.fixture(autouse=True)
def _anew():
    compare_devices.cache_clear()
    yield
    compare_devices.cache_clear()


@pytest.mark.parametrize(
    ("small", "wide", "words"),
    [
        (
            {"cpu": 0.4, "cuda": 1.1},
            {"cpu": 3.25, "cuda": 1.2},
            "Small nets train faster on the CPU: 0.4 ms a step here, 1.1 on the NVIDIA GPU. "
            "Nets with 256 hidden units train faster on the NVIDIA GPU: 1.2 ms a step here, 3.2 on the CPU.",
        ),
        (
            {"cpu": 1.0, "mps": 1.05},
            {"cpu": 4.0, "mps": 9.0},
            "Small nets train as fast on either device: about 1 ms a step here. "
            "Nets with 256 hidden units train faster on the CPU: 4 ms a step here, 9 on the Apple GPU.",
        ),
    ],
)
def test_a_sentence_names_the_faster_device_and_both_times(small, wide, words):
    assert describe([Speed(16, small), Speed(256, wide)]) == words


def test_a_small_and_the_widest_net_are_measured_on_each_device():
    asked = []
    small, wide = measure_speeds(("cpu", "cuda"), lambda *given: asked.append(given) or float(len(asked)))
    widths = (TASKS[FIRST].hidden, MAX_HIDDEN)
    assert asked == [(name, width) for width in widths for name in ("cpu", "cuda")]
    assert small == Speed(widths[0], {"cpu": 1.0, "cuda": 2.0})
    assert wide == Speed(widths[1], {"cpu": 3.0, "cuda": 4.0})


def test_a_step_is_measured_on_the_cpu():
    assert 0 < measure_step_ms("cpu", 4) < 1e4


@pytest.mark.parametrize("names", [("cpu",), ("cpu", "cuda")])
def test_devices_are_measured_once_if_there_are_several(monkeypatch, names):
    asked = []
    monkeypatch.setattr(speeds, "devices", lambda: names)
    monkeypatch.setattr(speeds, "measure_step_ms", lambda name, hidden: asked.append(name) or 1.0)
    assert bool(compare_devices()) == bool(compare_devices()) == (len(names) > 1)
    assert asked == (["cpu", "cuda"] * 2 if len(names) > 1 else [])


def test_a_device_that_cannot_train_is_named_with_the_reason(monkeypatch):
    def fail(name, _hidden):
        if name == "cuda":
            raise RuntimeError("CUDA error: no kernel image is available\nCUDA kernel errors …")
        return 1.0

    monkeypatch.setattr(speeds, "devices", lambda: ("cpu", "cuda"))
    monkeypatch.setattr(speeds, "measure_step_ms", fail)
    assert compare_devices() == (
        "The NVIDIA GPU cannot train here: choose the CPU (CUDA error: no kernel image is available)."
    )

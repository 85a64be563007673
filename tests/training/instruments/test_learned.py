"""Learned values, as a picture of a run has them: while it is asked for, and without a trace in the run."""

import numpy as np
import pytest

from explorer.training import TASKS
from explorer.training.instruments import INSTRUMENTS, Visible
from explorer.ui.server.runs.stream import _encode_value
from tests.training.driving import build

TASK_OF = {
    "regions": "circles", "mistakes": "digits", "weights": "binary weights", "raster": "spikes",
    "maps": "digits convolution", "kernels": "binary kernels",
}  # fmt: skip
TABLE = "\n".join(f"{n % 11},{n % 7},{n % 3}" for n in range(60))


def check_encodable(value: object) -> None:
    if isinstance(value, np.ndarray):
        assert set(_encode_value(value)) == {"dtype", "bdata"}
    elif isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            check_encodable(part)
    else:
        assert value is None or isinstance(value, str | int | float)


@pytest.mark.parametrize("key", TASK_OF)
def test_a_visible_instrument_is_measured_only_when_requested(key: str, monkeypatch: pytest.MonkeyPatch):
    called = []
    instrument = INSTRUMENTS[key]
    assert isinstance(instrument, Visible)
    measure = instrument.measure
    monkeypatch.setitem(
        vars(instrument), "measure", lambda nets, **given: called.append(key) or measure(nets, **given)
    )
    run = build(1, task=TASK_OF[key])
    assert key not in run.snapshot().measured
    assert called == []
    records = run.snapshot(visible=(key,)).measured[key]
    assert called == [key]
    assert list(records) == list(run.snapshot().losses)
    check_encodable(dict(records))


def test_a_rule_that_diverged_has_no_record():
    run = build(20, task="circles", op="formula: x**9", rules=("default", "zero"), lr=1e3)
    snapshot = run.snapshot(visible=("regions",))
    records = snapshot.measured["regions"]
    for rule in ("default", "zero"):
        assert (records[rule] is None) == (snapshot.diverged[rule] is not None)
    assert snapshot.diverged["default"] is not None


@pytest.mark.parametrize("task", TASKS)
def test_a_hidden_panel_is_explained(task: str):
    snapshot = build(task=task, table=TABLE if task == "data" else None).snapshot(visible=tuple(TASK_OF))
    for key in TASK_OF:
        assert (key in snapshot.measured) != (key in snapshot.unmeasured)
    for key, sentence in snapshot.unmeasured.items():
        if key in TASK_OF:
            assert sentence.startswith("Not shown here: ")
            assert sentence.endswith(".")
    site, kind = TASKS[task].net.site, TASKS[task].kind
    assert ("regions" in snapshot.measured) == (kind in ("plane", "own"))
    assert ("mistakes" in snapshot.measured) == (kind == "image")
    assert ("weights" in snapshot.measured) == (not site.per_example)
    assert ("raster" in snapshot.measured) == site.fires
    assert ("maps" in snapshot.measured) == ("kernels" in snapshot.measured) == site.maps

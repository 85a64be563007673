"""A new instrument is one file, which has its picture too: nothing else knows of it."""

import json
import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import explorer

TOY = '''
"""The largest weight of a layer."""

from explorer.training.instruments.base.instrument import Argument, Record, Visible
from explorer.training.instruments.base.pictures import Legend, Panel, draw_note


def measured(nets, *, layer):
    views = [each for each in nets.ensemble.parameter_views if each]
    by_member = views[layer][0].abs().amax((1, 2))
    groups = nets.ensemble.group_by_rule().items()
    return {rule: {"largest": float(by_member[at].max())} for rule, at in groups}


INSTRUMENT = Visible(
    key="toy", label="Toy", sentence="The largest weight.", limits="No more.", cost="nothing",
    arguments=(Argument("layer", "Layer", lambda settings, _data: len(settings.widths)),), measure=measured,
    draw=lambda record: [{"words": f"Largest {record['largest']:.3f}", "blocks": [draw_note("A note")]}],
    panel=Panel(order=99, rows=2, legend=(Legend("small", "dot"),)),
)
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the package, which is the one that is imported from here on."""
    copied = tmp_path / "explorer"
    shutil.copytree(Path(explorer.__file__).parent, copied)
    monkeypatch.syspath_prepend(tmp_path)
    before = {name: sys.modules.pop(name) for name in _modules()}
    yield copied
    for name in _modules():
        del sys.modules[name]
    sys.modules.update(before)


def _modules() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] == "explorer"]


def _seen() -> dict[str, Any]:
    """The measurement, its event and what is on the page, by the package as it is imported now."""
    names = ("ui.server.answers", "ui.server.runs.stream", "training.scheduling.status", "training")
    answers, stream, status, training = (import_module(f"explorer.{name}") for name in names)
    run = training.Run(training.Settings(task="circles", rules=("default", "clipped"), hidden=4))
    run.advance(2)
    snapshot = run.snapshot(("toy", "toy?layer=1", "toy?layer=2"))
    streamed = status.Status("", "paused", "", None, 2, 3, 0, snapshot)
    told = json.loads(stream.format_event(streamed, ("toy?layer=1",)))["snapshot"]
    return {
        "weights": [own[0].abs().amax((1, 2)).tolist() for own in run.nets.ensemble.parameter_views if own],
        "measured": [
            [each["largest"] for each in snapshot.measured[text].values()] for text in ("toy", "toy?layer=1")
        ],
        "unmeasured": snapshot.unmeasured["toy?layer=2"],
        "told": told["measured"]["toy"],
        "most": told["most"]["toy"],
        "page": next(each for each in answers.describe_training()["instruments"] if each["key"] == "toy"),
    }


def test_a_new_instrument_needs_only_one_file(package: Path):
    """In a copy of the package with one file more, taken, streamed and described for the page."""
    (package / "training" / "instruments" / "toy.py").write_text(TOY, encoding="utf-8")
    told = _seen()
    assert told["measured"] == told["weights"]
    words = [f"Largest {largest:.3f}" for largest in told["weights"][1]]
    assert [picture["words"] for (picture,) in told["told"].values()] == words
    assert told["unmeasured"] == "layer must be from 0 to 1, not 2"
    assert told["most"] == {"layer": 1}
    page = told["page"]
    assert (page["kind"], page["sentence"], page["panel"]["order"]) == ("visible", "The largest weight.", 99)
    assert page["arguments"] == [{"name": "layer", "label": "Layer"}]

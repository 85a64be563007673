"""A new instrument is one file: nothing else knows of it, and everything shows it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import explorer

TOY = '''
"""The largest weight of a layer."""

from explorer.training.instruments.instrument import Argument, Record, Shown


def measured(nets, *, layer):
    views = [each for each in nets.lanes.parameter_views if each]
    by_lane = views[layer][0].abs().amax((1, 2))
    return {rule: {"largest": float(by_lane[at].max())} for rule, at in nets.lanes.by_rule().items()}


INSTRUMENT = Shown(
    key="toy", label="Toy", sentence="The largest weight.", limits="No more.", cost="nothing",
    arguments=(Argument("layer", "Layer", lambda settings, _data: len(settings.widths)),), measure=measured,
)
'''
SEEN = """
import json
from explorer.training import Run, Settings
from explorer.training.status import Status
from explorer.ui import answers
from explorer.ui.stream import event

run = Run(Settings(task="circles", rules=("default", "clipped"), hidden=4, steps=3, device="cpu"))
run.advance(2)
questions = ("toy", "toy?layer=1", "toy?layer=2")
snapshot = run.snapshot(questions)
weights = [each[0].abs().amax((1, 2)).tolist() for each in run._nets.lanes.parameter_views if each]
told = json.loads(event(Status("", "paused", "", None, 2, 3, 0, snapshot), ("toy?layer=1",)))["snapshot"]
print(json.dumps({
    "weights": weights,
    "measured": [[snapshot.measured[text][rule]["largest"] for rule in snapshot.losses]
                 for text in questions[:2]],
    "unmeasured": snapshot.unmeasured["toy?layer=2"],
    "told": [told["measured"]["toy"][rule]["largest"] for rule in snapshot.losses],
    "most": told["most"]["toy"],
    "page": next(each for each in answers.training()["instruments"] if each["key"] == "toy"),
}))
"""


def test_a_new_instrument_is_one_file(tmp_path: Path):
    """In a copy of the package with one file more, taken, streamed and described for the page."""
    package = tmp_path / "explorer"
    shutil.copytree(Path(explorer.__file__).parent, package)
    (package / "training" / "instruments" / "toy.py").write_text(TOY, encoding="utf-8")
    told = json.loads(
        subprocess.run(
            [sys.executable, "-c", SEEN],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(tmp_path)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    )
    assert told["measured"] == told["weights"]
    assert told["told"] == told["weights"][1]
    assert told["unmeasured"] == "layer must be from 0 to 1"
    assert told["most"] == {"layer": 1}
    assert told["page"] == {
        "key": "toy",
        "kind": "shown",
        "label": "Toy",
        "sentence": "The largest weight.",
        "limits": "No more.",
        "cost": "nothing",
        "window": 1,
        "arguments": [{"name": "layer", "label": "Layer"}],
    }

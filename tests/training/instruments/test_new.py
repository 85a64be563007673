"""A new instrument is one file, and one more for its picture: nothing else knows of them, all show them."""

import json
import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import explorer
from tests.frontend.modules import node

PICTURE = """
export const panel = {
  order: 99,
  opens: true,
  layered: true,
  suits: () => true,
  rows: 2,
  picture: ({ measured }) => ({ words: `Largest ${measured.largest}` }),
  create: () => ({ draw() {} }),
};
"""

# The panels of a choice, their words for some measures, and what the stream is asked for.
SHOWN = """
    const { setDocument } = await import(given.folder + "/choice/entries.js");
    const { loadPanels, openPanels, listRequests } = await import(given.folder + "/train/panels/panels.js");
    setDocument(given.document);
    await loadPanels();
    const choice = { op: "sign", rules: [], training: { task: "circles" } };
    const panel = openPanels(choice, {}).at(-1);
    const state = { choice, panels: {}, numbers: {}, view: { status: { state: "running" } } };
    return [panel.key, panel.picture({ measured: { largest: 2 } }).words, listRequests(state).at(-1)];
"""

TOY = '''
"""The largest weight of a layer."""

from explorer.training.instruments.base.instrument import Argument, Record, Visible


def measured(nets, *, layer):
    views = [each for each in nets.ensemble.parameter_views if each]
    by_member = views[layer][0].abs().amax((1, 2))
    groups = nets.ensemble.group_by_rule().items()
    return {rule: {"largest": float(by_member[at].max())} for rule, at in groups}


INSTRUMENT = Visible(
    key="toy", label="Toy", sentence="The largest weight.", limits="No more.", cost="nothing",
    arguments=(Argument("layer", "Layer", lambda settings, _data: len(settings.widths)),), measure=measured,
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


def test_its_picture_is_one_file_more(package: Path):
    """In a copy with two files more, the document names the picture, the page loads and shows it."""
    (package / "training" / "instruments" / "toy.py").write_text(TOY, encoding="utf-8")
    panels = package / "frontend" / "train" / "panels"
    (panels / "toy.js").write_text(PICTURE, encoding="utf-8")
    answers = import_module("explorer.ui.server.answers")
    document = json.loads(answers.get_files()[f"{answers.get_folder()}/document.json"].content)
    assert "toy" in document["panels"]
    assert "alignment" not in document["panels"], "it has no module in the room"
    assert all((panels / f"{key}.js").exists() for key in document["panels"])
    assert b"Largest " in answers.get_files()[f"{answers.get_folder()}/pages/later.js"].content
    with node() as running:
        given = {"folder": (package / "frontend").as_uri(), "document": document}
        assert running.run(SHOWN, given) == ["toy", "Largest 2", "toy"]


def _seen() -> dict[str, Any]:
    """The measurement, its event and its sentence on the page, by the package as it is imported now."""
    answers, stream, status, training = map(
        import_module,
        (
            "explorer.ui.server.answers",
            "explorer.ui.server.runs.stream",
            "explorer.training.scheduling.status",
            "explorer.training",
        ),
    )
    settings = training.Settings(
        task="circles", rules=("default", "clipped"), hidden=4, steps=3, device="cpu"
    )
    run = training.Run(settings)
    run.advance(2)
    snapshot = run.snapshot(("toy", "toy?layer=1", "toy?layer=2"))
    streamed = status.Status("", "paused", "", None, 2, 3, 0, snapshot)
    told = json.loads(stream.format_event(streamed, ("toy?layer=1",)))["snapshot"]
    return {
        "weights": [
            each[0].abs().amax((1, 2)).tolist() for each in run._nets.ensemble.parameter_views if each
        ],
        "measured": [
            [snapshot.measured[text][rule]["largest"] for rule in snapshot.losses]
            for text in ("toy", "toy?layer=1")
        ],
        "unmeasured": snapshot.unmeasured["toy?layer=2"],
        "told": [told["measured"]["toy"][rule]["largest"] for rule in snapshot.losses],
        "most": told["most"]["toy"],
        "page": next(each for each in answers.describe_training()["instruments"] if each["key"] == "toy"),
    }


def test_a_new_instrument_is_one_file(package: Path):
    """In a copy of the package with one file more, taken, streamed and described for the page."""
    (package / "training" / "instruments" / "toy.py").write_text(TOY, encoding="utf-8")
    told = _seen()
    assert told["measured"] == told["weights"]
    assert told["told"] == told["weights"][1]
    assert told["unmeasured"] == "layer must be from 0 to 1"
    assert told["most"] == {"layer": 1}
    assert told["page"] == {
        "key": "toy",
        "kind": "visible",
        "label": "Toy",
        "sentence": "The largest weight.",
        "limits": "No more.",
        "cost": "nothing",
        "window": 1,
        "legend": (),
        "arguments": [{"name": "layer", "label": "Layer"}],
    }

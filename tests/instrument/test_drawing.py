"""Which plotly.js app and site have: the small one that npm brings, of the version of the package's."""

import json
from pathlib import Path

from explorer.instrument.drawing import LINES, drawing, plotly_js, version
from explorer.site.python import ROOT
from explorer.ui.server import answers


def made_up(folder: Path, number: str) -> Path:
    folder.mkdir()
    (folder / "package.json").write_text(json.dumps({"version": number}), encoding="utf-8")
    (folder / "plotly-basic.min.js").write_bytes(b"small")
    return folder


def test_npm_is_asked_for_the_version_of_the_plotly_package() -> None:
    dependencies = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert dependencies["plotly.js-basic-dist-min"] == version()
    assert f"plotly.js v{version()}\n".encode() in plotly_js()[:100]


def test_the_small_one_is_taken_where_it_is_the_same(tmp_path: Path) -> None:
    lines = LINES, plotly_js()
    assert drawing(made_up(tmp_path / "same", version())) == (f"plotly-basic-{version()}.min.js", b"small")
    assert drawing(made_up(tmp_path / "older", "1.2.3")) == lines
    assert drawing(tmp_path / "nowhere") == lines


def test_the_app_sends_what_the_site_has() -> None:
    name, content = drawing()
    assert answers.get_files()[name].content == content
    assert [each for each in answers.get_files() if each.startswith("plotly")] == [name]
    assert f'src="assets/{name}"' in answers.make_head("/")

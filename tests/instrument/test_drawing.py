"""Which plotly.js app and site have: the small one that npm brings, of the version of the package's."""

import json
from pathlib import Path

from explorer.instrument.drawing import LINES, find_plotly, find_version, read_plotly_lines
from explorer.site.python import ROOT
from explorer.ui.server import answers


def made_up(folder: Path, number: str) -> Path:
    folder.mkdir()
    (folder / "package.json").write_text(json.dumps({"version": number}), encoding="utf-8")
    (folder / "plotly-basic.min.js").write_bytes(b"small")
    return folder


def test_npm_is_asked_for_the_version_of_the_plotly_package() -> None:
    dependencies = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert dependencies["plotly.js-basic-dist-min"] == find_version()
    assert f"plotly.js v{find_version()}\n".encode() in read_plotly_lines()[:100]


def test_the_small_one_is_taken_where_it_is_the_same(tmp_path: Path) -> None:
    lines = LINES, read_plotly_lines()
    assert find_plotly(made_up(tmp_path / "same", find_version())) == (
        f"plotly-basic-{find_version()}.min.js",
        b"small",
    )
    assert find_plotly(made_up(tmp_path / "older", "1.2.3")) == lines
    assert find_plotly(tmp_path / "nowhere") == lines


def test_the_app_sends_what_the_site_has() -> None:
    name, content = find_plotly()
    assert answers.get_files()[name].content == content
    assert [each for each in answers.get_files() if each.startswith("plotly")] == [name]
    assert f'src="assets/{name}"' in answers.make_head("/")

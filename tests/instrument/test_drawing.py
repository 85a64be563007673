"""Which plotly.js app and site have: the small one that npm brings, of the version of the package's."""

import json
from pathlib import Path

import plotly
import pytest

from explorer.instrument.drawing import LINES, find_plotly, find_version, read_plotly_lines
from explorer.site.python import ROOT
from explorer.ui.server import answers

WHOLE = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


def test_plotly_without_other_traces_is_plotly_but_for_their_list() -> None:
    whole, lines = WHOLE.read_text(encoding="utf-8"), read_plotly_lines().decode()
    at = next(place for place, (one, other) in enumerate(zip(whole, lines, strict=False)) if one != other)
    assert lines[:at] == whole[:at]
    assert lines[at:].startswith("]);")
    assert whole.endswith(lines[at:])


@pytest.mark.parametrize("text", ["another plotly.js", "a.register([b(),c()]);a.register([d(),e()]);"])
def test_a_plotly_that_registers_its_traces_elsewhere_is_left_whole(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "package_data").mkdir()
    (tmp_path / "package_data" / "plotly.min.js").write_text(text, encoding="utf-8")
    monkeypatch.setattr(plotly, "__file__", str(tmp_path / "__init__.py"))
    assert read_plotly_lines.__wrapped__() == text.encode()


def test_npm_is_asked_for_the_version_of_the_plotly_package_and_the_app_sends_what_it_brings() -> None:
    name, content = find_plotly()
    assert answers.get_files()[name].content == content
    assert [each for each in answers.get_files() if each.startswith("plotly")] == [name]
    dependencies = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert dependencies["plotly.js-basic-dist-min"] == find_version()
    assert f"plotly.js v{find_version()}\n".encode() in read_plotly_lines()[:100]


def test_the_small_one_is_taken_where_it_is_the_same(tmp_path: Path) -> None:
    small, lines = (f"plotly-basic-{find_version()}.min.js", b"small"), (LINES, read_plotly_lines())
    assert find_plotly.__wrapped__(tmp_path) == lines
    (tmp_path / "plotly-basic.min.js").write_bytes(b"small")
    for version, found in ((find_version(), small), ("1.2.3", lines)):
        (tmp_path / "package.json").write_text(json.dumps({"version": version}), encoding="utf-8")
        assert find_plotly.__wrapped__(tmp_path) == found

"""The files that the browser is sent."""

from pathlib import Path

import plotly
import pytest

from explorer.instrument import bundle
from explorer.instrument.assets import PLOTLY, make_assets
from explorer.instrument.drawing import read_plotly_lines

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


def test_a_file_that_changes_in_length_or_letter_has_a_new_address(monkeypatch: pytest.MonkeyPatch) -> None:
    folders = set()
    for code in ("let x = 1;", "let x = 2;", "let x = 22;"):
        monkeypatch.setattr(bundle, "bundle_modules", lambda _, code=code: {"first.js": code})
        folders |= {address.split("/")[0] for address in make_assets({}) if address != PLOTLY}
    assert len(folders) == 3

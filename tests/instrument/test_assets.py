"""The files that the browser is sent."""

import pytest

from explorer.instrument import bundle
from explorer.instrument.assets import PLOTLY, make_assets


def test_a_file_that_changes_in_length_or_letter_has_a_new_address(monkeypatch: pytest.MonkeyPatch) -> None:
    folders = set()
    for code in ("let x = 1;", "let x = 2;", "let x = 22;"):
        monkeypatch.setattr(bundle, "bundle_modules", lambda _, code=code: {"first.js": code})
        folders |= {address.split("/")[0] for address in make_assets({}) if address != PLOTLY}
    assert len(folders) == 3

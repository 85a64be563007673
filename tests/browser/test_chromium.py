"""Which browser the tests take, and what is said where there is none."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.browser import chromium


def _playwright(downloaded: Path) -> SimpleNamespace:
    return SimpleNamespace(chromium=SimpleNamespace(executable_path=str(downloaded)))


def test_without_a_browser_the_tests_fail_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chromium, "NAMES", ("no-such-browser",))
    with pytest.raises(FileNotFoundError, match="no Chromium here: `sh tests/run` installs one"):
        chromium.launch(_playwright(tmp_path / "absent"))


def test_the_machines_own_browser_comes_before_a_downloaded_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("own", "downloaded"):
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(chromium, "NAMES", ("own",))
    assert chromium.find(_playwright(tmp_path / "downloaded")) == str(tmp_path / "own")
    monkeypatch.setattr(chromium, "NAMES", ("no-such-browser",))
    assert chromium.find(_playwright(tmp_path / "downloaded")) == str(tmp_path / "downloaded")

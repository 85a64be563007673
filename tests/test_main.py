"""``python -m explorer`` hands Streamlit the app, or says what is missing."""

import runpy
import sys
import tomllib
from pathlib import Path

import pytest

from explorer import __main__ as command

ROOT = Path(__file__).parents[1]


def test_streamlit_runs_the_app_with_the_options_given(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(runpy, "run_module", lambda name, **_: ran.append((name, sys.argv)))
    monkeypatch.setattr(sys, "argv", ["…", "--server.port=8600", "--server.headless=true"])
    command.main()
    script = str(ROOT / "app.py")
    assert ran == [
        ("streamlit", ["streamlit", "run", script, "--server.port=8600", "--server.headless=true"])
    ]


def test_without_streamlit_a_sentence_says_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    monkeypatch.setattr(command, "find_spec", lambda _: None)
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert 'pip install ".[app]"' in str(ended.value)
    assert any(each.startswith("streamlit") for each in project["optional-dependencies"]["app"])

"""The service for systemd: what its own tool says of it, where that is installed."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.browser.server import ROOT
from tests.deploy.proxy import replaced

UNIT = ROOT / "deploy" / "explorer@.service"
FOLDER = "/opt/gradient-explorer"
MOST_EXPOSED = 20  # tenths of systemd's own measure, from 0 to 100

pytestmark = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze")


def analysed(*words: str) -> subprocess.CompletedProcess[str]:
    """The answer of systemd on a unit; nothing has to run for it."""
    return subprocess.run(["systemd-analyze", *words], check=False, capture_output=True, text=True)


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """The unit where what it starts is there."""
    program = tmp_path / ".venv" / "bin" / "streamlit"
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    here = tmp_path / UNIT.name.replace("@", "@first")
    here.write_text(replaced(UNIT.read_text("utf-8"), {FOLDER: str(tmp_path)}))
    return here


def test_systemd_has_nothing_to_say_against_it(unit: Path):
    said = analysed("verify", "--man=no", str(unit))
    assert (said.returncode, said.stdout + said.stderr) == (0, "")
    unit.write_text(unit.read_text("utf-8").replace("MemoryMax=", "MemoryMost="))
    assert "MemoryMost" in analysed("verify", "--man=no", str(unit)).stderr


def test_the_service_is_confined(unit: Path):
    said = analysed("security", "--offline=true", f"--threshold={MOST_EXPOSED}", str(unit))
    assert said.returncode == 0, said.stdout[-300:]

"""Settings that are given as Streamlit's secrets, as on its Community Cloud."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.browser.server import ROOT

READ = "from explorer.ui import limits; print(limits.HOSTED)"


def test_a_setting_may_be_a_secret(tmp_path: Path):
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "secrets.toml").write_text('EXPLORER_PROFILE = "hosted"\n')
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", READ]
    read = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert read.stdout == "True\n"

"""Settings that are given as Streamlit's secrets, as on its Community Cloud."""

import subprocess
import sys
from pathlib import Path

from tests.browser.server import ROOT

READ = f"""
import sys, types
parts = ("explorer", "explorer.ui", "explorer.ui.server", "explorer.ui.server.admission")
for name in parts:  # without what they import themselves: torch takes two seconds
    sys.modules[name] = package = types.ModuleType(name)
    package.__path__ = [r"{ROOT}/" + name.replace(".", "/")]
from explorer.ui.server.admission import limits
print(limits.HOSTED)
"""


def test_a_setting_may_be_a_secret(tmp_path: Path):
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / ".streamlit" / "secrets.toml").write_text('EXPLORER_PROFILE = "hosted"\n')
    command = [sys.executable, "-c", READ]
    read = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert read.stdout == "True\n"

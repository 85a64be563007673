"""The library where the system is not Linux: modules and functions that are Unix alone are taken away."""

import os
import subprocess
import sys

import pytest

WITHOUT = {
    "win32": """
import sys, ctypes, os
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in {"resource", "fcntl", "pwd", "grp", "termios"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
for name in ("resource", "fcntl", "pwd", "grp", "termios"):
    sys.modules.pop(name, None)
import torch, pandas, scipy.optimize, sklearn.datasets, sklearn.linear_model, asyncio, uvicorn, streamlit
del os.sysconf
""",
    "darwin": "import ctypes, torch, pandas, sklearn.datasets, asyncio, uvicorn, streamlit\n",
}
ALIKE = """
def absent(name, *_, **__):
    if name is None:
        raise TypeError("LoadLibrary() argument 1 must be str, not None")
    raise AttributeError(name)
ctypes.CDLL = absent
sys.platform = {platform!r}
import explorer
from explorer.training import Run, Settings
from explorer.training.limits import Limits
from explorer.training.system import limit_memory, memory
from explorer.training.engine import open_engine
from explorer.ui.server.admission import admission
run = Run(Settings(steps=2))
run.advance(2)
limit_memory()
admission.raise_file_limit()
assert not memory.is_short()
assert Limits().checkpoint_bytes > 0
assert explorer.check("round", "straight_through").failures == []
engine = open_engine("thread")
engine.close()
if {platform!r} == "win32":
    try:
        open_engine("process")
    except ValueError as error:
        print(error)
print(run.step)
"""


@pytest.mark.parametrize(
    "platform",
    # Windows lacks all that macOS lacks, and more.
    ["win32", pytest.param("darwin", marks=pytest.mark.thorough)],
)
def test_the_library_trains_and_checks_on_windows_and_macos(platform):
    program = "import sys\n" + WITHOUT[platform] + ALIKE.format(platform=platform)
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=200, check=False,
        env={**os.environ, "EXPLORER_TRAINER_MEMORY": "4000", "PYTHONPATH": "."},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert "EXPLORER_TRAINER_MEMORY is ignored" in ended.stderr
    assert ended.stdout.splitlines()[-1] == "2"
    assert (platform != "win32") or "set it to thread" in ended.stdout

"""A run of tests that is abandoned leaves no process behind."""

import time
from contextlib import suppress
from pathlib import Path

import psutil

from tests.faults.running import run_tests

_HANGS = """
import subprocess, sys, time
from pathlib import Path

def test_hangs():
    sleeps = [sys.executable, "-c", "import time; time.sleep(600)"]
    pid = subprocess.Popen(sleeps, start_new_session=True).pid
    Path("part").write_text(str(pid))
    Path("part").rename("pid")
    time.sleep(600)
"""


def is_running(pid: int) -> bool:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


def test_what_a_run_started_in_a_session_of_its_own_ends_with_it(tmp_path: Path) -> None:
    (tmp_path / "test_hangs.py").write_text(_HANGS)
    (tmp_path / "conftest.py").write_text("def pytest_addoption(parser): parser.addoption('--part')")
    for limit_s in (2, 8, 32, 128):
        verdict = run_tests(tmp_path, ["test_hangs.py"], limit_s=limit_s).verdict
        if (tmp_path / "pid").exists():  # else it was abandoned before it began
            break
    assert verdict == "timeout"
    end = time.monotonic() + 30
    while is_running(int((tmp_path / "pid").read_text())):
        assert time.monotonic() < end
        time.sleep(0.01)

import subprocess
import sys
from pathlib import Path

import pytest

from explorer.training import Engine, Limits
from tests.training.driving import Clock

ROOT = Path(__file__).parents[2]


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def engine(clock):
    return Engine(Limits(workers=0), clock)


@pytest.fixture
def modules_after():
    """The names of the modules a fresh interpreter has loaded after running some code."""

    def after(code):
        command = [sys.executable, "-W", "error", "-c", f"{code}\nimport sys\nprint(*sys.modules)"]
        ended = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        return set(ended.stdout.split())

    return after

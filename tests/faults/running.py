"""Copies of the project in which faults are planted, and runs of tests in them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil

from tests.faults.fault import ROOT, Fault

Verdict = Literal["caught", "missed", "error", "timeout"]

_INSTALLED = (".venv", "node_modules")  # folders that all copies share
_AUTHOR = ("-c", "user.name=faults", "-c", "user.email=faults@localhost")  # of a commit that nobody keeps
_FIRST = re.compile(r"^(?:FAILED|ERROR|SUBFAILED\S*) (.+?)(?: - .*)?$", re.MULTILINE)
_VERDICTS: dict[int, Verdict] = {0: "missed", 1: "caught"}  # by pytest's exit status


@dataclass(frozen=True)
class Outcome:
    """The end of a run of tests with a fault planted.

    Attributes:
        verdict: "caught" if a test failed, "missed" if all passed, "timeout" if they took too long, "error"
            if pytest could not run them, for example because a module could not be imported.
        test: the first test that failed, or an empty text.
        seconds: the duration of the run.
    """

    verdict: Verdict
    test: str
    seconds: float


@contextmanager
def copy_project() -> Iterator[Path]:
    """Yield a scratch copy of the project with its uncommitted changes; new files must be known to git."""
    commit = _git("stash", "create") or "HEAD"
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        copy = Path(folder) / "project"
        _git("worktree", "add", "--quiet", "--detach", str(copy), commit)
        try:
            for name in _INSTALLED:
                if (ROOT / name).exists():
                    (copy / name).symlink_to((ROOT / name).resolve())
            yield copy
        finally:
            _git("worktree", "remove", "--force", str(copy))


@contextmanager
def plant_fault(fault: Fault, copy: Path) -> Iterator[None]:
    """Plant a fault in a copy of the project, and take it out again."""
    path = copy / fault.file
    before = path.read_bytes()
    fault.plant(copy)
    try:
        yield
    finally:
        path.write_bytes(before)


def run_tests(copy: Path, paths: Sequence[str], *, limit_s: float, thorough: bool = False) -> Outcome:
    """Run test files in a copy of the project up to the first failure."""
    options = ["-x", "-p", "no:cacheprovider", "--part", "1", *["--thorough"] * thorough]
    begun = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", *options, *paths], cwd=copy, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
    ) as pytest:  # fmt: skip
        try:
            output, _ = pytest.communicate(timeout=limit_s)
            verdict = _VERDICTS.get(pytest.returncode, "error")
        except subprocess.TimeoutExpired:
            output, verdict = "", "timeout"
            for each in psutil.Process(pytest.pid).children(recursive=True):  # in sessions of their own too
                with suppress(psutil.NoSuchProcess):
                    each.kill()
        finally:  # what it started in its own session ends with it
            with suppress(ProcessLookupError):
                os.killpg(pytest.pid, signal.SIGKILL)
    first = _FIRST.search(output)
    return Outcome(verdict, first[1] if first else "", round(time.monotonic() - begun, 1))


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *_AUTHOR, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

"""Somebody's own code runs with a limit of time."""

import sys
import threading

import pytest

from explorer.foreign.subject import UntriedError
from explorer.foreign.timed import HungError, run_within


def test_code_that_calls_sys_exit_is_told_at_once():
    with pytest.raises(UntriedError, match="SystemExit"):
        run_within(30, lambda: sys.exit(3))


def test_code_that_does_not_come_back_is_left_behind():
    event = threading.Event()
    with pytest.raises(HungError, match=r"did not come back within 0\.01 s"):
        run_within(0.01, event.wait)
    event.set()

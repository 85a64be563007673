"""Somebody's own code runs with a limit of time."""

import os
import subprocess
import sys
import threading

import pytest

from explorer.curves.user_functions.subject import UntriedError
from explorer.curves.user_functions.timeouts import HungError, run_within


def test_code_that_calls_sys_exit_raises_an_untried_error():
    with pytest.raises(UntriedError, match="SystemExit"):
        run_within(30, lambda: sys.exit(3))


def test_code_that_does_not_come_back_is_left_behind_later_where_it_gets_little_of_the_processor():
    event = threading.Event()
    with pytest.raises(HungError, match=r"did not return within 0\.03 s"):
        run_within(0.01, event.wait)
    event.set()
    assert run_within(1, lambda: threading.Event().wait(1.5)) is False  # the processor was idle


_FORKED = """
import os, torch, explorer.checks as checks
checks.CHECKS = checks.CHECKS[:2]
torch.set_num_threads(2)
torch.ones(3_000_000).exp().sum()
child = os.fork()
if child == 0:
    checks.check("round", "straight_through")
    checks.check(torch.sin, input=torch.linspace(-1, 1, 100_000))
    os._exit(0)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on Windows")
def test_a_check_in_a_forked_process_does_not_wait_for_threads_of_its_parent():
    done = subprocess.run([sys.executable, "-c", _FORKED], timeout=120, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


_LATE = """
import torch
from explorer.curves.user_functions.timeouts import HungError, run_within

class Slow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        for _ in range(100_000):
            torch.linalg.svd(torch.eye(100))
        return g

def pull():
    x = torch.ones(2, requires_grad=True)
    Slow.apply(x).sum().backward()

try:
    run_within(0.2, pull)
except HungError:
    print("late")
"""


def test_a_process_ends_in_order_after_a_backward_that_was_late():
    ended = subprocess.run([sys.executable, "-c", _LATE], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout.strip()) == (0, "late"), ended.stderr

"""The script for accelerators, where there is none: what it says, its table, its pretended device."""

import math
import re
import struct
import subprocess
import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from explorer.catalogue import OPS, RULES
from explorer.training import TASKS
from tests.accelerator.pairs import find_points, measure_ulps
from tests.accelerator.templates import choose_pairs
from tests.browser.server import ROOT
from tests.selection import take_part

without_accelerator = pytest.mark.skipif(
    torch.accelerator.is_available(), reason="there is an accelerator: sh tests/device tries it"
)


def ran(*command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@without_accelerator
@pytest.mark.thorough  # faster: test_the_cpu_can_play_the_accelerator runs the same script
def test_without_an_accelerator_it_tries_nothing_and_succeeds():
    assert ran("sh", "tests/device").startswith("no accelerator here: 0 tried\n")


def test_the_cpu_can_play_the_accelerator():
    said = ran(sys.executable, "-m", "tests.accelerator", "pairs", "--device", "cpu", "--times", "0.02")
    assert "pairs     op × rule, value and gradient" in said
    counted = [line for line in said.splitlines() if " pairs of" in line and "no time left" not in line]
    assert all("0, none" in line for line in counted)
    assert "0 failed" in said


@without_accelerator
def test_on_a_pretended_device_runs_and_their_instruments_give_the_cpus_bits():
    """It has no float64, as Apple's GPUs; the state of a run goes on on the CPU."""
    said = ran(sys.executable, "-m", "tests.accelerator.alike", *take_part(TASKS))
    assert re.fullmatch(r"\d+ compared\n", said)


FLOATS = st.floats(width=32, allow_nan=True, allow_infinity=True)


@given(FLOATS, FLOATS)
def test_ulps_count_the_floats_between(a, b):
    def order(value):
        (bits,) = struct.unpack("<i", struct.pack("<f", value))
        return bits if bits >= 0 else -(bits & 0x7FFFFFFF)

    if math.isnan(a) or math.isnan(b):
        return
    assert measure_ulps(torch.tensor([a]), torch.tensor([b])) == abs(order(a) - order(b))


def test_the_points_hold_every_declared_kink_and_the_templates_every_kind_of_rule():
    points = set(find_points())
    assert {0.0, 1.0, -1.0, 0.5, -0.5} <= points
    chosen = choose_pairs()
    assert len(chosen) <= 40
    assert {bool(op.parsed.random_names) for op, _ in chosen} == {True, False}
    for kind in (lambda rule: rule.needs_loss, lambda rule: rule.learned, lambda rule: rule.parsed is None):
        assert any(kind(rule) for _, rule in chosen) == any(map(kind, RULES.values()))
    assert {op.key for op, _ in chosen} <= OPS.keys()

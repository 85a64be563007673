"""The script for accelerators, where there is none: what it says, its table, its pretended device."""

import math
import struct
import subprocess
import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from explorer.catalogue import OPS, RULES
from explorer.training import TASKS
from tests.accelerator import absent
from tests.accelerator.pairs import find_points, measure_ulps
from tests.accelerator.table import Table
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
def test_without_an_accelerator_it_tries_nothing_and_succeeds():
    assert ran("sh", "tests/device").startswith("no accelerator here: 0 tried\n")


def test_the_cpu_can_play_the_accelerator():
    said = ran(sys.executable, "-m", "tests.accelerator", "pairs", "--device", "cpu", "--times", "0.02")
    assert "pairs     op × rule, value and gradient" in said
    counted = [line for line in said.splitlines() if " pairs of" in line and "no time left" not in line]
    assert all("0, none" in line for line in counted)
    assert "0 failed" in said


@without_accelerator
@pytest.mark.parametrize("task", take_part(TASKS))
def test_on_a_pretended_device_a_run_and_its_instruments_give_the_cpus_bits(task):
    """It has no float64, as Apple's GPUs; the state of the run goes on on the CPU."""
    assert ran(sys.executable, "-m", "tests.accelerator.alike", task).endswith(" compared\n")


FLOATS = st.floats(width=32, allow_nan=True, allow_infinity=True)


@given(FLOATS, FLOATS)
def test_ulps_count_the_floats_between(a, b):
    def order(value):
        (bits,) = struct.unpack("<i", struct.pack("<f", value))
        return bits if bits >= 0 else -(bits & 0x7FFFFFFF)

    if math.isnan(a) or math.isnan(b):
        return
    assert measure_ulps(torch.tensor([a]), torch.tensor([b])) == abs(order(a) - order(b))


def test_ulps_of_neighbours_zeros_and_nan():
    one, nan = torch.tensor([1.0]), torch.tensor([math.nan])
    assert measure_ulps(one, torch.nextafter(one, one + 1)) == 1
    assert measure_ulps(-torch.zeros(1), torch.zeros(1)) == 0
    assert measure_ulps(nan, nan) == 0
    assert measure_ulps(nan, one) > 0


def test_the_points_hold_every_declared_kink_and_the_templates_every_kind_of_rule():
    points = set(find_points())
    assert {0.0, 1.0, -1.0, 0.5, -0.5} <= points
    chosen = choose_pairs()
    assert len(chosen) <= 40
    assert {bool(op.parsed.draws) for op, _ in chosen} == {True, False}
    for feature in (
        lambda rule: rule.hangs_on_loss,
        lambda rule: rule.learned,
        lambda rule: rule.parsed is None,
    ):
        assert any(feature(rule) for _, rule in chosen) == any(map(feature, RULES.values()))
    assert {op.key for op, _ in chosen} <= OPS.keys()


class TestTable:
    def table(self):
        table = Table("a card")
        table.run_part("some", 60.0, lambda: None)
        return table

    def test_a_row_says_what_holds_fails_was_measured_or_skipped(self, capsys):
        table = self.table()

        def fail():
            raise RuntimeError("no such kernel\nand more")

        def miss():
            raise absent.MissingError("pandas is not installed here")

        table.attempt("one", lambda: (True, "well"))
        table.attempt("two", lambda: (False, "3 ulp"))
        table.attempt("three", lambda: "1.5")
        table.attempt("four", lambda: (None, "no Chromium here"))
        table.attempt("five", miss)
        table.attempt("six", fail)
        assert [row.verdict for row in table.rows] == [
            "holds",
            "FAILS",
            "measured",
            "skipped",
            "skipped",
            "FAILS",
        ]
        assert table.rows[-1].seen.startswith("RuntimeError: no such kernel (fail, line ")
        assert table.failures == 2
        assert "4 tried, 2 failed, 2 skipped" in table.text([])
        assert table.text(["plotly"]).endswith("missing here: plotly")
        assert "no such kernel" in capsys.readouterr().out, "each row is printed as soon as it is known"

    def test_what_has_no_time_left_is_skipped_unasked(self):
        table = Table("a card")

        def late():
            table.attempt("one", pytest.fail)

        table.run_part("some", 0.0, late)
        assert [(row.part, row.verdict, row.seen) for row in table.rows] == [
            ("some", "skipped", "no time left")
        ]

    def test_a_part_that_cannot_be_imported_is_skipped(self):
        table = Table("a card")

        def miss():
            raise ImportError("No module named 'explorer'")

        table.run_part("some", 9.0, miss)
        assert [(row.what, row.verdict) for row in table.rows] == [("all of some", "skipped")]


def test_a_stand_in_can_be_imported_and_not_called(monkeypatch):
    finder = absent._Finder(["nothere"])
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, finder])
    assert not absent.is_there("nothere")
    assert absent.is_there("torch")
    from nothere.deep import Thing

    class Further(Thing):
        pass

    for named in (Thing, Further):
        with pytest.raises(absent.MissingError, match="nothere is not installed here"):
            named()
    for name in [name for name in sys.modules if name.startswith("nothere")]:
        del sys.modules[name]

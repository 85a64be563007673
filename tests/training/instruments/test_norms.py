"""The norms of the gradient: one definition, wherever they stand."""

import numpy as np
import pytest

from tests.training.driving import build


@pytest.mark.parametrize("task", ["digits", "digits convolution", "ternary kernels"])
def test_bars_table_and_curve_have_the_same_norms(task):
    run = build(5, task=task, op="round", rules=("clipped",), seeds=3, hidden=(8, 8))
    now = run.snapshot(visible=("norms",))
    gradients, bars = now.gradients["clipped"], now.measured["norms"]["clipped"]["norms"]
    assert len(bars) == 3
    run.advance(1)
    later = run.snapshot()
    curve = [series["clipped"][5] for series in (later.w1_norms, later.w2_norms)]
    assert [gradients.w1, gradients.w2] == pytest.approx(curve, rel=1e-6)
    assert np.asarray(bars)[[0, -1]] == pytest.approx(curve, rel=1e-6)

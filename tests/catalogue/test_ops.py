"""Every op against its oracle, and torch's own gradient of it against central differences."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from explorer.catalogue import OPS, Op, kink_points, values
from explorer.gradient import apply
from tests.catalogue import oracles
from tests.catalogue.cases import DTYPES, TOLERANCE, grid, settings_of


def _key(op: Op) -> str:
    return op.key


def test_every_op_has_an_oracle_and_every_oracle_an_op():
    assert set(OPS) == set(oracles.OPS)


@pytest.mark.parametrize("op", OPS.values(), ids=_key)
def test_op_gives_what_its_oracle_gives(op):
    for dtype in DTYPES:
        for settings in settings_of(op):
            points = grid(op, None, settings, dtype)
            with np.errstate(over="ignore"):  # 1 / 1e-45 has no float32
                expected = oracles.OPS[op.key](points, **settings).astype(points.dtype)
            y = apply(op, "default", torch.from_numpy(points), **settings)
            assert y.dtype == dtype
            tolerance = {"rtol": 10 * TOLERANCE[dtype], "atol": TOLERANCE[dtype]}
            torch.testing.assert_close(y, torch.from_numpy(expected), **tolerance, equal_nan=True)


@pytest.mark.parametrize("op", OPS.values(), ids=_key)
def test_default_gradient_is_the_derivative_away_from_kinks(op):
    h = 1e-6
    for settings in settings_of(op):
        parameters = values(op, None, settings)
        kinks = kink_points(op.kinks, parameters, -4, 4, 100)
        x = torch.linspace(-2.97, 3.01, 40, dtype=torch.float64)
        x = x[[all(abs(float(point) - kink) > 1e-3 for kink in kinks) for point in x]]
        forward = op.parsed.bind(parameters)
        x = x[forward(x).isfinite()].requires_grad_()
        (gradient,) = torch.autograd.grad(apply(op, "default", x, **settings).sum(), x)
        # One element at a time, since an op may look at the whole tensor (mean).
        steps = torch.eye(len(x), dtype=torch.float64) * h
        differences = [(forward(x + step).sum() - forward(x - step).sum()) / (2 * h) for step in steps]
        torch.testing.assert_close(gradient, torch.stack(differences), rtol=1e-7, atol=1e-7)

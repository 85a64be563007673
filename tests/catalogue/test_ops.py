"""Every op against its oracle, and torch's own gradient of it against central differences."""

import numpy as np
import pytest
import torch

from explorer.catalogue import resolve_values
from explorer.gradient import apply
from tests.catalogue import oracles
from tests.catalogue.cases import DTYPES, TOLERANCE, all_kinks, grid, settings_of
from tests.catalogue.fixed import OPS
from tests.selection import loop_over


def test_every_op_has_an_oracle_and_every_oracle_an_op():
    assert set(OPS) == set(oracles.OPS)


@loop_over("op", OPS.values())
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


DIFFERENTIATED = [op for op in OPS.values() if "float8" not in op.formula]


@pytest.mark.parametrize(
    ("key", "dtype"), [("fp8_e4m3", torch.float8_e4m3fn), ("fp8_e5m2", torch.float8_e5m2)]
)
@pytest.mark.parametrize("s", [1.0, 0.3])
def test_default_gradient_of_a_format_is_that_of_torchs_cast(key, dtype, s):
    x = torch.linspace(-400, 400, 41, requires_grad=True)
    g = torch.tensor([1.1, 0.003, -1000.0, 1e-9]).repeat(11)[:41]
    (mine,) = torch.autograd.grad(apply(key, "default", x, s=s), x, g)
    (theirs,) = torch.autograd.grad((x / s).to(dtype).float() * s, x, g)
    assert torch.equal(mine, theirs)
    assert not torch.equal(mine, g)


@loop_over("op", DIFFERENTIATED)
def test_default_gradient_is_the_derivative_away_from_kinks(op):
    h = 1e-6
    for settings in settings_of(op):
        parameters = resolve_values(op, None, settings)
        kinks = all_kinks(op, None, parameters, -4, 4)
        x = torch.linspace(-2.97, 3.01, 40, dtype=torch.float64)
        x = x[[all(abs(float(point) - kink) > 1e-3 for kink in kinks) for point in x]]
        forward = op.parsed.bind(parameters)
        x = x[forward(x).isfinite()].requires_grad_()
        (gradient,) = torch.autograd.grad(apply(op, "default", x, **settings).sum(), x)
        # One element at a time, since an op may look at the whole tensor (mean).
        steps = torch.eye(len(x), dtype=torch.float64) * h
        differences = [(forward(x + step).sum() - forward(x - step).sum()) / (2 * h) for step in steps]
        torch.testing.assert_close(gradient, torch.stack(differences), rtol=1e-7, atol=1e-7)

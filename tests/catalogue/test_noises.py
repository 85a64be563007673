"""The noises against SciPy's."""

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from explorer.catalogue.noises import NOISES, Noise

X = np.random.default_rng(0).uniform(-4, 4, 500)


@cache
def load_scipys() -> dict[str, Any]:
    """Return SciPy's distributions by the keys of our noises."""
    from scipy import stats  # a second for every process that collects this file

    return {
        "uniform": stats.uniform(-0.5, 1), "triangular": stats.triang(0.5, -0.5, 1), "normal": stats.norm(),
        "logistic": stats.logistic(), "laplace": stats.laplace(), "cauchy": stats.cauchy(),
    }  # fmt: skip


def values_of(formula, x):
    return formula.bind()(torch.from_numpy(x)).numpy()


@pytest.mark.parametrize("noise", NOISES.values(), ids=lambda noise: noise.key)
def test_density_and_distribution_are_scipys(noise: Noise) -> None:
    theirs = load_scipys()[noise.key]
    np.testing.assert_allclose(values_of(noise.parsed_density, X), theirs.pdf(X), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(values_of(noise.parsed_distribution, X), theirs.cdf(X), rtol=1e-12, atol=1e-15)
    assert noise.peak == pytest.approx(theirs.pdf(0), rel=1e-15)
    assert set(load_scipys()) == set(NOISES)


@pytest.mark.parametrize("noise", NOISES.values(), ids=lambda noise: noise.key)
def test_beyond_its_reach_there_is_next_to_nothing(noise: Noise) -> None:
    beyond = 2 * load_scipys()[noise.key].sf(noise.reach)
    assert beyond <= (0.01 if noise.tail == "power" else 1e-8)
    assert all(abs(kink) <= noise.reach for kink in noise.kinks)

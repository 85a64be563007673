"""A member does bit for bit what it would do alone, whatever stands beside it in the run."""

import dataclasses

import numpy as np
import pytest
import torch

from explorer.training import Run, Settings
from explorer.training.numerics.batching import batched, together

RULES = ("default", "straight_through", "masked")
COMPANY = ("default", "straight_through", "formula: g / 0", "swish_sign", "clipped")


def trained(settings):
    run = Run(settings)
    run.advance(settings.steps)
    return run.snapshot()


def assert_alone_as_in_company(settings):
    race = trained(settings)
    for rule in settings.rules:
        for seed in range(settings.seeds):
            alone = dataclasses.replace(settings, rules=(rule,), seed=settings.seed + seed, seeds=1)
            own = trained(alone)
            taken = own.seed_losses[rule].shape[1]
            np.testing.assert_array_equal(race.seed_losses[rule][seed, :taken], own.seed_losses[rule][0])
            judged = len(own.score_steps)  # a run of one member ends when it diverges
            np.testing.assert_array_equal(race.seed_scores[rule][seed, :judged], own.seed_scores[rule][0])
            assert np.isnan(race.seed_scores[rule][seed, judged:]).all()


@pytest.mark.parametrize(
    ("batch", "hidden"), [(64, 16), (64, (16, 8)), (50, 10), (7, 3), (2, 2), (33, 1), (1, 5)]
)
def test_a_lane_trains_alone_as_in_company(batch, hidden):
    """Also beside one that diverges and leaves; batches and widths that fill no step go one by one."""
    assert_alone_as_in_company(
        Settings(
            task="digits", op="sign", rules=COMPANY, steps=12, seeds=2, seed=5, batch=batch, hidden=hidden,
            device="cpu",
        )
    )  # fmt: skip


@pytest.mark.parametrize("task", ["circles", "binary weights", "ternary weights", "spikes", "documents"])
def test_on_every_kind_of_net(task):
    assert_alone_as_in_company(Settings(task=task, rules=RULES, steps=5, seeds=2, device="cpu"))


def test_a_mean_is_over_one_lane_alone():
    rules = ("magnitude_aware", "default", "formula: g * mean(abs(g))")
    assert_alone_as_in_company(
        Settings(task="digits", op="scaled_binarize", rules=rules, steps=6, seeds=2, device="cpu")
    )


@pytest.mark.parametrize("shape", [(4, 3, 5), (4, 8, 8)])
def test_functions_and_products_of_several_lanes_have_the_bits_of_one(shape):
    generator = torch.Generator().manual_seed(0)
    x, w = torch.randn(shape, generator=generator), torch.randn(4, shape[2], 33, generator=generator)
    every, products = together(torch.sigmoid, x), batched(x, w)
    for member in range(4):
        assert torch.equal(every[member], x[member].clone().sigmoid())
        assert torch.equal(
            products[member], batched(x[member : member + 1].clone(), w[member : member + 1].clone())[0]
        )

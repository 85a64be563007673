"""A member does bit for bit what it would do alone, whatever stands beside it in the run."""

import dataclasses

import numpy as np
import pytest
import torch

from explorer.training import Run, Settings
from explorer.training.numerics.batching import apply_to_members, multiply_members
from tests.training.runs.learning_cases import UNITS, WEIGHTS

RULES = ("default", "straight_through", "masked")
# The third one diverges and leaves.
LEAVING = ("default", "straight_through", "formula: g / 0", "swish_sign", "clipped")
MEANS = ("magnitude_aware", "default", "formula: g * mean(abs(g))")
DRAWING = ("sigmoid_st", "st_gumbel", "reinforce_baseline", "disarm")
LSQ = {"op": "quantize", "rules": ("lsq", "quantize_masked"), "learn": ("lsq.s",)}
BESIDE = {"seeds": 3, "seed": 5, "steps": 40}
CASES = [
    # Batches and widths that fill no step go one by one.
    *({"task": "digits", "op": "sign", "rules": LEAVING, "steps": 12, "batch": batch, "hidden": hidden}
      for batch, hidden in [(64, 16), (64, (16, 8)), (50, 10), (7, 3), (2, 2), (33, 1), (1, 5)]),
    *({"task": task, "rules": RULES}
      for task in ("circles", "binary weights", "ternary weights", "spikes", "documents")),
    *({"task": "documents", "op": "sign", "rules": (*RULES, "formula: x * 1e20"), "lr": 1e-4, "steps": 12,
       "hidden": hidden, "batch": batch, "seeds": 1} for hidden, batch in [(1, 1), (8, 4), (100, 64)]),
    {"task": "digits", "op": "scaled_binarize", "rules": MEANS},
    {"task": "digits convolution"},
    {"task": "digits convolution", "hidden": (3, 5, 2), "batch": 7, "op": "tanh"},
    {"task": "digits convolution", **LSQ},
    {"task": "digits convolution", **LSQ, "learn_each": "channel"},
    {"task": "ternary kernels", "rules": ("lsq", "straight_through"), "learn": ("lsq.s",),
     "learn_each": "channel", "hidden": (5, 7)},
    {"task": "binary kernels", "batch": 33, "optimiser": "momentum"},
    {"task": "ternary kernels", "hidden": 1, "bias": False, "batch": 1},
    WEIGHTS | BESIDE | {"rules": ("lsq", "straight_through", "default"), "learn": ("lsq.s",)},
    UNITS | BESIDE | {"rules": ("pact", "straight_through", "default"), "learn": ("pact.hi",)},
    {"task": "digits", "op": "bernoulli", "rules": DRAWING, "steps": 40},
]  # fmt: skip


def trained(settings):
    run = Run(settings, recorded=())
    run.advance(settings.steps)
    return run


@pytest.mark.parametrize("given", CASES, ids=str)
def test_a_member_trains_the_same_alone_and_with_others(given):
    settings = Settings(**{"steps": 5, "seeds": 2, "device": "cpu"} | given)
    run = trained(settings)
    race, weights = run.snapshot(), run.weights()
    for rule in settings.rules:
        learn = tuple(name for name in settings.learn if name.startswith(f"{rule}."))
        for seed in range(settings.seeds):
            number = settings.seed + seed
            alone = trained(dataclasses.replace(settings, rules=(rule,), seed=number, seeds=1, learn=learn))
            own = alone.snapshot()
            taken = own.seed_losses[rule].shape[1]  # a run of one member ends when it diverges
            np.testing.assert_array_equal(race.seed_losses[rule][seed, :taken], own.seed_losses[rule][0])
            judged = len(own.score_steps)
            np.testing.assert_array_equal(race.seed_scores[rule][seed, :judged], own.seed_scores[rule][0])
            assert np.isnan(race.seed_scores[rule][seed, judged:]).all()
            for name, each in alone.weights().items() if rule.isidentifier() else ():
                assert torch.equal(weights[name], each), name


@pytest.mark.parametrize(("shape", "columns"), [((4, 3, 5), 33), ((4, 8, 8), 33), ((4, 32, 1), 16)])
def test_batched_functions_and_products_equal_each_member_alone(shape, columns):
    generator = torch.Generator().manual_seed(0)
    x, w = torch.randn(shape, generator=generator), torch.randn(4, shape[2], columns, generator=generator)
    bias = torch.randn(4, 1, columns, generator=generator)
    every, products = apply_to_members(torch.sigmoid, x), multiply_members(x, w, bias)
    for member in range(4):
        assert torch.equal(every[member], x[member].clone().sigmoid())
        alone = (each[member : member + 1].clone() for each in (x, w, bias))
        assert torch.equal(products[member], multiply_members(*alone)[0])

"""Steps that are no op of the catalogue: torch's fake quantisers, draws, numbers; and parameters by name."""

from __future__ import annotations

import gc

import pytest
import torch
from torch import nn
from torch.nn import functional

import explorer
from tests.checks.cases.case import make_function
from tests.model.nets import X, Y, equal, gradients_of, loss_of, made, observed

SCALES, ZEROS = torch.linspace(0.05, 0.2, 6), torch.zeros(6, dtype=torch.int32)


def per_tensor(h):
    return torch.fake_quantize_per_tensor_affine(h, 0.1, 0, -8, 7)


def per_channel(h):
    return torch.fake_quantize_per_channel_affine(h, SCALES, ZEROS, 1, -8, 7)


def learnable(h):
    return torch._fake_quantize_learnable_per_tensor_affine(h, SCALES[:1], SCALES[:1] * 0, -8, 7, 1.0)


def drawn(h):
    torch.manual_seed(0)
    return torch.bernoulli(torch.sigmoid(h))


# The forward of a function, with three times the gradient of y for x.
ThriceStraight = make_function(lambda x, function: function(x), lambda x, g, _: 3 * g)


STEPS = {
    "fake_quantize_per_tensor_affine": per_tensor, "fake_quantize_per_channel_affine": per_channel,
    "fake_quantize_learnable_per_tensor_affine": learnable, "bernoulli": drawn,
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_a_site_with_the_gradient_that_passes(name):
    model = made(STEPS[name])
    seen = observed(model)
    row = seen.frame.set_index("op").loc[name]
    scale = SCALES if "channel" in name else SCALES[0] if "learnable" in name else 0.1
    level = (model.a(X) / scale).round()
    inside = (level.clamp(-8, 7) == level).float().mean()
    assert row.share_grad == pytest.approx(0.0 if name == "bernoulli" else inside.item())
    if name != "bernoulli":
        assert row.rule.split()[0] in ("fake_quantize", "masked")


@pytest.mark.parametrize("name", STEPS)
def test_a_step_swaps_bit_for_bit_as_a_function_written_by_hand(name):
    function = STEPS[name]
    fixed = explorer.swap(made(function), name, rule=lambda x, g: 3 * g)
    if name == "bernoulli":  # the rule is for the draw, whose x is the probability
        by_hand = made(lambda h: ThriceStraight.apply(torch.sigmoid(h), lambda p: drawn(torch.logit(p))))
    else:
        by_hand = made(lambda h: ThriceStraight.apply(h, function))
    got, wanted = gradients_of(fixed), gradients_of(by_hand)
    equal(got, wanted)


def test_torch_ao_modules_are_seen_and_swapped_by_class():
    fake = torch.ao.quantization.FakeQuantize(
        torch.ao.quantization.MovingAverageMinMaxObserver, quant_min=0, quant_max=255, dtype=torch.quint8
    )
    model = nn.Sequential(nn.Linear(8, 6), fake, nn.Linear(6, 3))
    with explorer.observe(model) as seen:
        functional.cross_entropy(model(X), Y).backward()
    assert any("fake_quant" in op for op in seen.frame.op)
    dead = explorer.swap(model, type(fake), rule="zero")
    model.zero_grad()
    functional.cross_entropy(dead(X), Y).backward()
    assert not model[0].weight.grad.any()
    assert model[2].weight.grad.any()


def test_a_number_taken_from_a_tensor_is_named_and_the_rest_still_learns():
    model = made(lambda h: h / h.abs().max().item())
    seen = observed(model)
    row = seen.frame.set_index("op").loc["item"]
    assert row.note == "it leaves torch for a Python number: no gradient comes back"
    assert {*seen.parameters.gradient} == {"arrives"}


class Weights(nn.Module):
    """Two linear layers with rounded weights: one by a detach trick, one without gradient."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 6), nn.Linear(6, 3)

    def forward(self, x):
        w = self.a.weight + (torch.round(self.a.weight * 4) / 4 - self.a.weight).detach()
        v = torch.round(self.b.weight * 4) / 4
        return functional.linear(torch.relu(functional.linear(x, w, self.a.bias)), v, self.b.bias)


def test_a_parameter_is_swapped_by_its_name_and_no_other():
    torch.manual_seed(0)
    model = Weights()
    before = gradients_of(model)
    fixed = explorer.swap(model, "a.weight", rule=lambda x, g: 3 * g)
    assert torch.equal(fixed(X), model(X))
    after = gradients_of(fixed)
    assert torch.equal(after["a.weight"], 3 * before["a.weight"])
    assert not after["b.weight"].any()
    other = gradients_of(explorer.swap(model, model.b.weight, rule="straight_through"))
    assert other["b.weight"].any()
    assert torch.equal(other["a.weight"], before["a.weight"])


@pytest.mark.thorough
def test_a_thousand_observed_and_swapped_steps_leave_nothing_behind():
    """A faster test with four steps: test_nothing_is_left_behind_without_a_collection_of_garbage."""
    model = explorer.swap(made(torch.round), torch.round, rule="straight_through")

    def tensors():
        gc.collect()
        return sum(type(each) in (torch.Tensor, nn.Parameter) for each in gc.get_objects())

    counts = []
    with explorer.log_gradients(model, every=3, write=lambda scalars, step: None) as log:
        for step in range(1000):
            loss_of(model).backward()
            if step in (99, 999):
                log.flush()
                counts.append(tensors())
    assert counts[1] <= counts[0] + 10

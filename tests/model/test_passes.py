"""What an observation counts: passes, loops, checkpoints and torch.func; and what it leaves behind."""

from __future__ import annotations

import gc
import math
import warnings

import pytest
import torch
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.utils.checkpoint import checkpoint

import explorer
from tests.model.nets import Doubled, FakeQuant, X, gradients_of, loss_of, made, observed, only, same


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpoint_counts_its_calls_once(reentrant):
    model = made(lambda h: checkpoint(lambda z: model.relu(z), h, use_reentrant=reentrant))
    model.relu = nn.ReLU()
    plain = gradients_of(model)
    row = only(observed(model))
    assert (row["site"], row["calls"]) == ("relu", 1)
    assert row["share_grad"] > 0
    same(gradients_of(model), plain)
    said = observed(made(lambda h: checkpoint(lambda z: z.sign(), h, use_reentrant=reentrant))).describe()
    assert [words in said for words in ("(sign) is to blame", "or by a hook")] == [True, False]


def test_a_model_that_raises_passes_its_error_through_and_keeps_no_hook():
    def raising(h):
        torch.relu(h)
        raise KeyError("mine")

    model = made(raising)
    seen = explorer.observe(model, [FakeQuant])
    with pytest.raises(KeyError, match="mine"), seen:
        model(X)
    assert not model._forward_hooks
    assert not model._forward_pre_hooks
    assert "apply" not in vars(FakeQuant)
    calls = only(seen)["calls"]
    with pytest.raises(KeyError):
        model(X)
    assert only(seen)["calls"] == calls == 1


def test_sites_are_counted_in_the_singular_and_the_plural():
    for ops, words in ([nn.ReLU()], "1 site;"), ([nn.ReLU(), nn.Tanh()], "2 sites;"):
        model = nn.Sequential(*ops)
        with explorer.observe(model) as seen:
            model(X)
            assert seen.describe().startswith(words)


def test_passes_without_a_backward_are_no_dead_units():
    model = made(torch.relu)
    with explorer.observe(model) as seen:
        model(X)
        assert math.isnan(only(seen)["share_grad"])
        assert seen.describe() == "1 site; no backward has run of these forward passes."
        loss_of(model).backward()
        model(X)
    row = only(seen)
    assert row["calls"] == 3
    assert row["none_came"] == 0


def test_a_backward_after_the_block_counts_too():
    model = made(torch.tanh)
    with explorer.observe(model) as seen:
        loss = loss_of(model)
    loss.backward()
    assert only(seen)["share_grad"] == 1


def test_a_loop_inside_the_block_adds_up_its_steps_and_keeps_none_of_them():
    model = made(torch.relu)
    with explorer.observe(model) as seen:
        kept = []
        for _ in range(30):
            loss_of(model).backward()
            kept.append((len(seen.listener.calls), len(seen.listener.measurements)))
    assert len({*kept[2:]}) == 1
    row = only(seen)
    assert row["calls"] == 30
    once = only(observed(model))
    assert row["share_grad"] == pytest.approx(once["share_grad"])
    assert row["x_sd"] == pytest.approx(once["x_sd"])


def test_nothing_is_left_behind_without_a_collection_of_garbage():
    model = made(lambda h: h + (torch.round(h) - h).detach())

    def tensors():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return sum(isinstance(each, torch.Tensor) for each in gc.get_objects())

    counts = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(4):
            observed(model)
            counts.append(tensors())
    finally:
        gc.enable()
    assert counts[-1] == counts[1]


def double(h):
    return Doubled.apply(2.0, h)


@pytest.mark.parametrize(("function", "op"), [(torch.tanh, "tanh"), (double, "Doubled")])
def test_a_call_inside_torch_func_is_named_with_its_reason(function, op):
    model = made(function)
    own = dict(model.named_parameters())
    with explorer.observe(model) as seen:
        vmap(grad(lambda own, x: functional_call(model, own, (x,)).sum()), (None, 0))(own, X)
    row = only(seen)
    assert row["op"] == op
    assert row["note"] == "called inside torch.func, as by vmap: observe the model without it"
    assert "cannot learn" not in seen.describe()

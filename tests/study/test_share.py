"""The share of straight-through's gradient in a study: at the start weights, before any step."""

import math
from dataclasses import replace

import pytest
import torch

import explorer
from explorer.catalogue import resolve_values
from explorer.study import Plan, Result
from explorer.training import Run
from tests.training.driving import build

SMALL = {"lrs": [0.01], "seeds": 1, "steps": 1}


def test_on_weights_it_is_that_of_the_latent_weights_with_their_own_gradients():
    """From the run's weights, the loss differentiated by autograd through straight-through: no trace."""
    rules = ["straight_through", "masked", "rdfs"]
    plan = Plan.create("ternary weights", None, rules, hidden=8, batch=16, **SMALL)
    settings, op = plan.settings(plan.list_trials("choose")[0]), explorer.OPS["quantize"]
    run = Run(replace(settings, rules=("straight_through",)))
    weights = run.weights()
    x, y = (part[0] for part in run.nets.batch)
    layers = sorted(name for name in weights if name.endswith("weight"))
    own, latents = resolve_values(op, None, settings.parameters), []
    for name in layers:
        w = weights[name]
        latent = (w * w.shape[1] ** 0.5).requires_grad_()
        passed = explorer.apply("quantize", "straight_through", latent, **own)
        bias = weights.get(name.replace("weight", "bias"))
        x = x @ (passed / w.shape[1] ** 0.5).T + (0 if bias is None else bias)
        x = torch.relu(x) if name != layers[-1] else x
        latents.append(latent)
    torch.nn.functional.cross_entropy(x, y).backward()
    found = plan.shares
    for rule in rules:
        before = behind = 0.0
        for latent in latents:
            leaf = latent.detach().clone().requires_grad_()
            named = resolve_values(op, explorer.RULES[rule], settings.parameters)
            explorer.apply("quantize", rule, leaf, **named).backward(latent.grad)
            before += float(latent.grad.abs().sum())
            behind += float(leaf.grad.abs().sum())
        assert found[rule] == pytest.approx(behind / before, rel=1e-4)
    assert found["straight_through"] == 1
    assert 0.1 < found["rdfs"] < found["masked"] < 1


def test_values_matter_and_seeds_and_rates_do_not():
    usual = {"controls": False} | SMALL
    plans = [Plan.create("circles", "sign", ["clipped"], parameters={"c": c}, **usual) for c in (0.1, 1, 9)]
    low, middle, all_of_it = (plan.shares["clipped"] for plan in plans)
    assert 0 < low < middle <= all_of_it == 1
    again = Plan.create("circles", "sign", ["clipped"], controls=False, lrs=[0.3], seeds=[7], steps=1)
    assert again.shares == plans[1].shares


def test_the_table_and_the_sentences_have_it_before_the_first_trial():
    plan = Plan.create("circles", "sign", ["clipped", "zero", "formula: g / 0"], controls=False, **SMALL)
    result = Result(plan, [])
    clipped, zero, broken = result.best["share"]
    assert (zero, math.isnan(broken)) == (0, True)
    said = "At the start weights of seed 0 the rules pass this share of straight-through's gradient: Clipped"
    assert f"{said} straight-through {100 * clipped:.0f} % and Zero 0 %." in result.describe()


def _returned(task, op, rule):
    """The size of what a rule returns for what reaches straight-through in a net, by the rule's formula."""
    run = build(task=task, op=op, rules=("straight_through", rule), hidden=(8, 8), batch=16)
    traces = [trace for trace in run.nets.run_pass().traces if trace.x is not None]
    entry, backward = explorer.OPS[op], explorer.RULES[rule]
    before = behind = 0.0
    for trace in traces:
        tensors = {"u()": 1 - trace.u[:1]}
        twin = entry.parsed.bind(resolve_values(entry, None, {}))(trace.x[:1], tensors=tensors)
        known = {"u()": trace.u[:1], "ya()": twin, "f()": trace.loss, "fa()": trace.twin_loss}
        drawn = {name: each[:1].expand_as(trace.x[:1]) for name, each in known.items() if each is not None}
        formula = backward.parsed or entry.parsed.gradient
        values = resolve_values(entry, backward, {})
        returned = formula.bind(values)(trace.x[:1], trace.y[:1], trace.upstream[:1], tensors=drawn)
        before += float(trace.upstream[:1].abs().sum())
        behind += float(returned.abs().sum())
    return behind / before


@pytest.mark.parametrize(("task", "op", "rule"), [
    ("digits", "bernoulli", "sigmoid_st"), ("digits", "bernoulli", "reinforce"),
    ("digits", "bernoulli", "disarm"), ("moons", "dropout", "default"),
    ("moons", "gumbel_sigmoid", "default"),
])  # fmt: skip
def test_the_share_of_a_random_rule_is_that_of_the_first_step(task, op, rule):
    small = {"hidden": (8, 8), "batch": 16, "controls": False}
    plan = Plan.create(task, op, ["straight_through", rule], **small, **SMALL)
    own, found = plan.shares.values()
    assert own == 1
    assert found == pytest.approx(_returned(task, op, rule), rel=1e-4)
    assert found != 1


@pytest.mark.parametrize("task", ["ternary weights", "spikes", "digits convolution"])
def test_straight_through_passes_itself_wherever_something_draws(task):
    op = "stochastic_round" if task == "ternary weights" else "bernoulli"
    plan = Plan.create(task, op, ["straight_through", "zero", "reinforce"], controls=False, **SMALL)
    own, zero, losses = plan.shares.values()
    assert (own, zero) == (1, 0)
    said = Result(plan, []).describe()
    assert "gradient: Straight-through 100 % and Zero 0 %. Computed from losses at the start" in said
    assert f"gradient: REINFORCE {100 * losses:.0f} %." in said

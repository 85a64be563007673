import math
from functools import partial

import pytest
import torch

from explorer.gradient import bind, pair
from explorer.training.instruments.base.gradients import compute_gradients
from explorer.training.nets import architectures
from explorer.training.nets.architectures import DENSE, KERNELS, MAPS, QUANTISED, SPIKING, Member
from explorer.training.nets.ensemble import Ensemble
from explorer.training.nets.layers import Activation, Dense, FixedInput, Relu, Spread, Trace
from explorer.training.nets.layers.boundary import Boundary
from explorer.training.nets.layers.op_rules import OpRules, join_rules
from explorer.training.numerics.losses import squared_error
from explorer.training.numerics.optimisers import PlainDescent
from tests.catalogue.fixed import OPS, RULES
from tests.selection import loop_over, take_part
from tests.training.by_hand import run_dense, run_maps, run_spikes

X = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
Y = torch.tensor([[1.0], [0.0]])
W1 = torch.tensor([[2.0, -3.0, -1.0], [-1.0, -2.0, 4.0]])
W2 = torch.tensor([[1.0], [1.0], [0.0]])
BATCH = (X[None], Y[None], squared_error)


@pytest.fixture(params=["an x of its own", "the same x"])
def net(request):
    """Makes a net whose first layer sees another x, or the same, at every step."""

    def made(rule="default", op="relu", w1=W1):
        def boundary(members):
            rules = [member.rule for member in members]
            return Boundary(OpRules([pair(op, rule, {})], has_reduction=False), rules, [0] * len(rules))

        def dense(members):
            first, last = Dense(2, 3, bias=False, first=True), Dense(3, 1, bias=False)
            return [Spread([member.seed for member in members]), first, Activation(boundary(members)), last]

        def fixed(members):
            first = FixedInput([w1], [X], [member.seed for member in members])
            return architectures.build_tail(first, (2, 3, 1), boundary(members))

        if request.param == "the same x":
            (first,) = FixedInput([w1], [X], [0]).get_start_values()
            return Ensemble([Member(0, 0)], fixed, [[*first, W2]], PlainDescent)
        return Ensemble([Member(0, 0)], dense, [[w1, W2]], PlainDescent)

    return made


def weights(net):
    views = [each for each in net.parameter_views if each]
    first = next(layer for layer in net.layers if layer.shapes)
    w1 = first.weights(views[0]) if isinstance(first, FixedInput) else views[0][0]
    return w1[0], views[1][0][0]


def facts_of(net):
    return compute_gradients(net, net.run_pass(*BATCH), net.observe(*BATCH), net.measure_distances()[0])[0]


def test_one_step_matches_values_by_hand(net):
    """Prediction (2, 0), loss 1: only the first example and the first unit have a gradient."""
    trained = net()
    assert trained.step(*BATCH, lr=0.25)[:, 0].tolist() == [1.0, 2.0, 4.0]
    assert facts_of(trained).w1_moved == 0.5
    w1, w2 = weights(trained)
    assert torch.equal(w1, torch.tensor([[1.5, -3.0, -1.0], [-1.0, -2.0, 4.0]]))
    assert torch.equal(w2, torch.tensor([[0.0], [1.0], [0.0]]))


def test_gradient_facts_match_values_by_hand(net):
    """Upstream (2, 2, 0) for the first example, 0 for the second: relu blocks 1 of 6 that matter."""
    facts = facts_of(net())
    assert (facts.w1, facts.w2, facts.w1_moved) == (2.0, 4.0, 0.0)
    assert facts.blocked == 1 / 6
    assert facts.passed == 0.5
    assert facts.idle_units == 2 / 3


def test_a_net_with_nan_weights_leaves_even_if_its_loss_is_finite(net):
    """step maps NaN to 0, so the loss stays finite."""
    trained = net("formula: g / 0", op="step")
    assert math.isfinite(trained.step(*BATCH, lr=1.0)[0, 0])
    assert trained.step(*BATCH, lr=1.0).shape == (3, 0)
    assert trained.active == []


def test_the_gradient_is_0_where_relu_is_0_for_any_upstream_gradient():
    x, g = torch.tensor([[[-1.0, 0.0, 2.0]]]), torch.tensor([[[math.inf, math.nan, 3.0]]])
    layer, trace = Relu(), Trace()
    layer.forward(x, [], trace)
    leaf = x.clone().requires_grad_()
    theirs = torch.autograd.grad(leaf.relu(), leaf, g)[0]
    assert layer.backward(g, [], [], trace).tolist() == theirs.tolist() == [[[0, 0, 3]]]


@loop_over("rule", take_part(RULES))
def test_a_pair_matches_autograd_bit_for_bit(rule):
    x = torch.arange(-32, 33).reshape(5, 13) / 8
    g = torch.linspace(-2, 3, 65).reshape(5, 13)
    for op in OPS:
        leaf = x.clone().requires_grad_()
        y = bind(op, rule, {})(leaf)
        (gradient,) = torch.autograd.grad(y, leaf, g)
        forward, backward = pair(op, rule, {})
        with torch.no_grad():
            ours = forward(x)
            torch.testing.assert_close(ours, y.detach(), rtol=0, atol=0, equal_nan=True)
            torch.testing.assert_close(backward(x, ours, g), gradient, rtol=0, atol=0, equal_nan=True)


def reference(net, x, parameters, op):
    """The output of one net, written a second time for autograd."""
    layers = list(zip(parameters[::2], parameters[1::2], strict=True))
    if net is SPIKING:
        return run_spikes(x, layers, op)[1]
    run = run_maps if net in (MAPS, KERNELS) else run_dense
    return run(x, layers, op, on_weights=net in (QUANTISED, KERNELS))[1]


@pytest.mark.parametrize("n", [5, 32])
@pytest.mark.parametrize(
    ("net", "op", "rules"),
    [
        (DENSE, "sign", ("clipped", "approx_sign", "default")),
        (DENSE, "tanh", ("default", "formula: g * x * y")),
        (DENSE, "scaled_binarize", ("magnitude_aware", "straight_through")),
        (QUANTISED, "binarize", ("straight_through", "clipped")),
        (QUANTISED, "quantize", ("quantize_masked", "ewgs")),
        (MAPS, "sign", ("clipped", "approx_sign", "default")),
        (MAPS, "tanh", ("default", "formula: g * x * mean(abs(y))")),
        (KERNELS, "binarize", ("straight_through", "clipped")),
        (KERNELS, "quantize", ("quantize_masked", "ewgs")),
        (SPIKING, "step", ("fast_sigmoid", "boxcar", "formula: g * mean(abs(x))")),
    ],
)
def test_the_loss_and_gradients_of_every_member_match_autograd(net, op, rules, n):
    generator = torch.Generator().manual_seed(0)
    ends, seeds = ((64, 3, 4, 5, 3) if net in (MAPS, KERNELS) else (6, 7, 5, 3)), 2
    pairs = [pair(op, rule, {}) for rule in rules]
    members = [Member(rule, seed) for rule in range(len(rules)) for seed in range(seeds)]

    def build(members):
        numbers = [member.rule for member in members]
        whole = op == "scaled_binarize" or any("mean" in rule for rule in rules)
        boundary = Boundary(OpRules(pairs, whole), numbers, [0] * len(numbers))
        return net.build(ends, True, boundary, [member.seed for member in members])

    scale = 3.0 if net is SPIKING else 1.0
    draw = partial(architectures.draw_start, build(members[:1]), generator, scale, unit=False, bias=0.3)
    start = [draw() for _ in range(seeds)]
    x = torch.rand(seeds, n, ends[0], generator=generator)
    y = torch.randn(seeds, n, 3, generator=generator)
    nets = Ensemble(members, build, start, PlainDescent)
    with torch.no_grad():
        now = nets.run_pass(x, y, squared_error)
    for place_, member in enumerate(members):
        leaves = [value.clone().requires_grad_() for value in start[member.seed]]
        bound = bind(op, rules[member.rule], {})
        output = reference(net, x[member.seed], leaves, lambda x, _, bound=bound: bound(x))
        loss = (output - y[member.seed]).square().sum()
        expected = torch.autograd.grad(loss, leaves, allow_unused=True, materialize_grads=True)
        assert now.numbers[0, place_] == pytest.approx(loss.item(), rel=1e-4)
        ours = [view[place_] for views in nets._gradient_views for view in views]
        for mine, theirs in zip(ours, expected, strict=True):
            torch.testing.assert_close(mine, theirs, rtol=2e-3, atol=2e-3)


def test_hidden_biases_are_drawn_after_all_weights():
    boundary = Boundary(OpRules([pair("sign", "default", {})], has_reduction=False), [0], [0])
    draw = partial(architectures.draw_start, DENSE.build((2, 4, 4, 2), True, boundary, [0]), unit=False)
    first, second = (draw(torch.Generator().manual_seed(0), 1.0, bias=bias) for bias in (0.0, 1.0))
    found = [torch.equal(a, b) for a, b in zip(first, second, strict=True)]
    assert found == [True, False, True, False, True, True]


def test_statistics_of_a_custom_formula_are_taken_over_one_net():
    """Any function that makes one number of all elements, not ``mean`` alone."""
    for whole in ("mean(abs(x))", "amax(x)", "amin(x)", "std(x)", "numel(x)"):
        rules = join_rules("sign", (f"formula: g * {whole}",), {})
        x = torch.randn(2, 4, 16, generator=torch.Generator().manual_seed(0))
        both = Boundary(rules, [0, 0], [0, 0]).backward(x, x.sign(), torch.ones_like(x))
        alone = [rules.pairs[0][1](one, one.sign(), torch.ones_like(one)) for one in x]
        assert torch.equal(both, torch.stack(alone)), whole

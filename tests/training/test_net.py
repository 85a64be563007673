import pytest
import torch

from explorer.catalogue import OPS, RULES
from explorer.gradient import bind, pair
from explorer.training.layer import FixedLayer, Layer
from explorer.training.limits import BINS
from explorer.training.net import History, Nets
from explorer.training.tasks import squared_error

X = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
Y = torch.tensor([[1.0], [0.0]])
W1 = torch.tensor([[2.0, -3.0, -1.0], [-1.0, -2.0, 4.0]])
W2 = torch.tensor([[1.0], [1.0], [0.0]])


@pytest.fixture(params=["an x of its own", "the same x"])
def net(request):
    """Makes a net whose first layer sees another x, or the same, at every step."""
    fixed = request.param == "the same x"

    def made(rule="default", op="relu", w1=W1):
        layer = FixedLayer(w1, 1, X) if fixed else Layer(w1, 1)
        return Nets({rule: pair(op, rule, {})}, layer, W2)

    return made


def history(nets):
    return next(iter(nets.histories.values()))


def facts_of(nets, start=W1):
    return next(iter(nets.gradients(X, Y, squared_error, start).values()))


def test_one_step_by_hand(net):
    """Prediction (2, 0), loss 1: only the first example and the first unit have a gradient."""
    trained = net()
    trained.step(X, Y, squared_error, lr=0.25)
    assert history(trained) == History([1.0], [2.0], [4.0])
    assert torch.equal(trained.layer.w1[0], torch.tensor([[1.5, -3.0, -1.0], [-1.0, -2.0, 4.0]]))
    assert torch.equal(trained.w2[0], torch.tensor([[0.0], [1.0], [0.0]]))


def test_start_weights_are_left_alone(net):
    start = W1.clone()
    net(w1=start).step(X, Y, squared_error, lr=0.25)
    assert torch.equal(start, W1)


def test_gradients_by_hand(net):
    """Upstream (2, 2, 0) for the first example, 0 for the second: relu blocks 1 of 6 that matter."""
    facts = facts_of(net())
    assert (facts.w1, facts.w2, facts.w1_moved) == (2.0, 4.0, 0.0)
    assert facts.blocked == torch.tensor(1 / 6).item()
    assert facts.passed == 0.5
    assert facts.idle_units == torch.tensor(2 / 3).item()


def test_histogram_counts_every_preactivation_once(net):
    facts = facts_of(net("straight_through"))
    assert facts.edges.shape == (BINS + 1,)
    assert facts.passed_counts.shape == facts.zero_counts.shape == (BINS,)
    assert (facts.edges[0], facts.edges[-1]) == (-3.0, 4.0)
    assert facts.passed_counts.sum() == 2
    assert facts.zero_counts.sum() == 4
    assert facts.passed_counts[0] == 1
    assert facts.zero_counts[-1] == 1


def test_histogram_of_a_single_value(net):
    still = net(w1=torch.zeros(2, 3))
    assert facts_of(still, torch.zeros(2, 3)).zero_counts.sum() == 6


def test_asking_for_gradients_changes_nothing(net):
    trained = net()
    facts_of(trained)
    assert torch.equal(trained.layer.w1[0], W1)
    assert history(trained).losses == []


def test_broken_weights_behind_an_op_that_hides_them_count_as_diverged(net):
    """step maps NaN to 0, so the loss stays finite."""
    trained = net("formula: g / 0", op="step")
    for _ in range(3):
        trained.step(X, Y, squared_error, lr=1.0)
    assert history(trained).diverged == len(history(trained).losses) == 1
    assert facts_of(trained) is None


@pytest.mark.parametrize("rule", RULES)
def test_a_pair_is_what_autograd_makes_of_op_and_rule(rule):
    """Bit for bit, for every op, at kinks too."""
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

import torch

from explorer.gradient import bind
from explorer.training.limits import BINS
from explorer.training.net import Net
from explorer.training.tasks import squared_error

X = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
Y = torch.tensor([[1.0], [0.0]])
W1 = torch.tensor([[2.0, -3.0, -1.0], [-1.0, -2.0, 4.0]])
W2 = torch.tensor([[1.0], [1.0], [0.0]])


def net(rule="default", op="relu"):
    return Net(bind(op, rule, {}), W1, W2)


def test_one_step_by_hand():
    """Prediction (2, 0), loss 1: only the first example and the first unit have a gradient."""
    trained = net()
    trained.step(X, Y, squared_error, lr=0.25)
    assert trained.losses == [1.0]
    assert torch.equal(trained.w1, torch.tensor([[1.5, -3.0, -1.0], [-1.0, -2.0, 4.0]]))
    assert torch.equal(trained.w2, torch.tensor([[0.0], [1.0], [0.0]]))


def test_start_weights_are_left_alone():
    start = W1.clone()
    Net(bind("relu", "default", {}), start, W2).step(X, Y, squared_error, lr=0.25)
    assert torch.equal(start, W1)


def test_gradients_by_hand():
    """Upstream (2, 2, 0) for the first example, 0 for the second: relu blocks 1 of 6 that matter."""
    facts = net().gradients(X, Y, squared_error, W1)
    assert (facts.w1, facts.w2, facts.w1_moved) == (2.0, 4.0, 0.0)
    assert facts.blocked == torch.tensor(1 / 6).item()
    assert facts.idle_units == torch.tensor(2 / 3).item()


def test_histogram_counts_every_preactivation_once():
    facts = net("straight_through").gradients(X, Y, squared_error, W1)
    assert facts.edges.shape == (BINS + 1,)
    assert facts.passed_counts.shape == facts.zero_counts.shape == (BINS,)
    assert (facts.edges[0], facts.edges[-1]) == (-3.0, 4.0)
    assert facts.passed_counts.sum() == 2
    assert facts.zero_counts.sum() == 4
    assert facts.passed_counts[0] == 1
    assert facts.zero_counts[-1] == 1


def test_histogram_of_a_single_value():
    still = Net(bind("relu", "default", {}), torch.zeros(2, 3), W2)
    assert still.gradients(X, Y, squared_error, torch.zeros(2, 3)).zero_counts.sum() == 6


def test_asking_for_gradients_changes_nothing():
    trained = net()
    trained.gradients(X, Y, squared_error, W1)
    assert torch.equal(trained.w1, W1)
    assert trained.losses == []


def test_broken_weights_behind_an_op_that_hides_them_count_as_diverged():
    """step maps NaN to 0, so the loss stays finite."""
    trained = net("formula: g / 0", op="step")
    for _ in range(3):
        trained.step(X, Y, squared_error, lr=1.0)
    assert trained.diverged == len(trained.losses) == 1
    assert trained.gradients(X, Y, squared_error, W1) is None

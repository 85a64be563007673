import pytest
import torch

from explorer.training import Run, Settings
from explorer.training.numerics.optimisers import OPTIMISERS, PlainDescent

TORCHS = {
    "sgd": lambda parameters, lr: torch.optim.SGD(parameters, lr=lr),
    "momentum": lambda parameters, lr: torch.optim.SGD(parameters, lr=lr, momentum=0.9),
    "adam": lambda parameters, lr: torch.optim.Adam(parameters, lr=lr),
}


@pytest.mark.parametrize("name", OPTIMISERS)
@pytest.mark.parametrize("sizes", [(1024, 16, 160, 10), (3, 1, 7)])
def test_every_member_moves_as_with_torchs_optimiser(name, sizes):
    """Bit for bit, over fifty steps, whatever the sizes of the parameters."""
    generator = torch.Generator().manual_seed(0)
    members, lr = 3, 0.0123
    start = [torch.randn(members, size, generator=generator) for size in sizes]
    flat = torch.cat(start, 1)
    ours = OPTIMISERS[name](flat)
    theirs = [[each[member].clone().requires_grad_() for each in start] for member in range(members)]
    optimisers = [TORCHS[name](parameters, lr) for parameters in theirs]
    for _ in range(50):
        gradients = torch.randn(flat.shape, generator=generator)
        for member, optimiser in enumerate(optimisers):
            for parameter, part in zip(theirs[member], gradients[member].split(sizes), strict=True):
                parameter.grad = part.clone()
            optimiser.step()
        ours.step(flat, gradients.clone(), lr)
    for member in range(members):
        assert torch.equal(flat[member], torch.cat([each.detach() for each in theirs[member]]))


def test_plain_descent_matches_the_textbook_update():
    generator = torch.Generator().manual_seed(0)
    weights, gradients = torch.randn(2, 50, generator=generator), torch.randn(2, 50, generator=generator)
    expected = weights - 0.3 * gradients
    PlainDescent(weights).step(weights, gradients, 0.3)
    assert torch.equal(weights, expected)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_a_script_with_torchs_optimiser_gives_the_same_losses(name):
    """A reader's net on digits, relu by autograd: to rounding, since it multiplies one net at a time."""
    run = Run(Settings(task="digits", op="relu", rules=("default",), optimiser=name, lr=0.02, device="cpu"))
    x, y, start = run.tensors()
    w1, b1, w2, b2 = parameters = [each.clone().requires_grad_() for each in start]
    generator = torch.Generator().manual_seed(0)
    for weights in (w1, w2):
        torch.randn(weights.shape, generator=generator)
    optimiser, losses = TORCHS[name](parameters, 0.02), []
    for _ in range(20):
        chosen = torch.randint(len(x), (64,), generator=generator)
        loss = torch.nn.functional.cross_entropy((x[chosen] @ w1 + b1).relu() @ w2 + b2, y[chosen])
        losses.append(loss.item())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    run.advance(20)
    assert run.snapshot().losses["default"].tolist() == pytest.approx(losses, rel=1e-3)

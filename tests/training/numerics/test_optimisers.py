import pytest
import torch

from explorer.training.numerics.optimisers import OPTIMISERS, PlainDescent
from tests.training.runs.learning_cases import OPTIMISERS as TORCHS


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
    optimisers = [TORCHS[name]([{"params": parameters}], lr) for parameters in theirs]
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

import torch

from explorer.training.numerics.metrics import METRICS


def test_accuracy_takes_the_first_of_equal_outputs():
    """By argmax itself, with and without ties, and whatever stands beside a member of NaN."""
    generator = torch.Generator().manual_seed(0)
    y = torch.randint(10, (40,), generator=generator)
    plain = torch.randn(3, 40, 10, generator=generator)
    for output in (plain, plain.round(), torch.zeros_like(plain)):
        expected = (output.argmax(-1) == y).float().mean(1)
        assert torch.equal(METRICS["accuracy"](output, y), expected)
        beside = torch.cat([output, torch.full_like(output[:1], torch.nan)])
        assert torch.equal(METRICS["accuracy"](beside, y)[:3], expected)

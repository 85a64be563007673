"""The two-layer net that several lessons train, written in torch alone."""

import torch


def train_two_layer_net(activation, steps=500, learning_rate=1e-6):
    """Train a two-layer net on random data.

    Returns the first and the last loss, and the distance that the first layer moved.
    """
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(64, 1000, generator=generator)
    y = torch.randn(64, 10, generator=generator)
    w1 = torch.randn(1000, 100, generator=generator).requires_grad_()
    w2 = torch.randn(100, 10, generator=generator).requires_grad_()
    start, losses = w1.detach().clone(), []
    for _ in range(steps):
        loss = (activation(x.mm(w1)).mm(w2) - y).pow(2).sum()
        losses.append(loss.item())
        loss.backward()
        with torch.no_grad():
            for w in (w1, w2):
                w -= learning_rate * w.grad
                w.grad.zero_()
    return {"first": losses[0], "last": losses[-1], "moved": (w1.detach() - start).norm().item()}


def round_to(value, digits=2):
    """Return a number rounded to its first digits, because further digits differ between machines."""
    return float(f"{value:.{digits}g}")

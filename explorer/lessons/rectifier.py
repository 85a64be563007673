"""MyReLU, what happens exactly at 0, and the two-layer net it was written for."""

from __future__ import annotations

import torch
from torch.autograd import Function

from explorer.lessons.lesson import Choice, Lesson, explore, train


class MyReLU(Function):
    """ReLU with a backward of its own: it passes g at exactly 0."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_x = grad_output.clone()
        grad_x[x < 0] = 0
        return grad_x


def at_zero():
    """The gradient at exactly 0, for g = 1."""
    found = {}
    for name, relu in (("torch", torch.relu), ("MyReLU", MyReLU.apply)):
        x = torch.zeros((), requires_grad=True)
        relu(x).backward()
        found[name] = x.grad.item()
    return found


def two_layer_net(relu, steps=500, learning_rate=1e-6):
    """The losses of the two-layer net on random data, and how often its hidden layer saw an exact 0."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(64, 1000, generator=generator)
    y = torch.randn(64, 10, generator=generator)
    w1 = torch.randn(1000, 100, generator=generator).requires_grad_()
    w2 = torch.randn(100, 10, generator=generator).requires_grad_()
    losses, zeros = [], 0
    for _ in range(steps):
        hidden = x.mm(w1)
        zeros += int((hidden == 0).sum())
        loss = (relu(hidden).mm(w2) - y).pow(2).sum()
        losses.append(loss.item())
        loss.backward()
        with torch.no_grad():
            for w in (w1, w2):
                w -= learning_rate * w.grad
                w.grad.zero_()
    return {"first": losses[0], "last": loss.item(), "zeros": zeros, "values": steps * hidden.numel()}


def published():
    """With MyReLU, as in the published example."""
    return two_layer_net(MyReLU.apply)


def torch_own():
    """With torch's own ReLU."""
    return two_layer_net(torch.relu)


LESSON = Lesson(
    key="relu",
    title="MyReLU and the point zero",
    question="What is the gradient of ReLU exactly at the corner?",
    prediction=Choice(
        "`MyReLU` sets the gradient to zero where `x < 0`. What does it return at exactly 0, for g = 1?",
        ("0", "0.5", "1"),
        lambda results: f"{results['at_zero']['MyReLU']:g}",
    ),
    words="""
    ReLU has a corner at zero. Left of it the slope is zero, right of it one. At the corner itself the
    derivative does not exist, and everybody may choose: any value between the two is a
    [subgradient](subgradient). torch returns {at_zero[torch]:g}. `MyReLU` blocks only `x < 0`, so at
    zero it returns {at_zero[MyReLU]:g}.

    Does it matter? The net below is the one `MyReLU` was published with: a thousand inputs, a hundred
    hidden units. In the whole training it computes {published[values]:,} values before the ReLU, and
    {published[zeros]:,} of them are exactly zero. The loss falls from {published[first]:,.0f} to
    {published[last]:.3g}; with torch's ReLU to {torch_own[last]:.3g}. Here it hardly matters.

    It matters where exact zeros are common: after another ReLU, in padding, in quantised nets.
    """,
    code=(MyReLU, two_layer_net),
    numbers=(at_zero, published, torch_own),
    scenes=(explore("relu", "default", "seed_relu", start=-1, stop=1), train("relu", "default", "seed_relu")),
    remember="At a corner the gradient is a choice: look which one your code makes.",
)

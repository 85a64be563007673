"""MyReLU, what happens exactly at 0, and the two-layer net it was written for."""

import torch
from torch.autograd import Function

from explorer.lessons.lesson import Drawing, Lesson, explore, train


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


def gradients(relu):
    """The gradient at x = −1, 0 and 1, for g = 1."""
    x = torch.tensor([-1.0, 0.0, 1.0], requires_grad=True)
    relu(x).sum().backward()
    left, at_zero, right = x.grad.tolist()
    return {"left": left, "at_zero": at_zero, "right": right}


def slopes():
    """Of torch's own ReLU and of MyReLU."""
    return {"torch": gradients(torch.relu), "MyReLU": gradients(MyReLU.apply)}


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
    seen = {"inputs": len(w1), "hidden": len(w2), "values": steps * hidden.numel(), "zeros": zeros}
    return seen | {"first": losses[0], "last": loss.item()}


def nets():
    """With torch's own ReLU, and with MyReLU as in the published example."""
    return {"torch": two_layer_net(torch.relu), "MyReLU": two_layer_net(MyReLU.apply)}


LESSON = Lesson(
    key="relu",
    title="MyReLU and the point zero",
    question="What is the gradient of ReLU exactly at the corner?",
    prediction=Drawing(
        "Draw the gradient of ReLU, while `g = 1`. Which value do you give it at exactly `x = 0`?",
        "default",
        ("default", "straight_through", "zero"),
        at=0.0,
    ),
    words="""
    ReLU has a corner at zero. Left of it the slope is {slopes[torch][left]:g}, right of it
    {slopes[torch][right]:g}. At the corner itself the derivative does not exist, and everybody may
    choose: any value between them is a [subgradient](subgradient). torch returns
    {slopes[torch][at_zero]:g}. `MyReLU` blocks only `x < 0`, so at zero it returns
    {slopes[MyReLU][at_zero]:g}.

    Does it matter? The net below is the one `MyReLU` was published with: {nets[MyReLU][inputs]:,} inputs,
    {nets[MyReLU][hidden]} hidden units. In the whole training it computes {nets[MyReLU][values]:,} values
    before the ReLU, and {nets[MyReLU][zeros]:,} of them are exactly zero. The loss falls from
    {nets[MyReLU][first]:,.0f} to {nets[MyReLU][last]:.3g}; with torch's ReLU to {nets[torch][last]:.3g}.
    Here it hardly matters.

    It matters where exact zeros are common: after another ReLU, in padding, in [quantised](quantised) nets.
    """,
    code=(MyReLU, gradients, two_layer_net),
    numbers=(slopes, nets),
    scenes=(explore("relu", "default", "seed_relu", start=-1, stop=1), train("relu", "default", "seed_relu")),
    remember="At a corner the gradient is a choice: look which one your code makes.",
)

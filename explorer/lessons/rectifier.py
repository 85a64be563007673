"""MyReLU, its gradient exactly at 0, and the two-layer net that it was written for."""

import torch
from torch.autograd import Function

from explorer.lessons.lesson import Drawing, Lesson, link_explore, link_train, make_curve_answer
from explorer.lessons.net import round_to, train_two_layer_net
from explorer.lessons.pictures import Corner
from explorer.lessons.retest import make_variant


class MyReLU(Function):
    """ReLU with a custom backward, which passes g at exactly 0."""

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


def compute_gradients(relu):
    """Compute the gradient of a ReLU at x = −1, 0 and 1 for g = 1."""
    x = torch.tensor([-1.0, 0.0, 1.0], requires_grad=True)
    relu(x).sum().backward()
    left, at_zero, right = x.grad.tolist()
    return {"left": left, "at_zero": at_zero, "right": right}


def compare_slopes():
    """Compute the gradients of torch's own ReLU and of MyReLU."""
    return {"torch": compute_gradients(torch.relu), "MyReLU": compute_gradients(MyReLU.apply)}


def make_corner():
    """Return the corner of ReLU, whose slope the reader drags."""
    by_name = compare_slopes()
    sides = by_name["torch"]
    return Corner(sides["left"], sides["right"], {name: by_name[name]["at_zero"] for name in by_name})


def train_both():
    """Train the net with torch's own ReLU and with MyReLU, and return the losses."""
    nets = {"torch": train_two_layer_net(torch.relu), "MyReLU": train_two_layer_net(MyReLU.apply)}
    return {
        name: {"first": round_to(net["first"]), "last": round_to(net["last"], digits=1)}
        for name, net in nets.items()
    }


def count_zeros():
    """Count how many of the net's hidden values are exactly 0 in any training step."""
    zeros = []

    def record_zeros(hidden):
        zeros.append(hidden == 0)
        return MyReLU.apply(hidden)

    train_two_layer_net(record_zeros)
    was_zero = torch.stack(zeros).any(dim=0)
    return {"steps": len(zeros), "values": was_zero.numel(), "zero": int(was_zero.sum())}


LESSON = Lesson(
    key="relu",
    title="MyReLU and the point zero",
    question="What is the gradient of ReLU exactly at the corner?",
    prediction=Drawing(
        "Draw the gradient of ReLU, while `g = 1`. The point `x = 0` itself is not judged.",
        "default",
        (
            make_curve_answer(
                "formula: g * relu(x)",
                "This is ReLU itself; the gradient is how fast it rises.",
            ),
            make_curve_answer(
                "default", "On each side of the corner ReLU is a straight line, with one slope."
            ),
            make_curve_answer(
                "straight_through", "This passes everything; but left of zero ReLU does not rise."
            ),
            make_curve_answer("zero", "This passes nothing; but right of zero y moves as much as x does."),
        ),
        at=0.0,
    ),
    words="""
    ReLU has a corner at zero. Left of it the slope is {compare_slopes[torch][left]:g}, right of it
    {compare_slopes[torch][right]:g}. At the corner itself the derivative does not exist, and any choice is
    allowed: each value between its slopes is a [subgradient](subgradient). torch returns
    {compare_slopes[torch][at_zero]:g}. `MyReLU` blocks only `x < 0`, so at zero it returns
    {compare_slopes[MyReLU][at_zero]:g}.

    Does it matter? The net below is the one `MyReLU` was published with. Its hidden layer has
    {count_zeros[values]:,} values for the batch; in {count_zeros[steps]} steps, {count_zeros[zero]} of them
    are ever exactly zero before the ReLU. The loss falls from about {train_both[MyReLU][first]:,.0f} to
    {train_both[MyReLU][last]:g}; with torch's ReLU to {train_both[torch][last]:g}. Here it hardly matters.
    (The weights change under `no_grad`, so that autograd records no step.)

    It matters where exact zeros are common: after another ReLU, in padding, in [quantised](quantised) nets,
    in a coarse [number format](number_format).
    """,
    code=(MyReLU, compute_gradients, train_two_layer_net, round_to),
    numbers=(compare_slopes, train_both, count_zeros),
    pictures=(make_corner,),
    scenes=(
        link_explore("relu", "default", "seed_relu", start=-1, stop=1),
        link_train("relu", "default", "seed_relu"),
    ),
    retest=(
        make_variant("relu", "seed_relu", -1, 0, 2),
        make_variant("relu", "default", -1, 0, 2),
        make_variant("leaky_relu", "default", -1, 0.5, 2, a=0.25),
        make_variant("formula: relu(-x)", "formula: -g * (x <= 0)", -1, 0, 2),
        make_variant("formula: relu(x - 1)", "formula: g * (x >= 1)", 0, 1, 2),
    ),
    exercise="slope",
    remember="At a corner the gradient is a choice: check which one your code makes.",
)

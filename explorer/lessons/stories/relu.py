"""MyReLU, its gradient exactly at 0, and the two-layer net that it was written for."""

import torch
from torch.autograd import Function

from explorer.lessons.lesson import link_explore, link_train
from explorer.lessons.pictures import Corner
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant
from explorer.lessons.stories.net import round_to, train_two_layer_net


class MyReLU(Function):
    """ReLU as a Function with a custom backward, which passes g at exactly 0."""

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
    """Return the gradients of a ReLU at x = −1, 0 and 1 for g = 1."""
    x = torch.tensor([-1.0, 0.0, 1.0], requires_grad=True)
    relu(x).sum().backward()
    left, at_zero, right = x.grad.tolist()
    return {"left": left, "at_zero": at_zero, "right": right}


def compare_slopes():
    """Return the gradients of torch's own ReLU and of MyReLU at x = −1, 0 and 1."""
    return {"torch": compute_gradients(torch.relu), "MyReLU": compute_gradients(MyReLU.apply)}


def make_corner():
    """Return the picture of ReLU's corner, at which the reader drags the slope."""
    by_name = compare_slopes()
    sides = by_name["torch"]
    return Corner(sides["left"], sides["right"], {name: by_name[name]["at_zero"] for name in by_name})


def train_both():
    """Return the losses of the net trained with torch's own ReLU, and with MyReLU."""
    nets = {"torch": train_two_layer_net(torch.relu), "MyReLU": train_two_layer_net(MyReLU.apply)}
    return {
        name: {"first": round_to(net["first"]), "last": round_to(net["last"], digits=1)}
        for name, net in nets.items()
    }


def count_zeros():
    """Return the number of the net's hidden values that are exactly 0 in any training step."""
    zeros = []

    def record_zeros(hidden):
        zeros.append(hidden == 0)
        return MyReLU.apply(hidden)

    train_two_layer_net(record_zeros)
    was_zero = torch.stack(zeros).any(dim=0)
    return {"steps": len(zeros), "values": was_zero.numel(), "zero": int(was_zero.sum())}


LESSON = make_lesson(
    "relu",
    "default",
    at=0.0,
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
)

"""Lists as arguments, several outputs, and optional arguments."""

import torch
from torch.autograd import Function

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import link_explore
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant


class WeightedList(Function):
    """A Function of a list [a, b] that returns 2 a + 3 b. Autograd ignores tensors in a list."""

    @staticmethod
    def forward(ctx, tensors):
        a, b = tensors
        return 2 * a + 3 * b

    @staticmethod
    def backward(ctx, g):
        return 2 * g, 3 * g


class Weighted(Function):
    """A Function of two tensors that returns 2 a + 3 b."""

    @staticmethod
    def forward(ctx, a, b):
        return 2 * a + 3 * b

    @staticmethod
    def backward(ctx, g):
        return 2 * g, 3 * g


class SinCos(Function):
    """A Function with two outputs, the sine and the cosine of its input."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin(), x.cos()

    @staticmethod
    def backward(ctx, g_sin, g_cos):
        (x,) = ctx.saved_tensors
        return g_sin * x.cos() - g_cos * x.sin()


class Scaled(Function):
    """A Function that multiplies x by an optional number, the scale."""

    @staticmethod
    def forward(ctx, x, scale=1.0):
        ctx.scale = scale
        return x * scale

    @staticmethod
    def backward(ctx, g):
        return g * ctx.scale, None


def make_pair():
    """Return two tensors that require a gradient."""
    return torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)


def pass_list():
    """Return whether the output requires a gradient if tensors are passed in a list, and backward's error."""
    y = WeightedList.apply(list(make_pair()))
    try:
        y.sum().backward()
    except RuntimeError as error:
        return {"asks": y.requires_grad, "error": str(error)}


def pass_tensors():
    """Return the gradients of two tensors that are passed separately, by ``apply(*tensors)``."""
    tensors = make_pair()
    Weighted.apply(*tensors).sum().backward()
    return [tensor.grad.tolist() for tensor in tensors]


def use_one_output():
    """Return the gradients of SinCos at x = 0 if only the sine is used, and if only the cosine is used."""
    gradients = {}
    for index, name in enumerate(("sin", "cos")):
        x = torch.zeros(1, requires_grad=True)
        SinCos.apply(x)[index].sum().backward()
        gradients[name] = x.grad.item()
    return gradients


def get_unused():
    """Return the upstream gradient that backward receives for an output that is not used."""
    received = []

    class Recording(SinCos):
        @staticmethod
        def backward(ctx, g_sin, g_cos):
            received.append(g_cos.tolist())
            return SinCos.backward(ctx, g_sin, g_cos)

    Recording.apply(torch.zeros(1, requires_grad=True))[0].sum().backward()
    return received[0]


def check_integers():
    """Return whether an output of integers requires a gradient if its input does."""

    class Sign(Function):
        @staticmethod
        def forward(ctx, x):
            return x.sign().long()

        @staticmethod
        def backward(ctx, g):
            return g

    return Sign.apply(torch.ones(2, requires_grad=True)).requires_grad


def omit_scale():
    """Return the gradient of x if the optional scale is omitted and backward returns None for it."""
    x = torch.ones(2, requires_grad=True)
    Scaled.apply(x).sum().backward()
    return x.grad.tolist()


LESSON = make_lesson(
    "outputs",
    lambda results: "none: `backward` raises an error" if not results["pass_list"]["asks"] else "another",
    excerpt=Excerpt((WeightedList,), "def forward(ctx, tensors):"),
    code=(WeightedList, Weighted, SinCos, Scaled, make_pair),
    numbers=(pass_list, pass_tensors, use_one_output, get_unused, check_integers, omit_scale),
    scenes=(link_explore("formula: 2 * x + 3 * b", "default", b=1), link_explore("sin", "default")),
    retest=(
        make_variant("formula: 2 * x + 3 * b", "default", -1, 0.5, 2, b=2),
        make_variant("formula: x * b", "default", -1, 0.5, 2, b=3),
        make_variant("formula: b - x", "default", -1, 0.5, 2, b=2),
        make_variant("formula: x**2 + b", "default", -1, 0.5, 2, b=2),
        make_variant("formula: b * x**2", "default", -1, 0.5, 2, b=-1),
    ),
)

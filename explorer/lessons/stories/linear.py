"""A function with several inputs: a gradient for each, or None if none is needed."""

import torch
from torch.autograd import Function, gradcheck

from explorer.lessons.excerpt import Excerpt
from explorer.lessons.lesson import link_explore
from explorer.lessons.pictures import HeatMap
from explorer.lessons.prose import make_lesson
from explorer.lessons.retest import make_variant


class LinearFunction(Function):
    """A linear layer, ``input @ weight.T + bias``, with an optional bias."""

    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output.mm(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(input)
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0)
        return grad_input, grad_weight, grad_bias


class WrongBiasFunction(LinearFunction):
    """LinearFunction with a bug: the bias gets the mean over the rows instead of the sum."""

    @staticmethod
    def backward(ctx, grad_output):
        grad_input, grad_weight, _ = LinearFunction.backward(ctx, grad_output)
        return grad_input, grad_weight, grad_output.mean(0)


def run_gradcheck(function):
    """Return True if a Function passes gradcheck with the published shapes, or the error's first line."""
    inputs = [
        torch.randn(*shape, dtype=torch.double, requires_grad=True) for shape in ((20, 20), (30, 20), (30,))
    ]
    try:
        return gradcheck(function.apply, inputs, eps=1e-6, atol=1e-4)
    except RuntimeError as error:
        return str(error).splitlines()[0].rstrip(",")


def compare_gradchecks():
    """Return the results of ``gradcheck`` for the correct and for the wrong linear Function."""
    return {function.__name__: run_gradcheck(function) for function in (LinearFunction, WrongBiasFunction)}


def call_without_bias():
    """Return ``needs_input_grad`` and the number of values from ``backward`` for a call without a bias."""
    node = LinearFunction.apply(torch.ones(2, 3), torch.ones(2, 3, requires_grad=True)).grad_fn
    values = LinearFunction.backward(node, torch.ones(2, 2))
    return {"needed": node.needs_input_grad, "values": len(values)}


def make_small():
    """Return a small input (3, 2), an upstream gradient (3, 2), and the gradient of the weight."""
    input = torch.tensor([[1.0, 2.0], [0.0, 1.0], [3.0, 1.0]])
    g = torch.tensor([[1.0, 0.0], [2.0, 1.0], [1.0, 3.0]])
    weight = torch.zeros(2, 2, requires_grad=True)
    LinearFunction.apply(input, weight).backward(g)
    return {"input": input.tolist(), "g": g.tolist(), "gradient": weight.grad.tolist()}


def compute_entry():
    """Return one entry of the weight's gradient, written out as a sum over the examples."""
    input, g, _ = make_small().values()
    terms = [f"{g[row][1]:g}·{input[row][0]:g}" for row in range(3)]
    return f"{' + '.join(terms)} = {sum(g[row][1] * input[row][0] for row in range(3)):g}"


def make_input_map():
    """Return a heat map of the input, in which the column used by the sum is marked."""
    return HeatMap("input (n × in)", make_small()["input"], entry=(None, 0))


def make_upstream_map():
    """Return a heat map of the upstream gradient, in which the column used by the sum is marked."""
    return HeatMap("g (n × out)", make_small()["g"], entry=(None, 1))


def make_gradient_map():
    """Return a heat map of the weight's gradient, in which the entry written as a sum is marked."""
    return HeatMap("gradient of weight (out × in)", make_small()["gradient"], entry=(1, 0))


LESSON = make_lesson(
    "linear",
    lambda results: str(sum(results["call_without_bias"]["needed"])),
    excerpt=Excerpt((LinearFunction.backward,), "if ctx.needs_input_grad[0]:"),
    code=(LinearFunction, WrongBiasFunction, run_gradcheck),
    numbers=(compare_gradchecks, call_without_bias, make_small, compute_entry),
    pictures=(make_input_map, make_upstream_map, make_gradient_map),
    scenes=(link_explore("formula: a * x", "default", a=-1),),
    retest=(
        make_variant("formula: a * x", "default", -1, 0.5, 2, a=3),
        make_variant("formula: a * x + b", "formula: g * a", -1, 0.5, 2, a=-2, b=1),
        make_variant("formula: a * x + b", "default", -1, 0.5, 2, a=4, b=2),
        make_variant("formula: b - a * x", "default", -1, 0.5, 2, a=2, b=1),
        make_variant("formula: a * (x + b)", "default", -1, 0.5, 2, a=3, b=1),
    ),
    exercise="needed",
)

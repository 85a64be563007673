"""Functions with the faults that libraries released, each our own code; and the check that must name it.

``DOUBLES`` maps a name to (function, arguments that follow x, checks of which one at least must fail).
"""

import torch
from torch.autograd import Function

from tests.checks.cases.case import make_function

DOUBLES = {}


def double(*checks, arguments=()):
    def register(function):
        DOUBLES[function.__name__] = function, arguments, checks
        return function

    return register


class Style(Function):
    """The style of today: saves x, works under torch.func; a double says forward and backward only."""

    generate_vmap_rule = True

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output)
        ctx.arguments = inputs[1:]


def _learned(*values):
    return tuple(torch.tensor(value, requires_grad=True) for value in values)


@double("parameter gradients", arguments=_learned([0.25]))
class PReLUWithMean(Style):
    @staticmethod
    def forward(x, w):
        return torch.where(x > 0, x, w * x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        due = torch.where(x > 0, torch.zeros_like(g), g * x)
        return torch.where(x > 0, g, w * g), due.mean().reshape(w.shape)


@double("true derivative", "parameter gradients", arguments=_learned([-0.5]))
class PReLUByY(PReLUWithMean):
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output)

    @staticmethod
    def backward(ctx, g):
        x, w, y = ctx.saved_tensors
        due = torch.where(y > 0, torch.zeros_like(g), g * x)
        return torch.where(y > 0, g, w * g), due.sum().reshape(w.shape)


class LSQ(Style):
    """Right: Esser et al., equation 3, with its gradient scale."""

    @staticmethod
    def forward(x, s, low, high):
        return (x / s).round().clamp(low, high) * s

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:2])
        ctx.bounds = inputs[2:]

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        low, high = ctx.bounds
        level = x / s
        inside = (level >= low) & (level <= high)
        slope = torch.where(inside, level.round() - level, level.clamp(low, high))
        return g * inside.to(g.dtype), (g * slope).sum().reshape(s.shape), None, None


@double("parameter gradients", "dtype and shape", "true derivative", arguments=(*_learned([0.3]), -4, 3))
class LSQOfWrongShape(LSQ):
    @staticmethod
    def backward(ctx, g):
        gradient, step, *none = LSQ.backward(ctx, g)
        return gradient, step.sum(), *none


@double("memory")
class ChangesWhatItSaved(Style):
    @staticmethod
    def forward(x):
        return torch.tanh(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.factor = 1 - output.detach() ** 2

    @staticmethod
    def backward(ctx, g):
        return ctx.factor.mul_(g)


@double("transforms")
class AsksForValues(Style):
    @staticmethod
    def forward(x):
        return torch.tanh(x)

    @staticmethod
    def backward(ctx, g):
        _, y = ctx.saved_tensors
        if y.abs().max() > 2:
            return g * 0
        return g * (1 - y**2)


@double("parameter gradients", arguments=_learned(0.5, 2.0))
class GradientsInWrongOrder(Style):
    @staticmethod
    def forward(x, a, b):
        return a * x + b * x**2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, a, b = ctx.saved_tensors
        return g * (a + 2 * b * x), (g * x**2).sum(), (g * x).sum()


def add(name, forward, backward, *checks, arguments=()):
    DOUBLES[name] = make_function(forward, backward), arguments, checks


def add_prelu(name, pull, w):
    """Add a PReLU; ``pull`` returns the gradient of w from what each x contributes to it."""

    def backward(x, g, w):
        return torch.where(x > 0, g, w * g), pull(g * x.clamp(max=0), w)

    add(name, PReLUWithMean.forward, backward, "parameter gradients", arguments=_learned(w))


add_prelu("PReLU of wrong sign", lambda due, w: -due.sum().reshape(w.shape), [0.25])
add_prelu("PReLU with None", lambda due, w: None, [0.25])
add_prelu("PReLU of all channels", lambda due, w: due.sum().expand_as(w).clone(), [[0.25]] * 3)
add("one value for two", torch.mul, lambda x, g, s: (g.clone(),), "backward", arguments=(0.5,))


def multiply_by_swish_slope(g, x, s):
    return g * (s + x * s * (1 - s))


add("swish that writes into x", lambda x: x.mul_(x.sigmoid()).clone(),
    lambda x, g: multiply_by_swish_slope(g, x, x.sigmoid()), "memory", "true derivative")  # fmt: skip
add("swish with a detached sigmoid", lambda x: x * x.sigmoid(),
    lambda x, g: multiply_by_swish_slope(g, x, x.sigmoid().detach()), "double backward")  # fmt: skip
add("sine by its data", torch.sin, lambda x, g: g * x.data.cos(), "double backward")
add("takes g for contiguous", lambda x: x**2,
    lambda x, g: torch.as_strided(g, (g.numel(),), (1,)).reshape(x.shape) * 2 * x, "memory")  # fmt: skip
add("median of a view", lambda x: (x >= x.view(-1).median()).to(x), lambda x, g: g.clone(), "memory")
add("stays on the CPU", lambda x: x.clone(), lambda x, g: g * torch.ones(g.shape, dtype=g.dtype), "devices")
add("calls cuda in backward", torch.round, lambda x, g: g.cuda(), "devices")
add("product without custom_fwd", lambda x, w: x @ w.t(), lambda x, g, w: g @ w, "autocast",
    arguments=(torch.tensor([[0.3, -0.2, 0.5], [0.1, 0.7, -0.4]]),))  # fmt: skip
add("leaky by y", lambda x, slope: torch.where(x > 0, x, slope * x),
    lambda x, g, slope: torch.where(slope * x.abs() > 0, g, slope * g), "true derivative",
    arguments=(-0.2,))  # fmt: skip
add("draws in backward", torch.round, lambda x, g: g * torch.rand_like(g) * 2, "deterministic")
add("dithers", torch.clone, lambda x, g: g + 1e-3 * torch.randn_like(g), "deterministic")

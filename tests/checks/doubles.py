"""Functions with the faults that libraries released, each our own code; and the check that must name it.

``DOUBLES`` maps a name to (function, arguments that follow x, checks of which one at least must fail).
"""

import torch
from torch.autograd import Function

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


@double("linear in g")
class TanhWithoutG(Style):
    @staticmethod
    def forward(x):
        return torch.tanh(x)

    @staticmethod
    def backward(ctx, g):
        _, y = ctx.saved_tensors
        return 1 - y**2


@double("linear in g", "true derivative")
class ClampToOne(Style):
    @staticmethod
    def forward(x):
        return x.clamp(0, 1)

    @staticmethod
    def backward(ctx, g):
        x, _ = ctx.saved_tensors
        return torch.where(x < 0, torch.zeros_like(g), torch.where(x > 1, torch.ones_like(g), g))


@double("finite")
class SigmoidThatOverflows(Style):
    @staticmethod
    def forward(x):
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, g):
        x, _ = ctx.saved_tensors
        return g * 25 * torch.exp(-25 * x) / (torch.exp(-25 * x) + 1) ** 2


@double("kinks", "true derivative")
class HardswishWithTwoOpenBranches(Style):
    @staticmethod
    def forward(x):
        return torch.nn.functional.hardswish(x)

    @staticmethod
    def backward(ctx, g):
        x, _ = ctx.saved_tensors
        inner = torch.where((x > -3) & (x < 3), g * (2 * x + 3) / 6, torch.zeros_like(g))
        return torch.where(x > 3, g, inner)


@double("true derivative", "parameter gradients", arguments=_learned([-0.5]))
class PReLUByY(Style):
    @staticmethod
    def forward(x, w):
        return torch.where(x > 0, x, w * x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, output)

    @staticmethod
    def backward(ctx, g):
        x, w, y = ctx.saved_tensors
        due = torch.where(y > 0, torch.zeros_like(g), g * x)
        return torch.where(y > 0, g, w * g), due.sum().reshape(w.shape)


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
        slope = torch.where(level < low, low * torch.ones_like(x), torch.full_like(x, high))
        slope = torch.where(inside, level.round() - level, slope)
        return g * inside.to(g.dtype), (g * slope).sum().reshape(s.shape), None, None


@double("parameter gradients", arguments=(*_learned([0.3]), -4, 3))
class LSQFromSaturatedOnly(LSQ):
    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        low, high = ctx.bounds
        level = x / s
        inside = (level >= low) & (level <= high)
        slope = torch.where(level < low, torch.full_like(x, low), torch.full_like(x, high))
        slope = torch.where(inside, torch.zeros_like(x), slope)
        return g * inside.to(g.dtype), (g * slope).sum().reshape(s.shape), None, None


@double("parameter gradients", "dtype and shape", "true derivative", arguments=(*_learned([0.3]), -4, 3))
class LSQOfWrongShape(LSQ):
    @staticmethod
    def backward(ctx, g):
        gradient, step, *none = LSQ.backward(ctx, g)
        return gradient, step.sum(), *none


@double("dtype and shape", arguments=(0.5,))
class OneValueForTwo(Style):
    @staticmethod
    def forward(x, s):
        return (x / s).round() * s

    @staticmethod
    def backward(ctx, g):
        return g.clone()


@double("memory", "true derivative")
class SwishWritesIntoX(Style):
    @staticmethod
    def forward(x):
        return x.mul_(torch.sigmoid(x)).clone()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return g * (s + x * s * (1 - s))


@double("memory")
class TakesGForContiguous(Style):
    @staticmethod
    def forward(x):
        return x**2

    @staticmethod
    def backward(ctx, g):
        x, _ = ctx.saved_tensors
        flat = torch.as_strided(g, (g.numel(),), (1,))
        return flat.reshape(x.shape) * 2 * x


@double("memory")
class MedianOfAView(Style):
    @staticmethod
    def forward(x):
        return torch.where(x < x.view(-1).median(), torch.zeros_like(x), torch.ones_like(x))

    @staticmethod
    def backward(ctx, g):
        return g.clone()


@double("double backward")
class SwishWithSavedSigmoid(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.s = torch.sigmoid(x)
        ctx.save_for_backward(x)
        return x * ctx.s

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (ctx.s + x * ctx.s * (1 - ctx.s))


@double("autocast", arguments=_learned([[0.3, -0.2, 0.5], [0.1, 0.7, -0.4]]))
class MatrixProductWithoutCustomForward(Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x @ w.t()

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g @ w, g.t() @ x


# Variations of these kinds.


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


@double("double backward")
class GradientByData(Style):
    @staticmethod
    def forward(x):
        return torch.sin(x)

    @staticmethod
    def backward(ctx, g):
        x, _ = ctx.saved_tensors
        return g * torch.cos(x.data)


@double("devices")
class StaysOnTheCPU(Style):
    @staticmethod
    def forward(x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g * torch.ones(g.shape[-1] if g.dim() else (), dtype=g.dtype, device="cpu")


@double("devices")
class CallsCudaInBackward(Style):
    @staticmethod
    def forward(x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g.cuda()


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


@double("area", "antiderivative")
class TriangleThatTurnsNegative(Style):
    @staticmethod
    def forward(x):
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, g):
        x, _ = ctx.saved_tensors
        return g * torch.where(x < 0, torch.ones_like(x), -torch.ones_like(x))


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


@double("true derivative", arguments=(-0.2,))
class LeakyByY(Style):
    @staticmethod
    def forward(x, slope):
        return torch.where(x > 0, x, slope * x)

    @staticmethod
    def backward(ctx, g):
        _, y = ctx.saved_tensors
        return torch.where(y > 0, g, ctx.arguments[0] * g), None


@double("parameter gradients", arguments=_learned([0.25]))
class PReLUWithNone(PReLUWithMean):
    @staticmethod
    def backward(ctx, g):
        return PReLUWithMean.backward(ctx, g)[0], None


def _by_channel(value):
    return (torch.full((3, 1), value, requires_grad=True),)


@double("parameter gradients", arguments=_by_channel(0.25))
class PReLUOfAllChannels(PReLUWithMean):
    """Each channel's slope learns from all channels."""

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        due = torch.where(x > 0, torch.zeros_like(g), g * x)
        return torch.where(x > 0, g, w * g), due.sum().expand_as(w).clone()


@double("parameter gradients", arguments=(*_by_channel(0.3), -4, 3))
class LSQByChannelFromSaturatedOnly(LSQ):
    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        low, high = ctx.bounds
        level = x / s
        inside = (level >= low) & (level <= high)
        due = g * level.clamp(low, high) * ~inside
        return g * inside.to(g.dtype), due.sum_to_size(s.shape), None, None


@double("deterministic", arguments=(0.2,))
class SpikeAtRandomBelow(Style):
    @staticmethod
    def forward(x, variance):
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, g):
        _, y = ctx.saved_tensors
        (variance,) = ctx.arguments
        return torch.where(y > 0, g, g * (torch.rand_like(g) - 0.5) * variance), None


@double("deterministic")
class DitheredGradient(Style):
    @staticmethod
    def forward(x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g + 1e-3 * torch.randn_like(g)


@double("parameter gradients", arguments=_learned([0.25]))
class PReLUOfWrongSign(PReLUWithMean):
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        due = torch.where(x > 0, torch.zeros_like(g), g * x)
        return torch.where(x > 0, g, w * g), -due.sum().reshape(w.shape)

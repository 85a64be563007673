"""Functions as people publish them, written by us in the usual styles, without a fault: none may fail.

``PUBLISHED`` maps a name to (function, arguments that follow x).
"""

import math

import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from tests.checks.cases.case import make_function
from tests.checks.doubles import LSQ, Style

PUBLISHED = {}


def published(*arguments):
    def register(function):
        PUBLISHED[function.__name__] = function, arguments
        return function

    return register


def _learned(value):
    return torch.tensor(value, requires_grad=True)


published(_learned([0.3]), -4, 3)(LSQ)
# Its steps are too fine for differences where x is large, and coarse where x is small.
published(256)(
    make_function(lambda x, n: (x.exp() * n).round() / n, lambda x, g, n: g * x.exp(), "QuantizedExponential")
)
published(-1.0, 1.0)(
    make_function(
        torch.clamp, lambda x, g, low, high: g * (g * (x - x.clamp(low, high)) >= 0), "ClampThatLetsBack"
    )
)
published()(make_function(lambda x: (x > 1).to(x), lambda x, g: 1e4 * g * ((x - 1).abs() < 5e-5), "Narrow"))
published()(make_function(torch.sign, lambda x, g: torch.nn.functional.hardtanh(g), "SignThatClipsG"))
GENERATOR = torch.Generator().manual_seed(0)
published()(
    make_function(
        lambda x: (x + torch.rand(x.shape, generator=GENERATOR).to(x)).floor(), lambda x, g: g, "OwnDraws"
    )
)


@published()
class RoundToday(Style):
    @staticmethod
    def forward(x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g.clone()

    @staticmethod
    def jvp(ctx, tangent):
        return tangent.clone()


@published(_learned(2.0), 4)
class QuantizedPACT(Function):
    @staticmethod
    def forward(ctx, x, alpha, bits):
        ctx.save_for_backward(x, alpha)
        scale = (2**bits - 1) / alpha
        y = torch.minimum(torch.relu(x), alpha)
        return torch.round(y * scale) / scale

    @staticmethod
    def backward(ctx, g):
        x, alpha = ctx.saved_tensors
        below, above = x < 0, x >= alpha
        return g * (~(below | above)).to(g.dtype), (g * above.to(g.dtype)).sum().reshape(alpha.shape), None


@published(_learned([0.1, 0.2, 0.4]))
class PReLUPerChannel(Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x.clamp(min=0) + w * x.clamp(max=0)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        gx = gw = None
        if ctx.needs_input_grad[0]:
            gx = torch.where(x > 0, g, g * w)
        if ctx.needs_input_grad[1]:
            gw = (g * x.clamp(max=0)).reshape(-1, w.numel()).sum(0)
        return gx, gw


@published(_learned(0.7))
class GradientReversalOfTensor(Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.save_for_backward(alpha)
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        (alpha,) = ctx.saved_tensors
        return -alpha * g, None


@published(0.1, 0, -8, 7)
class FakeQuantize(Function):
    @staticmethod
    def forward(ctx, x, scale, zero_point, low, high):
        level = torch.round(x / scale + zero_point)
        ctx.save_for_backward((level >= low) & (level <= high))
        return (level.clamp(low, high) - zero_point) * scale

    @staticmethod
    def backward(ctx, g):
        (inside,) = ctx.saved_tensors
        return g * inside, None, None, None, None


@published()
class ExpSavingItsOutput(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


@published()
class ReLUInPlace(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.clamp_(min=0)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * (y > 0)


@published()
class SinhOnce(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.cosh = torch.cosh(x)
        return torch.sinh(x)

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g * ctx.cosh


@published(_learned([[0.3, -0.2, 0.5], [0.1, 0.7, -0.4]]), _learned([0.1, 0.2]))
class LinearFunction(Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu")
    def forward(ctx, x, weight, bias=None):
        ctx.save_for_backward(x, weight, bias)
        y = x.mm(weight.t())
        if bias is not None:
            y += bias.unsqueeze(0).expand_as(y)
        return y

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, g):
        x, weight, bias = ctx.saved_tensors
        gx = gw = gb = None
        if ctx.needs_input_grad[0]:
            gx = g.mm(weight)
        if ctx.needs_input_grad[1]:
            gw = g.t().mm(x)
        if bias is not None and ctx.needs_input_grad[2]:
            gb = g.sum(0)
        return gx, gw, gb


@published()
class Cube(Function):
    """As torch's own tutorial writes it: an intermediate is returned as an output of its own."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0])

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2

    @staticmethod
    def jvp(ctx, tangent):
        (x,) = ctx.saved_tensors
        return tangent * 3 * x**2


def _round_ste(x):
    return x + (x.round() - x).detach()


published()(_round_ste)
published()(torch.nn.functional.silu)


@published(_learned(0.7))
def learned_scale(x, s):
    return torch.tanh(s * x)


@published(_learned([0.3]), _learned([0.1]), -4, 3)
class LSQPlus(Style):
    @staticmethod
    def forward(x, s, offset, low, high):
        return ((x - offset) / s).clamp(low, high).round() * s + offset

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:3])
        ctx.bounds = inputs[3:]

    @staticmethod
    def backward(ctx, g):
        x, s, offset = ctx.saved_tensors
        low, high = ctx.bounds
        level = (x - offset) / s
        inside = ((level >= low) & (level <= high)).to(g.dtype)
        slope = torch.where(level < low, torch.full_like(x, low), torch.full_like(x, high))
        slope = torch.where(inside > 0, level.round() - level, slope)
        scale = 1 / math.sqrt(x.numel() * high)
        step, shift = (g * slope).sum().reshape(s.shape), (g * (1 - inside)).sum().reshape(offset.shape)
        return g * inside, step * scale, shift * scale, None, None


@published(_learned(1.0), 4)
class TrainedThreshold(Style):
    @staticmethod
    def forward(x, log_threshold, bits):
        n = 2 ** (bits - 1)
        s = 2 ** torch.ceil(log_threshold) / n
        return (x / s).round().clamp(-n, n - 1) * s

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:2])
        ctx.bits = inputs[2]

    @staticmethod
    def backward(ctx, g):
        x, log_threshold = ctx.saved_tensors
        n = 2 ** (ctx.bits - 1)
        s = 2 ** torch.ceil(log_threshold) / n
        level = (x / s).round()
        inside = (level >= -n) & (level <= n - 1)
        slope = torch.where(inside, level - x / s, level.clamp(-n, n - 1)) * s * math.log(2)
        return g * inside.to(g.dtype), (g * slope).sum().reshape(log_threshold.shape), None


@published(_learned([0.5, 0.7]))
class GatePerChannel(Style):
    @staticmethod
    def forward(x, w):
        return x * torch.sigmoid(w * x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        s = torch.sigmoid(w * x)
        return g * (s + w * x * s * (1 - s)), (g * x * x * s * (1 - s)).reshape(-1, w.numel()).sum(0)


@published()
class ReversalWithTrueTangent(Style):
    @staticmethod
    def forward(x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return -g

    @staticmethod
    def jvp(ctx, tangent):
        return tangent.clone()


@published()
class GradientInHalves(Style):
    """Both of its modes round what comes, as fits numbers of few bits."""

    @staticmethod
    def forward(x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return (2 * g).round() / 2

    @staticmethod
    def jvp(ctx, tangent):
        return (2 * tangent).round() / 2


PUBLISHED["PReLU module"] = torch.nn.PReLU(), ()
PUBLISHED["Hardswish module"] = torch.nn.Hardswish(), ()

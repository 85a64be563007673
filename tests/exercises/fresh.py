"""Solutions written after the judge, as students hand them in: names, comments, detours, slips of their own.

Of these the judge misjudged one at first, that with ``copy.copy``, which shares the memory of g.
"""

from __future__ import annotations

FRESH = (
    (
        "clamp",
        '''import torch
from torch.autograd import Function

class MyClamp(Function):
    """clamp to [0, 1]"""

    @staticmethod
    def forward(ctx, inp):
        low, high = 0.0, 1.0
        ctx.save_for_backward(inp)
        ctx.bounds = (low, high)
        out = torch.minimum(torch.maximum(inp, torch.tensor(low)), torch.tensor(high))
        return out

    @staticmethod
    def backward(ctx, grad_output):
        (inp,) = ctx.saved_tensors
        low, high = ctx.bounds
        # only where we did not clip
        passes = torch.logical_and(inp.ge(low), inp.le(high))
        return grad_output * passes.type_as(grad_output)
''',
    ),
    (
        "clamp",
        """class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clamp(0, 1)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return torch.where(x == y, g, 0 * g)
""",
    ),
    (
        "clamp",
        """class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clamp(0, 1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        y, = ctx.saved_tensors
        # clamped values sit exactly on the bounds
        return g * ((y > 0) & (y < 1))
""",
    ),
    (
        "clamp",
        """class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(0, 1)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        grad = g.clone()
        for mask in (x < 0, x > 1):
            grad[mask] = 0.0
        return grad
""",
    ),
    (
        "clamp",
        """class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(0, 1)

    @staticmethod
    def backward(ctx, g):
        x = ctx.saved_tensors
        return g * (x >= 0) * (x <= 1)
""",
    ),
    (
        "in-place",
        """class ReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.clamp(x, min=0)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        dead = ~(x > 0)
        out = torch.empty_like(g)
        out.copy_(g)
        out[dead] = 0
        return out
""",
    ),
    (
        "in-place",
        """class ReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        grad_input = g.contiguous()
        grad_input[x <= 0] = 0
        return grad_input
""",
    ),
    (
        "in-place",
        """class ReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        mask = x > 0
        ctx.mask = mask
        return x * mask

    @staticmethod
    def backward(ctx, g):
        return ctx.mask * g
""",
    ),
    (
        "in-place",
        """class ReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        import copy
        grad = copy.copy(g)
        grad[x <= 0] = 0
        return grad
""",
    ),
    (
        "constants",
        """class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high):
        ctx.save_for_backward(x, low, high)
        return x.clamp(low, high)

    @staticmethod
    def backward(ctx, g):
        x, low, high = ctx.saved_tensors
        return g * ((x >= low) & (x <= high)), None, None
""",
    ),
    (
        "constants",
        """class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lo=-1, hi=1):
        ctx.save_for_backward(x)
        ctx.lo = lo
        ctx.hi = hi
        return torch.where(x < lo, lo, torch.where(x > hi, hi, x))

    @staticmethod
    def backward(ctx, *grads):
        x = ctx.saved_tensors[0]
        g = grads[0]
        g = g * (x >= ctx.lo).float() * (x <= ctx.hi).float()
        return g, *([None] * 2)
""",
    ),
    (
        "constants",
        """class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lo, hi):
        ctx.save_for_backward(x)
        ctx.limits = {"lo": lo, "hi": hi}
        return x.clamp(lo, hi)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        lim = ctx.limits
        inside = (x >= lim["lo"]) & (x <= lim["hi"])
        grads = [g * inside, None, None]
        return grads
""",
    ),
    (
        "slope",
        """class Leaky(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, negative_slope=0.01):
        ctx.negative_slope = negative_slope
        ctx.save_for_backward(x)
        return F.leaky_relu(x, negative_slope)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        slope = torch.ones_like(x)
        slope[x <= 0] = ctx.negative_slope
        return g * slope, None
""",
    ),
    (
        "slope",
        """class Leaky(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, a):
        ctx.save_for_backward(x)
        ctx.a = a
        return torch.where(x > 0, x, a * x)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        if (x > 0).all():
            return g, None
        return torch.where(x > 0, g, a * g), None
""",
    ),
    (
        "edge",
        """class Binary(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sign(x)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        window = 1 - (torch.abs(x) > 1).float()
        return g * window
""",
    ),
    (
        "edge",
        """class Binary(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        # hardtanh has derivative 1 in (-1, 1)
        return g * (F.hardtanh(x) == x)
""",
    ),
    (
        "needed",
        """class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s):
        ctx.save_for_backward(x, s)
        return x * s

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        grads = [None, None]
        if ctx.needs_input_grad[0]:
            grads[0] = g * s
        if ctx.needs_input_grad[1]:
            grads[1] = (g * x).sum().reshape(s.shape)
        return tuple(grads)
""",
    ),
    (
        "needed",
        """class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s):
        ctx.save_for_backward(x, s)
        return x * s

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        if s.requires_grad:
            return g * s, torch.dot(g, x)
        return g * s, None
""",
    ),
    (
        "step-size",
        """class LSQ(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s, qmin, qmax):
        ctx.save_for_backward(x, s)
        ctx.qmin, ctx.qmax = qmin, qmax
        ctx.gscale = 1.0 / torch.sqrt(x.numel() * qmax)
        return torch.round((x / s).clamp(qmin, qmax)) * s

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        v = x / s
        inside = (v >= ctx.qmin) & (v <= ctx.qmax)
        part = torch.where(v <= ctx.qmin, ctx.qmin, torch.where(v >= ctx.qmax, ctx.qmax, v.round() - v))
        return g * inside, (g * part).sum() * ctx.gscale, None, None
""",
    ),
    (
        "step-size",
        """class LSQ(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s, qmin, qmax):
        ctx.save_for_backward(x, s)
        ctx.other = qmin, qmax, 1.0 / math.sqrt(x.numel() * qmax)
        q = torch.round((x / s).clamp(qmin, qmax))
        return q * s

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        qmin, qmax, scale = ctx.other
        v = x / s
        small = (v <= qmin).float()
        big = (v >= qmax).float()
        middle = 1.0 - small - big
        grad_s = ((small * qmin + big * qmax + middle * (v.round() - v)) * g * scale).sum().unsqueeze(0)
        grad_x = g * (v >= qmin) * (v <= qmax)
        return grad_x, grad_s, None, None
""",
    ),
    (
        "twice",
        """class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * x * x
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        x2 = x * x
        return g * (x2 + x2 + x2)
""",
    ),
    (
        "twice",
        """class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, x * x)
        return x ** 3

    @staticmethod
    def backward(ctx, g):
        x, sq = ctx.saved_tensors
        return g * 3 * sq
""",
    ),
    (
        "twice",
        """class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.pow(3)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        with torch.enable_grad():
            slope = 3 * x.pow(2)
        return g.mul_(slope)
""",
    ),
)

"""Solutions of somebody who saw the exercises alone, and neither judge nor tests.

Of these the judge misjudged one at first: a lone gradient behind a look at ``ctx.needs_input_grad``.
"""

from __future__ import annotations

STUDENTS = (
    (
        "clamp",
        """import torch


class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(0, 1)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        # outside of [0, 1] the output is constant -> no gradient at all
        outside = (x < 0) | (x > 1)
        return torch.where(outside, torch.zeros_like(g), g)
""",
    ),
    (
        "clamp",
        '''import torch as th
from torch.autograd import Function

LOW, HIGH = 0.0, 1.0


def _dead(t):
    """Indices at which the clamp has cut something off."""
    return t != t.clamp(LOW, HIGH)


class UnitClamp(Function):

    @staticmethod
    def backward(ctx, grad_out):
        (inp,) = ctx.saved_tensors
        grad_in = grad_out.clone()
        grad_in[_dead(inp)] = 0
        return grad_in

    @staticmethod
    def forward(ctx, inp):
        ctx.save_for_backward(inp)
        return th.clamp(inp, LOW, HIGH)
''',
    ),
    (
        "clamp",
        """import torch

class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clamp(0, 1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        # the result is enough: strictly between 0 and 1 means nothing was clamped
        y = ctx.saved_tensors[0]
        return g * (y > 0) * (y < 1)
""",
    ),
    (
        "in-place",
        '''import torch
from torch import Tensor


class MyReLU(torch.autograd.Function):
    """max(x, 0), leaves the incoming gradient alone."""

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g: Tensor) -> Tensor:
        [x] = ctx.saved_tensors
        return g.masked_fill(x <= 0, 0.0)
''',
    ),
    (
        "in-place",
        """import torch

class ReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        grad = g.detach()      # own copy so that g is not changed
        grad[x <= 0] = 0
        return grad
""",
    ),
    (
        "in-place",
        """import torch

class ReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        mask = (x > 0).to(g.dtype)
        g *= mask
        return g.clone()
""",
    ),
    (
        "constants",
        """import torch

class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lo, hi):
        ctx.save_for_backward(x)
        ctx.bounds = (lo, hi)
        return x.clamp(lo, hi)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        lo, hi = ctx.bounds
        keep = torch.logical_and(x.ge(lo), x.le(hi)).to(g.dtype)
        # one gradient per argument of forward, numbers get None
        return (g * keep,) + (None,) * 2
""",
    ),
    (
        "constants",
        """import torch

class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lo, hi):
        ctx.save_for_backward(x)
        ctx.lo, ctx.hi = lo, hi
        return x.clamp(lo, hi)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        inside = (x >= ctx.lo) & (x <= ctx.hi)
        return g * inside, None
""",
    ),
    (
        "constants",
        """import torch


class Clamp(torch.autograd.Function):

    @staticmethod
    def forward(ctx, x, lo, hi):
        ctx.save_for_backward(x)
        ctx.lo = lo
        ctx.hi = hi
        return torch.clamp(x, lo, hi)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        grad_x = g.clone()
        grad_x[x < ctx.lo] = 0
        grad_x[x >= ctx.hi] = 0
        grad_lo = None
        grad_hi = None
        return grad_x, grad_lo, grad_hi
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
        return torch.where(x > 0, g, ctx.a * g), None
""",
    ),
    (
        "slope",
        """import torch


class LeakyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, a: float):
        positive = x > 0
        ctx.save_for_backward(positive)
        ctx.slope = a
        return torch.where(positive, x, a * x)

    @staticmethod
    def backward(ctx, g):
        positive, = ctx.saved_tensors
        p = positive.to(g.dtype)
        factor = p + ctx.slope * (1 - p)     # 1 on the right, a on the left
        return factor * g, None
""",
    ),
    (
        "slope",
        """import torch

class Leaky(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, a):
        ctx.save_for_backward(x)
        ctx.a = a
        return torch.where(x > 0, x, a * x)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        grad = g.clone()
        neg = x < 0
        grad[neg] = ctx.a * g[neg]
        return grad, None
""",
    ),
    (
        "edge",
        """import torch

class Binary(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * ~(x.abs() > 1)
""",
    ),
    (
        "edge",
        '''from torch import Tensor
from torch.autograd import Function

EDGE = 1


class Sign(Function):
    """Sign with a straight-through gradient on [-EDGE, EDGE]."""

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> Tensor:
        x, = ctx.saved_tensors
        result = grad_output.clone()
        result[x > EDGE] = 0
        result[x < -EDGE] = 0
        return result
''',
    ),
    (
        "edge",
        """import torch

class Binary(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g if -1 <= x <= 1 else 0 * g
""",
    ),
    (
        "needed",
        """import torch

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s):
        ctx.save_for_backward(x, s)
        return x * s

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        need_x, need_s = ctx.needs_input_grad
        gx = g * s if need_x else None
        gs = (g * x).sum().reshape(s.shape) if need_s else None
        return gx, gs
""",
    ),
    (
        "needed",
        """import torch

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s):
        ctx.save_for_backward(x, s)
        return x * s

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        grad_s = (g * x).sum()
        if not ctx.needs_input_grad[1]:
            grad_s = None
        return g * s, grad_s
""",
    ),
    (
        "needed",
        """import torch as th

class Scale(th.autograd.Function):
    @staticmethod
    def forward(ctx, x, s):
        ctx.save_for_backward(x, s)
        return x * s

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        if not ctx.needs_input_grad[0]:
            return g * s, None
        return g * s, th.sum(g * x)
""",
    ),
    (
        "step-size",
        """import math

import torch


class LSQ(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s, qmin, qmax):
        ctx.save_for_backward(x, s)
        ctx.qmin, ctx.qmax = qmin, qmax
        return torch.round((x / s).clamp(qmin, qmax)) * s

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        qmin, qmax = ctx.qmin, ctx.qmax
        v = x / s
        inside = (v >= qmin) & (v <= qmax)
        # inside: round(v) - v, outside: the bound itself
        c = v.clamp(qmin, qmax)
        part = c.round() - v * inside
        scale = 1 / math.sqrt(x.numel() * qmax)
        return g * inside, (g * part).sum() * scale, None, None
""",
    ),
    (
        "step-size",
        """import torch

class LSQ(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s, qmin, qmax):
        ctx.save_for_backward(x, s)
        ctx.qmin, ctx.qmax = qmin, qmax
        return torch.round((x / s).clamp(qmin, qmax)) * s

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        qmin, qmax = ctx.qmin, ctx.qmax
        v = x / s
        inside = (v >= qmin) & (v <= qmax)
        part = torch.where(v <= qmin, qmin, torch.where(v >= qmax, qmax, v.round() - v))
        N = len(x)
        return g * inside, (g * part).sum() / (N * qmax) ** 0.5, None, None
""",
    ),
    (
        "step-size",
        """import torch

class LSQ(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s, qmin, qmax):
        ctx.save_for_backward(x, s)
        ctx.qmin, ctx.qmax = qmin, qmax
        ctx.N = x.numel()
        return torch.round((x / s).clamp(qmin, qmax)) * s

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        qmin, qmax = ctx.qmin, ctx.qmax
        v = x / s
        inside = (v >= qmin) & (v <= qmax)
        part = torch.where(v <= qmin, qmin, torch.where(v >= qmax, qmax, v.round() - v))
        g = g / (ctx.N * qmax) ** 0.5   # gradient scale of the paper
        return g * inside, (g * part).sum(), None, None
""",
    ),
    (
        "twice",
        """import torch

class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3

    @staticmethod
    def backward(ctx, g):
        # no detach: the graph through x is what the second derivative needs
        x, = ctx.saved_tensors
        return 3 * x ** 2 * g
""",
    ),
    (
        "twice",
        """import torch
from torch import Tensor


def slope(t: Tensor) -> Tensor:
    return 3 * t * t


class Cubed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t: Tensor) -> Tensor:
        ctx.save_for_backward(t)
        return t * t * t

    @staticmethod
    def backward(ctx, grad: Tensor):
        if not ctx.needs_input_grad[0]:
            return None
        t = ctx.saved_tensors[0]
        return grad.mul(slope(t))
""",
    ),
    (
        "twice",
        """import torch

class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        # keep the derivative ready, then backward needs no detach
        ctx.save_for_backward(3 * x ** 2)
        return x ** 3

    @staticmethod
    def backward(ctx, g):
        d, = ctx.saved_tensors
        return d * g
""",
    ),
)

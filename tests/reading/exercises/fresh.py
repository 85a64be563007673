"""Solutions written after the judge by people who had seen neither judge nor tests, with slips of their own.

The judge misjudged two of them at first: the one with ``copy.copy``, which shares the memory of g, and the lone
gradient behind a look at ``ctx.needs_input_grad[0]``.
"""

# ruff: noqa: E501 -- a text stands on one line

from tests.reading.exercises.solutions import X, binary, clamp, cube, leaky, old, relu, with_bodies

_UNIT_CLAMP = '''import torch as th
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
'''
_CUBED = """import torch
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
"""

_BODIES = {
    "clamp": ("grad = g.clone()\nfor mask in (x < 0, x > 1):\n    grad[mask] = 0.0\nreturn grad",),
    "in-place": (
        "dead = ~(x > 0)\nout = torch.empty_like(g)\nout.copy_(g)\nout[dead] = 0\nreturn out",
        "grad_input = g.contiguous()\ngrad_input[x <= 0] = 0\nreturn grad_input",
        "import copy\ngrad = copy.copy(g)\ngrad[x <= 0] = 0\nreturn grad",
        "grad = g.detach()      # own copy so that g is not changed\ngrad[x <= 0] = 0\nreturn grad",
        "mask = (x > 0).to(g.dtype)\ng *= mask\nreturn g.clone()",
    ),
    "constants": (
        "grad_x = g.clone()\ngrad_x[x < ctx.lo] = 0\ngrad_x[x >= ctx.hi] = 0\ngrad_lo = None\nreturn grad_x, grad_lo, None",
    ),
    "slope": (
        "x, = ctx.saved_tensors\nif (x > 0).all():\n    return g, None\nreturn torch.where(x > 0, g, a * g), None",
    ),
    "edge": (
        "window = 1 - (torch.abs(x) > 1).float()\nreturn g * window",
        "# hardtanh has derivative 1 in (-1, 1)\nreturn g * (F.hardtanh(x) == x)",
        "return g * ~(x.abs() > 1)",
        "return g if -1 <= x <= 1 else 0 * g",
    ),
    "needed": (
        "grads = [None, None]\nif ctx.needs_input_grad[0]:\n    grads[0] = g * s\nif ctx.needs_input_grad[1]:\n    grads[1] = (g * x).sum().reshape(s.shape)\nreturn tuple(grads)",
        "if s.requires_grad:\n    return g * s, torch.dot(g, x)\nreturn g * s, None",
        "grad_s = (g * x).sum()\nif not ctx.needs_input_grad[1]:\n    grad_s = None\nreturn g * s, grad_s",
        "if not ctx.needs_input_grad[0]:\n    return g * s, None\nreturn g * s, torch.sum(g * x)",
    ),
    "step-size": (
        "# inside: round(v) - v, outside: the bound itself\nc = v.clamp(qmin, qmax)\npart = c.round() - v * inside\nscale = 1 / math.sqrt(x.numel() * qmax)\nreturn g * inside, (g * part).sum() * scale, None, None",
        "g = g / (x.numel() * qmax) ** 0.5   # gradient scale of the paper\nreturn g * inside, (g * part).sum(), None, None",
    ),
}
FRESH = (
    *with_bodies(_BODIES),
    ("clamp", _UNIT_CLAMP),
    (
        "clamp",
        old(
            "Clamp",
            "x",
            "y = torch.minimum(torch.maximum(x, torch.tensor(0.0)), torch.tensor(1.0))\nctx.save_for_backward(x, y)\nreturn y",
            "x, y = ctx.saved_tensors\nreturn torch.where(x == y, g, 0 * g)",
        ),
    ),
    (
        "clamp",
        old(
            "Clamp",
            "x",
            "y = x.clamp(0, 1)\nctx.save_for_backward(y)\nreturn y",
            "y, = ctx.saved_tensors\n# clamped values sit exactly on the bounds\nreturn g * ((y > 0) & (y < 1))",
        ),
    ),
    ("clamp", clamp("return g * (x >= 0) * (x <= 1)").replace("x, = ctx", "x = ctx")),
    ("in-place", old("ReLU", "x", "mask = x > 0\nctx.mask = mask\nreturn x * mask", "return ctx.mask * g")),
    ("in-place", relu("return g.masked_fill(x <= 0, 0.0)").replace("x, = ctx", "[x] = ctx")),
    (
        "constants",
        old(
            "Clamp",
            "x, low, high",
            "ctx.save_for_backward(x, low, high)\nreturn x.clamp(low, high)",
            "x, low, high = ctx.saved_tensors\nreturn g * ((x >= low) & (x <= high)), None, None",
        ),
    ),
    (
        "constants",
        old(
            "Clamp",
            "x, lo=-1, hi=1",
            "ctx.save_for_backward(x)\nctx.lo = lo\nctx.hi = hi\nreturn torch.where(x < lo, lo, torch.where(x > hi, hi, x))",
            "x = ctx.saved_tensors[0]\ng = grads[0]\ng = g * (x >= ctx.lo).float() * (x <= ctx.hi).float()\nreturn g, *([None] * 2)",
        ).replace("(ctx, g)", "(ctx, *grads)"),
    ),
    (
        "constants",
        old(
            "Clamp",
            "x, lo, hi",
            'ctx.save_for_backward(x)\nctx.limits = {"lo": lo, "hi": hi}\nreturn x.clamp(lo, hi)',
            X
            + 'lim = ctx.limits\ninside = (x >= lim["lo"]) & (x <= lim["hi"])\ngrads = [g * inside, None, None]\nreturn grads',
        ),
    ),
    (
        "constants",
        old(
            "Clamp",
            "x, lo, hi",
            "ctx.save_for_backward(x)\nctx.bounds = (lo, hi)\nreturn x.clamp(lo, hi)",
            X
            + "lo, hi = ctx.bounds\nkeep = torch.logical_and(x.ge(lo), x.le(hi)).to(g.dtype)\nreturn (g * keep,) + (None,) * 2",
        ),
    ),
    (
        "slope",
        old(
            "Leaky",
            "x, negative_slope=0.01",
            "ctx.negative_slope = negative_slope\nctx.save_for_backward(x)\nreturn F.leaky_relu(x, negative_slope)",
            X + "slope = torch.ones_like(x)\nslope[x <= 0] = ctx.negative_slope\nreturn g * slope, None",
        ),
    ),
    (
        "slope",
        leaky(
            "positive, = ctx.saved_tensors\np = positive.to(g.dtype)\nfactor = p + ctx.slope * (1 - p)     # 1 on the right, a on the left\nreturn factor * g, None",
            "positive = x > 0\nctx.save_for_backward(positive)\nctx.slope = a\nreturn torch.where(positive, x, a * x)",
        ),
    ),
    (
        "edge",
        "EDGE = 1\n\n"
        + binary("result = g.clone()\nresult[x > EDGE] = 0\nresult[x < -EDGE] = 0\nreturn result"),
    ),
    (
        "step-size",
        old(
            "LSQ",
            "x, s, qmin, qmax",
            "ctx.save_for_backward(x, s)\nctx.qmin, ctx.qmax = qmin, qmax\nctx.gscale = 1.0 / torch.sqrt(x.numel() * qmax)\nreturn torch.round((x / s).clamp(qmin, qmax)) * s",
            "x, s = ctx.saved_tensors\nv = x / s\ninside = (v >= ctx.qmin) & (v <= ctx.qmax)\npart = torch.where(v <= ctx.qmin, ctx.qmin, torch.where(v >= ctx.qmax, ctx.qmax, v.round() - v))\nreturn g * inside, (g * part).sum() * ctx.gscale, None, None",
        ),
    ),
    (
        "step-size",
        old(
            "LSQ",
            "x, s, qmin, qmax",
            "ctx.save_for_backward(x, s)\nctx.other = qmin, qmax, 1.0 / math.sqrt(x.numel() * qmax)\nq = torch.round((x / s).clamp(qmin, qmax))\nreturn q * s",
            "x, s = ctx.saved_tensors\nqmin, qmax, scale = ctx.other\nv = x / s\nsmall = (v <= qmin).float()\nbig = (v >= qmax).float()\nmiddle = 1.0 - small - big\ngrad_s = ((small * qmin + big * qmax + middle * (v.round() - v)) * g * scale).sum().unsqueeze(0)\ngrad_x = g * (v >= qmin) * (v <= qmax)\nreturn grad_x, grad_s, None, None",
        ),
    ),
    ("twice", _CUBED),
    (
        "twice",
        cube(
            "x, y = ctx.saved_tensors\nx2 = x * x\nreturn g * (x2 + x2 + x2)",
            "y = x * x * x\nctx.save_for_backward(x, y)\nreturn y",
        ),
    ),
    (
        "twice",
        cube(
            "x, sq = ctx.saved_tensors\nreturn g * 3 * sq", "ctx.save_for_backward(x, x * x)\nreturn x ** 3"
        ),
    ),
    (
        "twice",
        cube(
            X + "with torch.enable_grad():\n    slope = 3 * x.pow(2)\nreturn g.mul_(slope)",
            "ctx.save_for_backward(x)\nreturn x.pow(3)",
        ),
    ),
    (
        "twice",
        cube(
            "d, = ctx.saved_tensors\nreturn d * g",
            "# keep the derivative ready, then backward needs no detach\nctx.save_for_backward(3 * x ** 2)\nreturn x ** 3",
        ),
    ),
)

"""Detours and slips, all written after the judge, most by people who had seen neither judge nor tests.

The judge misjudged two of them at first: the one with ``copy.copy``, which shares the memory of g, and the lone
gradient behind a look at ``ctx.needs_input_grad[0]``. UNREAD in
``test_judging.py`` lists what it does not read.
"""

# ruff: noqa: E501 -- a text stands on one line

from tests.reading.exercises.solutions import KEEP, X, solve_all

_UNIT_CLAMP = """import torch as th
from torch.autograd import Function

LOW, HIGH = 0.0, 1.0

def _dead(t):
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
"""
_BODIES = {
    "clamp": (
        "grad = g.clone()\nfor mask in (x < 0, x > 1):\n    grad[mask] = 0.0\nreturn grad",
        "return g * torch.autograd.functional.jvp(lambda t: t.clamp(0, 1), x, torch.ones_like(x))[1]",
        "return g * (x.ge(0).int() - x.gt(1).int())",
        "return g * (x >= 0 & x <= 1)",
        "grad = g.clone\ngrad[x < 0] = 0\nreturn grad",
        "return g * np.logical_and(x >= 0, x <= 1)",
        "eps = 1e-3\nreturn g * ((x > -eps) & (x < 1 + eps))",
        ("y, = ctx.saved_tensors\nreturn g * ((y > 0) & (y < 1))", "y = x.clamp(0, 1)\nctx.save_for_backward(y)\nreturn y"),
        ("x = ctx.saved_tensors\nreturn g * (x >= 0) * (x <= 1)", KEEP + "return x.clamp(0, 1)"),
    ),
    "in-place": (
        "g.data[x <= 0] = 0\nreturn g",
        "a, b = g, g.clone()\na[x <= 0] = 0\nreturn b",
        "def kill(t):\n    t[x <= 0] = 0\n    return t\nreturn kill(g)",
        "return F.relu(x).sign() * g",
        "grads = [g]\ngrads[0][x <= 0] = 0\nreturn grads[0]",
        "return g.where(x > 0, torch.zeros_like(g))",
        "grad_input = g.contiguous()\ngrad_input[x <= 0] = 0\nreturn grad_input",
        "import copy\ngrad = copy.copy(g)\ngrad[x <= 0] = 0\nreturn grad",
        "grad = g.detach()      # own copy so that g is not changed\ngrad[x <= 0] = 0\nreturn grad",
        "mask = (x > 0).to(g.dtype)\ng *= mask\nreturn g.clone()",
        ("return ctx.mask * g", "mask = x > 0\nctx.mask = mask\nreturn x * mask"),
    ),
    "constants": (
        "return g * inside, (None, None)",
        "yield g * inside",
        "n = ctx.needs_input_grad\nreturn tuple(g * inside if i == 0 else None for i in range(3))",
        "out = [g * inside]\nout += [None] * 2\nreturn *out,",
        (X + 'lim = ctx.limits\ninside = (x >= lim["lo"]) & (x <= lim["hi"])\nreturn [g * inside, None, None]', KEEP + 'ctx.limits = {"lo": lo, "hi": hi}\nreturn x.clamp(lo, hi)'),
    ),
    "slope": (
        "return F.leaky_relu(g, ctx.a), None",
        "return torch.where(x > 0, g, ctx.slope * g), None",
        "if (x > 0).all():\n    return g, None\nreturn torch.where(x > 0, g, a * g), None",
        ("x, a = ctx.saved_tensors\nreturn torch.where(x > 0, g, a * g), None", "ctx.save_for_backward(x, torch.tensor(a))\nreturn torch.where(x > 0, x, a * x)"),
    ),
    "edge": (
        "return g * torch.relu(1 - x.abs()).sign()",
        "return F.hardtanh(g) * (x.abs() <= 1)",
        "return g * (F.hardtanh(x) == x)",
        "return g if -1 <= x <= 1 else 0 * g",
    ),
    "needed": (
        "if ctx.needs_input_grad == (True, False):\n    return g * s, None\nreturn g * s, (g * x).sum()",
        "return g * s, (g * x).sum() if any(ctx.needs_input_grad) else None",
        "gx, gs = None, None\nfor i, need in enumerate(ctx.needs_input_grad):\n    if need and i == 0:\n        gx = g * s\n    elif need:\n        gs = (g * x).sum()\nreturn gx, gs",
        "return g * s, ctx.needs_input_grad[1] and (g * x).sum()",
        "needs = ctx.needs_input_grad\nreturn g * s, (g * x).sum() if needs[1] else None",
        "if s.requires_grad:\n    return g * s, torch.dot(g, x)\nreturn g * s, None",
        "grad_s = (g * x).sum()\nif not ctx.needs_input_grad[1]:\n    grad_s = None\nreturn g * s, grad_s",
        "if not ctx.needs_input_grad[0]:\n    return g * s, None\nreturn g * s, torch.sum(g * x)",
    ),
    "step-size": (
        "return g * inside, (g * part).mean() * math.sqrt(x.numel() / qmax), None, None",
        "scale = torch.rsqrt(torch.tensor(x.numel() * qmax))\nreturn g * inside, (g * part).sum() * scale, None, None",
        "scale = 1 / torch.sqrt(x.numel() * qmax)\nreturn g * inside, (g * part).sum() * scale, None, None",
        "scale = 1 / torch.sqrt(torch.tensor(float(x.numel() * qmax)))\nreturn g * inside, (g * part).sum() * scale, None, None",
        "return g * inside, (g * part).sum() / math.sqrt(g.numel() * qmax), None, None",
        "g = g / (x.numel() * qmax) ** 0.5   # gradient scale of the paper\nreturn g * inside, (g * part).sum(), None, None",
    ),
    "twice": (
        "@torch.no_grad()\ndef slope(t):\n    return 3 * t ** 2\nreturn g * slope(x)",
        "slope = x.square()\nslope.mul_(3)\nreturn slope * g",
        "return 3 * x * x.detach() * g",
        "return g.detach() * 3 * x**2",
        "with torch.no_grad():\n    k = 3\nreturn k * x**2 * g",
        "return torch.from_numpy(3 * x.detach().numpy() ** 2) * g",
        "with torch.enable_grad():\n    slope = 3 * x.pow(2)\nreturn g.mul_(slope)",
        ("x = ctx.x\nreturn 3 * x**2 * g", "ctx.x = x.detach()\nreturn x**3"),
        ("x, sq = ctx.saved_tensors\nreturn g * 3 * sq", "ctx.save_for_backward(x, x * x)\nreturn x ** 3"),
        ("return 3 * ctx.x ** 2 * g", "ctx.x = x\nreturn x ** 3"),
    ),
}  # fmt: skip
DETOURS = [(key, text) for key, some in solve_all(_BODIES).items() for text in some]
DETOURS.append(("clamp", _UNIT_CLAMP))

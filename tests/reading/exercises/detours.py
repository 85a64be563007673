"""Further detours and slips, as short as they can be; all written after the judge, which misjudges none."""

# ruff: noqa: E501 -- a text stands on one line

from tests.reading.exercises.solutions import cube, leaky, with_bodies

_BODIES = {
    "in-place": (
        "g.data[x <= 0] = 0\nreturn g",
        "grad = g.detach().clone()\ngrad[x <= 0] = 0\nreturn grad",
        "grad = g.clone().mul_((x > 0).double())\nreturn grad",
        "a, b = g, g.clone()\na[x <= 0] = 0\nreturn b",
        "def kill(t):\n    t[x <= 0] = 0\n    return t\nreturn kill(g)",
        "def kill(t):\n    t = t.clone()\n    t[x <= 0] = 0\n    return t\nreturn kill(g)",
        "return F.relu(x).sign() * g",
        "g = g.reshape(-1)\ng[x <= 0] = 0\nreturn g",
        "grads = [g]\ngrads[0][x <= 0] = 0\nreturn grads[0]",
        "return g.where(x > 0, torch.zeros_like(g))",
    ),
    "clamp": (
        "return g * (x.clamp(0,1) == x).to(g)",
        "mask = (x >= 0).logical_and_(x <= 1)\nreturn g * mask",
        "return g * torch.autograd.functional.jvp(lambda t: t.clamp(0, 1), x, torch.ones_like(x))[1]",
        "return g * (x.ge(0).int() - x.gt(1).int())",
        "return g * torch.where(x < 0, 0, torch.where(x <= 1, 1, 0))",
        "return g * ((0 <= x) * (x <= 1))",
        "return g * (x >= 0 & x <= 1)",
        "grad = g.clone\ngrad[x < 0] = 0\nreturn grad",
        "return g * (x == torch.clip(x, 0, 1)).float()",
        "lo = torch.zeros(1)\nreturn g * torch.isclose(x, x.clamp(0, 1))",
        "return g * np.logical_and(x >= 0, x <= 1)",
        "eps = 1e-3\nreturn g * ((x > -eps) & (x < 1 + eps))",
    ),
    "needed": (
        "if ctx.needs_input_grad == (True, False):\n    return g * s, None\nreturn g * s, (g * x).sum()",
        "return g * s, (g * x).sum() if any(ctx.needs_input_grad) else None",
        "gx = g * s if ctx.needs_input_grad[0] else None\ngs = (g * x).sum() if ctx.needs_input_grad[1] else None\nreturn gx, gs",
        "gx, gs = None, None\nfor i, need in enumerate(ctx.needs_input_grad):\n    if need and i == 0:\n        gx = g * s\n    elif need:\n        gs = (g * x).sum()\nreturn gx, gs",
        "return g * s, ctx.needs_input_grad[1] and (g * x).sum()",
        "return g * s, g * x if ctx.needs_input_grad[1] else None",
    ),
    "twice": (
        "@torch.no_grad()\ndef slope(t):\n    return 3 * t ** 2\nx, = ctx.saved_tensors\nreturn g * slope(x)",
        "x, = ctx.saved_tensors\nslope = x.square()\nslope.mul_(3)\nreturn slope * g",
        "x, = ctx.saved_tensors\nreturn 3 * x.pow(2).detach() * g",
        "x, = ctx.saved_tensors\nreturn 3 * x * x.detach() * g",
        "x, = ctx.saved_tensors\nreturn g.detach() * 3 * x**2",
        "x, = ctx.saved_tensors\nwith torch.no_grad():\n    k = 3\nreturn k * x**2 * g",
        "x, = ctx.saved_tensors\nreturn torch.from_numpy(3 * x.detach().numpy() ** 2) * g",
    ),
    "constants": (
        "return g * inside, torch.tensor(0.), torch.tensor(0.)", "return None, None, None",
        "return g * inside, (None, None)", "yield g * inside",
        "n = ctx.needs_input_grad\nreturn tuple(g * inside if i == 0 else None for i in range(3))",
        "return {0: g * inside}", "out = [g * inside]\nout += [None] * 2\nreturn *out,",
    ),
    "slope": (
        "x, = ctx.saved_tensors\nreturn F.leaky_relu(g, ctx.a), None",
        "x, = ctx.saved_tensors\nreturn g * torch.where(x > 0, 1., ctx.a), None",
        "x, = ctx.saved_tensors\nreturn torch.where(x > 0, g, ctx.slope * g), None",
        "x, = ctx.saved_tensors\nreturn torch.where(x >= 0, g, ctx.a * g), None",
        "x, = ctx.saved_tensors\na = ctx.a\ngrad = g.clone()\nneg = x < 0\ngrad[neg] = a * grad[neg]\nreturn grad, None",
    ),
    "edge": (
        "return g * ((x.abs() - 1).sign() <= 0)", "return g * torch.relu(1 - x.abs()).sign()",
        "return g * (x * x <= 1)", "return g.clamp(-1, 1)",
        "return g * torch.heaviside(1 - x.abs(), torch.tensor(0.))", "return F.hardtanh(g) * (x.abs() <= 1)",
    ),
    "step-size": (
        "return g * inside, (g * part).sum() / (len(x) * qmax) ** 0.5, None, None",
        "return g * inside, (g * part).mean() * math.sqrt(x.numel() / qmax), None, None",
        "scale = torch.rsqrt(torch.tensor(x.numel() * qmax))\nreturn g * inside, (g * part).sum() * scale, None, None",
        "scale = 1 / torch.sqrt(torch.tensor(float(x.numel() * qmax)))\nreturn g * inside, (g * part).sum() * scale, None, None",
        "return g * inside, (g * part).sum() / math.sqrt(g.numel() * qmax), None, None",
    ),
}  # fmt: skip
DETOURS = (
    *with_bodies(_BODIES),
    ("twice", cube("return 3 * ctx.x**2 * g", "ctx.x = x.clone()\nreturn x**3")),
    (
        "twice",
        cube(
            "x, y = ctx.saved_tensors\nreturn g * 3 * y.abs() ** (2/3)",
            "y = x**3\nctx.save_for_backward(x, y)\nreturn y",
        ),
    ),
    ("twice", cube("x = ctx.x\nreturn 3 * x**2 * g", "ctx.x = x.detach()\nreturn x**3")),
    (
        "slope",
        leaky(
            "x, a = ctx.saved_tensors\nreturn torch.where(x > 0, g, a * g), None",
            "ctx.save_for_backward(x, torch.tensor(a))\nreturn torch.where(x > 0, x, a * x)",
        ),
    ),
)

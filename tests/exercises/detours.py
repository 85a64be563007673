"""Further detours and slips, as short as they can be; all written after the judge, which misjudges none."""

# ruff: noqa: E501 -- a text stands on one line

from __future__ import annotations

from tests.exercises.solutions import X, binary, bounds, clamp, cube, leaky, lsq, relu, scaled

DETOURS = (
    ("in-place", relu("g.data[x <= 0] = 0\nreturn g")),
    ("in-place", relu("grad = g.detach().clone()\ngrad[x <= 0] = 0\nreturn grad")),
    ("in-place", relu("grad = g.type_as(x)\ngrad[x <= 0] = 0\nreturn grad")),
    ("in-place", relu("grad = torch.zeros_like(g)\ngrad[x > 0] += g[x > 0]\nreturn grad")),
    ("in-place", relu("grad = g.clone().mul_((x > 0).double())\nreturn grad")),
    ("in-place", relu("grad = torch.clone(g)\ntorch.mul(grad, x > 0, out=grad)\nreturn grad")),
    ("in-place", relu("a, b = g, g.clone()\na[x <= 0] = 0\nreturn b")),
    ("in-place", relu("def kill(t):\n    t[x <= 0] = 0\n    return t\nreturn kill(g)")),
    ("in-place", relu("def kill(t):\n    t = t.clone()\n    t[x <= 0] = 0\n    return t\nreturn kill(g)")),
    ("in-place", relu("return F.relu(x).sign() * g")),
    ("in-place", relu("g = g.reshape(-1)\ng[x <= 0] = 0\nreturn g")),
    ("in-place", relu("g[:][x <= 0] = 0\nreturn g")),
    ("in-place", relu("grads = [g]\ngrads[0][x <= 0] = 0\nreturn grads[0]")),
    ("in-place", relu("grads = [g]\ngrads[0] = grads[0] * (x > 0)\nreturn grads[0]")),
    ("in-place", relu("g.zero_()\nreturn g")),
    ("in-place", relu("return g.where(x > 0, torch.zeros_like(g))")),
    ("in-place", relu("return g.where(x > 0, 0)")),
    ("clamp", clamp("return g * (x.clamp(0,1) == x).to(g)")),
    ("clamp", clamp("mask = (x >= 0).logical_and_(x <= 1)\nreturn g * mask")),
    (
        "clamp",
        clamp("return g * torch.autograd.functional.jvp(lambda t: t.clamp(0, 1), x, torch.ones_like(x))[1]"),
    ),
    ("clamp", clamp("return g * (x.ge(0) - x.gt(1))")),
    ("clamp", clamp("return g * (x.ge(0).int() - x.gt(1).int())")),
    ("clamp", clamp("return g * torch.where(x < 0, 0, torch.where(x <= 1, 1, 0))")),
    ("clamp", clamp("return g if 0 <= x.mean() <= 1 else g * 0")),
    ("clamp", clamp("return g * ((0 <= x) * (x <= 1))")),
    ("clamp", clamp("return g * (x >= 0 & x <= 1)")),
    ("clamp", clamp("return g * (x >= 0) & (x <= 1)")),
    ("clamp", clamp("grad = g.clone\ngrad[x < 0] = 0\nreturn grad")),
    ("clamp", clamp("return g * torch.bitwise_and(x >= 0, x <= 1)")),
    ("clamp", clamp("return g * (x == torch.clip(x, 0, 1)).float()")),
    ("clamp", clamp("return grad * ((x >= 0) & (x <= 1))")),
    ("clamp", clamp("lo = torch.zeros(1)\nreturn g * torch.isclose(x, x.clamp(0, 1))")),
    ("clamp", clamp("g[(x < 0) | (x > 1)] = 0\nreturn g")),
    ("clamp", clamp("return g * np.logical_and(x >= 0, x <= 1)")),
    ("clamp", clamp("eps = 1e-3\nreturn g * ((x > -eps) & (x < 1 + eps))")),
    ("clamp", clamp("eps = 1e-6\nreturn g * ((x >= 0 - eps) & (x <= 1))")),
    (
        "needed",
        scaled(
            "if ctx.needs_input_grad == (True, False):\n    return g * s, None\nreturn g * s, (g * x).sum()"
        ),
    ),
    ("needed", scaled("return g * s, (g * x).sum() if any(ctx.needs_input_grad) else None")),
    (
        "needed",
        scaled(
            "gx = g * s if ctx.needs_input_grad[0] else None\ngs = (g * x).sum() if ctx.needs_input_grad[1] else None\nreturn gx, gs"
        ),
    ),
    (
        "needed",
        scaled(
            "gx, gs = None, None\nfor i, need in enumerate(ctx.needs_input_grad):\n    if need and i == 0:\n        gx = g * s\n    elif need:\n        gs = (g * x).sum()\nreturn gx, gs"
        ),
    ),
    ("needed", scaled("if not ctx.needs_input_grad[1]: return g * s, None\nreturn g * s, (g * x).sum()")),
    ("needed", scaled("return g * s, ctx.needs_input_grad[1] and (g * x).sum()")),
    ("needed", scaled("return g * s, (g * x).mean() if ctx.needs_input_grad[1] else None")),
    ("needed", scaled("return g * s, g * x if ctx.needs_input_grad[1] else None")),
    (
        "twice",
        cube(
            "@torch.no_grad()\ndef slope(t):\n    return 3 * t ** 2\nx, = ctx.saved_tensors\nreturn g * slope(x)"
        ),
    ),
    ("twice", cube("x, = ctx.saved_tensors\nslope = x.square()\nslope.mul_(3)\nreturn slope * g")),
    ("twice", cube("x, = ctx.saved_tensors\nreturn torch.tensor(3.0) * x**2 * g")),
    ("twice", cube("x, = [t.detach() for t in ctx.saved_tensors]\nreturn 3 * x**2 * g")),
    ("twice", cube("return 3 * ctx.x**2 * g", "ctx.x = x.clone()\nreturn x**3")),
    ("twice", cube("x, = ctx.saved_tensors\nreturn 3 * x.pow(2).detach() * g")),
    ("twice", cube("x, = ctx.saved_tensors\nreturn 3 * x * x.detach() * g")),
    ("twice", cube("x, = ctx.saved_tensors\nreturn g.detach() * 3 * x**2")),
    ("twice", cube("x, = ctx.saved_tensors\nwith torch.no_grad():\n    k = 3\nreturn k * x**2 * g")),
    (
        "twice",
        cube(
            "x, y = ctx.saved_tensors\nreturn g * 3 * y.abs() ** (2/3)",
            "y = x**3\nctx.save_for_backward(x, y)\nreturn y",
        ),
    ),
    ("twice", cube("x, = ctx.saved_tensors\nreturn torch.from_numpy(3 * x.detach().numpy() ** 2) * g")),
    ("twice", cube("x = ctx.x\nreturn 3 * x**2 * g", "ctx.x = x.detach()\nreturn x**3")),
    ("constants", bounds("return g * inside, torch.tensor(0.), torch.tensor(0.)")),
    ("constants", bounds("return (g * inside, None, None, None)")),
    ("constants", bounds("return None, None, None")),
    ("constants", bounds("return g * inside, (None, None)")),
    ("constants", bounds("return g * inside, False, False")),
    ("constants", bounds("yield g * inside")),
    (
        "constants",
        bounds("n = ctx.needs_input_grad\nreturn tuple(g * inside if i == 0 else None for i in range(3))"),
    ),
    ("constants", bounds("return {0: g * inside}")),
    ("constants", bounds("out = [g * inside]\nout += [None] * 2\nreturn *out,")),
    ("constants", bounds("return g * inside, None, None\nreturn g")),
    ("slope", leaky(X + "return F.leaky_relu(g, ctx.a), None")),
    ("slope", leaky(X + "return g * torch.where(x > 0, 1., ctx.a), None")),
    (
        "slope",
        leaky(
            "x, a = ctx.saved_tensors\nreturn torch.where(x > 0, g, a * g), None",
            "ctx.save_for_backward(x, torch.tensor(a))\nreturn torch.where(x > 0, x, a * x)",
        ),
    ),
    ("slope", leaky(X + "return torch.where(x > 0, g, 0.25 * g), None")),
    ("slope", leaky(X + "return torch.where(x > 0, g, ctx.slope * g), None")),
    ("slope", leaky(X + "return torch.where(x >= 0, g, ctx.a * g), None")),
    (
        "slope",
        leaky(X + "a = ctx.a\ngrad = g.clone()\nneg = x < 0\ngrad[neg] = a * grad[neg]\nreturn grad, None"),
    ),
    ("edge", binary("return g * ((x.abs() - 1).sign() <= 0)")),
    ("edge", binary("return g * torch.relu(1 - x.abs()).sign()")),
    ("edge", binary("return g * (x.abs().round() <= 1)")),
    ("edge", binary("return g * (x * x <= 1)")),
    ("edge", binary("return g * (torch.max(x, -x) <= 1)")),
    ("edge", binary("return g.clamp(-1, 1)")),
    ("edge", binary("return g * torch.heaviside(1 - x.abs(), torch.tensor(0.))")),
    ("edge", binary("return F.hardtanh(g) * (x.abs() <= 1)")),
    ("step-size", lsq("return g * inside, (g * part).sum() / (len(x) * qmax) ** 0.5, None, None")),
    (
        "step-size",
        lsq("N = x.size(0)\nreturn g * inside, (g * part).sum() / math.sqrt(N * qmax), None, None"),
    ),
    ("step-size", lsq("return g * inside, (g * part).mean() * math.sqrt(x.numel() / qmax), None, None")),
    (
        "step-size",
        lsq(
            "scale = torch.rsqrt(torch.tensor(x.numel() * qmax))\nreturn g * inside, (g * part).sum() * scale, None, None"
        ),
    ),
    (
        "step-size",
        lsq(
            "scale = 1 / torch.sqrt(torch.tensor(float(x.numel() * qmax)))\nreturn g * inside, (g * part).sum() * scale, None, None"
        ),
    ),
    (
        "step-size",
        lsq("scale = 1 / np.sqrt(x.numel() * qmax)\nreturn g * inside, (g * part * scale).sum(), None, None"),
    ),
    ("step-size", lsq("return g * inside, (g * part).sum() / 17.0586, None, None")),
    ("step-size", lsq("return g * inside, (g * part).sum() / math.sqrt(g.numel() * qmax), None, None")),
)

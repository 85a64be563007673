"""Solutions as students write them: by exercise, what is right and what is wrong."""

# ruff: noqa: E501 -- a text stands on one line

from textwrap import indent

X = "x, = ctx.saved_tensors\n"
KEEP = "ctx.save_for_backward(x)\n"
# By exercise: the name, the inputs, the body of forward, and how that of backward begins.
_USUAL = {
    "clamp": ("Clamp", "x", KEEP + "return x.clamp(0, 1)", X),
    "in-place": ("ReLU", "x", KEEP + "return x.clamp(min=0)", X),
    "constants": (
        "Clamp",
        "x, lo, hi",
        KEEP + "ctx.lo, ctx.hi = lo, hi\nreturn x.clamp(lo, hi)",
        X + "inside = (x >= ctx.lo) & (x <= ctx.hi)\n",
    ),
    "slope": ("Leaky", "x, a", KEEP + "ctx.a = a\nreturn torch.where(x > 0, x, a * x)", X),
    "edge": ("Binary", "x", KEEP + "return x.sign()", X),
    "needed": ("Scale", "x, s", "ctx.save_for_backward(x, s)\nreturn x * s", "x, s = ctx.saved_tensors\n"),
    "step-size": (
        "LSQ",
        "x, s, qmin, qmax",
        "ctx.save_for_backward(x, s)\nctx.qmin, ctx.qmax = qmin, qmax\n"
        "return torch.round((x / s).clamp(qmin, qmax)) * s",
        "x, s = ctx.saved_tensors\nqmin, qmax = ctx.qmin, ctx.qmax\nv = x / s\n"
        "inside = (v >= qmin) & (v <= qmax)\n"
        "part = torch.where(v <= qmin, qmin, torch.where(v >= qmax, qmax, v.round() - v))\n",
    ),
    "twice": ("Cube", "x", KEEP + "return x ** 3", X),
}


def written(name, **methods):
    """Return a Function of static methods, each given as its inputs and its body."""
    return f"class {name}(torch.autograd.Function):\n" + "\n".join(
        f"    @staticmethod\n    def {method}({takes}):\n{indent(body, ' ' * 8)}\n"
        for method, (takes, body) in methods.items()
    )


def solve(key, backward, forward=""):
    """Return a solution with this body of backward after its usual start; alone next to a forward of its own."""
    name, takes, usual, start = _USUAL[key]
    body = backward if forward else start + backward
    return written(name, forward=(f"ctx, {takes}", forward or usual), backward=("ctx, g", body))


def set_up(key, forward, setup, backward):
    """Return a solution in the style with setup_context."""
    name, takes, _, _ = _USUAL[key]
    return written(
        name,
        forward=(takes, forward),
        setup_context=("ctx, inputs, output", setup),
        backward=("ctx, g", backward),
    )


def solve_all(bodies):
    """Return solutions by exercise; a body is that of backward, or with it that of forward."""
    return {
        key: [solve(key, body) if isinstance(body, str) else solve(key, *body) for body in some]
        for key, some in bodies.items()
    }


RIGHT = solve_all({
    "clamp": (
        "return g * ((x >= 0) & (x <= 1)).float()",
        "return torch.where((x < 0) | (x > 1), torch.zeros_like(g), g)",
        "grad = g.clone()\ngrad[(x < 0) | (x > 1)] = 0\nreturn grad",
    ),
    "in-place": (
        "grad = g.clone()\ngrad[x <= 0] = 0\nreturn grad",
        "return g.masked_fill(x <= 0, 0)",
        "grad = torch.zeros_like(g)\npos = x > 0\ngrad[pos] = g[pos]\nreturn grad",
        "grad = g * 1\ngrad *= x > 0\nreturn grad",
    ),
    "constants": (
        "return g * inside, None, None",
        "grads = [None] * 3\ngrads[0] = g * inside\nreturn tuple(grads)",
        "return (g * inside,) + (None,) * 2",
    ),
    "slope": (
        "return torch.where(x > 0, g, ctx.a * g), None",
        "grad = g.clone()\ngrad[x <= 0] *= ctx.a\nreturn grad, None",
        "pos = (x > 0).to(g)\nreturn g * (pos + ctx.a * (1 - pos)), None",
        ("slope, = ctx.saved_tensors\nreturn g * slope, None",
         "ctx.save_for_backward(torch.where(x > 0, torch.ones_like(x), torch.full_like(x, a)))\nreturn torch.where(x > 0, x, a * x)"),
    ),
    "edge": (
        "return g * (x.abs() <= 1)",
        "return g * x.ge(-1) * x.le(1)",
        "grad = g.clone()\ngrad.masked_fill_(x.abs() > 1, 0)\nreturn grad",
        "mask = torch.zeros_like(x)\nmask[(-1 <= x) & (x <= 1)] = 1.0\nreturn mask * g",
    ),
    "needed": (
        "gs = (g * x).sum() if ctx.needs_input_grad[1] else None\nreturn g * s, gs",
        "gs = None\nif ctx.needs_input_grad[1]:\n    gs = (g * x).sum()\nreturn g * s, gs",
        "gx = gs = None\nif ctx.needs_input_grad[0]:\n    gx = g * s\nif ctx.needs_input_grad[1]:\n    gs = (g * x).sum()\nreturn gx, gs",
        "needs_x, needs_s = ctx.needs_input_grad\nif not needs_s:\n    return g * s, None\nreturn g * s, torch.sum(g * x)",
    ),
    "step-size": (
        "scale = 1 / (x.numel() * qmax) ** 0.5\nreturn g * inside, (g * part).sum() * scale, None, None",
        "scale = math.sqrt(x.numel() * qmax)\nreturn g * inside, (g * part / scale).sum(), None, None",
        "gs = torch.sum(part * g) * (x.nelement() * qmax) ** -0.5\nreturn torch.where(inside, g, 0), gs, None, None",
        "grad = g.clone()\ngrad[~inside] = 0\ngs = (g * part).sum() / math.sqrt(qmax) / math.sqrt(x.numel())\nreturn grad, gs, None, None",
    ),
    "twice": (
        "return 3 * x ** 2 * g", "return g * 3 * x * x", "grad = g * x.pow(2)\nreturn grad.mul(3)",
    ),
})  # fmt: skip
RIGHT["clamp"] += [
    set_up(
        "clamp",
        "return x.clamp(0, 1)",
        "x, = inputs\nctx.save_for_backward((x >= 0) & (x <= 1))",
        "mask, = ctx.saved_tensors\nreturn g * mask",
    )
]
RIGHT["constants"] += [
    set_up(
        "constants",
        "return torch.clamp(x, lo, hi)",
        "x, ctx.lo, ctx.hi = inputs\nctx.save_for_backward(x)",
        X + "return torch.where(x < ctx.lo, 0.0, torch.where(x > ctx.hi, 0.0, g)), None, None",
    )
]
RIGHT["twice"] += [
    set_up("twice", "return x ** 3", "ctx.save_for_backward(inputs[0])", X + "return 3 * torch.square(x) * g")
]
WRONG = solve_all({
    "clamp": (
        "return ((x >= 0) & (x <= 1)).float()", "return g", "return g.clamp(0, 1)",
        "grad = g.clone()\ngrad[(x >= 0) & (x <= 1)] = 0\nreturn grad",
    ),
    "in-place": (
        "grad = g\ngrad[x <= 0] = 0\nreturn grad", "return g.masked_fill_(x <= 0, 0)", "g *= x > 0\nreturn g",
        "return g.mul_((x > 0).to(g.dtype))",
    ),
    "constants": (
        "return g * inside, None", "return g * inside, None, g",  # three None too many torch takes
        "return None, None, g * inside", "return g * inside, 0.0, 0.0",
    ),
    "slope": (
        "return torch.where(x > 0, ctx.a * g, g), None", "return torch.where(x > 0, g, ctx.a), None",
        "return torch.where(x > 0, g, ctx.a * ctx.a * g), None",
        "return torch.where(x > 0, g, ctx.a * x * g), None",
    ),
    "edge": (
        "return g * (x <= 1)", "return g * (x.abs() <= 0.9)", "return g * ((x > -1) & (x <= 1))",
        "return torch.where(x.abs() <= 1, g, g * 0.1)", "x = ctx.saved_tensors\nreturn g * (x.abs() <= 1)",
    ),
    "needed": (
        "gs = (g * x).sum() if ctx.needs_input_grad[0] else None\nreturn g * s, gs",
        "gs = None if ctx.needs_input_grad[1] else (g * x).sum()\nreturn g * s, gs",
        "gs = g.sum() if ctx.needs_input_grad[1] else None\nreturn g * s, gs", "return g * s, None",
    ),
    "step-size": (
        "return g * inside, (g * part).sum() / (x.numel() * qmax), None, None",
        "return g * inside, (g * part).sum() * math.sqrt(x.numel() * qmax), None, None",
        "return g * inside, (g * part).sum() / math.sqrt(x.numel()), None, None",
        "return g * inside, part.sum() / math.sqrt(x.numel() * qmax), None, None",
    ),
    "twice": (
        "return 3 * x.data ** 2 * g", "with torch.no_grad():\n    slope = 3 * x ** 2\nreturn slope * g",
        ("return ctx.slope * g", "ctx.slope = 3 * x ** 2\nreturn x ** 3"),
    ),
})  # fmt: skip
WRONG["twice"] += [RIGHT["twice"][0].replace("    def back", "    @once_differentiable\n    def back")]

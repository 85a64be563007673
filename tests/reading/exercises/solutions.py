"""Solutions as students write them: by exercise, what is right and what is wrong."""

# ruff: noqa: E501 -- a text stands on one line

from textwrap import dedent, indent


def old(name, takes, forward, backward, decorate=""):
    """Static methods, the ctx in forward."""
    return (
        f"class {name}(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, {takes}):\n"
        + indent(dedent(forward).strip(), " " * 8)
        + f"\n\n    @staticmethod\n{decorate}    def backward(ctx, g):\n"
        + indent(dedent(backward).strip(), " " * 8)
        + "\n"
    )


def new(name, takes, forward, setup, backward):
    """The style with setup_context."""
    return (
        f"class {name}(torch.autograd.Function):\n    @staticmethod\n    def forward({takes}):\n"
        + indent(dedent(forward).strip(), " " * 8)
        + "\n\n    @staticmethod\n    def setup_context(ctx, inputs, output):\n"
        + indent(dedent(setup).strip(), " " * 8)
        + "\n\n    @staticmethod\n    def backward(ctx, g):\n"
        + indent(dedent(backward).strip(), " " * 8)
        + "\n"
    )


KEEP = "ctx.save_for_backward(x)\n"
X = "x, = ctx.saved_tensors\n"


def clamp(body):
    return old("Clamp", "x", KEEP + "return x.clamp(0, 1)", X + body)


def relu(body):
    return old("ReLU", "x", KEEP + "return x.clamp(min=0)", X + body)


def bounds(body):
    return old(
        "Clamp",
        "x, lo, hi",
        KEEP + "ctx.lo, ctx.hi = lo, hi\nreturn x.clamp(lo, hi)",
        X + "inside = (x >= ctx.lo) & (x <= ctx.hi)\n" + body,
    )


def leaky(body, forward=KEEP + "ctx.a = a\nreturn torch.where(x > 0, x, a * x)"):
    return old("Leaky", "x, a", forward, body)


def binary(body):
    return old("Binary", "x", KEEP + "return x.sign()", X + body)


def scaled(body):
    return old(
        "Scale", "x, s", "ctx.save_for_backward(x, s)\nreturn x * s", "x, s = ctx.saved_tensors\n" + body
    )


def lsq(body):
    return old(
        "LSQ",
        "x, s, qmin, qmax",
        "ctx.save_for_backward(x, s)\nctx.qmin, ctx.qmax = qmin, qmax\n"
        "return torch.round((x / s).clamp(qmin, qmax)) * s",
        "x, s = ctx.saved_tensors\nqmin, qmax = ctx.qmin, ctx.qmax\nv = x / s\n"
        "inside = (v >= qmin) & (v <= qmax)\n"
        "part = torch.where(v <= qmin, qmin, torch.where(v >= qmax, qmax, v.round() - v))\n" + body,
    )


def cube(body, forward=KEEP + "return x ** 3", decorate=""):
    return old("Cube", "x", forward, body, decorate)


BUILDERS = {
    "clamp": clamp, "in-place": relu, "constants": bounds, "slope": leaky, "edge": binary, "needed": scaled,
    "step-size": lsq, "twice": cube,
}  # fmt: skip


def with_bodies(bodies):
    """Return (key, text) for each body of a backward, by the key of its exercise."""
    return [(key, BUILDERS[key](body)) for key, some in bodies.items() for body in some]


RIGHT = {
    "clamp": (
        clamp("return g * ((x >= 0) & (x <= 1)).float()"),
        clamp("return torch.where((x < 0) | (x > 1), torch.zeros_like(g), g)"),
        clamp("grad = g.clone()\ngrad[(x < 0) | (x > 1)] = 0\nreturn grad"),
        new(
            "Clamp",
            "x",
            "return x.clamp(0, 1)",
            "x, = inputs\nctx.save_for_backward((x >= 0) & (x <= 1))",
            "mask, = ctx.saved_tensors\nreturn g * mask",
        ),
    ),
    "in-place": (
        relu("grad = g.clone()\ngrad[x <= 0] = 0\nreturn grad"),
        relu("return g.masked_fill(x <= 0, 0)"),
        relu("grad = torch.zeros_like(g)\npos = x > 0\ngrad[pos] = g[pos]\nreturn grad"),
        relu("grad = g * 1\ngrad *= x > 0\nreturn grad"),
    ),
    "constants": (
        bounds("return g * inside, None, None"),
        bounds("grads = [None] * 3\ngrads[0] = g * inside\nreturn tuple(grads)"),
        bounds("return (g * inside,) + (None,) * 2"),
        new(
            "Clamp",
            "x, lo, hi",
            "return torch.clamp(x, lo, hi)",
            "x, ctx.lo, ctx.hi = inputs\nctx.save_for_backward(x)",
            X
            + "grad = torch.where(x < ctx.lo, 0.0, torch.where(x > ctx.hi, 0.0, g))\nreturn grad, None, None",
        ),
    ),
    "slope": (
        leaky(X + "return torch.where(x > 0, g, ctx.a * g), None"),
        leaky(X + "grad = g.clone()\ngrad[x <= 0] *= ctx.a\nreturn grad, None"),
        leaky(X + "pos = (x > 0).to(g)\nreturn g * (pos + ctx.a * (1 - pos)), None"),
        leaky(
            "slope, = ctx.saved_tensors\nreturn g * slope, None",
            "ctx.save_for_backward(torch.where(x > 0, torch.ones_like(x), torch.full_like(x, a)))\nreturn torch.where(x > 0, x, a * x)",
        ),
    ),
    "edge": (
        binary("return g * (x.abs() <= 1)"),
        binary("return g * x.ge(-1) * x.le(1)"),
        binary("grad = g.clone()\ngrad.masked_fill_(x.abs() > 1, 0)\nreturn grad"),
        binary("mask = torch.zeros_like(x)\nmask[(-1 <= x) & (x <= 1)] = 1.0\nreturn mask * g"),
    ),
    "needed": (
        scaled("gs = (g * x).sum() if ctx.needs_input_grad[1] else None\nreturn g * s, gs"),
        scaled("gs = None\nif ctx.needs_input_grad[1]:\n    gs = (g * x).sum()\nreturn g * s, gs"),
        scaled(
            "gx = gs = None\nif ctx.needs_input_grad[0]:\n    gx = g * s\nif ctx.needs_input_grad[1]:\n    gs = (g * x).sum()\nreturn gx, gs"
        ),
        scaled(
            "needs_x, needs_s = ctx.needs_input_grad\nif not needs_s:\n    return g * s, None\nreturn g * s, torch.sum(g * x)"
        ),
    ),
    "step-size": (
        lsq("scale = 1 / (x.numel() * qmax) ** 0.5\nreturn g * inside, (g * part).sum() * scale, None, None"),
        lsq("scale = math.sqrt(x.numel() * qmax)\nreturn g * inside, (g * part / scale).sum(), None, None"),
        lsq(
            "gs = torch.sum(part * g) * (x.nelement() * qmax) ** -0.5\nreturn torch.where(inside, g, 0), gs, None, None"
        ),
        lsq(
            "grad = g.clone()\ngrad[~inside] = 0\ngs = (g * part).sum() / math.sqrt(qmax) / math.sqrt(x.numel())\nreturn grad, gs, None, None"
        ),
    ),
    "twice": (
        cube(X + "return 3 * x ** 2 * g"),
        cube(X + "return g * 3 * x * x"),
        cube("(x,) = ctx.saved_tensors\ngrad = g * x.pow(2)\nreturn grad.mul(3)"),
        new(
            "Cube",
            "x",
            "return x ** 3",
            "ctx.save_for_backward(inputs[0])",
            X + "return 3 * torch.square(x) * g",
        ),
    ),
}

WRONG = {
    "clamp": (
        clamp("return ((x >= 0) & (x <= 1)).float()"), clamp("return g"),
        clamp("grad = g.clone()\ngrad[(x >= 0) & (x <= 1)] = 0\nreturn grad"), clamp("return g.clamp(0, 1)"),
    ),
    "in-place": (
        relu("grad = g\ngrad[x <= 0] = 0\nreturn grad"), relu("return g.masked_fill_(x <= 0, 0)"),
        relu("g *= x > 0\nreturn g"), relu("return g.mul_((x > 0).to(g.dtype))"),
    ),
    "constants": (
        bounds("return g * inside, None"),
        bounds("return g * inside, None, g"),  # three None too many torch takes
        bounds("return None, None, g * inside"),
        bounds("return g * inside, 0.0, 0.0"),
    ),
    "slope": (
        leaky(X + "return torch.where(x > 0, ctx.a * g, g), None"),
        leaky(X + "return torch.where(x > 0, g, ctx.a), None"),
        leaky(X + "return torch.where(x > 0, g, ctx.a * ctx.a * g), None"),
        leaky(X + "return torch.where(x > 0, g, ctx.a * x * g), None"),
    ),
    "edge": (
        binary("return g * (x <= 1)"), binary("return g * (x.abs() <= 0.9)"),
        binary("return g * ((x > -1) & (x <= 1))"), binary("return torch.where(x.abs() <= 1, g, g * 0.1)"),
    ),
    "needed": (
        scaled("gs = (g * x).sum() if ctx.needs_input_grad[0] else None\nreturn g * s, gs"),
        scaled("gs = None if ctx.needs_input_grad[1] else (g * x).sum()\nreturn g * s, gs"),
        scaled("gs = g.sum() if ctx.needs_input_grad[1] else None\nreturn g * s, gs"),
        scaled("return g * s, None"),
    ),
    "step-size": (
        lsq("return g * inside, (g * part).sum() / (x.numel() * qmax), None, None"),
        lsq("return g * inside, (g * part).sum() * math.sqrt(x.numel() * qmax), None, None"),
        lsq("return g * inside, (g * part).sum() / math.sqrt(x.numel()), None, None"),
        lsq("return g * inside, part.sum() / math.sqrt(x.numel() * qmax), None, None"),
    ),
    "twice": (
        cube(X + "return 3 * x.data ** 2 * g"),
        cube(X + "return 3 * x ** 2 * g", decorate="    @once_differentiable\n"),
        cube(X + "with torch.no_grad():\n    slope = 3 * x ** 2\nreturn slope * g"),
        cube("return ctx.slope * g", "ctx.slope = 3 * x ** 2\nreturn x ** 3"),
    ),
}  # fmt: skip

# Written by somebody else than the judge.
HELD_OUT = (
    ("needed", scaled("needs = ctx.needs_input_grad\nreturn g * s, (g * x).sum() if needs[1] else None")),
    ("twice", cube(X + "return ctx.k * x ** 2 * g", KEEP + "ctx.k = 2 + 1\nreturn x ** 3")),
    (
        "twice",
        cube(
            "x, = ctx.saved_tensors\nreturn 3 * x ** 2 * g",
            "y = x ** 3\nctx.save_for_backward(x.detach())\nreturn y",
        ),
    ),
    ("twice", cube("return 3 * ctx.x ** 2 * g", "ctx.x = x\nreturn x ** 3")),
    ("in-place", relu("grad = g.view(-1)\ngrad[x.view(-1) <= 0] = 0\nreturn grad.view_as(x)")),
    ("in-place", relu("torch.mul(g, x > 0, out=g)\nreturn g")),
    ("in-place", relu("g = g.clone()\ng[x <= 0] = 0\nreturn g")),
    ("constants", bounds("return tuple([g * inside] + [None, None])")),
)

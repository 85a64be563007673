"""The exercises of the lessons. A lesson refers to the exercise at its end by key."""

from collections.abc import Mapping
from types import MappingProxyType

from explorer.reading.exercises.exercise import Argument, Exercise

_CLAMP = Exercise(
    "clamp",
    "A clamp to the range from 0 to 1: on one side of it the gradient is wrong. Repair its backward.",
    """class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(0, 1)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        grad = g.clone()
        grad[x < 0] = 0
        grad[x > 1] = 1
        return grad
""",
    op="clamp(x, 0, 1)",
    gradient="g * (x >= 0) * (x <= 1)",
)

_IN_PLACE = Exercise(
    "in-place",
    "Each value that this ReLU returns is right. What else it does is not: repair its backward.",
    """class ReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        g[x <= 0] = 0
        return g
""",
    op="max(x, 0)",
    gradient="g * (x > 0)",
)

_CONSTANTS = Exercise(
    "constants",
    "A clamp called as Clamp.apply(x, lo, hi), with two numbers: torch raises an error. Repair its backward.",
    """class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lo, hi):
        ctx.save_for_backward(x)
        ctx.lo, ctx.hi = lo, hi
        return x.clamp(lo, hi)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        inside = (x >= ctx.lo) & (x <= ctx.hi)
        return g * inside
""",
    op="clamp(x, lo, hi)",
    gradient="g * (x >= lo) * (x <= hi)",
    arguments=(Argument("lo", -0.5), Argument("hi", 1.5)),
)

_SLOPE = Exercise(
    "slope",
    "A ReLU that leaks, called as Leaky.apply(x, a): its backward knows a single slope. Repair it.",
    """class Leaky(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, a):
        ctx.save_for_backward(x)
        ctx.a = a
        return torch.where(x > 0, x, a * x)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        passed = torch.where(x > 0, g, 0.1 * g)
        return passed, None
""",
    op="where(x > 0, x, a * x)",
    gradient="g * where(x > 0, 1, a)",
    arguments=(Argument("a", 0.25),),
)

_EDGE = Exercise(
    "edge",
    "A sign that is to pass g from −1 to 1, both included, and nowhere else. Repair its backward.",
    """class Binary(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * (x.abs() < 1)
""",
    op="sign(x)",
    gradient="g * (abs(x) <= 1)",
)

_NEEDED = Exercise(
    "needed",
    "x times a factor s that learns. Compute the gradient for s only when it is needed.",
    """class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s):
        ctx.save_for_backward(x, s)
        return x * s

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        return g * s, (g * x).sum()
""",
    op="x * s",
    gradient="g * s",
    arguments=(Argument("s", 1.5, gradient="g * x"),),
    guarded=True,
)

_STEP_SIZE = Exercise(
    "step-size",
    "LSQ, whose step size s learns: the gradient for s is to be divided by the root of N · qmax, N being "
    "the number of elements of x. Repair its backward.",
    """class LSQ(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s, qmin, qmax):
        ctx.save_for_backward(x, s)
        ctx.qmin, ctx.qmax = qmin, qmax
        v = (x / s).clamp(qmin, qmax)
        return v.round() * s

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        qmin, qmax = ctx.qmin, ctx.qmax
        v = x / s
        inside = (v >= qmin) & (v <= qmax)
        part = v.round() - v
        part[v >= qmax] = qmax
        part[v <= qmin] = qmin
        g_s = (g * part).sum()
        return g * inside, g_s, None, None
""",
    op="round(clamp(x / s, qmin, qmax)) * s",
    gradient="g * (x / s >= qmin) * (x / s <= qmax)",
    arguments=(
        Argument(
            "s",
            0.5,
            gradient="g * where(x / s <= qmin, qmin, where(x / s >= qmax, qmax, round(x / s) - x / s))",
            scale="1 / sqrt(N * qmax)",
        ),
        Argument("qmin", -4.0),
        Argument("qmax", 3.0),
    ),
)

_TWICE = Exercise(
    "twice",
    "The gradient of this cube is right, but a second derivative is lost. Repair its backward.",
    """class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        x = x.detach()
        return 3 * x ** 2 * g
""",
    op="x**3",
    gradient="3 * g * x**2",
    twice=True,
)

EXERCISES: Mapping[str, Exercise] = MappingProxyType(
    {each.key: each for each in (_CLAMP, _IN_PLACE, _CONSTANTS, _SLOPE, _EDGE, _NEEDED, _STEP_SIZE, _TWICE)}
)

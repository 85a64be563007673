"""Activations written with torch's own functions, so that the default rule is torch's own gradient."""

from dataclasses import replace

from explorer.catalogue.parameters import HI, LO
from explorer.catalogue.records import Op, Parameter

LAMBDA = Parameter("lambd", 0.5, 0.0, 5.0, "threshold: values closer to 0 become 0", domain="lambd >= 0")

# fmt: off
BOUNDED = (
    Op("clamp", "Clamp", "clamp(x, lo, hi)", also=("clip",), parameters=(LO, HI), kinks=("lo", "hi"),
       purpose="Keeps values within a range: what lies outside is moved to the nearest bound.",
       note="Exactly at a bound torch's gradient was 1 from 2018 to version 2.13; since then it is 0 where "
            "the bounds are numbers, and a half where they are tensors."),
    Op("hardtanh", "Hardtanh", "hardtanh(x, lo, hi)",
       parameters=(replace(LO, default=-1.0, domain="lo <= hi"), HI), kinks=("lo", "hi"),
       purpose="The same function as clamp by another name; its gradient at the bounds has always been 0."),
    Op("hardsigmoid", "Hardsigmoid", "hardsigmoid(x)", kinks=("-3", "3"),
       purpose="A sigmoid of three straight pieces, cheap enough for small devices.",
       note="torch can differentiate it once but not twice.",
       source="MobileNetV3, Howard et al. 2019, arXiv:1905.02244"),
)

RECTIFIERS = (
    Op("relu", "ReLU", "relu(x)", also=("rectifier",), kinks=("0",),
       purpose="Passes positive values and blocks the rest: the default activation of deep nets."),
    Op("leaky_relu", "Leaky ReLU", "leaky_relu(x, slope)",
       parameters=(Parameter("slope", 0.01, 0.0, 0.9, "slope left of 0"),), kinks=("0",),
       purpose="Lets a little of each negative value through, so no unit can die.",
       source="Maas et al. 2013, Rectifier Nonlinearities Improve Neural Network Acoustic Models"),
    Op("prelu", "PReLU", "where(x > 0, x, a * x)", also=("parametric relu",),
       parameters=(Parameter("a", 0.25, -1.0, 1.0, "slope left of 0: it is learned"),), kinks=("0",),
       purpose="A leaky ReLU that learns its slope for negative values.",
       note="If a is negative, the sign of y does not reveal that of x: testing y > 0 is wrong.",
       source="He et al. 2015, arXiv:1502.01852, section 2.1; torch.nn.PReLU"),
    Op("relu6", "ReLU6", "relu6(x)", kinks=("0", "6"),
       purpose="A ReLU that ends at 6, so that few bits suffice for its output.",
       source="Krizhevsky 2010, Convolutional Deep Belief Networks on CIFAR-10"),
    # At alpha = 1 the slopes on both sides are equal, so there is no kink: the position becomes 0 / 0, which
    # is NaN.
    Op("elu", "ELU", "elu(x, alpha)",
       parameters=(Parameter("alpha", 1.0, 0.05, 5.0, "depth: far to the left y nears −alpha"),),
       kinks=("0 / (alpha - 1)",),
       purpose="Bends smoothly to −alpha on the negative side, which keeps the mean activation near 0.",
       source="Clevert et al. 2016, arXiv:1511.07289"),
    Op("selu", "SELU", "selu(x)", kinks=("0",),
       purpose="An ELU scaled so that activations normalise themselves from layer to layer.",
       source="Klambauer et al. 2017, arXiv:1706.02515"),
    Op("celu", "CELU", "celu(x, alpha)",
       parameters=(
           Parameter("alpha", 1.0, 0.05, 5.0, "depth and width: those of the negative side",
                     domain="alpha > 0"),
       ),
       kinks=(),
       purpose="An ELU whose slope at 0 is 1 for every alpha.",
       source="Barron 2017, arXiv:1704.07483"),
    Op("gelu", "GELU", "gelu(x)", kinks=(),
       purpose="Weights x by the chance that a normal variable is smaller: the activation of transformers.",
       source="Hendrycks and Gimpel 2016, arXiv:1606.08415"),
    Op("silu", "SiLU (Swish)", "silu(x)", also=("swish",), kinks=(),
       purpose="Weights x by its own sigmoid, so it dips below 0 before it fades out.",
       source="Elfwing et al. 2017, arXiv:1702.03118; Ramachandran et al. 2017, arXiv:1710.05941"),
    Op("mish", "Mish", "mish(x)", kinks=(), named=True,
       purpose="Weights x by the tanh of its softplus: a SiLU with a softer bend.",
       source="Misra 2019, arXiv:1908.08681"),
    Op("hardswish", "Hardswish", "hardswish(x)", kinks=("-3", "3"),
       purpose="A SiLU without an exponential, x times Hardsigmoid, for small devices.",
       source="MobileNetV3, Howard et al. 2019, arXiv:1905.02244"),
    Op("softplus", "Softplus", "softplus(x)", kinks=(),
       purpose="The smooth relative of ReLU, always positive; its gradient is the sigmoid.",
       note="Above 20 torch returns x itself, which is off by at most 2·10⁻⁹."),
)

SMOOTH = (
    Op("identity", "Identity", "x", kinks=(),
       purpose="Changes nothing forward, so that a rule can be seen alone."),
    Op("tanh", "Tanh", "tanh(x)", kinks=(),
       purpose="Squashes smoothly to between −1 and 1; the smooth relative of sign."),
    Op("sigmoid", "Sigmoid", "sigmoid(x)", also=("logistic",), kinks=(),
       purpose="Squashes smoothly to between 0 and 1; the smooth relative of a step."),
    Op("softsign", "Softsign", "softsign(x)", kinks=(),
       purpose="Squashes to between −1 and 1 like tanh, but so slowly that far values still learn."),
)

SHRINKAGE = (
    Op("softshrink", "Softshrink", "softshrink(x, lambd)",
       also=("soft threshold",), parameters=(LAMBDA,), kinks=("-lambd", "lambd"),
       purpose="Moves every value towards 0 by λ and stops there: the step that makes solutions sparse."),
    Op("hardshrink", "Hardshrink", "hardshrink(x, lambd)",
       also=("hard threshold",), parameters=(LAMBDA,), kinks=("-lambd", "lambd"),
       purpose="Sets small values to 0 and keeps the others unchanged: pruning as a function."),
)

# For comparing rules with well-known derivatives.
ELEMENTARY = (
    Op("abs", "Absolute value", "abs(x)", kinks=("0",),
       purpose="The distance from 0; torch's gradient at exactly 0 is 0."),
    Op("square", "Square", "x**2", kinks=(),
       purpose="The simplest loss, with the gradient 2x."),
    Op("cube", "Cube", "x**3", kinks=(),
       purpose="Flat at 0, which is no minimum: its gradient 3x² vanishes there anyway."),
    Op("sqrt", "Square root", "sqrt(x)", kinks=("0",),
       purpose="Defined for x ≥ 0, with an infinite gradient at 0: the source of many NaNs in training."),
    Op("exp", "Exponential", "exp(x)", kinks=(),
       purpose="Its own gradient, and the first function to overflow."),
    Op("log", "Logarithm", "log(x)", also=("ln",), kinks=("0",),
       purpose="Defined only above 0, although its gradient 1/x has values on both sides."),
    Op("sin", "Sine", "sin(x)", kinks=(),
       purpose="Periodic and smooth: a gradient that changes its sign again and again."),
    Op("reciprocal", "Reciprocal", "reciprocal(x)", kinks=("0",),
       purpose="Infinite at 0, with a gradient that is negative on both sides of it."),
)

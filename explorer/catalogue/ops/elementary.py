"""Elementary functions, for comparing rules with well-known derivatives."""

from explorer.catalogue.records import Op

# fmt: off
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

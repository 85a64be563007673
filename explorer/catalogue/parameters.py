"""Parameters that several entries share; the same name in an op and a rule is one parameter."""

from __future__ import annotations

from explorer.catalogue.records import Parameter

LO = Parameter("lo", 0.0, -10.0, 10.0, "lower bound of the range", below="hi")
HI = Parameter("hi", 1.0, -10.0, 10.0, "upper bound of the range")
STEP = Parameter("s", 0.25, 0.01, 5.0, "step between two quantisation levels")
QMIN = Parameter("qmin", -4.0, -128.0, 0.0, "lowest integer level", below="qmax")
QMAX = Parameter("qmax", 3.0, 1.0, 255.0, "highest integer level")
STEEPNESS = Parameter(
    "a", 4.0, 0.05, 50.0, "steepness between two integers: 0 is the identity, large is round"
)

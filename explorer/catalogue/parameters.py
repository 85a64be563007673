"""Parameters of several ops and rules. An op and a rule share a parameter of the same name."""

from explorer.catalogue.records import Parameter

LO = Parameter("lo", 0.0, -10.0, 10.0, "lower bound", below="hi")
HI = Parameter("hi", 1.0, -10.0, 10.0, "upper bound")
STEP = Parameter("s", 0.25, 0.01, 5.0, "step: the distance between two levels", domain="s > 0")
QMIN = Parameter("qmin", -4.0, -128.0, 0.0, "lowest level", below="qmax")
QMAX = Parameter("qmax", 3.0, 1.0, 255.0, "highest level")
STEEPNESS = Parameter(
    "a", 4.0, 0.05, 50.0, "steepness: near 0 it is the identity, far up it is round", domain="a > 0"
)
SCALE = Parameter(
    "s", 1.0, 0.001, 1000.0, "scale: the value that the format's number 1 represents", domain="s > 0"
)
MANTISSA = Parameter(
    "m", 1.0, 0.0, 10.0, "bits of mantissa: whole number, 1 for E2M1, 3 for E4M3, 2 for E5M2"
)
EMIN = Parameter(
    "emin", 0.0, -14.0, 0.0, "least exponent: whole number, 0 for E2M1, -6 for E4M3, -14 for E5M2"
)
TOP = Parameter("top", 6.0, 1.0, 57344.0, "largest number: 6 for E2M1, 448 for E4M3, 57344 for E5M2")
ZERO_POINT = Parameter("z", 0.0, -128.0, 255.0, "zero point: the level that represents 0, a whole number")
ELASTIC_SCALE = Parameter("s", 1.0, 0.01, 5.0, "scale: no value is as large", domain="s > 0")
HALF = Parameter(
    "half", 2.0, 1.0, 8.0, "half the levels: 1.5 for three of them, 2 for two bits", domain="half > 0"
)
SHIFT = Parameter("shift", 0.5, 0.0, 0.5, "shift of the levels: 0 for three of them, else a half")
OFFSET = Parameter("beta", 0.1, -5.0, 5.0, "offset: the value of level 0")
LOG2_STEP = Parameter("log2_s", -2.0, -8.0, 4.0, "exponent: the step is 2 to its next whole number")
POSITIVE = Parameter("wp", 1.2, 0.0, 5.0, "positive level")
NEGATIVE = Parameter("wn", 0.8, 0.0, 5.0, "negative level: minus this value")
TERNARY = Parameter(
    "delta", 0.5, 0.0, 5.0, "threshold: values up to this far from 0 become 0", domain="delta >= 0"
)

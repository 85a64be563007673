"""Parameters that several entries share; the same name in an op and a rule is one parameter."""

from explorer.catalogue.records import Parameter

LO = Parameter("lo", 0.0, -10.0, 10.0, "lower bound", below="hi")
HI = Parameter("hi", 1.0, -10.0, 10.0, "upper bound")
STEP = Parameter("s", 0.25, 0.01, 5.0, "step: the distance between two levels")
QMIN = Parameter("qmin", -4.0, -128.0, 0.0, "lowest level", below="qmax")
QMAX = Parameter("qmax", 3.0, 1.0, 255.0, "highest level")
STEEPNESS = Parameter("a", 4.0, 0.05, 50.0, "steepness: near 0 it is the identity, far up it is round")
OFFSET = Parameter("beta", 0.1, -5.0, 5.0, "offset: the value of level 0")
LOG2_STEP = Parameter("log2_s", -2.0, -8.0, 4.0, "exponent: the step is 2 to its next whole number")
POSITIVE = Parameter("wp", 1.2, 0.0, 5.0, "positive level")
NEGATIVE = Parameter("wn", 0.8, 0.0, 5.0, "negative level: minus what is given")
TERNARY = Parameter("delta", 0.5, 0.0, 5.0, "threshold: values up to this far from 0 become 0")

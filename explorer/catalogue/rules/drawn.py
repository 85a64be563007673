"""Backward rules for random units with outputs 0 and 1. They estimate a gradient from one random sample."""

from explorer.catalogue.records import Learned, Parameter, Rule

OTHERWISE = "It estimates the gradient of a Bernoulli unit, 1 with chance sigmoid(x), which this op is not."
_SOFT = "(x - log(u() / (1 - u()))) / tau"

# fmt: off
ESTIMATORS = (
    Rule("sigmoid_st", "Straight-through (sigmoid)", "g * sigmoid(x) * (1 - sigmoid(x))", kinks=(),
         antiderivative="sigmoid(x)", area="1",
         brief="the slope of the unit's mean",
         purpose="As if the mean had been passed on instead of the draw: quiet, and unbiased for a "
                 "straight loss.",
         source="Bengio et al. 2013, arXiv:1308.3432"),
    Rule("reinmax", "ReinMax",
         "g * ((y + sigmoid(x)) * (1 - (y + sigmoid(x)) / 2) - sigmoid(x) * (1 - sigmoid(x)) / 2)", kinks=(),
         brief="straight-through, corrected to second order",
         purpose="Heun's rule in place of Euler's: unbiased for a parabola as well, and louder.",
         source="Liu et al. 2023, arXiv:2304.08612"),
    Rule("st_gumbel", "Straight-through Gumbel", f"g * sigmoid({_SOFT}) * sigmoid(-({_SOFT})) / tau",
         kinks=(),
         parameters=(Parameter("tau", 1.0, 0.05, 5.0, "temperature: near 0 it is a Bernoulli unit",
                               domain="tau > 0"),),
         brief="the slope of a soft Gumbel unit",
         purpose="Hard forward, backward through the soft unit of the same u.",
         note="With log(u/(1 − u)) added instead of taken off it is another draw than the op's: more bias, "
              "less spread.",
         source="Jang et al. 2017, arXiv:1611.01144"),
    Rule("reinforce", "REINFORCE", "f() * (y - sigmoid(x))", linear=False, kinks=(),
         also=("score function", "likelihood ratio"),
         brief="loss times the surprise of the draw",
         purpose="The loss times how unexpected the draw was: unbiased for any loss, and loud.",
         source="Williams 1992, Machine Learning 8"),
    Rule("reinforce_baseline", "REINFORCE with a baseline", "(f() - b) * (y - sigmoid(x))", linear=False,
         kinks=(),
         parameters=(Parameter("b", 0.2, -5.0, 5.0, "baseline: taken off the loss"),),
         learned=(Learned("b", "b - f()", scale="1 / N"),),
         brief="loss above b, times the draw's surprise",
         purpose="A baseline near the mean loss takes off most of the noise and no mean; it is learned on "
                 "the way.",
         source="Williams 1992, Machine Learning 8"),
    Rule("arm", "ARM", "(fa() - f()) * (u() - 0.5)", linear=False, kinks=(),
         brief="compares the losses of two draws",
         purpose="Two draws, by u and 1 − u, whose losses are compared: unbiased, at the price of a "
                 "second pass.",
         source="Yin and Zhou 2019, arXiv:1807.11143"),
    Rule("disarm", "DisARM", "(fa() - f()) * (ya() - y) * sigmoid(abs(x)) / 2", linear=False, kinks=(),
         also=("U2G",),
         brief="compares two draws, with less noise",
         purpose="ARM without the noise that u still adds where both draws are known: unbiased, and the "
                 "quietest of two passes.",
         source="Dong et al. 2020, arXiv:2006.10680"),
    Rule("flip", "Flip", "sigmoid(x) * (1 - sigmoid(x)) * (f(1) - f(0))", linear=False,
         kinks=(),
         also=("both outputs", "local expectation gradient"),
         brief="compares the losses of both outputs",
         purpose="The losses of both outputs, compared: exact for one unit and any loss, whatever was "
                 "drawn.",
         note="In a net it needs one pass per unit, with all other draws kept.",
         source="Titsias and Lázaro-Gredilla 2015, arXiv:1503.01494"),
)

_ONE_DRAW = "one number for each element and step is not enough for it"
UNSUPPORTED = {
    "rebar": f"REBAR needs a second draw given y for the loss at a soft output: {_ONE_DRAW}",
    "relax": f"RELAX learns a net that predicts the loss, and needs a second draw given y: {_ONE_DRAW}",
    "rloo": f"RLOO takes the mean loss of several other draws for its baseline: {_ONE_DRAW}",
    "vimco": f"VIMCO compares several draws of one example: {_ONE_DRAW}",
}
"""Known estimators that cannot be a formula, each with the reason."""

"""The glossary of the lessons, which explains each term."""

from explorer.checks.result import MEANINGS

GLOSSARY = {
    "Adam": "An optimiser that gives each parameter a step of its own, scaled by its recent gradients.",
    "antiderivative": MEANINGS["antiderivative"],
    "area": MEANINGS["area"],
    "autograd": "The part of torch that records operations and computes gradients from the record.",
    "backward": "The way from the loss back to the parameters; also an op's part of that way.",
    "backward_rule": "What an op's backward returns: the gradient of its input, from x, y and g.",
    "baseline": "A number subtracted from the loss before it weighs a draw: it leaves the mean unchanged,"
    " and a good one removes most of the noise.",
    "bias": "The mean of an estimator minus the true value: zero if the estimator is right on average.",
    "by design": MEANINGS["by design"],
    "chain_rule": "The derivative of a chain of functions is the product of their derivatives. If one of them"
    " is zero, so is the product.",
    "control": "A rule that a useful one must beat, such as no gradient at all.",
    "cosine": "A number that says how well a gradient and another agree in direction.",
    "double_backward": "A backward through a backward: the gradient of a gradient.",
    "estimator": "A formula that returns a number for each random draw, in place of a number that would take"
    " all draws.",
    "fake_quantisation": "Rounding to a few levels and back, so that a net in ordinary numbers learns to live"
    " with them.",
    "gradcheck": "torch's test of a backward: it moves each input a little, measures the slope and compares.",
    "gradient": "How much the loss changes when a number grows a little; on a chart, what a rule returns.",
    "graph": "torch's record of all operations from parameters to loss; backward reads it from the end.",
    "held_out": "Data used to judge a net, not to train it.",
    "hessian": "The matrix of all second derivatives of a function.",
    "hook": "Your own function, which torch calls with each gradient of a tensor.",
    "in_place": "An operation in place changes a tensor itself; the others make a new one.",
    "jacobian": "The matrix of the derivatives of all outputs with respect to all inputs.",
    "kink": "A point where the derivative jumps or does not exist, such as the corner of ReLU.",
    "leaf": "Where a graph begins: a tensor you made, such as a parameter, or one that was computed where"
    " nothing requires a gradient.",
    "linear in g": MEANINGS["linear in g"],
    "mask": "A pattern of zeros and ones that decides which gradients pass.",
    "number_format": "The finite set of numbers that some bits can hold: more exponent bits extend its"
    " range, more mantissa bits make it finer. Other numbers are rounded.",
    "op": "A function on tensors, here one that acts on each number alone, such as round: y = f(x).",
    "optimiser": "The code that moves the parameters by their gradients, such as SGD or Adam.",
    "quantised": "Rounded to a few levels, so that each number needs only a few bits.",
    "seed": "The number from which random draws start: it fixes the start weights and the batches.",
    "spurious_minimum": "A minimum of the loss that is not its lowest one.",
    "straight_through": "A rule that returns the upstream gradient as if the function had done nothing.",
    "subgradient": "At a corner: any slope between the one on the left and the one on the right.",
    "surrogate": "A gradient used instead of the true one where that is zero or does not exist.",
    "upstream": "The gradient that a backward receives, written g: how the loss changes with the output.",
}

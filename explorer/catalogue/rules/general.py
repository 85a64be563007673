"""Rules that make sense for many ops: passing, masking, scaling and blocking the upstream gradient."""

from __future__ import annotations

from explorer.catalogue.parameters import HI, LO
from explorer.catalogue.records import Parameter, Rule

_NO_RANGE = "It is about the bounds of a range, which this op does not have."
_NO_RECTIFIER = "It was made for rectifiers, where y is 0 for every negative x and grows without bound."

# Each entry is a paragraph: name and formula, facts, words.
# fmt: off
GENERAL = (
    Rule(
        "default", "Default autograd", None,
        also=("autograd",), kinks=(),
        purpose="torch's own derivative of the op, with whatever torch does at a kink.",
        source="torch.autograd",
    ),
    Rule(
        "straight_through", "Straight-through", "g",
        also=("ste", "straight-through estimator", "pass through"), kinks=(), antiderivative="x",
        area="infinite",
        purpose="Passes the upstream gradient on as if the op were the identity.",
        source="Hinton 2012, Neural Networks for Machine Learning; Bengio et al. 2013, arXiv:1308.3432",
    ),
    Rule(
        "masked", "Masked", "g * (lo <= x <= hi)",
        parameters=(LO, HI), kinks=("lo", "hi"), antiderivative="clamp(x, lo, hi)", area="hi - lo",
        purpose="Passes the gradient inside the range, both bounds included, and blocks it outside.",
        source="torch.clamp from 2018 (pytorch pull request 7049) up to version 2.13",
    ),
    Rule(
        "masked_open", "Masked (open)", "g * (lo < x < hi)",
        parameters=(LO, HI), kinks=("lo", "hi"), antiderivative="clamp(x, lo, hi)", area="hi - lo",
        purpose="Passes the gradient strictly inside the range and blocks it at the bounds too.",
        source="torch's hardtanh and relu6; torch.clamp since mid-2026 (pytorch pull request 191142)",
    ),
    Rule(
        "published_clamp", "Published clamp (with its bug)", "where(x < lo, 0, where(x > hi, 1, g))",
        also=("ClampGradient",), parameters=(LO, HI), kinks=("lo", "hi"), linear=False, suits=("bounded",),
        otherwise=_NO_RANGE,
        purpose="A clamp rule as it was published: above the bound it returns 1, neither 0 nor g.",
        note="While g = 1 it looks like straight-through above hi; g = 2 or g = −1 shows the bug.",
        source="a widely read tutorial's ClampGradient",
    ),
    Rule(
        "toward_range", "Masked, unless towards the range",
        "g * ((x <= hi) | (g > 0)) * ((x >= lo) | (g < 0))",
        parameters=(LO, HI), kinks=("lo", "hi"), linear=False, suits=("bounded",), otherwise=_NO_RANGE,
        purpose="Outside the range it passes only gradients whose descent step, −g, leads back into it.",
        source="tensorflow/compression, lower_bound and upper_bound, gradient identity_if_towards",
    ),
    Rule(
        "clamp_with_grad", "ClampWithGrad", "g * (g * (x - clamp(x, lo, hi)) >= 0)",
        parameters=(LO, HI), kinks=("lo", "hi"), linear=False, suits=("bounded",), otherwise=_NO_RANGE,
        purpose="Passes what leads back into the range, found by one product instead of four comparisons.",
        note="It is toward_range again, except where the product underflows to 0 and lets g through.",
        source="VQGAN-CLIP notebooks, ClampWithGrad",
    ),
    Rule(
        "zero", "Zero", "0 * g",
        also=("detach", "stop gradient"), kinks=(), antiderivative="0 * x", area="0",
        purpose="Stops every gradient: what lies before is frozen.",
        source="torch.Tensor.detach",
    ),
    Rule(
        "scale", "Scale", "s * g",
        parameters=(Parameter("s", 1.0, -5.0, 5.0, "factor"),), kinks=(), antiderivative="s * x",
        area="infinite",
        purpose="Multiplies the gradient by a constant, to slow down or speed up what lies before.",
        source="LSQ, Esser et al. 2020, arXiv:1902.08153, grad_scale",
    ),
    Rule(
        "reversal", "Gradient reversal", "-alpha * g",
        also=("grl", "gradient reversal layer", "dann"),
        parameters=(Parameter("alpha", 1.0, 0.0, 5.0, "strength"),), kinks=(), antiderivative="-alpha * x",
        area="infinite",
        purpose="Turns the gradient round, so that what lies before learns to make the loss worse.",
        source="DANN, Ganin and Lempitsky 2015, arXiv:1409.7495",
    ),
    Rule(
        "clip_value", "Clip the gradient", "clamp(g, -c, c)",
        also=("grad clip",),
        parameters=(Parameter("c", 1.0, 0.01, 10.0, "largest gradient: what is larger is cut to it"),),
        kinks=(), linear=False,
        purpose="Bounds each gradient by itself, so that one bad example cannot throw the weights far off.",
        source="torch.nn.utils.clip_grad_value_, applied on the way instead of at the end",
    ),
    Rule(
        "seed_relu", "MyReLU", "where(x < 0, 0, g)",
        kinks=("0",), antiderivative="relu(x)", area="infinite", suits=("rectifier",),
        otherwise=_NO_RECTIFIER,
        purpose="A hand-written ReLU of many tutorials: it passes g at exactly 0, where torch passes 0.",
        source="a widely read tutorial's MyReLU",
    ),
    Rule(
        "leaky_backward", "Leaky backward", "where(x > 0, g, slope * g)",
        parameters=(Parameter("slope", 0.1, 0.0, 0.9, "slope left of 0"),), kinks=("0",),
        antiderivative="leaky_relu(x, slope)", area="infinite", suits=("rectifier",), otherwise=_NO_RECTIFIER,
        purpose="Lets silent units learn: forward a ReLU may stay, backward it leaks.",
        source="Maas et al. 2013, the gradient of the leaky ReLU",
    ),
    Rule(
        "guided", "Guided backpropagation", "g * (x > 0) * (g > 0)",
        kinks=("0",), linear=False, suits=("rectifier",), otherwise=_NO_RECTIFIER,
        purpose="Keeps only positive gradients of active units, for pictures of what a net looks at.",
        source="Springenberg et al. 2015, arXiv:1412.6806",
    ),
    Rule(
        "deconvnet", "Deconvnet", "g * (g > 0)",
        kinks=(), linear=False, suits=("rectifier",), otherwise=_NO_RECTIFIER,
        purpose="Rectifies the gradient instead of the activation, without a look at the forward pass.",
        source="Zeiler and Fergus 2014, arXiv:1311.2901",
    ),
)

"""Backward rules for sign-like ops. These jump by 2, so a rule that only smooths the jump integrates to 2."""

from explorer.catalogue.parameters import NEGATIVE, POSITIVE, TERNARY
from explorer.catalogue.records import Learned, Parameter, Rule

_WINDOW = Parameter("c", 1.0, 0.05, 5.0, "window half-width: nothing passes outside", domain="c >= 0")
OTHERWISE = "Made for a jump of 2 at 0, from −1 to 1: step jumps by 1, other ops elsewhere or not at all."

# fmt: off
SIGN = (
    Rule("clipped", "Clipped straight-through", "g * (abs(x) <= c)",
         also=("clipped ste", "ste_sign", "hardtanh ste"), parameters=(_WINDOW,), kinks=("-c", "c"),
         antiderivative="clamp(x, -c, c)", area="2 * c", suits=("sign", "step"),
         otherwise="Its window lies around 0, where a sign or a step jumps; this op changes elsewhere.",
         brief="passes the gradient where |x| ≤ c",
         purpose="Straight-through near the jump only, so weights far from it stop drifting.",
         source="Hubara et al. 2016, arXiv:1602.02830; larq ste_sign"),
    Rule("approx_sign", "ApproxSign", "g * relu(2 - 2 * abs(x))", also=("bireal",), kinks=("-1", "0", "1"),
         antiderivative="where(abs(x) < 1, x * (2 - abs(x)), sign(x))", area="2",
         brief="a triangle around 0 of height 2",
         purpose="A triangle of area 2: the gradient of a sign built from two parabolas.",
         source="Bi-Real Net, Liu et al. 2018, arXiv:1808.00278; larq approx_sign"),
    Rule("swish_sign", "SwishSign",
         "g * 2 * b * sigmoid(b * x) * sigmoid(-b * x) * (2 - b * x * tanh(b * x / 2))",
         also=("bnn+",),
         parameters=(Parameter("b", 5.0, 0.1, 50.0, "steepness: the peak is b", domain="b > 0"),), kinks=(),
         antiderivative="2 * sigmoid(b * x) * (1 + b * x * sigmoid(-b * x)) - 1", area="2",
         brief="a peak at 0 with negative flanks",
         purpose="Peaks at the jump and is negative around it, pushing weights away from the threshold.",
         note="BNN+ and larq divide by 1 + cosh(b x), which overflows; two sigmoids are the same, safely.",
         source="BNN+, Darabi et al. 2018, arXiv:1812.11800; larq swish_sign"),
    Rule("ede", "Error decay estimator", "g * max(1, t) * (1 - tanh(t * x)**2)", also=("irnet",),
         parameters=(
             Parameter("t", 1.0, 0.01, 10.0, "steepness: training raises it from 0.1 to 10",
                       domain="t > 0"),
         ),
         kinks=(), antiderivative="max(1 / t, 1) * tanh(t * x)", area="2 * max(1 / t, 1)",
         brief="a bell that narrows as t grows",
         purpose="Starts as wide as straight-through and narrows towards sign during training.",
         note="The paper writes k t with k = max(1/t, 1); its public code raises t from 0.001, not 0.1.",
         source="IR-Net, Qin et al. 2020, arXiv:1909.10788"),
    Rule("reste", "ReSTE", "g * (abs(x) <= t) * max(abs(x), 0.1)**(1 / o - 1) / where(abs(x) > 0.1, o, 1)",
         parameters=(
             Parameter("o", 3.0, 1.0, 10.0, "order of the root: 1 is clipped straight-through",
                       domain="o >= 1"),
             Parameter("t", 1.5, 0.2, 5.0, "window half-width: nothing passes outside", domain="t >= 0"),
         ), kinks=("-t", "-0.1", "0.1", "t"),
         antiderivative=(
             "sign(x) * where(abs(x) > 0.1, clamp(abs(x), 0.1, t)**(1 / o), abs(x) * 0.1**(1 / o - 1))"
         ), area="2 * t**(1 / o)",
         brief="the o-th root's slope, cut at t",
         purpose="The gradient of the o-th root, which nears sign as o grows; near 0 a chord replaces it.",
         note="The chord from 0 to 0.1 is o times as steep as the root where they meet.",
         source="ReSTE, Wu et al. 2023, ICCV, binarized_modules.py"),
    Rule("magnitude_aware", "Magnitude-aware", "g * mean(abs(x)) * (abs(x) <= c)",
         parameters=(_WINDOW,), kinks=("-c", "c"),
         otherwise="It belongs to a binarisation that is scaled by the mean magnitude; this op is not.",
         brief="mean |x| times g where |x| ≤ c",
         purpose="The rule of Binarise (scaled): the clipped gradient carries the same mean magnitude.",
         note="The mean counts as a constant; larq takes it per output channel, here it is over all values.",
         source="Bi-Real Net, Liu et al. 2018, arXiv:1808.00278; larq magnitude_aware_sign"),
    Rule("ttq", "TTQ (learned levels)", "g * where(x > delta, wp, where(x < -delta, wn, 1))",
         also=("trained ternary quantization",), parameters=(POSITIVE, NEGATIVE, TERNARY),
         kinks=("-delta", "delta"), area="infinite",
         antiderivative="clamp(x, -delta, delta) + wp * relu(x - delta) - wn * relu(-x - delta)",
         otherwise="It needs two levels and a threshold, which this op does not have.",
         learned=(
             Learned("wp", "g * (x > delta)"),
             Learned("wn", "-g * (x < -delta)", note="The paper leaves out the minus that −wn brings."),
         ),
         brief="wp or wn times g beyond delta",
         purpose="Learns the sizes of both levels, and scales what reaches the weights by them.",
         source="TTQ, Zhu et al. 2017, arXiv:1612.01064, section 3"),
)

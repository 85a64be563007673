"""Rules for ops that round: one hill per jump, or a mask where the levels end."""

from explorer.catalogue.parameters import QMAX, QMIN, STEEPNESS, STEP
from explorer.catalogue.records import Lattice, Parameter, Rule

OTHERWISE = "It expects a jump at every half-integer, which this op does not make."

# Each entry is a paragraph: name and formula, facts, words.
# fmt: off
ROUNDING = (
    Rule("soft_round", "Soft round", "g * a * (1 - tanh(a * (x - floor(x) - 0.5))**2) / (2 * tanh(a / 2))",
         parameters=(STEEPNESS,), kinks=(Lattice("0", "1"),),
         antiderivative="floor(x) + 0.5 + tanh(a * (x - floor(x) - 0.5)) / (2 * tanh(a / 2))",
         area="infinite",
         purpose="Learns as if rounding were soft: strong at the jumps, weak between them.",
         source="Agustsson and Theis 2020, arXiv:2006.09952; tensorflow/compression soft_round"),
    Rule("dsq", "Differentiable soft quantisation",
         "g * log(2 / alpha - 1) / (2 - 2 * alpha)"
         " * (1 - tanh(log(2 / alpha - 1) * (x - floor(x) - 0.5))**2)",
         parameters=(Parameter("alpha", 0.4, 0.01, 0.9, "distance from true rounding: near 0 it is round"),),
         kinks=(Lattice("0", "1"),),
         antiderivative="floor(x) + 0.5 + tanh(log(2 / alpha - 1) * (x - floor(x) - 0.5)) / (2 - 2 * alpha)",
         area="infinite",
         purpose="A chain of tanh steps whose distance from true rounding, alpha, is learned and shrinks.",
         note="Some copies write ln((s+1) / (s−1)) with s = 1 / (1 − alpha): the same as ln(2/alpha − 1).",
         source="DSQ, Gong et al. 2019, arXiv:1908.05033"),
    Rule("ewgs", "Element-wise gradient scaling", "g * (1 + delta * sign(g) * (x - y))",
         parameters=(Parameter("delta", 0.2, 0.0, 2.0, "strength: 0 is straight-through"),), kinks=(),
         linear=False,
         otherwise="It scales by the rounding error x − y, which means little where the op does not round.",
         purpose="Weighs a gradient by how far x stands from its rounded value, and on which side.",
         note="The authors take delta from the Hessian or fix it at 0.001; 0.2 is chosen here to show.",
         source="EWGS, Lee et al. 2021, arXiv:2104.00903, EWGS_discretizer"),
    Rule("quantize_masked", "Masked to the levels", "g * (qmin <= x / s <= qmax)",
         parameters=(STEP, QMIN, QMAX), kinks=("qmin * s", "qmax * s"),
         antiderivative="clamp(x, qmin * s, qmax * s)", area="(qmax - qmin) * s",
         otherwise="It asks for the levels of a quantiser, which this op does not have.",
         purpose="Straight-through between the lowest and the highest level, nothing where values saturate.",
         note="LSQ leaves both bounds out, PACT the upper one; torch.clamp up to version 2.13 keeps both.",
         source="the input's part in LSQ, arXiv:1902.08153, and PACT, arXiv:1805.06085"),
)

"""Rules for ops that round: one hill per jump, or a mask where the levels end."""

from explorer.catalogue.parameters import LOG2_STEP, OFFSET, QMAX, QMIN, STEEPNESS, STEP
from explorer.catalogue.records import Lattice, Learned, Parameter, Rule

_NO_LEVELS = "It asks for the levels of a quantiser, which this op does not have."
_LSQ_SCALE = "1 / sqrt(N * qmax)"  # keeps the step of a parameter in proportion to those of the weights

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
         otherwise=_NO_LEVELS,
         purpose="Straight-through between the lowest and the highest level, nothing where values saturate.",
         note="LSQ leaves both bounds out, PACT the upper one; torch.clamp up to version 2.13 keeps both.",
         source="the input's part in LSQ, arXiv:1902.08153, and PACT, arXiv:1805.06085"),
    Rule("lsq", "LSQ (learned step size)", "g * (qmin < x / s < qmax)",
         also=("learned step size quantization",), parameters=(STEP, QMIN, QMAX),
         kinks=("qmin * s", "qmax * s"), antiderivative="clamp(x, qmin * s, qmax * s)",
         area="(qmax - qmin) * s", otherwise=_NO_LEVELS,
         learned=(
             Learned("s", "g * where(x / s <= qmin, qmin, where(x / s >= qmax, qmax, round(x / s) - x / s))",
                     _LSQ_SCALE, at_bound="published",
                     note="Much code writes < and >, and so has 0 exactly at the outermost levels."),
         ),
         purpose="Learns the step: what saturates pulls it outwards, and rounding has its part too.",
         source="LSQ, Esser et al. 2020, arXiv:1902.08153, equations 3 and 5, section 2.2"),
    Rule("lsq_plus", "LSQ+ (learned offset too)", "g * (qmin < (x - beta) / s < qmax)",
         also=("learned offset",), parameters=(STEP, QMIN, QMAX, OFFSET),
         kinks=("qmin * s + beta", "qmax * s + beta"),
         antiderivative="clamp(x, qmin * s + beta, qmax * s + beta)", area="(qmax - qmin) * s",
         otherwise="It asks for the levels of a quantiser with an offset, which this op does not have.",
         learned=(
             Learned("s", "g * where((x - beta) / s <= qmin, qmin, where((x - beta) / s >= qmax, qmax, "
                     "round((x - beta) / s) - (x - beta) / s))", _LSQ_SCALE, at_bound="published",
                     note="Much code writes < and >, and so has 0 exactly at the outermost levels."),
             Learned("beta", "g * where(qmin < (x - beta) / s < qmax, 0, 1)", _LSQ_SCALE,
                     at_bound="published", note="Some code scales the gradient of the step alone."),
         ),
         purpose="Learns the step and the offset: only what saturates pulls at the offset.",
         source="LSQ+, Bhalgat et al. 2020, arXiv:2004.09576, section 3.1"),
    Rule("tqt", "TQT (trained threshold)", "g * (qmin <= round(x / 2**ceil(log2_s)) <= qmax)",
         also=("trained quantization thresholds",), parameters=(LOG2_STEP, QMIN, QMAX),
         kinks=("(qmin - 0.5) * 2**ceil(log2_s)", "(qmax + 0.5) * 2**ceil(log2_s)"),
         antiderivative="clamp(x, (qmin - 0.5) * 2**ceil(log2_s), (qmax + 0.5) * 2**ceil(log2_s))",
         area="(qmax - qmin + 1) * 2**ceil(log2_s)",
         otherwise="It asks for a step that is a power of two, which this op does not have.",
         learned=(
             Learned("log2_s", "g * log(2) * 2**ceil(log2_s) * (clamp(round(x / 2**ceil(log2_s)), qmin, qmax)"
                     " - x / 2**ceil(log2_s) * (qmin <= round(x / 2**ceil(log2_s)) <= qmax))"),
         ),
         purpose="Learns the step in octaves: range is weighed against precision by one gradient.",
         source="TQT, Jain et al. 2019, arXiv:1903.08066, section 3"),
)

"""Backward rules for ops that round, with a bump at each jump or a mask at the outer levels."""

from dataclasses import replace

from explorer.catalogue.kinks import Lattice
from explorer.catalogue.parameters import (
    ELASTIC_SCALE,
    HALF,
    LOG2_STEP,
    OFFSET,
    QMAX,
    QMIN,
    SHIFT,
    STEEPNESS,
    STEP,
    ZERO_POINT,
)  # fmt: skip
from explorer.catalogue.records import Learned, Parameter, Rule

_NO_LEVELS = "It needs the levels of a quantiser, which this op does not have."
_QMAX = replace(QMAX, domain="qmax > 0")  # some rules divide by qmax
_LSQ_START = "2 * mean(abs(x)) / sqrt(qmax)"  # initial value from section 2.1 of the LSQ paper
_LSQ_SCALE = "1 / sqrt(N * qmax)"  # as in the LSQ paper: the parameter learns as fast as the weights

OTHERWISE = "It expects a jump at every half-integer, which this op does not make."

# fmt: off
ROUNDING = (
    Rule("soft_round", "Soft round", "g * a * (1 - tanh(a * (x - floor(x) - 0.5))**2) / (2 * tanh(a / 2))",
         parameters=(STEEPNESS,), kinks=(Lattice("0", "1"),),
         antiderivative="floor(x) + 0.5 + tanh(a * (x - floor(x) - 0.5)) / (2 * tanh(a / 2))",
         area="infinite",
         brief="a bump at each jump of round",
         purpose="Learns as if rounding were soft: strong at the jumps, weak between them.",
         source="Agustsson and Theis 2020, arXiv:2006.09952; tensorflow/compression soft_round"),
    Rule("dsq", "Differentiable soft quantisation",
         "g * log(2 / alpha - 1) / (2 - 2 * alpha)"
         " * (1 - tanh(log(2 / alpha - 1) * (x - floor(x) - 0.5))**2)",
         parameters=(
             Parameter("alpha", 0.4, 0.01, 0.9, "distance from true rounding: near 0 it is round",
                       domain="0 < alpha < 1"),
         ),
         kinks=(Lattice("0", "1"),),
         antiderivative="floor(x) + 0.5 + tanh(log(2 / alpha - 1) * (x - floor(x) - 0.5)) / (2 - 2 * alpha)",
         area="infinite",
         brief="a tanh's slope at each half-integer",
         purpose="A chain of tanh steps whose distance from true rounding, alpha, is learned and shrinks.",
         note="Some copies write ln((s+1) / (s−1)) with s = 1 / (1 − alpha): the same as ln(2/alpha − 1).",
         source="DSQ, Gong et al. 2019, arXiv:1908.05033"),
    Rule("ewgs", "Element-wise gradient scaling", "g * (1 + delta * sign(g) * (x - y))",
         parameters=(Parameter("delta", 0.2, 0.0, 2.0, "strength: 0 is straight-through"),), kinks=(),
         linear=False,
         otherwise="It scales by the rounding error x − y, which means little where the op does not round.",
         brief="weights g by the rounding error",
         purpose="Weights a gradient by the distance from x to its rounded value, and by the side.",
         note="The authors take delta from the Hessian or fix it at 0.001; 0.2 is chosen here to show.",
         source="EWGS, Lee et al. 2021, arXiv:2104.00903, EWGS_discretizer"),
    Rule("quantize_masked", "Masked to the levels", "g * (qmin <= x / s <= qmax)",
         parameters=(STEP, QMIN, QMAX), kinks=("qmin * s", "qmax * s"),
         antiderivative="clamp(x, qmin * s, qmax * s)", area="(qmax - qmin) * s",
         otherwise=_NO_LEVELS,
         brief="passes between lowest and highest level",
         purpose="Straight-through between the lowest and the highest level, nothing where values saturate.",
         note="LSQ leaves both bounds out, PACT the upper one; torch.clamp up to version 2.13 keeps both.",
         source="the input's part in LSQ, arXiv:1902.08153, and PACT, arXiv:1805.06085"),
    Rule("lsq", "LSQ (learned step size)", "g * (qmin < x / s < qmax)",
         also=("learned step size quantization",), parameters=(STEP, QMIN, _QMAX),
         kinks=("qmin * s", "qmax * s"), antiderivative="clamp(x, qmin * s, qmax * s)",
         area="(qmax - qmin) * s", otherwise=_NO_LEVELS,
         learned=(
             Learned("s", "g * where(x / s <= qmin, qmin, where(x / s >= qmax, qmax, round(x / s) - x / s))",
                     _LSQ_SCALE, at_bound="published",
                     note="Much code writes < and >, and so has 0 exactly at the outermost levels.",
                     start=_LSQ_START),
         ),
         brief="passes between the levels; s can learn",
         purpose="Learns the step: saturated values pull it outwards, and rounding errors count too.",
         source="LSQ, Esser et al. 2020, arXiv:1902.08153, equations 3 and 5, section 2.2"),
    Rule("lsq_plus", "LSQ+ (learned offset too)", "g * (qmin < (x - beta) / s < qmax)",
         also=("learned offset",), parameters=(STEP, QMIN, _QMAX, OFFSET),
         kinks=("qmin * s + beta", "qmax * s + beta"),
         antiderivative="clamp(x, qmin * s + beta, qmax * s + beta)", area="(qmax - qmin) * s",
         otherwise="It needs the levels of a quantiser with an offset, which this op does not have.",
         learned=(
             Learned("s", "g * where((x - beta) / s <= qmin, qmin, where((x - beta) / s >= qmax, qmax, "
                     "round((x - beta) / s) - (x - beta) / s))", _LSQ_SCALE, at_bound="published",
                     note="Much code writes < and >, and so has 0 exactly at the outermost levels.",
                     start=_LSQ_START),
             Learned("beta", "g * where(qmin < (x - beta) / s < qmax, 0, 1)", _LSQ_SCALE,
                     at_bound="published", note="Some code scales the gradient of the step alone."),
         ),
         brief="passes between the levels; s, beta can learn",
         purpose="Learns the step and the offset: only saturated values pull at the offset.",
         source="LSQ+, Bhalgat et al. 2020, arXiv:2004.09576, section 3.1"),
    Rule("tqt", "TQT (trained threshold)", "g * (qmin <= round(x / 2**ceil(log2_s)) <= qmax)",
         also=("trained quantization thresholds",), parameters=(LOG2_STEP, QMIN, QMAX),
         kinks=("(qmin - 0.5) * 2**ceil(log2_s)", "(qmax + 0.5) * 2**ceil(log2_s)"),
         antiderivative="clamp(x, (qmin - 0.5) * 2**ceil(log2_s), (qmax + 0.5) * 2**ceil(log2_s))",
         area="(qmax - qmin + 1) * 2**ceil(log2_s)",
         otherwise="It needs a step that is a power of two, which this op does not have.",
         learned=(
             Learned("log2_s", "g * log(2) * 2**ceil(log2_s) * (clamp(round(x / 2**ceil(log2_s)), qmin, qmax)"
                     " - x / 2**ceil(log2_s) * (qmin <= round(x / 2**ceil(log2_s)) <= qmax))"),
         ),
         brief="passes what rounds to levels; log2_s can learn",
         purpose="Learns the step in octaves: one gradient weighs range against precision.",
         source="TQT, Jain et al. 2019, arXiv:1903.08066, section 3"),
    Rule("fake_quantize", "Fake quantise (torch)", "g * (qmin <= round(x / s) + round(z) <= qmax)",
         also=("fake_quantize_per_tensor_affine",), parameters=(STEP, ZERO_POINT, QMIN, QMAX),
         kinks=("(qmin - round(z) - 0.5) * s", "(qmax - round(z) + 0.5) * s"), area="(qmax - qmin + 1) * s",
         antiderivative="clamp(x, (qmin - round(z) - 0.5) * s, (qmax - round(z) + 0.5) * s)",
         otherwise=_NO_LEVELS,
         learned=(
             Learned("s", "g * where(round(x / s) + round(z) < qmin, qmin - round(z), "
                     "where(round(x / s) + round(z) > qmax, qmax - round(z), round(x / s) - x / s))"),
         ),
         brief="passes what rounds to a level",
         purpose="torch's own mask: half a step wider on each side than LSQ's, since it asks after rounding.",
         source="torch.fake_quantize_per_tensor_affine, torch._fake_quantize_learnable_per_tensor_affine"),
    Rule("fake_quantize_strict", "Fake quantise (strict clamp)",
         "g * (qmin < round(x / s) + round(z) < qmax)", parameters=(STEP, ZERO_POINT, QMIN, QMAX),
         kinks=("(qmin - round(z) + 0.5) * s", "(qmax - round(z) - 0.5) * s"),
         area="max(qmax - qmin - 1, 0) * s",
         antiderivative="clamp(x, (qmin - round(z) + 0.5) * s, "
                        "max((qmax - round(z) - 0.5) * s, (qmin - round(z) + 0.5) * s))",
         otherwise=_NO_LEVELS,
         brief="passes what rounds to an inner level",
         purpose="Round, then clamp, by torch's clamp since mid-2026: the outermost levels are stuck.",
         note="Of three levels it leaves only the middle one trainable.",
         source="torch.clamp from version 2.14 on (pytorch pull request 191142); torchao issue 4806"),
    Rule("rdfs", "RDFS (StableQAT)",
         "g * (2 / (1 + sqrt(2) * pi * amp * cos(pi * (x / s + round(x / s)))) - 1)"
         " * (qmin <= x / s <= qmax)",
         also=("stableqat", "rotated damped fourier surrogate"),
         parameters=(
             STEP, QMIN, _QMAX,
             Parameter("amp", 0.21, 0.0, 0.225, "amplitude: 0 is the mask alone",
                       domain="0 <= sqrt(2) * pi * amp < 1"),
         ),
         kinks=("qmin * s", "qmax * s", Lattice("0.5 * s", "s", "qmin * s", "qmax * s")),
         otherwise=_NO_LEVELS,
         learned=(
             Learned("s", "g * where(x / s < qmin, qmin, where(x / s > qmax, qmax, round(x / s) - x / s))",
                     _LSQ_SCALE),
         ),
         brief="strongest at jumps, weakest at levels",
         purpose="A smoothed, rotated staircase: all of g at the jumps, almost none at the levels.",
         note="At amp = 1/(π√2), about 0.2251, it would have a pole next to every jump.",
         source="StableQAT, arXiv:2601.19320; microsoft/StableQAT, stableqat_surrogate_gradient"),
    Rule("mad", "MAD (magnitude-aware)",
         "g * where(x < qmin * s, qmin * s / where(x < qmin * s, x, 1), qmax * s / max(x, qmax * s))",
         also=("octav", "magnitude-aware differentiation"),
         parameters=(STEP, replace(QMIN, domain="qmin <= 0"), _QMAX),
         kinks=("qmin * s", "qmax * s"), area="infinite", otherwise=_NO_LEVELS,
         brief="full inside, weaker the farther outside",
         purpose="Beyond the levels it passes less the farther out x is, but never nothing.",
         source="Sakr et al. 2022, arXiv:2206.06501; SamirMoustafa/torch-floating-point, docs/autograd.md"),
    Rule("quest", "QuEST (trust estimator)", "g * (abs(y - x) <= t)",
         also=("quartet", "trust"),
         parameters=(
             Parameter("t", 0.125, 0.0, 5.0, "trust: the largest error with which g passes",
                       domain="t >= 0"),
         ),
         suits=("rounding", "format"),
         otherwise="It uses how far the op moves x, which means little if the op does not round.",
         brief="passes where the op errs little",
         purpose="Passes g only where the op changed x a little.",
         note="QuEST's t is a share of the standard deviation: half a step of its quantiser.",
         source="QuEST, Panferov et al. 2025, arXiv:2502.05003; Quartet, HalfHadamardTrustQuantizer"),
    Rule("seq", "SEQ (learned scale)", "g * (abs(x / s) <= 0.99)", also=("paretoq",),
         parameters=(ELASTIC_SCALE, HALF, SHIFT), kinks=("-0.99 * s", "0.99 * s"), area="1.98 * s",
         antiderivative="clamp(x, -0.99 * s, 0.99 * s)", otherwise=_NO_LEVELS,
         learned=(
             Learned("s", "g * where(x / s < -0.99, (shift - half) / half, "
                     "where(x / s > 0.99, (half - shift) / half, "
                     "(round(clamp(x / s, -0.99, 0.99) * half - shift) + shift) / half - x / s))",
                     "1 / sqrt(N * clamp_min(half - 1, 1))"),
         ),
         brief="passes where |x| ≤ 0.99 s",
         purpose="ParetoQ's rule for its quantiser of two bits or three levels.",
         source="ParetoQ, Liu et al. 2025, arXiv:2502.02631; StretchedElasticQuant"),
)

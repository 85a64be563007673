"""Ops that round: the values between two levels are lost, and so is the gradient."""

from explorer.catalogue.parameters import QMAX, QMIN, STEEPNESS, STEP
from explorer.catalogue.records import Lattice, Op, Parameter

# Each entry is a paragraph: name and formula, facts, words.
# fmt: off
ROUNDING = (
    Op("round", "Round", "round(x)", also=("rint",), kinks=(Lattice("0.5", "1"),),
       purpose="Rounds to the nearest integer, halves to even: the heart of every quantiser."),
    Op("quantize", "Quantise", "clamp(round(x / s), qmin, qmax) * s",
       also=("fake quantize",), parameters=(STEP, QMIN, QMAX),
       kinks=(Lattice("0.5 * s", "s", "(qmin + 0.5) * s", "(qmax - 0.5) * s"),),
       purpose="Rounds to multiples of a step and limits the number of levels, as integer hardware does.",
       source="LSQ, Esser et al. 2020, arXiv:1902.08153"),
    Op("quantize_clamp_first", "Quantise (clamp first)", "round(clamp(x / s, qmin, qmax)) * s",
       parameters=(STEP, QMIN, QMAX),
       kinks=(Lattice("0.5 * s", "s", "(qmin + 0.5) * s", "(qmax - 0.5) * s"),),
       purpose="Limits before it rounds: the same values as Quantise, by the other order of two steps.",
       note="Differentiated step by step, clamping first masks beyond qmax, clamping last beyond qmax + ½.",
       source="LSQ, Esser et al. 2020, arXiv:1902.08153, equation 1"),
    Op("dorefa", "DoReFa", "round(n * clamp(x, 0, 1)) / n",
       parameters=(Parameter("n", 3.0, 1.0, 255.0, "levels above 0: 2 to the number of bits, less 1"),),
       kinks=(Lattice("0.5 / n", "1 / n", "0", "1"),),
       purpose="Quantises activations between 0 and 1 to a few bits.",
       source="DoReFa-Net, Zhou et al. 2016, arXiv:1606.06160; larq dorefa_quantizer"),
    Op("floor", "Floor", "floor(x)", kinks=(Lattice("0", "1"),),
       purpose="Rounds down to the next integer."),
    Op("ceil", "Ceil", "ceil(x)", kinks=(Lattice("0", "1"),),
       purpose="Rounds up to the next integer."),
    Op("trunc", "Truncate", "trunc(x)",
       also=("fix",), kinks=(Lattice("1", "1", low="1"), Lattice("-1", "1", high="-1")),
       purpose="Cuts off what stands behind the point, and so gives 0 all the way from −1 to 1."),
    Op("fraction", "Fraction", "x - floor(x)", also=("frac",), kinks=(Lattice("0", "1"),),
       purpose="Keeps what floor throws away: a sawtooth with gradient 1 that falls at every integer.",
       note="torch.frac subtracts trunc instead, and is negative below 0."),
    Op("soft_round", "Soft round", "floor(x) + 0.5 + tanh(a * (x - floor(x) - 0.5)) / (2 * tanh(a / 2))",
       parameters=(STEEPNESS,), kinks=(),
       purpose="Rounds only partly, smoothly enough to be differentiated: a stand-in for round in training.",
       source="Agustsson and Theis 2020, arXiv:2006.09952, section 4.1; tensorflow/compression soft_round"),
)

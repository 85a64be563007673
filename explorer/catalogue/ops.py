"""The ops: one elementwise function each, in the formula language."""

from __future__ import annotations

from explorer.catalogue.parameters import HI, LO, QMAX, QMIN, STEP
from explorer.catalogue.records import Lattice, Op

OPS = (
    Op(
        key="round",
        label="Round",
        family="rounding",
        formula="round(x)",
        kinks=(Lattice("0.5", "1"),),
        purpose="Rounds to the nearest integer, halves to even: the heart of every quantiser.",
    ),
    Op(
        key="sign",
        label="Sign",
        family="sign",
        formula="sign(x)",
        kinks=("0",),
        purpose="Keeps only the sign; torch gives 0 at exactly 0.",
    ),
    Op(
        key="clamp",
        label="Clamp",
        family="bounded",
        formula="clamp(x, lo, hi)",
        parameters=(LO, HI),
        kinks=("lo", "hi"),
        purpose="Keeps values within a range: what lies outside is moved to the nearest bound.",
    ),
    Op(
        key="relu",
        label="ReLU",
        family="rectifier",
        formula="relu(x)",
        kinks=("0",),
        purpose="Passes what is positive, blocks the rest: the default activation of deep nets.",
    ),
    Op(
        key="step",
        label="Step (1 at 0)",
        family="step",
        formula="where(x >= 0, 1, 0)",
        kinks=("0",),
        purpose="Fires once the threshold is reached: the spike of a spiking neuron.",
        source="SpikingJelly, activation_based/surrogate.py, heaviside",
    ),
    Op(
        key="quantize",
        label="Quantise",
        family="rounding",
        formula="clamp(round(x / s), qmin, qmax) * s",
        parameters=(STEP, QMIN, QMAX),
        kinks=(Lattice("0.5 * s", "s", "(qmin + 0.5) * s", "(qmax - 0.5) * s"),),
        purpose="Rounds to multiples of a step and limits the number of levels, as integer hardware does.",
        source="LSQ, Esser et al. 2020, arXiv:1902.08153",
    ),
    Op(
        key="identity",
        label="Identity",
        family="smooth",
        formula="x",
        purpose="Changes nothing forward, so that a rule can be seen alone.",
    ),
    Op(
        key="floor",
        label="Floor",
        family="rounding",
        formula="floor(x)",
        kinks=(Lattice("0", "1"),),
        purpose="Rounds down to the next integer.",
    ),
    Op(
        key="tanh",
        label="Tanh",
        family="smooth",
        formula="tanh(x)",
        purpose="Squashes smoothly to between −1 and 1; the smooth relative of sign.",
    ),
)

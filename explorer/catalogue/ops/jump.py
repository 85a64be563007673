"""Ops that jump: sign-like from −1 to 1, step-like from 0 to 1."""

from dataclasses import replace

from explorer.catalogue.parameters import NEGATIVE, POSITIVE, TERNARY
from explorer.catalogue.records import Op

# fmt: off
SIGN = (
    Op("sign", "Sign", "sign(x)", also=("sgn",), kinks=("0",),
       purpose="Keeps only the sign; torch gives 0 at exactly 0."),
    Op("binarize", "Binarise", "where(x >= 0, 1, -1)", also=("ste_sign",), kinks=("0",),
       purpose="Turns a weight or activation into −1 or 1, never 0, so that one bit can hold it.",
       source="Hubara et al. 2016, arXiv:1602.02830; larq ste_sign"),
    Op("ternarize", "Ternarise", "where(x > delta, 1, where(x < -delta, -1, 0))", also=("ste_tern",),
       parameters=(replace(TERNARY, default=0.05),),
       kinks=("-delta", "delta"),
       purpose="Gives −1, 0 or 1: binarisation with room for weights that do not matter.",
       source="Li et al. 2016, arXiv:1605.04711; larq ste_tern"),
    Op("ttq", "Ternarise (trained)", "where(x > delta, wp, where(x < -delta, -wn, 0))",
       also=("trained ternary quantization",), parameters=(POSITIVE, NEGATIVE, TERNARY),
       kinks=("-delta", "delta"),
       purpose="Gives −wn, 0 or wp: three levels, and the sizes of two of them are learned.",
       source="TTQ, Zhu et al. 2017, arXiv:1612.01064, section 3"),
    Op("scaled_binarize", "Binarise (scaled)", "mean(abs(x)) * where(x >= 0, 1, -1)",
       also=("xnor",), kinks=("0",),
       purpose="Keeps the signs and the mean magnitude: the closest binary copy of a whole tensor.",
       note="Not elementwise: the mean is over the whole tensor, where larq takes one per output channel.",
       source="XNOR-Net, Rastegari et al. 2016, arXiv:1603.05279; larq magnitude_aware_sign"),
)

STEP = (
    Op("step", "Step (1 at 0)", "where(x >= 0, 1, 0)", also=("heaviside", "spike"), kinks=("0",),
       purpose="Fires once the threshold is reached: the spike of a spiking neuron.",
       source="SpikingJelly, activation_based/surrogate.py, heaviside"),
    Op("step_open", "Step (0 at 0)", "where(x > 0, 1, 0)", kinks=("0",),
       purpose="Fires only above the threshold, so that a neuron resting exactly on it stays silent.",
       note="snnTorch's docstrings write ≥, its code computes >.",
       source="snnTorch, surrogate.py"),
)

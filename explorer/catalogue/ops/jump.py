"""Ops that jump: sign-like from −1 to 1, step-like from 0 to 1."""

from __future__ import annotations

from explorer.catalogue.records import Op, Parameter

SIGN = (
    Op(
        key="sign",
        label="Sign",
        also=("sgn",),
        formula="sign(x)",
        kinks=("0",),
        purpose="Keeps only the sign; torch gives 0 at exactly 0.",
    ),
    Op(
        key="binarize",
        label="Binarise",
        also=("ste_sign",),
        formula="where(x >= 0, 1, -1)",
        kinks=("0",),
        purpose="Turns a weight or activation into −1 or 1, never 0, so that one bit can hold it.",
        source="Hubara et al. 2016, arXiv:1602.02830; larq ste_sign",
    ),
    Op(
        key="ternarize",
        label="Ternarise",
        also=("ste_tern",),
        formula="where(x > delta, 1, where(x < -delta, -1, 0))",
        parameters=(Parameter("delta", 0.05, 0.0, 5.0, "threshold: values up to this far from 0 become 0"),),
        kinks=("-delta", "delta"),
        purpose="Gives −1, 0 or 1: binarisation with room for weights that do not matter.",
        source="Li et al. 2016, arXiv:1605.04711; larq ste_tern",
    ),
    Op(
        key="scaled_binarize",
        label="Binarise (scaled)",
        also=("xnor",),
        formula="mean(abs(x)) * where(x >= 0, 1, -1)",
        kinks=("0",),
        purpose="Keeps the mean magnitude beside the signs: the closest binary copy of a whole tensor.",
        note="Not elementwise: the mean is over the whole tensor, where larq takes one per output channel.",
        source="XNOR-Net, Rastegari et al. 2016, arXiv:1603.05279; larq magnitude_aware_sign",
    ),
)

STEP = (
    Op(
        key="step",
        label="Step (1 at 0)",
        also=("heaviside", "spike"),
        formula="where(x >= 0, 1, 0)",
        kinks=("0",),
        purpose="Fires once the threshold is reached: the spike of a spiking neuron.",
        source="SpikingJelly, activation_based/surrogate.py, heaviside",
    ),
    Op(
        key="step_open",
        label="Step (0 at 0)",
        formula="where(x > 0, 1, 0)",
        kinks=("0",),
        purpose="Fires only above the threshold, so that a neuron resting exactly on it stays silent.",
        note="snnTorch's docstrings write ≥, its code computes >.",
        source="snnTorch, surrogate.py",
    ),
)

"""Backward rules for ops that round to a number format."""

from dataclasses import replace

from explorer.catalogue.parameters import EMIN, MANTISSA, SCALE, TOP
from explorer.catalogue.records import Parameter, Rule

OTHERWISE = "It asks for the numbers of a format, which this op does not have."

# fmt: off
FORMATS = (
    Rule("cast", "Cast (torch's backward)", "fp(g * s, m, emin, top) / s", also=("float8 backward",),
         parameters=(SCALE, replace(MANTISSA, default=3.0), replace(EMIN, default=-6.0),
                     replace(TOP, default=448.0)),
         kinks=(), linear=False,
         brief="rounds the gradient to the format",
         purpose="torch's own backward of a cast there and back: the gradient is rounded to the format too.",
         note="Small gradients become 0, large ones the format's largest number.",
         source="torch.Tensor.to(torch.float8_e4m3fn), whose autograd casts the gradient back"),
    Rule("dge", "Differentiable gradient estimator",
         "g * min(max(abs(2 * remainder(abs(x / s) * 2**(round(m) - exponent(x / s, emin)), 1) - 1), 1e-9)"
         "**(1 / k - 1) / k, cap) * (abs(x / s) <= top)",
         parameters=(SCALE, MANTISSA, EMIN, TOP,
                     Parameter("k", 5.0, 1.0, 20.0, "steepness: 1 is a mask, far up it is the jumps alone",
                               domain="k > 0"),
                     Parameter("cap", 3.0, 0.5, 20.0, "largest factor: larger ones are cut to it")),
         brief="strongest at the jumps between numbers",
         purpose="As if each step of a format were steep but smooth: strong at jumps, 1/k at the numbers.",
         source="Wang et al. 2025, arXiv:2501.17116; MS-AMP, FP4_QUANTIZER.apply_DGE_item"),
)

"""Ops that round to a number format, whose values are denser the closer they are to 0."""

from explorer.catalogue.parameters import SCALE
from explorer.catalogue.records import Op

# fmt: off
FORMATS = (
    Op("fp4_e2m1", "FP4 E2M1", "fp(x / s, 1, 0, 6) * s", also=("float4", "mxfp4", "nvfp4"),
       parameters=(SCALE,), inner="x / s", outer="q * s",
       kinks=tuple(f"{sign}{middle} * s" for sign in ("-", "")
                   for middle in ("0.25", "0.75", "1.25", "1.75", "2.5", "3.5", "5")),
       purpose="The fifteen numbers of four bits, 0, ½, 1, 1½, 2, 3, 4, 6 and their negatives, times s.",
       note="It saturates, and its default gradient is 0, as torch has no cast to it.",
       source="OCP Microscaling Formats v1.0, section 5.3.3"),
    Op("fp8_e4m3", "FP8 E4M3", "float8_e4m3fn(x / s) * s", also=("float8_e4m3fn", "float8"),
       parameters=(SCALE,), inner="x / s", outer="q * s",
       purpose="The 253 numbers up to 448 that eight bits hold with a mantissa of three, times s.",
       note="It saturates, as torch 2.13 does; the default gradient is torch's own: g·s, rounded too.",
       source="FP8 Formats for Deep Learning, Micikevicius et al. 2022, arXiv:2209.05433"),
    Op("fp8_e5m2", "FP8 E5M2", "float8_e5m2(x / s) * s", also=("float8_e5m2",),
       parameters=(SCALE,), inner="x / s", outer="q * s",
       purpose="The 247 numbers up to 57344 that eight bits hold with a mantissa of two, times s.",
       note="It saturates, torch ends at 61440; the default gradient is torch's own: g·s, rounded too.",
       source="FP8 Formats for Deep Learning, Micikevicius et al. 2022, arXiv:2209.05433"),
)

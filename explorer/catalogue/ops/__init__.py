"""All ops of the catalogue: elementwise functions in the formula language, by family.

Each entry takes a few lines, which are not reformatted: key, label and formula, then properties, then texts.
"""

from explorer.catalogue.ops import activation, drawn, jump, rounding

_FAMILIES = {
    "rounding": rounding.ROUNDING,
    "format": rounding.FORMATS,
    "sign": jump.SIGN,
    "bounded": activation.BOUNDED,
    "rectifier": activation.RECTIFIERS,
    "step": jump.STEP,
    "unit": drawn.UNITS,
    "noisy": drawn.NOISY,
    "smooth": activation.SMOOTH,
    "shrink": activation.SHRINKAGE,
    "elementary": activation.ELEMENTARY,
}

OPS = tuple(op.with_quantities(family=family) for family, ops in _FAMILIES.items() for op in ops)

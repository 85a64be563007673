"""The families of ops and the groups of backward rules, with their labels in the menus."""

FAMILIES = {
    "rounding": "Rounding and quantising",
    "format": "Number formats",
    "sign": "Sign-like",
    "bounded": "Bounded",
    "rectifier": "Rectifiers",
    "step": "Step-like",
    "unit": "Drawn units",
    "noisy": "Noise and dropout",
    "smooth": "Smooth",
    "shrink": "Shrinkage",
    "elementary": "Elementary functions",
    "own": "Your own",
}

GROUPS = {
    "general": "any op",
    "sign": "sign-like ops",
    "step": "step-like ops",
    "unit": "units that are drawn",
    "rounding": "rounding",
    "format": "number formats",
    "own": "your own",
}

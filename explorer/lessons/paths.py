"""Paths through the lessons. Each has a title and the keys of its lessons in order."""

PATHS: dict[str, tuple[str, ...]] = {
    "First hour": (
        "autograd", "vanishing", "straight-through", "clamp", "leaves", "relu", "linear", "in-place",
    ),
    "Autograd's edges": (
        "by-hand", "calling", "constants", "outputs", "context", "recipe", "leaves", "leaf-trap",
        "accumulation", "in-place", "twice", "gradcheck", "find-the-bug",
    ),
    "Quantisation": ("vanishing", "straight-through", "gradcheck", "clamp", "learned-step"),
    "Spikes": ("vanishing", "straight-through", "surrogates", "minimum", "unbiased-or-quiet"),
}  # fmt: skip

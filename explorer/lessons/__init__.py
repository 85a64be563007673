"""Lessons on custom gradients. The displayed code is the code that runs."""

from importlib import import_module

from explorer.lessons.glossary import GLOSSARY
from explorer.lessons.lesson import Answer, Choice, Drawing, Lesson, Link
from explorer.lessons.stories.autograd import MyLayer
from explorer.lessons.stories.clamp import ClampGradient, FixedClampGradient
from explorer.lessons.stories.constants import MulConstant
from explorer.lessons.stories.linear import LinearFunction
from explorer.lessons.stories.relu import MyReLU
from explorer.lessons.stories.straight_through import RoundGradient

__all__ = [
    "GLOSSARY", "LESSONS", "PATHS",
    "Answer", "Choice", "ClampGradient", "Drawing", "FixedClampGradient", "Lesson", "LinearFunction", "Link",
    "MulConstant", "MyLayer", "MyReLU", "RoundGradient",
]  # fmt: skip


_KEYS = (
    "autograd", "vanishing", "straight-through", "gradcheck", "clamp", "by-hand", "leaves", "leaf-trap",
    "accumulation", "relu", "calling", "linear", "constants", "outputs", "context", "recipe", "find-the-bug",
    "in-place", "twice", "surrogates", "minimum", "learned-step", "unbiased-or-quiet",
)  # fmt: skip
LESSONS: dict[str, Lesson] = {
    key: import_module(f"{__name__}.stories.{key}".replace("-", "_")).LESSON for key in _KEYS
}
# Paths through the lessons: their titles, and the keys of their lessons in order.
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

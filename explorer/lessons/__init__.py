"""Lessons on custom gradients, one small module each. The displayed code is the code that runs."""

from explorer.lessons import (
    accumulation,
    autograd,
    by_hand,
    calling,
    checking,
    clamping,
    constants,
    context,
    find_the_bug,
    in_place,
    leaf_trap,
    learned_step,
    leaves,
    linear,
    minimum,
    outputs,
    recipe,
    rectifier,
    second_derivative,
    straight_through,
    surrogates,
    unbiased_or_quiet,
    vanishing,
)
from explorer.lessons.autograd import MyLayer
from explorer.lessons.clamping import ClampGradient, FixedClampGradient
from explorer.lessons.constants import MulConstant
from explorer.lessons.glossary import GLOSSARY
from explorer.lessons.lesson import Answer, Choice, Drawing, Lesson, Link
from explorer.lessons.linear import LinearFunction
from explorer.lessons.paths import PATHS
from explorer.lessons.pictures import (
    Asked,
    ByHand,
    Control,
    Corner,
    HeatMap,
    Lines,
    Order,
    Suspects,
    Sweep,
    Walker,
)
from explorer.lessons.rectifier import MyReLU
from explorer.lessons.straight_through import RoundGradient

__all__ = [
    "GLOSSARY", "LESSONS", "PATHS",
    "Answer", "Asked", "ByHand", "Choice", "ClampGradient", "Control", "Corner", "Drawing",
    "FixedClampGradient", "HeatMap", "Lesson", "LinearFunction", "Lines", "Link", "MulConstant", "MyLayer",
    "MyReLU", "Order", "RoundGradient", "Suspects", "Sweep", "Walker",
]  # fmt: skip


_STORIES = (
    autograd, vanishing, straight_through, checking, clamping, by_hand, leaves, leaf_trap, accumulation,
    rectifier, calling, linear, constants, outputs, context, recipe, find_the_bug, in_place,
    second_derivative, surrogates,
    minimum, learned_step, unbiased_or_quiet,
)  # fmt: skip
LESSONS: dict[str, Lesson] = {story.LESSON.key: story.LESSON for story in _STORIES}

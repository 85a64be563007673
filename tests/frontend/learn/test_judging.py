"""Is a drawing judged rightly? Many that a hand would draw, right and wrong, for every lesson with one."""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest

from explorer.curves import Curves, sample_curves
from explorer.lessons import LESSONS, Drawing, Lesson
from explorer.ui.links.link import from_query
from tests.frontend.modules import Node
from tests.selection import take_part

Shape = Callable[[Any], Any]

DRAWN = [lesson for lesson in LESSONS.values() if isinstance(lesson.prediction, Drawing)]
EACH_DRAWN = pytest.mark.parametrize("lesson", DRAWN, ids=lambda lesson: lesson.key)
CELLS = 300
JUDGED = """
    const { judge } = await import("./learn/judging.js");
    return given.drawings.map((y) => judge({ x: given.x, y }, given.truth, 3));
"""


def curves_of(lesson: Lesson, rule: str | None = None) -> Curves:
    """The first scene with the rule that is asked for, or another one, as the browser samples it."""
    assert isinstance(lesson.prediction, Drawing)
    choice, _ = from_query(parse_qs(lesson.scenes[0].query))
    return sample_curves(choice.op, rule or lesson.prediction.rule, dtype="float64", **choice.sampling)


def cells_of(lesson: Lesson) -> Any:
    start, stop = from_query(parse_qs(lesson.scenes[0].query))[0].range
    return start + (np.arange(CELLS) + 0.5) / CELLS * (stop - start)


def shape_of(lesson: Lesson, rule: str | None = None) -> Shape:
    """A gradient as a function of x, with its jumps as steep lines."""
    curves = curves_of(lesson, rule)
    (gradient,) = curves.gradients.values()
    return lambda x: np.interp(x, curves.x, gradient)


def truth_of(lesson: Lesson) -> dict[str, Any]:
    """The curve that a drawing is judged by."""
    curves = curves_of(lesson)
    (gradient,) = curves.gradients.values()
    return {"x": curves.x, "y": gradient, "marks": curves.marks}


def judged(node: Node, lesson: Lesson, drawings: list[Any]) -> list[dict[str, Any]]:
    return node.run(JUDGED, {"x": cells_of(lesson), "truth": truth_of(lesson), "drawings": drawings})


def by_hand(lesson: Lesson, shape: Shape, random: np.random.Generator) -> Any:
    """A drawing of a shape: a little beside it, with slanted jumps, a tremor and a slip now and then."""
    x = cells_of(lesson)
    width = x[-1] - x[0]
    moved = x + random.uniform(-0.03, 0.03) * width + 0.008 * width * np.sin(random.uniform(1, 5) * x)
    values = shape(moved) + random.uniform(-0.2, 0.2)
    blur = int(random.integers(1, 9))
    window = np.full(2 * blur + 1, 1 / (2 * blur + 1))
    smooth = np.convolve(np.pad(values, blur, mode="edge"), window, "valid")
    tremor = 0.05 * np.sin(random.uniform(5, 40) * (x - x[0]) / width + random.uniform(0, 6))
    slipped = smooth + tremor
    if random.random() < 0.3:
        at = int(random.integers(0, CELLS - 4))
        slipped[at : at + 4] += random.choice([-0.15, 0.15])
    return slipped


@EACH_DRAWN
def test_a_right_drawing_is_never_called_wrong(node: Node, lesson: Lesson) -> None:
    shape = shape_of(lesson)
    drawings = [by_hand(lesson, shape, np.random.default_rng(seed)) for seed in take_part(range(300))]
    wrong = [place for place, result in enumerate(judged(node, lesson, drawings)) if not result["right"]]
    assert wrong == []


@EACH_DRAWN
def test_an_exact_drawing_one_with_gaps_at_the_jumps_and_half_a_drawing_are_right(node: Node, lesson: Lesson):
    exact = shape_of(lesson)(cells_of(lesson))
    gaps, half = exact.copy(), exact.copy()
    gaps[np.abs(np.gradient(exact)) > 0.05] = np.nan
    half[CELLS // 2 :] = np.nan
    result = judged(node, lesson, [exact, gaps, half])
    assert [(one["right"], one["whole"]) for one in result] == [(True, True), (True, True), (True, False)]
    assert result[2]["share"] == 0.5


def wrong_shapes(lesson: Lesson) -> dict[str, Shape]:
    """The drawing of somebody who expects something else."""
    assert isinstance(lesson.prediction, Drawing)
    truth = shape_of(lesson)
    width = np.ptp(cells_of(lesson))
    curves = curves_of(lesson)
    forward = (curves.x, curves.y)
    shapes: dict[str, Shape] = {
        answer.picture: shape_of(lesson, answer.picture)
        for answer in lesson.prediction.answers
        if answer.picture and answer.picture != lesson.prediction.rule
    }
    return shapes | {
        "y itself": lambda x: np.interp(x, *forward), "upside down": lambda x: 1 - truth(x),
        "between": lambda x: 0 * x + 0.5, "above": lambda x: truth(x) + 0.45,
        "a slope": lambda x: truth(x) + x / width,
        "the end forgotten": lambda x: np.where(x > x[-1] - 0.3 * width, 1 - truth(x), truth(x)),
    }  # fmt: skip


@EACH_DRAWN
def test_a_drawing_of_another_shape_is_not_right(node: Node, lesson: Lesson) -> None:
    shapes, seeds = wrong_shapes(lesson), take_part(range(1000, 1030))
    names = [name for name in shapes for _ in seeds]
    pairs = [(shape, np.random.default_rng(seed)) for shape in shapes.values() for seed in seeds]
    result = judged(node, lesson, [by_hand(lesson, *pair) for pair in pairs])
    assert {name for name, one in zip(names, result, strict=True) if one["right"]} == set()


@EACH_DRAWN
@pytest.mark.parametrize("height", [0.4, 1, 2])
@pytest.mark.parametrize("half_width", [0.05, 0.1, 0.2])
def test_a_peak_at_each_jump_is_wrong(node: Node, lesson: Lesson, height: float, half_width: float) -> None:
    """On average it is as near as a good drawing: its shape is another."""
    x = cells_of(lesson)
    op = from_query(parse_qs(lesson.scenes[0].query))[0].op
    jumps = {"round": np.arange(-2.5, 3), "clamp": [0.0, 1.0], "relu": [0.0]}[op]
    peaks = sum(np.maximum(0, 1 - np.abs(x - jump) / half_width) for jump in jumps)
    (result,) = judged(node, lesson, [shape_of(lesson)(x) + height * peaks])
    assert not result["right"] or (len(jumps) < 3 and height < 1), "two low ones may be slips of the hand"


def test_nothing_drawn_is_not_judged(node: Node) -> None:
    assert judged(node, LESSONS["clamp"], [np.full(CELLS, np.nan)]) == [None]


def test_a_feature_that_was_left_out_is_missed(node: Node) -> None:
    """A narrow peak that the pen passed by: every drawn point lies on the curve's foot."""
    x = np.linspace(-1, 1, 401)
    peak = np.maximum(0, 1 - np.abs(x) / 0.06)
    truth = {"x": x, "y": peak, "marks": 0 * x}
    result = node.run(JUDGED, {"x": x, "truth": truth, "drawings": [0 * x, peak]})
    assert [one["right"] for one in result] == [False, True]


@pytest.mark.parametrize(
    ("start", "stop", "x"),
    [(-0.7, 0.4, 0), (1.02, 1.4, 1.2), (1.21, 1.29, 1.25), (0.001, 0.003, 0.002), (-2.6, -2.2, -2.4)],
)
def test_a_place_is_named_by_a_round_x_in_it(node: Node, start: float, stop: float, x: float) -> None:
    assert start <= node.call("learn/judging.js pickX", {"from": start, "to": stop}) == x <= stop


@pytest.mark.parametrize(("beside", "right"), [(0.04, True), (-0.04, True), (0.065, False), (-0.065, False)])
def test_a_jump_may_be_a_twentieth_of_the_range_off_its_place(node: Node, beside: float, right: bool) -> None:
    x = np.linspace(-3, 3, 601)
    cells = -3 + (np.arange(CELLS) + 0.5) / CELLS * 6
    truth = {"x": x, "y": (x > 0).astype(float), "marks": 0 * x}
    drawing = (cells > 6 * beside).astype(float)
    (result,) = node.run(JUDGED, {"x": cells, "truth": truth, "drawings": [drawing]})
    assert result["right"] == right

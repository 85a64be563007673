"""Names at the ends of curves: in the order of the curves, apart, and as near to them as can be."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.frontend.modules import Node

HEIGHT, LOW, HIGH = 15, 0, 200


def spread(node: Node, wanted: list[float]) -> list[float]:
    edges = LOW - HEIGHT / 2, HIGH + HEIGHT / 2
    return node.call("train/charts/label-layout.js spread", wanted, [HEIGHT] * len(wanted), *edges)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ([50, 120], [50, 120]), ([100, 100], [92.5, 107.5]), ([10, 12, 11], [0, 30, 15]),
        ([200, 199, 198], [200, 185, 170]), ([-40, 300], [0, 200]), ([], []),
        ([5] * 43, [5 * at - 5 for at in range(43)]),  # they do not fit: the whole height
    ],
)  # fmt: skip
def test_names_are_pushed_apart_and_no_further(node: Node, wanted: list[float], expected: list[float]):
    assert spread(node, wanted) == pytest.approx(expected)


@given(st.lists(st.floats(-50, 250), min_size=1, max_size=12))
def test_names_keep_their_order_their_distance_and_the_chart(node: Node, wanted: list[float]):
    result = spread(node, wanted)
    assert all(LOW - 1e-9 <= position <= HIGH + 1e-9 for position in result)
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    for above, below in pairwise(order):
        assert result[below] - result[above] >= HEIGHT - 1e-6


def test_a_note_in_place_of_curves_has_short_lines(node: Node):
    note = node.call("chart/plotly/figure.js makeCenteredNote", "The score appears here with the first step")
    assert note["text"] == "The score appears here with the<br>first step"


def test_names_on_a_narrow_chart_are_broken_into_lines(node: Node):
    names = ["Default autograd", "Straight-through", "Clipped straight-through", "g*(abs(x)<=1)*(1+abs(x))"]
    below = ["\nDefault autograd", "\nStraight-through", "\nClipped straight-\nthrough", f"\n{names[-1]}"]
    beside = [" Default\nautograd", " Straight-\nthrough", " Clipped\nstraight-through", f"\n{names[-1]}"]
    for taken, texts in ((17, below), (6, beside)):
        wrapped = [node.call("train/charts/label-layout.js wrapName", name, taken, 17) for name in names]
        assert wrapped == texts

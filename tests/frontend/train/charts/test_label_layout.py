"""Names at the ends of curves: in the order of the curves, apart, and as near to them as can be."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.frontend.modules import Node
from tests.frontend.train.conftest import Run

HEIGHT, LOW, HIGH = 15, 0, 200


def spread(node: Node, wanted: list[float], height: float = HEIGHT) -> list[float]:
    result: list[float] = node.call("train/charts/label-layout.js spread", wanted, height, LOW, HIGH)
    return result


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ([50, 120], [50, 120]), ([100, 100], [92.5, 107.5]), ([10, 12, 11], [0, 30, 15]),
        ([200, 199, 198], [200, 185, 170]), ([-40, 300], [0, 200]), ([], []),
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


def test_labels_take_the_whole_height_if_they_do_not_fit(node: Node):
    assert spread(node, [5.0] * 5, 100) == pytest.approx([0, 50, 100, 150, 200])


def test_a_long_name_is_cut_where_it_says_so(tell: Run):
    names = ["Straight-through", "formula: g * (abs(x) <= 1)"]
    assert tell("charts/label-layout", "cut", names, 20) == ["Straight-through", "formula: g * (abs(x…"]


def test_names_with_the_same_beginning_are_shortened_to_their_ends(tell: Run):
    names = ["Straight-through (sigmoid)", "ReinMax", "Straight-through Gumbel", "Straight-through Gumbel"]
    texts = ["…(sigmoid)", "ReinMax", "…Gumbel", "…Gumbel"]
    assert tell("charts/label-layout", "cut", names, 11) == texts
    long = ["formula: g * (abs(x) <= 1)", "formula: g * (abs(x) <= 2)"]
    assert tell("charts/label-layout", "cut", long, 11) == ["…<= 1)", "…<= 2)"]
    words = ["a" * 20 + "b", "a" * 20 + "c"]
    assert tell("charts/label-layout", "cut", words, 11) == ["…" + "a" * 9 + each for each in "bc"]

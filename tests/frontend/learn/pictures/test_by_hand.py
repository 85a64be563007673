"""What is said to a gradient that is typed by hand: right within a hundredth, else its x and g are told."""

from dataclasses import asdict

import pytest

from explorer.lessons.by_hand import all_of_it
from tests.frontend.modules import Node


@pytest.mark.parametrize(
    ("typed", "value", "right"),
    [
        (0.25, 0.25, True),
        (0.2524, 0.25, True),
        (0.2476, 0.25, True),
        (0.253, 0.25, False),
        (-0.25, 0.25, False),
        (0.0, 0.0, True),
        (0.001, 0.0, False),
    ],
)
def test_a_hundredth_of_a_value_is_near_enough(node: Node, typed: float, value: float, right: bool):
    code = 'const { isRight } = await import("./learn/pictures/by-hand.js"); return isRight(...given);'
    assert node.run(code, [typed, value]) is right


def test_the_hint_tells_x_and_g_of_the_element(node: Node):
    code = 'const { hintOf } = await import("./learn/pictures/by-hand.js"); return hintOf(given, 2, 1);'
    assert node.run(code, asdict(all_of_it())) == "Not yet. At example 3, unit 2: x = 1.1, g = 1."

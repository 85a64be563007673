"""What is said of a slope at the corner of ReLU."""

from dataclasses import asdict

import pytest

from explorer.lessons.rectifier import corner
from tests.frontend.modules import Node


@pytest.mark.parametrize(
    ("slope", "said"),
    [
        (0, "0 is a subgradient: the choice of torch."),
        (1, "1 is a subgradient: the choice of MyReLU."),
        (0.3, "0.3 is a subgradient, as right as any other."),
        (1.05, "1.05 is no subgradient: right of the corner the line lies above the curve."),
        (-0.05, "−0.05 is no subgradient: left of the corner the line lies above the curve."),
    ],
)
def test_each_slope_between_those_beside_the_corner_is_right(node: Node, slope: float, said: str):
    code = 'const { wordsOf } = await import("./learn/pictures/corner.js"); return wordsOf(...given);'
    assert node.run(code, [asdict(corner()), slope]) == said

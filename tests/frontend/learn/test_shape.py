"""The shape of a gradient in words."""

import numpy as np
import pytest

from tests.frontend.modules import Node


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (lambda x: 1, "1 everywhere"),
        (lambda x: x >= 0, "0 until x = 0, then 1"),
        (lambda x: abs(x) <= 1, "0 until x = −1, 1 until x = 1, then 0"),
        (
            lambda x: max(0, 2 - 2 * abs(x)),
            "0 until x = −1, rises to 2 until x = 0, falls to 0 until x = 1, then 0",
        ),
        (lambda x: x, "rises to 2"),
        (lambda x: np.sin(9 * x), "up and down between −1 and 1"),
    ],
)
def test_a_picture_in_words(node: Node, y, words: str) -> None:
    x = np.linspace(-2, 2, 601)
    assert node.call("learn/shape.js describeShape", x, np.array([float(y(at)) for at in x])) == words

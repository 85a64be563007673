"""What a lesson says of a prediction: distances, shapes and values in words."""

from __future__ import annotations

import numpy as np
import pytest

from tests.instrument.modules import Node

GRID = [-2 + 4 * place / 40 for place in range(41)]
DISTANCE = """
    const { distanceOf, distanceWords } = await import("./learn/distance.js");
    const values = new Map(given.x.map((x, place) => [x, given.guess[place] ?? NaN]));
    const truth = { x: given.x, y: given.truth, marks: given.x.map(() => 0) };
    const distance = distanceOf((x) => values.get(x), truth);
    return distance && { ...distance, words: distanceWords(distance, "torch's own gradient") };
"""


@pytest.mark.parametrize(
    ("guess", "mean", "words"),
    [
        (lambda x: x**2, 0, "Yes, exactly: this is torch's own gradient."),
        (
            lambda x: x**2 + 0.1,
            0.1,
            "Yes, as well as a hand draws: on average 0.1 from torch's own gradient.",
        ),
        (lambda x: x**2 - 2, 2, "Not quite: on average 2 from torch's own gradient. Farthest at x = "),
        (
            lambda x: x**2 if x <= 0 else None,
            0,
            "Yes, exactly: this is torch's own gradient. You drew 51 %",
        ),
        (lambda x: None, None, None),
    ],
)
def test_the_distance_in_words(node: Node, guess, mean, words) -> None:
    given = {"x": GRID, "truth": [x**2 for x in GRID], "guess": [guess(x) for x in GRID]}
    found = node.run(DISTANCE, given)
    if mean is None:
        assert found is None
    else:
        assert found["mean"] == pytest.approx(mean)
        assert found["words"].startswith(words)


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
    given = {"x": x.tolist(), "y": [float(y(at)) for at in x]}
    body = 'return (await import("./learn/shape.js")).shapeWords(given.x, given.y);'
    assert node.run(body, given) == words


def test_the_value_at_a_corner_in_words(node: Node) -> None:
    body = """
        const { pointWords } = await import("./learn/distance.js");
        const rules = [{ label: "torch", value: 0 }, { label: "MyReLU", value: 1 }];
        return [pointWords(0, 0.52, rules), pointWords(0, NaN, rules)];
    """
    assert node.run(body) == [
        "At x = 0 you expect 0.52: torch returns 0, MyReLU returns 1.",
        "At x = 0 torch returns 0, MyReLU returns 1.",
    ]

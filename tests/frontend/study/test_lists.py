"""Lists of numbers as people type them."""

from typing import Any

import pytest

from tests.frontend.modules import Node

BOUNDS = {"what": "rate", "low": 1e-12, "high": 1000, "most": 4, "example": "0.003, 0.01"}


def read(node: Node, text: str) -> dict[str, Any]:
    return node.call("study/lists.js readList", text, BOUNDS)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("0.01, 0.003,0.03", [0.003, 0.01, 0.03]), ("1e-3 1e-2  1e-2", [0.001, 0.01]),
        ("0,003; 0,01", [0.003, 0.01]), ("1/3", [1 / 3]), ("10, 9", [9, 10]),
    ],
)  # fmt: skip
def test_lists_of_numbers_are_read(node: Node, text: str, numbers: list[float]):
    assert read(node, text) == {"numbers": numbers, "sentence": ""}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Name at least one rate, such as 0.003, 0.01."), (" , ", "Name at least one rate"),
        ("0.1, 0", "0 is not allowed: a rate must be from 1e-12 to 1000."), ("0.1 -1", "-1 is not allowed"),
        ("1e4", "10000 is not allowed"), ("0.1, fast", "“fast” is not a finite number"),
        ("1 2 3 4 5", "These are 5 rates: enter at most 4."),
    ],
)  # fmt: skip
def test_invalid_lists_are_explained(node: Node, text: str, said: str):
    result = read(node, text)
    assert result["numbers"] == []
    assert said in result["sentence"]

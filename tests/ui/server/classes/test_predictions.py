"""Predictions are numbers of a bounded count, or they are refused."""

import math
from typing import Any

import numpy as np
import pytest

from explorer.ui.server.classes import predictions
from explorer.ui.server.classes.predictions import Prediction, read_prediction
from tests.ui.server.classes.rooms import ROUND, WORDS


def test_an_answer_and_a_curve():
    assert read_prediction({"picked": 2}, ROUND) == Prediction(2, None)
    sent = {"picked": 1, "name": "Mallory", "text": "<b>hello</b>"}
    assert read_prediction(sent, ROUND) == Prediction(1, None), "no text is stored"
    drawn = read_prediction({"picked": None, "drawn": [None, 0, 0.25, -1]}, ROUND).drawn
    assert drawn is not None
    assert drawn.dtype == np.float32
    np.testing.assert_array_equal(drawn, [math.nan, 0, 0.25, -1])


@pytest.mark.parametrize(
    "data",
    [
        {}, {"picked": -1}, {"picked": 3}, {"picked": True}, {"picked": 1.0}, {"picked": "1"},
        {"picked": [1]}, {"picked": 1, "drawn": [1, 1]}, {"drawn": "1,1"}, {"drawn": {"0": 1}}, {"drawn": []},
        {"drawn": [1.0]}, {"drawn": [1.0] * (predictions.MAX_POINTS + 1)}, {"drawn": [1.0, math.inf]},
        {"drawn": [1.0, math.nan]}, {"drawn": [1.0, 2 * predictions.MAX_VALUE]}, {"drawn": [1.0, 10**400]},
        {"drawn": [1.0, "2"]}, {"drawn": [1.0, [2]]}, {"drawn": [1.0, True]}, {"drawn": [None, None]},
    ],
    ids=lambda data: repr(data)[:40],
)  # fmt: skip
def test_anything_else_is_refused_with_a_sentence(data: dict[str, Any]):
    with pytest.raises(ValueError, match=r"^[A-Z].*\.$"):
        read_prediction(data, ROUND)
    with pytest.raises(ValueError, match="asks for an answer"):
        read_prediction({"drawn": [1.0, 1.0]}, WORDS)


def test_the_body_has_room_for_the_longest_curve_that_the_browser_sends():
    assert len(",".join(["-1234567.123"] * 300)) < predictions.MAX_BODY_BYTES < 65_536

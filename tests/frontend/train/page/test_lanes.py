"""The lanes of a training run: what can be compared from one to the next."""

import pytest

from tests.frontend.train.conftest import Run, choice
from tests.frontend.train.page.conftest import SEEN, status


def test_the_curves_of_rules_have_one_scale_in_all_lanes(picture: Run):
    rules, way = ("straight_through", "approx_sign"), {"reached": [1, 1], "passed": [1], "moved": [1, 1]}
    seen = status("paused", *rules, lines={})
    inputs = [{"blocks": [{"counts": [1], "bins": 1, "highest": 1, "ends": [-2, 2], "curve": True}]}]
    seen["snapshot"]["measured"] = {"way": dict.fromkeys(rules, way), "inputs": dict.fromkeys(rules, inputs)}
    lanes = picture(SEEN, status=seen, choice=choice("sign", *rules, task="digits"))["object"]["lanes"]
    tops = [max(point["y"] for point in lane["plates"][1]["sees"]["curve"]) for lane in lanes]
    assert tops == pytest.approx([0.94 / 2, 0.94], abs=0.01)

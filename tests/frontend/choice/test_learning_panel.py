"""The parameter that learns on Explore learns in training too, and the other way round."""

from typing import Any

import pytest

from tests.frontend.modules import Node
from tests.frontend.train.conftest import choice, document

Choice = dict[str, Any]
__all__ = ["document"]


def after(node: Node, document: dict[str, Any], start: Choice, *steps: tuple[str, ...]) -> tuple[str, str]:
    """The parameter with a panel and those of the training, after steps: functions by name with arguments."""
    body = """
        const panel = await import("./choice/learning-panel.js");
        const known = { ...panel, ...await import("./train/state/tasks.js") };
        let choice = given.choice;
        for (const [name, ...rest] of given.steps) choice = known[name](choice, ...rest);
        return [choice.learns, choice.training.learn ?? ""];
    """
    learns, learn = node.run(body, {"document": document, "choice": start, "steps": steps})
    return learns, learn


def quantised(learns: str = "", **training: str) -> Choice:
    return choice("quantize", "lsq", "quantize_masked", **training) | {"learns": learns}


PRESS, TRAIN, EXPLORE = ("togglePanel", "s"), ("enterTraining", "page"), ("prepareExplore", "page")
OFF = ("withSetting", "learn", "")
ON_TASK = {"task": "digits"}


@pytest.mark.parametrize(
    ("start", "steps", "expected"),
    [
        (quantised(), [PRESS, TRAIN], ("s", "s")),
        (quantised(**ON_TASK), [PRESS, TRAIN], ("s", "s")),
        (quantised("s"), [("enterTraining", "link")], ("s", "")),  # a link says itself what learns
        (quantised("s", **ON_TASK, learn="lsq.s"), [TRAIN], ("s", "lsq.s")),  # somebody has said by which
        (quantised("s", **ON_TASK, learn="qmax"), [TRAIN], ("s", "s,qmax")),
        (quantised(), [PRESS, TRAIN, EXPLORE, PRESS, TRAIN], ("", "")),
        (quantised(), [PRESS, TRAIN, EXPLORE, ("togglePanel", "qmax"), TRAIN], ("qmax", "qmax")),
        (quantised(), [PRESS, TRAIN, OFF, EXPLORE], ("", "")),
        (quantised(), [PRESS, TRAIN, ("withSetting", "lr", "0.25"), EXPLORE], ("s", "s")),
        (quantised(**ON_TASK, learn="qmax,lsq.s"), [EXPLORE], ("s", "qmax,lsq.s")),
        (quantised(**ON_TASK, learn="s"), [("prepareExplore", "link")], ("", "s")),
        (quantised("s", **ON_TASK, learn="s"), [("withTask", "spikes")], ("", "")),
    ],
)
def test_one_press_on_either_page(node: Node, document: dict[str, Any], start, steps, expected):
    assert after(node, document, start, *steps) == expected


def test_a_study_is_taught_as_a_training_is(node: Node, document: dict[str, Any]):
    body = """
        const { enterStudy } = await import("./study/settings.js");
        return enterStudy(given.choice, "page").training.learn;
    """
    assert node.run(body, {"document": document, "choice": quantised("s")}) == "s"

"""The sentence under a sweep: the width that was trained nearest to the slider, beside the control."""

from dataclasses import asdict

import pytest

from explorer.lessons.stories.surrogates import make_sweep
from tests.frontend.modules import Node

SAID = """
    const { describeNearest, describeSweep } = await import("./learn/pictures/sweep.js");
    const now = given.values.map((value) => describeNearest(given.sweep, value));
    return { all: describeSweep(given.sweep), now };
"""


@pytest.fixture(scope="module")
def sweep() -> dict:
    return asdict(make_sweep())


def text(mean: float, sd: float) -> str:
    return f"{round(100 * mean)} ± {round(100 * sd)} %"


def test_the_sentence_goes_with_the_slider(node: Node, sweep: dict):
    exact, near, beyond = node.run(SAID, {"sweep": sweep, "values": [0.5, 1, 40]})["now"]
    at = {x: text(mean, sd) for x, mean, sd in zip(sweep["x"], sweep["mean"], sweep["sd"], strict=True)}
    assert exact.startswith(f"At c = 0.5, {at[0.5]} of held-out points are right")
    assert near.startswith(f"At c = 1.5, the nearest that was trained, {at[1.5]}")
    assert beyond.startswith(f"At c = 5, the nearest that was trained, {at[5.0]}")
    for words in (exact, near, beyond):
        assert f"no gradient {text(*sweep['control'])} (mean ± SD of 8 seeds)." in words


def test_the_text_alternative_of_a_sweep_has_every_value(node: Node, sweep: dict):
    words = node.run(SAID, {"sweep": sweep, "values": []})["all"]
    assert words.count("±") == 2 + len(sweep["x"])
    for x, mean, sd in zip(sweep["x"], sweep["mean"], sweep["sd"], strict=True):
        assert f"c = {x:g}: {text(mean, sd)}" in words

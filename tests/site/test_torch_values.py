"""Torch's values that come along: put together in the browser they are what the app's server answers."""

import base64
import itertools
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explorer.catalogue import OPS, RULES
from explorer.site.torch_values import CUSTOM, make_torch_files
from explorer.ui.links.choice import Choice
from explorer.ui.links.presets import PRESETS
from explorer.ui.server import answers
from tests.frontend.modules import Node
from tests.questions.asking import READY
from tests.selection import take_part

DRAWN = "bernoulli"
SOME = ("clamp", "reciprocal")  # with parameters that rules share, and infinities
ALWAYS = Choice().rules
FIXED = [*ALWAYS, *take_part(rule for rule in RULES if rule not in ALWAYS and not RULES[rule].is_random)]

TOLD = """
    const { getCurvesArguments } = await import("./asking/ask.js");
    const { loadStoredCurves } = await import("./asking/stored-curves.js");
    const load = async (name) => given.files[name] ?? Promise.reject(new Error(name));
    const find = (sent) => loadStoredCurves(getCurvesArguments(parseMessage(sent)), load).catch(() => null);
    return Promise.all(given.choices.map(find));
"""


@pytest.fixture(scope="module")
def files() -> dict[str, Any]:
    return dict(make_torch_files((*SOME, DRAWN), FIXED))


def told(node: Node, files: dict[str, Any], choices: list[Choice]) -> list[dict[str, Any]]:
    chosen = [answers.serialize_choice(choice) for choice in choices]
    given = {"document": answers.make_page_document(), "files": files, "choices": chosen}
    return node.run(READY + TOLD, given)


def test_at_the_defaults_the_browser_has_what_the_server_answers(node: Node, files: dict[str, Any]) -> None:
    rng = random.Random(3)
    several = [tuple(rng.sample(FIXED, 6)) for _ in range(4)]
    alone = [("default", rule) for rule in FIXED[1:]]  # each beside one of the ops
    choices = [Choice(op=op, rules=rules) for op in SOME for rules in several]
    choices += [Choice(op=op, rules=rules) for op, rules in zip(itertools.cycle(SOME), alone)]
    for choice, result in zip(choices, told(node, files, choices), strict=True):
        expected = answers.QUESTIONS["curves"].answer(answers.make_curves_arguments(choice))
        assert _same(result["curves"], expected), choice
        if len(choice.rules) == 2:
            assert result["words"] == {name: expected[name] for name in ("head", "main", "rest")}


def _same(found: Any, expected: Any) -> bool:
    """Bit for bit, but for what torch computes in another order of vectors."""
    x, y, marks = (_array(expected[name]) for name in ("x", "y", "marks"))
    close = {"rtol": 1e-6, "atol": 1e-7, "equal_nan": True}
    np.testing.assert_array_equal(found["x"], x)
    np.testing.assert_array_equal(found["marks"], marks)
    np.testing.assert_allclose(found["y"], y, **close)
    for key, values in expected["gradients"].items():
        np.testing.assert_allclose(found["gradients"][key], _array(values), **close)
    return found["kinks"] == {key: kinks and list(kinks) for key, kinks in expected["kinks"].items()}


def _array(packed: dict[str, str]) -> Any:
    return np.frombuffer(base64.b64decode(packed["bdata"]), packed["dtype"]).astype(float)


def test_elsewhere_there_are_none(node: Node, files: dict[str, Any]) -> None:
    clamp = Choice(op="clamp")
    elsewhere = [
        replace(clamp, g=2.0), replace(clamp, range=(-3.0, 2.0)), replace(clamp, parameters={"hi": 0.5}),
        *(replace(clamp, rules=rules) for rules in
          (("formula: g",), ("disarm",), ("flip",), ("default", "disarm"))),
        Choice(op="quantize", rules=("lsq",), learns="s"), Choice(op=DRAWN, rules=("sigmoid_st",)),
        Choice(op="tanh"),  # an op that was left out
    ]  # fmt: skip
    *absent, found = told(node, files, [*elsewhere, replace(clamp, section="code")])
    assert absent == [None] * len(elsewhere)
    assert found is not None


def test_every_op_has_a_file_and_examples_and_lessons_come_along(node: Node, files: dict[str, Any]) -> None:
    examples = told(node, files, [preset.choice for preset in PRESETS])
    assert all(example["words"]["main"] for example in examples)
    assert files[CUSTOM]["answers"]
    assert set(files) == {*OPS, CUSTOM, "values"}
    arrays = files["values"]["arrays"]
    assert len({each["bdata"] for each in arrays}) == len(arrays)  # each once
    used = [each for op in SOME for each in (files[op]["forward"], *files[op]["gradients"].values())]
    assert {each["values"] for each in used} == set(range(len(arrays)))

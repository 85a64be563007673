"""A choice and what changes it, as the browser has it."""

from typing import Any

import pytest

from explorer.catalogue.records import MAX_ABS_X
from explorer.curves import MIN_RANGE, MIN_RELATIVE_RANGE
from explorer.instrument import make_document
from tests.frontend.modules import Node

CHOICE = {"op": "clamp", "range": [-3, 3], "g": 1, "parameters": {}, "bounds": {}, "training": {}}


def changed(node: Node, change: str, *given: Any, slots: dict[str, int]) -> dict[str, Any]:
    """A choice of these rules after a change, by the name of its function and what follows the choice."""
    rules = [{"key": key, "slot": slot, "hidden": False} for key, slot in slots.items()]
    body = f"""
        const {{ {change} }} = await import("./choice/choice.js");
        return {change}(given.choice, ...given.given);
    """
    choice = {**CHOICE, "rules": rules}
    return node.run(body, {"document": make_document(), "choice": choice, "given": given})


def slots_of(choice: dict[str, Any]) -> dict[str, int]:
    return {rule["key"]: rule["slot"] for rule in choice["rules"]}


@pytest.mark.parametrize(
    ("slots", "free"),
    [
        ({"default": 0}, 1),
        ({"masked": 1, "clipped": 2}, 0),  # the first was removed
        ({"default": 0, "clipped": 2}, 1),
        ({"clipped": 4, "default": 0, "masked": 1}, 2),
        ({"scale": 5}, 0),
    ],
)
def test_one_more_rule_takes_the_first_colour_that_is_free(node: Node, slots: dict[str, int], free: int):
    assert slots_of(changed(node, "addRule", "zero", slots=slots)) == {**slots, "zero": free}


def test_no_rule_is_added_twice_or_beyond_the_limit(node: Node):
    rules = ["default", "masked", "clipped", "scale", "guided", "triangle"]
    six = {key: slot for slot, key in enumerate(rules)}
    assert slots_of(changed(node, "addRule", "zero", slots=six)) == six
    assert slots_of(changed(node, "addRule", "masked", slots={"masked": 3})) == {"masked": 3}
    pasted = changed(node, "addFunction", "sign", "zero", {}, slots=six)
    assert (pasted["op"], slots_of(pasted)) == ("sign", {**dict(list(six.items())[:5]), "zero": 5})
    pasted = changed(node, "addFunction", "hardtanh", "zero", {"lo": -4, "hi": 4}, slots={"default": 0})
    assert pasted["parameters"] == {"lo": 0}  # the present op's lo and hi stay


def test_a_name_that_every_object_has_is_no_value_that_somebody_gave(node: Node):
    body = 'return (await import("./formula/records.js")).getOwn({}, given) ?? "none";'
    assert [node.run(body, name) for name in ("constructor", "toString")] == ["none", "none"]


@pytest.mark.parametrize(
    ("name", "value", "pushed"),
    [("lo", 2, {"lo": 2, "hi": 2}), ("hi", -1, {"lo": -1, "hi": -1}), ("lo", 0.5, {"lo": 0.5})],
)
def test_a_bound_pushes_the_other_one_and_otherwise_leaves_it(node: Node, name, value, pushed):
    body = """
        const { getControls, setParameter } = await import("./choice/choice.js");
        const control = getControls(given.choice).find(({ name }) => name === given.name);
        return setParameter(given.choice, control, given.value).parameters;
    """
    choice = {**CHOICE, "rules": [{"key": "masked", "slot": 0, "hidden": False}]}
    given = {"document": make_document(), "choice": choice, "name": name, "value": value}
    assert node.run(body, given) == pushed


@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [
        (-1, 2, [-1, 2]), (2, -1, [-1, 2]), (1, 1, [0, 2]), (0, 1e-31, [-1, 1]),
        (-1e6, -1e6, [-1e6, -999_999]), (1e6, 1e6, [999_999, 1e6]), (1e6, 1e9, [999_999, 1e6]),
        (-1e9, 1e9, [-1e6, 1e6]),
    ],
)  # fmt: skip
def test_a_range_is_in_order_within_the_limit(node: Node, start: float, stop: float, expected: list[float]):
    choice = changed(node, "setRange", start, stop, slots={"default": 0})
    assert choice["range"] == pytest.approx(expected, abs=1e-9)
    assert max(map(abs, choice["range"])) <= MAX_ABS_X == 1e6


@pytest.mark.parametrize("start", [1e5, -1e5])
def test_a_range_has_enough_numbers_for_its_points(node: Node, start: float):
    """Far from 0 float64 has few numbers: a range that is wide enough near 0 is widened there."""
    narrow = abs(start) * MIN_RELATIVE_RANGE / 2
    assert narrow > MIN_RANGE
    set_range = "choice/choice.js setRange"
    low, high = node.call(set_range, {}, start, start + narrow)["range"]
    assert low <= start <= high
    assert high - low >= abs(start) * MIN_RELATIVE_RANGE
    assert node.call(set_range, {}, 0, narrow)["range"] == [0, narrow]

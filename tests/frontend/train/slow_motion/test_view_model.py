"""The view model of slow motion: where stages stand, the numbers of a unit, what is said."""

import base64
import json
import re
from typing import Any

import numpy as np
import pytest

from explorer.formula import parse
from explorer.training import Run, Settings
from explorer.ui.server.runs.stream import as_json
from tests.frontend.modules import Node
from tests.frontend.train.conftest import choice

RULES = ("default", "clipped", "clip_value", "magnitude_aware")

SHOWN = """
    const { decodeArrays } = await import("./train/state/series.js");
    const { buildSlowMotion } = await import("./train/slow-motion/view-model.js");
    const { createState } = await import("./train/state/state.js");
    const state = createState(given.choice,
        { colours: ["red", "green", "blue", "black"], ink: 0 },
        { table: { text: "" }, panels: {} });
    const status = { ...state.view.status, ...given.status };
    const slow = given.answer && { key: "", answer: decodeArrays(given.answer), before: null };
    const lines = given.choice.rules.map(({ key }) => ({ key, label: key, colour: key }));
    const picture = buildSlowMotion({ ...state, view: { ...state.view, status, id: given.id }, slow }, lines);
    picture?.stages.forEach(({ drawing }) => delete drawing.values);
    return picture;
"""

PAUSED = {"state": "paused", "sentence": "Paused.", "step": 3, "steps": 400}


def recorded(steps: int, layer: int = 0, **settings: Any) -> dict[str, Any]:
    """Return the record of a layer after some steps, as it is sent."""
    run = Run(Settings(device="cpu", **settings))
    run.advance(steps)
    return json.loads(as_json(run.measure("slow_motion", layer=layer)))


def look(
    node: Node, document: Any, chosen: Any, answer: Any, status: Any = PAUSED, identity: str | None = "run"
) -> Any:
    given = {"choice": chosen, "answer": answer, "status": status, "id": identity, "document": document}
    return node.run(SHOWN, given)


def read_tensor(record: dict[str, Any], name: str) -> Any:
    tensor = record["tensors"][name]
    return np.frombuffer(base64.b64decode(tensor["values"]["bdata"]), np.float32).reshape(tensor["shape"])


@pytest.fixture(scope="module")
def records() -> dict[str, Any]:
    return recorded(3, task="digits", op="sign", rules=RULES, hidden=(16, 8))


@pytest.fixture
def shown(node: Node, document: dict[str, Any], records: dict[str, Any]):
    def told(slow: str, answer: Any = records, status: Any = PAUSED, identity: str | None = "run") -> Any:
        chosen = choice("sign", *RULES, task="digits", hidden="16,8") | {"slow": slow}
        return look(node, document, chosen, answer, status, identity)

    return told


def test_backward_stages_lie_under_the_forward_ones(shown) -> None:
    stages = shown("rule,2,1,4,7")["stages"]
    columns = {stage["key"]: stage["column"] for stage in stages}
    assert columns == {
        "input": 1, "x": 2, "op": 3, "y": 4, "loss": 5, "g": 4, "rule": 3, "gradient": 2, "weights": 1
    }  # fmt: skip
    assert [stage["way"] for stage in stages] == ["forward"] * 5 + ["backward"] * 4
    assert [stage["time"] for stage in stages] == ["past"] * 6 + ["now"] + ["coming"] * 2
    assert "clipped" not in stages[7]["words"]
    assert stages[7]["words"].startswith("gradient of x. ")


def test_a_position_in_the_link_is_limited_to_what_exists(shown, records) -> None:
    picture = shown("g,2,1,4,7")
    assert picture["title"] == "Slow motion: step 4, unit 4, example 7"
    assert [rule["chosen"] for rule in picture["rules"]] == [False, True, False, False]
    assert picture["position"] == {"stage": "g", "rule": 1, "unit": 3, "row": 6, "layer": 0}
    beyond = shown("nowhere,9,1,999,999")
    assert beyond["position"] == {"stage": "input", "rule": 3, "unit": 15, "row": 63, "layer": 0}
    assert shown("") is None


def test_without_a_unit_the_weight_that_moves_most_is_shown(shown, records) -> None:
    picture = shown("gradient")
    assert picture["position"]["rule"] == 1  # torch's own lets nothing through
    assert picture["words"].startswith("The part of g that reaches")
    before, after = (read_tensor(records["clipped"], name).flatten() for name in ("before", "weights"))
    assert picture["position"]["unit"] == np.abs(after - before).argmax() % 16
    numbers = shown("weights")["numbers"]
    most = np.abs(after - before).argmax()
    assert numbers.startswith(f"w: {before[most]:.4g} → {after[most]:.4g}, ∂loss/∂w = ".replace("-", "−"))
    assert re.search(r"∂loss/∂w = \S*[1-9]\S*, m = \S+, v = \S+$", numbers)
    adam = "Adam's step, lr · m/√v, comes from its memory of earlier gradients too."
    assert shown("weights")["words"].endswith(adam)


def test_the_numbers_are_put_into_the_rules_formula(shown, records) -> None:
    at = shown("gradient")["position"]
    cell = f"2,1,{at['unit'] + 1},{at['row'] + 1}"
    values = {name: shown(f"{name},{cell}")["numbers"] for name in ("x", "g", "op")}
    x, g = (values[name].rpartition("= ")[2] for name in "xg")
    assert values["op"] in (f"y = sign({x}) = 1", f"y = sign({x}) = −1")
    gradient = shown("gradient")["numbers"]
    assert gradient.startswith(f"gradient = {g} × (|{x}| ≤ 1) = ")
    assert shown(f"rule,{cell}")["numbers"] == f"at g = 1: 1 × (|{x}| ≤ 1) = 1"


def test_torchs_own_gradient_is_the_one_that_was_taken(shown, records) -> None:
    """Where what learns makes it another than the op's, it comes with the record."""
    sent = json.loads(json.dumps(records))
    sent["default"]["gradient"] = parse("g * 3").data
    assert shown("gradient,1", sent)["numbers"].endswith(" × 3 = 0")
    assert shown("gradient,1")["numbers"].endswith("gradient = 0")


def test_a_unit_whose_channel_has_a_value_of_its_own_has_that_in_its_formula(shown, records) -> None:
    sent = json.loads(json.dumps(records))
    sent["clipped"]["by_unit"] = {"c": [unit / 8 for unit in range(16)]}
    assert "≤ 0.375)" in shown("gradient,2,1,4,7", sent)["numbers"]
    assert "≤ 0.625)" in shown("gradient,2,1,6,7", sent)["numbers"]
    assert "≤ 1)" in shown("gradient,2,1,4,7")["numbers"]


def test_a_gradient_of_0_before_the_rule_is_not_blamed_on_the_rule(shown) -> None:
    default = shown("rule,1,1,1,1")
    said = "No gradient arrives from above: g is already 0 before the rule. "
    assert default["words"] == said + "Whatever the rule does, its result is 0."
    weight = shown("weights,1,1,1,1")["words"]
    assert weight.startswith("The gradient of this weight is 0, but Adam may still")
    assert shown("gradient,1,1,1,1")["stages"][7]["note"] == "100 % exactly 0"


def test_rules_without_a_local_factor_show_their_formula(shown) -> None:
    clip = shown("rule,3")
    assert clip["words"].startswith("This rule is not proportional to g")
    assert clip["numbers"].startswith("gradient = clamp(")
    mean = shown("gradient,4")
    assert mean["numbers"].startswith("gradient = g * mean(abs(x)) * (abs(x) <= c) = ")
    curves = {stage["key"]: stage["drawing"] for stage in shown("rule,4")["stages"]}
    assert curves["rule"]["points"] == []  # the browser does not know the mean over the batch
    assert len(curves["op"]["points"]) > 100
    assert len(curves["rule"]["ticks"]) == 64


def test_g_and_gradient_share_their_colours_and_0_has_none(shown) -> None:
    maps = {stage["key"]: stage["drawing"] for stage in shown("gradient,2")["stages"]}
    assert maps["g"]["scale"] == maps["gradient"]["scale"]
    assert maps["g"]["low"] == -maps["g"]["scale"]
    ends = shown("g,2")["ends"]  # some lie beyond the full colours
    assert [end[:3] for end in ends] == ["≤ −", "0", "≥ +"]
    assert (maps["input"]["rows"], maps["input"]["columns"]) == (8, 8)
    assert maps["input"]["low"] != -maps["input"]["scale"]
    assert [bar["right"] for bar in maps["loss"]["bars"]].count(True) == 1
    assert sum(bar["to"] - bar["from"] for bar in maps["loss"]["bars"]) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("status", "identity", "said", "action"),
    [
        ({"state": "idle"}, None, "There is no run yet to look at.", "first"),
        ({"state": "running"}, "run", "The run goes on: pause it to look at one step.", "pause"),
        ({"state": "waiting"}, "run", "The run goes on: pause it to look at one step.", "pause"),
        ({"state": "gone", "sentence": "It is gone: press Start."}, "run", "It is gone: press Start.", ""),
        (PAUSED, "run", "Asking …", ""),
    ],
)
def test_a_missing_step_is_explained(shown, status, identity, said, action) -> None:
    picture = shown("gradient,2,1,1,1", answer=None, status=status, identity=identity)
    assert (picture["message"], picture["action"], picture["stages"]) == (said, action, [])


def test_of_a_rule_no_net_trains_it_says_why_and_what_to_do(node: Node, document: dict[str, Any]) -> None:
    chosen = choice("bernoulli", "flip", "reinmax", task="digits") | {"slow": "input"}
    picture = look(node, document, chosen, None, {}, None)
    assert picture["message"].startswith("Flip asks for f(1), ")
    assert picture["message"].endswith("Explore shows it. Remove Flip to train the other.")
    assert (picture["action"], picture["stages"]) == ("", [])


def test_a_rule_that_diverged_leaves_the_others(shown, records) -> None:
    left = records | {"clipped": None}
    status = PAUSED | {"snapshot": {"diverged": {"clipped": 2}, "seeds": 1}}
    said = "clipped diverged at step 2: there is no step to show."
    assert shown("g,2,1,1,1", left, status)["message"] == said
    assert shown("g,3,1,1,1", left, status)["stages"]
    refused = shown("g,2", {"message": "This cannot be measured: no."})
    assert (refused["message"], refused["action"]) == ("This cannot be measured: no.", "again")
    assert refused["stages"] == []


@pytest.mark.parametrize("text", ["input", "gradient,2", "gradient,2,1,15,28", "weights,1,1,1,4"])
def test_a_position_comes_back_from_its_text(node: Node, text: str) -> None:
    module = "train/slow-motion/view-model.js"
    assert node.call(f"{module} toPositionText", node.call(f"{module} parsePosition", text)) == text


def test_a_row_is_of_the_example_to_which_its_time_and_its_place_on_a_map_belong(node: Node) -> None:
    body = """
        const { chooseCell } = await import("./train/slow-motion/numbers.js");
        const tensors = { x: { shape: [40, 2] }, slope: { values: [0, 1, 0, -5, 0, 0] },
            before: { values: [0, 0, 0, 0, 0, 0] },
            weights: { shape: [3, 2], values: Float32Array.of(9, 1, 9, -2, 9, 3) } };
        return given.map(([times, map_side]) =>
            chooseCell({ tensors, times, map_side, by_example: true }, { unit: 1, row: 23 }, {}));
    """
    cells = node.run(body, [[1, 0], [5, 0], [1, 2]])
    assert [(cell["row"], cell["example"], cell["input"]) for cell in cells] == [
        (23, 23, 1), (23, 4, 1), (23, 5, 1),
    ]  # fmt: skip


FORWARD = {
    "identity": lambda x: x, "round": np.round, "relu": lambda x: np.maximum(x, 0),
    "clamp": lambda x: np.clip(x, 0, 1),
}  # fmt: skip


@pytest.mark.parametrize("op", FORWARD)
def test_an_op_is_drawn_correctly_far_from_0_too(node: Node, document: dict[str, Any], op: str) -> None:
    """On the net of the documents x reaches beyond ±24: no curve has a plateau that the op has not."""
    answer = recorded(0, task="documents", op=op, rules=("default",))
    chosen = choice(op, "default", task="documents") | {"slow": "op,1,1,1,1"}
    stages = look(node, document, chosen, answer)["stages"]
    (drawing,) = [each["drawing"] for each in stages if each["key"] == "op"]
    x, y = (np.array([point[name] for point in drawing["points"]], float) for name in "xy")
    column = read_tensor(answer["default"], "x")[:, 0]
    start, stop = answer["default"]["span"]
    low, high = min(start, column.min()), max(stop, column.max())
    assert high > 24
    at = low + x * (high - low)
    clear = np.abs(np.abs(at % 1) - 0.5) > 0.01  # of round's jumps, where the share of a width is not exact
    levels = FORWARD[op](at[clear])
    scale = np.polyfit(levels, y[clear], 1)
    assert np.allclose(np.polyval(scale, levels), y[clear], atol=1e-3)


@pytest.fixture(scope="module")
def drawn_records() -> dict[str, Any]:
    return recorded(3, task="digits", op="bernoulli", rules=("reinmax", "disarm"))


@pytest.fixture
def of_drawn(node: Node, document: dict[str, Any], drawn_records: dict[str, Any]):
    def told(slow: str) -> Any:
        chosen = choice("bernoulli", "reinmax", "disarm", task="digits") | {"slow": slow}
        return look(node, document, chosen, drawn_records)

    return told


@pytest.mark.parametrize("cell", [(1, 1), (5, 9), (12, 40)])
def test_random_numbers_of_a_cell_appear_in_its_numbers_and_curves(of_drawn, cell):
    picture = of_drawn(f"op,1,1,{cell[0]},{cell[1]}")
    drawn = {stage["key"]: stage["drawing"] for stage in picture["stages"]}
    x, u = (drawn["op"]["label"].split(", ")[at].split(" = ")[1] for at in (0, 1))
    y = picture["numbers"].rpartition(" = ")[2]
    assert picture["numbers"] == f"y = where({u} < sigmoid({x}), 1, 0) = {y}"
    for key in ("op", "rule"):  # of this u: the point is on the curve, or next to it at a jump
        points, at = drawn[key]["points"], drawn[key]["at"]
        near = [point["y"] for point in points if abs(point["x"] - at["x"]) < 0.002]
        assert min(abs(each - at["y"]) for each in near) < 0.01
    levels = {round(point["y"], 6) for point in drawn["op"]["points"]}
    assert len(levels) == 2, "one step, not a mean"
    rule = of_drawn(f"rule,1,1,{cell[0]},{cell[1]}")["numbers"]
    assert rule.startswith(f"at g = 1: 1 × (({y} + sigmoid({x})) × ")
    assert drawn["rule"]["label"] == f"× {rule.rpartition(' = ')[2]}"


def test_losses_are_filled_into_a_rule_that_depends_on_them(of_drawn):
    picture = of_drawn("rule,2")
    stages = {stage["key"]: stage for stage in picture["stages"]}
    drawing = stages["rule"]["drawing"]
    assert drawing["points"] == []
    own = float(stages["loss"]["drawing"]["label"].removeprefix("loss ")) / 64
    text, _, result = picture["numbers"].removeprefix("gradient = (").rpartition(" = ")
    twin, f = text.split(")")[0].split(" − ")
    assert float(f) == pytest.approx(own, rel=1e-3)
    assert twin != f
    assert drawing["label"] == f"gradient {result}"

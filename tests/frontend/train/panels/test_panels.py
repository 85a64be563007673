"""The small pictures of "Why" for a rule: shares of a picture, and words."""

from typing import Any

import pytest

from explorer import expected
from explorer.catalogue import RULES, Rule
from explorer.instrument import make_document
from tests.frontend.modules import Node

SEEN = """
    const { panel } = await import(given.module);
    const { decodeArray } = await import("./choice/arrays.js");
    const clipped = {
        key: "clipped", parameters: [{ name: "c", default: 1 }], kinks: null, pieces: [], usesY: false,
        tree: ["*", ["name", "g"], ["compare", ["<="], ["call", "abs", ["name", "x"]], ["name", "c"]]],
        slopes: { x: 0, y: 0 },
    };
    const tree = ["call", "sign", ["name", "x"]];
    const op = { key: "sign", parameters: [], kinks: [], tree, gradient: 0, flat: true };
    const line = { key: "clipped", label: "Clipped" };
    const common = { layer: 0, op, rule: clipped, parameters: { c: 0.5 }, line, snapshot: { learned: {} } };
    return panel.picture({ ...common, ...given.seen });
"""


def picture(node: Node, name: str, measured: dict[str, Any], **seen: Any) -> dict[str, Any]:
    shown = SEEN.replace("import(given.module)", f'import("./train/panels/{name}.js")')
    result: dict[str, Any] = node.run(shown, {"seen": {"measured": measured, **seen}})
    return result


INPUTS = {
    "edges": [-2.0, -1.0, 0.0, 1.0, 2.0],
    "counts": [[50, 10, 20, 0], [0, 1, 1, 0]],
    "means": [[-3.0, -0.5, 0.25, None], [None, -0.75, 0.5, None]],
    "beyond": [0.6, 0.0],
    "words": ["Twice as wide as this rule.", ""],
}


def test_the_data_lie_behind_the_curve_on_one_axis(node: Node):
    shown = picture(node, "inputs", INPUTS)
    found = [(bar["from"], bar["to"]) for bar in shown["bars"]]
    assert found == [(0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1)]
    high = [bar["height"] for bar in shown["bars"]]
    assert high[2] == pytest.approx(0.94)  # the highest that is not beyond the ends
    assert (high[0], high[1], high[3]) == (1, pytest.approx(0.47), 0)
    passed = [point["x"] for point in shown["curve"] if point["y"] > 0]
    assert (min(passed), max(passed)) == (pytest.approx(0.375), pytest.approx(0.625))  # c = 0.5 of ±2
    assert shown["note"] == "Twice as wide as this rule. 60 % lie beyond ±2."


DRAWN = """
    const { getCatalogue } = await import("./choice/entries.js");
    const { panel } = await import("./train/panels/inputs.js");
    const [op, rule] = [getCatalogue().ops[given.op], getCatalogue().rules[given.rule]];
    const line = { key: given.rule, label: "" };
    return panel.picture({ measured: given.measured, layer: 0, op, rule, parameters: {}, line,
        snapshot: { learned: {} } });
"""


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES.values() if rule.is_random], ids=lambda rule: rule.key
)
def test_a_rule_that_depends_on_a_nets_loss_has_no_curve(node: Node, rule: Rule):
    given = {"document": make_document(), "measured": INPUTS, "op": "bernoulli", "rule": rule.key}
    shown = node.run(DRAWN, given)
    assert bool(shown["curve"]) is not rule.needs_loss
    assert (shown["most"] is None) is rule.needs_loss, "nor the height of one"


def test_the_curve_of_a_random_rule_is_its_mean(node: Node):
    given = {"document": make_document(), "measured": INPUTS, "op": "bernoulli"}
    own, quiet = (node.run(DRAWN, {**given, "rule": rule})["curve"] for rule in ("st_gumbel", "sigmoid_st"))
    middle = min(quiet, key=lambda point: abs(point["x"] - 0.5))
    assert middle["y"] == pytest.approx(0.94 * 0.25)
    mean = expected("bernoulli", "st_gumbel", [0.0], f="y")["mean"]
    assert [point["y"] for point in own if point["x"] == middle["x"]] == pytest.approx(0.94 * mean, rel=1e-2)


CARRIED = """
    const { panel } = await import("./train/panels/inputs.js");
    const { saveCarried } = await import("./choice/data.js");
    const { getData } = await import("./choice/data.js");
    saveCarried({ of: "data of Clipped", ...panel.data({ measured: given.measured, layer: 0 }) });
    const { kind, label, values, weights, bars, note } = getData();
    saveCarried(null);
    return { kind, label, values, weights, bars, note };
"""


def test_the_passed_gradient_uses_the_mean_of_each_bin(node: Node):
    """Values beyond the bins too; an empty bin counts nowhere."""
    carried = node.run(CARRIED, {"document": make_document(), "measured": INPUTS})
    assert (carried["values"].tolist(), carried["weights"].tolist()) == ([-3.0, -0.5, 0.25], [50, 10, 20])
    assert carried["label"] == "data of Clipped (80 numbers in 4 bins, each at the mean of its bin)"
    assert carried["note"] == "60 % lie beyond ±2."
    assert carried["bars"] == {"edges": INPUTS["edges"], "counts": INPUTS["counts"][0]}


def test_a_sentence_begins_with_a_large_letter(node: Node):
    shown = picture(node, "inputs", INPUTS | {"beyond": [0.999, 0.0]})
    assert shown["note"] == "Twice as wide as this rule. More than 99 % lie beyond ±2."


def test_the_note_of_regions_states_the_share_of_held_out_points_right(node: Node):
    measured = {"score": 0.5, "names": ["a", "b"], "words": "", "trained": [], "held_out": []}
    assert picture(node, "regions", measured)["note"] == "50 % of held-out points right"


def test_the_curve_is_that_of_what_the_layer_has_learned(node: Node):
    """Two seeds, two layers; the mean over the seeds that are finite, of the layer that is shown."""
    learned = {"learned": {"clipped": {"c": [0.2, 1.0, 0.4, None]}}, "seeds": 2}
    for layer, c in ((0, 0.3), (1, 1.0)):
        shown = picture(node, "inputs", INPUTS, layer=layer, snapshot=learned)
        passed = [point["x"] for point in shown["curve"] if point["y"] > 0]
        assert [min(passed), max(passed)] == pytest.approx([(2 - c) / 4, (2 + c) / 4], abs=0.003)


def test_learned_parameters_are_drawn_by_layer_with_their_gradients(node: Node):
    measured = {
        "values": [[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]],
        "gradients": [[-1.0, -0.5, 0.0], [0.0, 0.0, 0.0]],
        "leasts": [[1.0, 1.5, 2.0], [1.0, 1.0, 1.0]],
        "mosts": [[1.0, 2.5, 6.0], [1.0, 1.0, 1.0]],
    }
    snapshot = {"learned": {"clipped": {"c": [3.0, 1.0]}}, "seeds": 1, "measured_steps": [0, 2, 4]}
    shown = picture(node, "parameters", measured, snapshot=snapshot)
    (drawn,) = shown["drawn"]
    assert (drawn["name"], drawn["now"], shown["words"]) == ("c", "3 (2 to 6), 1", "c is 3 (2 to 6), 1")
    assert [[point["x"] for point in line] for line in drawn["values"]["lines"]] == [[0, 0.5, 1]] * 2
    assert drawn["values"]["ends"] == [1, 6]
    channels, one = drawn["values"]["bands"]
    share = [(y - 0.7) / 5.6 for y in (1, 1.5, 2, 6, 2.5, 1)]  # there at the least ones, back at the greatest
    assert [point["y"] for point in channels] == pytest.approx(share)
    assert [point["x"] for point in channels] == [0, 0.5, 1, 1, 0.5, 0]
    assert len({round(point["y"], 9) for point in one}) == 1
    first, second = drawn["gradients"]["lines"]
    assert [point["y"] for point in second] == [pytest.approx(drawn["gradients"]["zero"])] * 3
    assert first[0]["y"] < first[1]["y"] < first[2]["y"] == pytest.approx(drawn["gradients"]["zero"])
    still = picture(node, "parameters", measured | {"gradients": [[None] * 3] * 2}, snapshot=snapshot)
    assert still["drawn"][0]["gradients"] is None
    assert still["words"] == "c stays at 3 (2 to 6), 1"


def test_panels_show_the_selected_layer(node: Node):
    shown = picture(node, "inputs", INPUTS, layer=1)
    assert [round(bar["height"], 2) for bar in shown["bars"]] == [0, 0.94, 0.94, 0]
    assert shown["note"] == ""
    assert shown["words"]  # of who cannot see it


def test_causes_say_which_part_is_so_for_every_example(node: Node):
    measured = {
        "shares": [[0.1, 0.2, 0.3, 0.4]],
        "whole": [[0.0, 0.0, 0.3, 0.1]],
        "words": ["30 % are 0 by the rule"],
    }
    shown = picture(node, "causes", measured)
    found = [(part["share"], part["whole"]) for part in shown["parts"]]
    assert found == [(0.1, 0), (0.2, 0), (0.3, 0.3), (0.4, 0.1)]
    assert [part["text"] for part in shown["parts"]] == ["", "20 %", "30 %", "40 %"]
    assert shown["words"] == "30 % are 0 by the rule"


def test_norms_are_bars_in_decades_and_a_norm_of_0_has_none(node: Node):
    shown = picture(node, "norms", {"norms": [0.0, 1.0, 1000.0]})
    assert [bar["length"] for bar in shown["bars"]] == [0, pytest.approx(2 / 3), 1]
    assert shown["words"] == "w1 0, w2 1, w3 1,000"


SPREAD = """
    const { panel } = await import("./train/panels/spread.js");
    const numbers = (own) => Float32Array.from(own, Number);
    const [spread, bias, within] = [given.spread, given.bias, given.within].map(numbers);
    return panel.picture({ measured: { spread, bias, within } });
"""


def spread(node: Node, spread: list[Any], bias: list[Any], within: list[Any]) -> dict[str, Any]:
    result: dict[str, Any] = node.run(SPREAD, {"spread": spread, "bias": bias, "within": within})
    return result


def test_a_spread_without_a_mean_fills_its_bar_and_one_of_nothing_has_none(node: Node):
    shown = spread(node, [1, "Infinity", "NaN"], [], [])
    assert [bar["length"] for bar in shown["bars"]] == [0.5, 1, 0]
    assert shown["words"] == "w1 1, w2 ∞, w3 none. Bias: not measured here"


@pytest.mark.parametrize(("bias", "within", "said"), [
    (0.378, 0.021, "38 ± 2 %"), (0.1874, 0.0081, "18.7 ± 0.8 %"), (0.0276, 0.0004, "2.76 ± 0.04 %"),
    (5.557, 0.048, "556 ± 5 %"), (1, 0, "100 %"), (0, 0, "none"), (0, 0.2913, "< 30 %"), (0, 0.0031, "< 1 %"),
    (0, 1.2, "lost in the noise"), ("NaN", "NaN", "cannot be told"), (0, "NaN", "lost in the noise"),
])  # fmt: skip
def test_a_bias_is_stated_with_its_error_or_as_below_a_bound(node: Node, bias: Any, within: Any, said: str):
    shown = spread(node, [1, 1, 1], [0.5, bias], [0.1, within])
    assert shown["note"] == f"Bias: w1 50 ± 10 %, w2 {said}"
    assert shown["words"].endswith(f". {shown['note']}")


def test_the_share_that_passes_is_not_hatched(node: Node):
    """A unit that gets a gradient for every example lacks none."""
    body = """
        const { panel } = await import("./train/panels/causes.js");
        return panel.picture({ measured: given, layer: 0 }).parts.map(({ share, whole }) => [share, whole]);
    """
    record = {"shares": [[0.5, 0.1, 0.4, 0]], "whole": [[0.25, 0.1, 0.25, 0]], "words": [""]}
    assert node.run(body, record) == [[0.5, 0], [0.1, 0.1], [0.4, 0.25], [0, 0]]


@pytest.mark.parametrize(("alone", "said"), [(2, ", 2 by"), (0, ", none of them by"), (None, "")])
def test_mistakes_of_a_rule_alone_are_counted_where_there_are_others(
    node: Node, alone: int | None, said: str
):
    lists: dict[str, Any] = {key: [] for key in ("images", "classes", "read", "only", "examples")}
    shown = picture(node, "mistakes", {"count": 3, "of": 9, "alone": alone, "words": "", **lists})
    assert shown["note"] == f"3 of 9 wrong{said}{' this rule alone' if said else ''}"

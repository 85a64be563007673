"""The scene of a chart and the step to it: plain data, without a page."""

import pytest

from explorer.catalogue import OPS, RULES
from explorer.instrument import make_entry
from tests.frontend.chart.scene.pictures import PICTURE
from tests.frontend.modules import Node

# Scenes of a list of changes to one picture, each made after the one before.
SCENES = f"""{PICTURE}
    let displayed = {{ scene: null, drawn: null }};
    return given.changes.map(([{{ added = false, ...change }}, phase]) => {{
      const picture = makePicture({{ op: given.op, rules: given.rules.slice(0, added ? 2 : 1), ...change }});
      const next = computeScene(picture, space, phase === "moving" ? displayed.scene : null);
      const step = planStep(next, displayed, phase);
      displayed = {{ scene: next, drawn: step.by === "paths" ? null : next }};
      return [step.by, step.glides, next.grips.map(({{ name, sign }}) => [name, sign]), next.lines.length];
    }});
"""


def steps(node, *changes, op="clamp", rule="masked"):
    """The way to the screen, whether it glides, the grips and the number of lines, for each change."""
    rules = [make_entry(RULES[key]) for key in (rule, "straight_through")]
    return node.run(SCENES, {"op": make_entry(OPS[op]), "rules": rules, "changes": changes})


def test_a_scene_has_lines_and_grips(node: Node) -> None:
    ((by, glides, grips, lines),) = steps(node, ({}, "settled"))
    assert (by, glides, lines) == ("plot", False, 2)
    assert grips == [["lo", 1], ["hi", 1]]


@pytest.mark.parametrize(
    ("change", "phase", "by", "glides"),
    [
        ({}, "settled", "values", False),  # torch's values in place of the browser's
        ({"parameters": {"hi": 0.5}}, "moving", "paths", False),
        ({"parameters": {"hi": 0.5}}, "settled", "paths", True),
        ({"added": True}, "settled", "paths", True),
        ({"range": [-3, 4]}, "moving", "plot", False),  # the labels of x are others
        ({"range": [-3, 4]}, "settled", "paths", True),
        ({"learns": "lo"}, "settled", "plot", True),  # a third panel
    ],
)
def test_the_screen_gets_there_by_the_shortest_way(node, change, phase, by, glides):
    assert steps(node, ({}, "settled"), (change, phase))[1][:2] == [by, glides]


def test_the_axes_of_what_draws_are_seldom_drawn_under_a_hand(node: Node) -> None:
    widening = ({"parameters": {"tau": 1 / (1 + k / 3)}} for k in range(10))
    moves = [(change, "moving" if at else "settled") for at, change in enumerate(widening)]
    ways = [by for by, *_ in steps(node, *moves, op="gumbel_sigmoid", rule="default")]
    assert ways.count("plot") <= 5, ways


def test_bands_are_drawn_by_plotly_alone_and_a_dragged_curve_is_redrawn_at_rest(node: Node) -> None:
    banded = [({}, "settled"), ({"parameters": {"tau": 0.5}}, "settled")]
    ways = steps(node, *banded, op="gumbel_sigmoid", rule="default")
    assert [by for by, *_ in ways] == ["plot", "plot"]
    moved = {"parameters": {"hi": 0.5}}
    ways = steps(node, ({}, "settled"), (moved, "moving"), (moved, "settled"))
    assert [by for by, *_ in ways] == ["plot", "paths", "plot"]


def test_a_range_that_nobody_asked_for_is_a_new_home(node: Node) -> None:
    states = node.run("""
        const { EMPTY, getCurrentView, withPicture, withRequest } = await import("./chart/view/state.js");
        const opened = withPicture(EMPTY, { range: [0, 1] });
        const asked = withRequest(opened, [0, 2]);
        const drawn = withPicture(asked, { range: [0, 2] });
        const typed = withPicture(drawn, { range: [5, 6] });
        return [EMPTY, opened, asked, drawn, typed].map((state) => [state.home, getCurrentView(state)]);
    """)
    assert states == [[[-3, 3]] * 2, [[0, 1]] * 2, [[0, 1], [0, 2]], [[0, 1], [0, 2]], [[5, 6]] * 2]


def test_a_panel_of_parts_without_a_line_is_drawn_too(node: Node) -> None:
    """Plotly leaves out axes that no trace has, and with them the ticks of x."""
    axes = node.run("""
        const { toTraces } = await import("./chart/scene/traces.js");
        return [true, false].map((parted) => toTraces([], [], parted).map(({ yaxis }) => yaxis));
    """)
    assert axes == [["y3"], []]


def test_a_formats_values_move_with_its_step_and_no_plot_is_made_for_them(node: Node) -> None:
    """Its ticks are others at every move: Plotly, which would draw them, takes as long as all the rest."""
    change = {"parameters": {"s": 0.9}}
    ways = [by for by, *_ in steps(node, ({}, "settled"), (change, "moving"), op="fp8_e4m3", rule="cast")]
    assert ways == ["plot", "paths"]
    body = f"""{PICTURE}
        const {{ formatMarks }} = await import("./chart/scene/panels.js");
        const choice = {{ op: given, rules: [], range: [-8, 8], parameters: {{ s: 0.9 }} }};
        const {{ frame, levels }} = computeScene(makePicture(choice), space, null);
        const {{ top, height, range }} = frame.forward;
        const texts = formatMarks(frame, levels).split("M").slice(1);
        return [texts.map((mark) => Number(mark.split(/[ h]/)[1]) - top), levels, height, range];
    """
    marks, levels, height, (low, high) = node.run(body, make_entry(OPS["fp4_e2m1"]))
    at = [high - down * (high - low) / height for down in marks]
    numbers = [0.9 * value for value in (0.5, 1, 1.5, 2, 3, 4, 6)]
    expected = [*(-value for value in reversed(numbers)), 0, *numbers]
    assert levels == pytest.approx(expected)
    assert at == pytest.approx(expected, abs=0.01)

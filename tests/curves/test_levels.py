"""The ticks at a format's values: all are values that the op takes, in Python and in the browser."""

import pytest
import torch

import explorer
from explorer.catalogue import OPS, find_op
from explorer.curves import sample_curves
from explorer.curves.levels import choose_level_ticks, find_levels
from explorer.description.figures import make_curve_spec
from explorer.instrument.entries import make_entry
from tests.frontend.conftest import node  # noqa: F401
from tests.frontend.modules import Node
from tests.selection import loop_over

FORMATS = ("fp4_e2m1", "fp8_e4m3", "fp8_e5m2")
SPANS = ((-3.0, 3.0), (-8.0, 8.0), (-448.0, 448.0), (0.0, 0.1))
CODES = {"fp8_e4m3": torch.float8_e4m3fn, "fp8_e5m2": torch.float8_e5m2}
E2M1 = [sign * value for sign in (-1, 1) for value in (0, 0.5, 1, 1.5, 2, 3, 4, 6)]
IN_BROWSER = """
    const { sampleCurves } = await import("./formula/curves.js");
    const { findFormatLevels, chooseLevelTicks } = await import("./chart/scene/levels.js");
    return given.map(({ op, span: [start, stop], label, mark }) => {
      const curves = sampleCurves({ op, rules: [] }, { start, stop, g: 1, parameters: {}, learns: "" });
      const levels = findFormatLevels({ op, curves });
      return [levels, chooseLevelTicks(levels, label, mark)];
    });
"""


def curves_of(op: str, span: tuple[float, float]):
    return sample_curves(op, "straight_through", start=span[0], stop=span[1])


@loop_over("op", FORMATS)
@loop_over("span", SPANS)
def test_every_value_of_the_format_in_the_picture_is_a_level(op, span):
    levels = find_levels(curves_of(op, span))
    every = torch.arange(256, dtype=torch.uint8)
    codes = every.view(CODES[op]).float() if op in CODES else torch.tensor(E2M1)
    ends = OPS[op].parsed.bind({"s": 1.0})(torch.tensor(span))
    inside = codes[codes.isfinite() & (codes >= ends[0]) & (codes <= ends[1])]
    assert levels == sorted({value + 0.0 for value in inside.tolist()})


def test_ticks_are_values_with_room_and_the_shortest_are_labelled_first():
    levels = find_levels(curves_of("fp4_e2m1", (-8.0, 8.0)))
    ticks = choose_level_ticks(levels, 0.9, 0.1)
    assert ticks.marks == levels
    assert ticks.texts == ["−6", "−4", "−3", "−2", "−1", "0", "1", "2", "3", "4", "6"]
    uneven = choose_level_ticks([0.643 * value for value in levels], 0.9, 0.1)
    assert uneven.texts == ["−3.858", "−2.572", "−1.286", "0", "1.286", "2.572", "3.858"]
    many = choose_level_ticks(find_levels(curves_of("fp8_e4m3", (-448.0, 448.0))), 90, 10)
    assert {0.0, 448.0, -448.0} <= {*many.values} <= {*many.marks}
    assert all(after - before >= 10 for before, after in zip(many.marks, many.marks[1:], strict=False))
    assert choose_level_ticks([0.015625, 0.03125, 0.046875], 0.01, 0.01) == (
        [], [], [0.015625, 0.03125, 0.046875],
    )  # fmt: skip


@pytest.mark.parametrize("op", ["round", "sign", "formula: fp(x, 3, -6, 448) + x"])
def test_other_ops_have_none(op):
    assert find_levels(curves_of(op, (-3.0, 3.0))) == []


def test_the_browser_has_the_same_ticks(node: Node):  # noqa: F811
    cases = [(op, span) for op in FORMATS for span in SPANS]
    cases += [("round", (-3.0, 3.0)), ("formula: fp(x, 5, -10, 448)", (-448.0, 448.0))]
    room = [((stop - start) / 9, (stop - start) / 60) for _, (start, stop) in cases]
    asked = [
        {"op": make_entry(find_op(op)), "span": span, "label": label, "mark": mark}
        for (op, span), (label, mark) in zip(cases, room, strict=True)
    ]
    found = node.run(IN_BROWSER, asked)
    for (op, span), (label, mark), (levels, ticks) in zip(cases, room, found, strict=True):
        mine = find_levels(curves_of(op, span))
        assert {*levels} <= {*mine}
        assert len(levels) >= len(mine) - 2  # float64 may miss one whose x are thinner than a pixel
        assert ticks == choose_level_ticks(mine, label, mark)._asdict()


def test_the_figure_has_them_and_says_where_jumps_are_not_drawn():
    layout = make_curve_spec(curves_of("fp4_e2m1", (-8.0, 8.0)))["layout"]
    assert layout["yaxis"]["ticktext"][0] == "−6"
    assert layout["annotations"] == []
    cut = explorer.figure(explorer.sample("formula: fp(x, 5, -10, 448)", "default", start=-448, stop=448))
    assert [each.text for each in cut.layout.annotations] == ["more than 512 kinks: drawn as a line"]
    assert cut.layout.yaxis.minor.tickvals is None
    assert all("markers" not in (trace.mode or "") for trace in cut.data)

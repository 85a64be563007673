"""Axes of values: ranges that hold what is drawn, begin where they should and never jump back."""

import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.frontend.modules import Node

GROWN = """
    const { AXES, RANGES } = await import("./train/charts/axes.js");
    const scale = { kind: given.kind, chance: given.chance ?? null };
    let range = null;
    const ranges = given.values.map((_, at) =>
        (range = RANGES[given.kind](range, [{ x: [], y: given.values.slice(0, at + 1) }], scale)));
    return { ranges, ticks: range && AXES[given.kind](range).ticktext };
"""


def grown(node: Node, kind: str, values: list[Any], **more: Any) -> tuple[list[Any], list[str]]:
    """The range after each value of a curve, and the ticks in the end."""
    result = node.run(GROWN, {"kind": kind, "values": values, **more})
    return result["ranges"], result["ticks"]


@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=9))
def test_a_loss_has_whole_decades_that_hold_it_and_only_grow(node: Node, values: list[float]):
    ranges, _ = grown(node, "decades", values)
    assert all(low % 1 == high % 1 == 0 and low < high for low, high in ranges)
    assert all(b[0] <= a[0] and b[1] >= a[1] for a, b in pairwise(ranges))
    low, high = ranges[-1]
    assert low <= math.log10(min(values)) + 1e-9
    assert high >= min(math.log10(max(values)), math.log10(values[0]) + 3) - 1e-9


def test_the_axis_of_a_moving_curve_leaps_ahead_of_a_falling_loss(node: Node):
    """It holds all values, and grows less often than they fall."""
    body = """const { leapAhead } = await import("./train/charts/axes.js");
        let range = [-1, 0];
        const fall = low => (range = low < range[0] ? leapAhead("decades", range, [low, 0]) : range);
        return [given.map(fall), leapAhead("cosine", [0, 1], [-0.5, 1])];"""
    falls = range(-1, -15, -1)
    ranges, of_cosines = node.run(body, [*falls])
    assert all(low % 1 == 0 and low <= value for (low, _), value in zip(ranges, falls, strict=True))
    assert {high for _, high in ranges} == {0}
    assert len({low for low, _ in ranges}) == 6
    assert of_cosines == [-0.5, 1]


def test_a_loss_has_no_axis_if_nowhere_above_0_and_one_that_holds_its_band(node: Node):
    assert grown(node, "decades", [0, None, -1])[0] == [None] * 3
    body = 'return (await import("./train/charts/axes.js")).RANGES.decades(null, [given], {});'
    curve = {"x": [0], "y": [0.3], "low": [0.02], "high": [30]}
    assert node.run(body, curve) == [-2, 2]


@pytest.mark.parametrize(
    ("kind", "values", "chance", "range_", "ticks"),
    [
        ("share", [0.5, 0.9], 0.1, [0, 1], ["0", "25", "50", "75", "100"]),
        ("share", [0.5, 0.9], 0.5, [0.4, 1], ["40", "60", "80", "100"]),
        ("share", [0.3], 0.5, [0, 1], ["0", "25", "50", "75", "100"]),
        ("fit", [0.2], None, [0, 1], ["0", "0.25", "0.5", "0.75", "1"]),
        ("fit", [-7], None, [-1, 1], ["−1", "−0.5", "0", "0.5", "1"]),
        ("cosine", [-0.6, 0.9], None, [-1, 1], ["−1", "−0.5", "0", "0.5", "1"]),
        ("cosine", [0.3], None, [0, 1], ["0", "0.25", "0.5", "0.75", "1"]),
    ],
)
def test_a_score_has_the_axis_of_its_kind(node, kind, values, chance, range_, ticks):
    ranges, written = grown(node, kind, values, chance=chance)
    assert (ranges[-1], written) == (range_, ticks)


def test_scores_at_the_ends_of_curves_have_the_decimals_of_the_table(node: Node):
    """95.5 % is neither 95 nor 96; where the least spread needs two decimals, the ends have two as well."""
    body = """
        const { VALUES } = await import("./train/charts/axes.js");
        const { makeCurveTrace } = await import("./train/charts/traces.js");
        const curve = { name: "A", x: [0, 1], y: [0.5, 0.9464], low: [0.4, 0.8], high: [0.6, 0.99] };
        const hover = ["share", "fit", "decades"].map((kind) =>
            makeCurveTrace(curve, { kind, decimals: 3 }).hovertemplate);
        const usual = [0.955, 0.9464, 1, 0].map((x) => VALUES.share(x));
        return [...usual, VALUES.share(0.9464, 2), VALUES.fit(0.83126, 2), ...hover];
    """
    assert node.run(body) == [
        "95.5", "94.6", "100.0", "0.0", "94.64", "0.83",
        "%{customdata[0]:.3f} ± %{customdata[1]:.3f} %", "%{customdata[0]:.3f} ± %{customdata[1]:.3f}",
        "%{customdata[0]:.4~g}, seeds %{customdata[2]:.4~g} to %{customdata[3]:.4~g}",
    ]  # fmt: skip

"""The arithmetic of views and axes, at any depth."""

import random
from typing import Any

import pytest

from tests.frontend.modules import Node

RANDOM = random.Random(7)
CENTRES = [0.0, 1.0, -1.0, 0.1, 123.456, -99999.5, 999_999.0, 1e-6]


def ranges() -> list[list[float]]:
    """Ranges of all widths that float64 tells apart around some centres."""
    result = []
    for centre in CENTRES:
        for exponent in range(-12, 7):
            width = max(10.0**exponent * RANDOM.uniform(1, 10), 1e-11 * abs(centre))
            result.append([max(centre - width * RANDOM.random(), -1e6), min(centre + width, 1e6)])
    return result


def called(node: Node, module: str, body: str, cases: Any) -> Any:
    """The value of an expression in ``c`` for each case, with the names of a module of the chart in ``m``."""
    loaded = f'const m = await import("./chart/scene/{module}.js")'
    return node.run(f"{loaded}; return given.map(c => {body});", cases)


def test_ticks_are_few_different_and_where_they_say(node: Node) -> None:
    cases = [(view, most, letters) for view in ranges() for most in (1.5, 3, 8) for letters in (5, 8)]
    results = called(node, "axes", "m.makeTicks(...c)", cases)
    for (view, most, letters), result in zip(cases, results, strict=True):
        start, stop = view
        values, texts = result["values"], result["texts"]
        assert 2 <= len(values) <= most + 2
        assert len(set(texts)) == len(texts)
        assert max(map(len, texts)) <= letters
        for value, text in zip(values, texts, strict=True):
            said = result["base"] + float(text.replace("−", "-")) * 10.0 ** result["exponent"]
            assert said == pytest.approx(value, abs=1e-3 * (stop - start) + 1e-15 * abs(value))
            assert start - 1e-5 * (stop - start) <= value <= stop + 1e-5 * (stop - start)


@pytest.mark.parametrize(
    ("view", "letters", "texts", "base", "exponent"),
    [
        ([100_000, 100_001], 8, ["100000.0", "100000.5", "100001.0"], 0, 0),
        ([100_000, 100_000.001], 8, ["0.0000", "0.0005", "0.0010"], 100_000, 0),
        ([1 - 1e-9, 1 + 1e-9], 8, ["−1", "0", "1"], 1, -9),
        ([-300_000, 300_000], 5, ["−2", "0", "2"], 0, 5),
        ([-0.002, 0.002], 5, ["−2", "0", "2"], 0, -3),
        ([12_345.02, 12_345.06], 5, ["−0.02", "0.00", "0.02"], 12_345.04, 0),
    ],
)
def test_labels_are_plain_where_they_are_short(node, view, letters, texts, base, exponent):
    (result,) = called(node, "axes", "m.makeTicks(...c)", [[view, 3, letters]])
    assert (result["texts"], result["base"], result["exponent"]) == (texts, base, exponent)


@pytest.mark.parametrize(
    ("base", "exponent", "title"),
    [(0, 0, "x"), (1, -9, "x − 1, in 10⁻⁹"), (-0.25, 0, "x + 0.25"), (0, 12, "x, in 10¹²")],
)
def test_the_title_says_what_ticks_leave_out(node: Node, base: float, exponent: int, title: str) -> None:
    assert called(node, "axes", "m.formatTitle('x', c)", [{"base": base, "exponent": exponent}]) == [title]


def test_a_zoom_keeps_its_point_and_a_move_its_width(node: Node) -> None:
    cases = [(view, RANDOM.random(), 10 ** RANDOM.uniform(-0.5, 0.5)) for view in ranges()]
    zooms = called(node, "view", "m.zoomView(c[0], c[0][0] + c[1] * (c[0][1] - c[0][0]), c[2])", cases)
    shifts = called(node, "view", "m.moveView(c[0], c[1] - 0.5)", cases)
    for (view, share, factor), zoomed, moved in zip(cases, zooms, shifts, strict=True):
        width, wide = view[1] - view[0], zoomed[1] - zoomed[0]
        assert zoomed[0] < zoomed[1]
        assert -1e6 <= zoomed[0] <= zoomed[1] <= 1e6
        assert wide >= 0.99e-12 * max(map(abs, view))
        if max(map(abs, zoomed)) < 1e6 and wide > 2e-12 * max(map(abs, view)):
            assert wide == pytest.approx(factor * width, rel=1e-3)
            assert zoomed[0] + share * wide == pytest.approx(view[0] + share * width, abs=1e-3 * wide)
        assert moved[1] - moved[0] == pytest.approx(width, rel=1e-3)
        assert -1e6 <= moved[0] <= moved[1] <= 1e6


def test_zooming_in_or_out_comes_to_an_end(node: Node) -> None:
    zoom = "Array(400).fill().reduce(view => m.zoomView(view, c[0], c[1]), [c[0] - 1, c[0] + 1])"
    deep = called(node, "view", zoom, [[centre, 0.8] for centre in (1.0, -123.456, 3e5)])
    for centre, (start, stop) in zip((1.0, -123.456, 3e5), deep, strict=True):
        assert start < centre < stop
        assert stop - start == pytest.approx(1e-12 * abs(centre), rel=0.3)
    assert called(node, "view", zoom, [[0.0, 1.3]]) == [[-1e6, 1e6]]


def test_a_view_has_no_digits_that_nobody_sees(node: Node) -> None:
    assert called(node, "view", "m.zoomView(...c)", [[[-3, 3], 0.1, 1 / 3]]) == [[-0.9333, 1.0667]]


def test_pinched_points_stay_under_the_fingers(node: Node) -> None:
    (result,) = called(node, "view", "m.pinchView(...c)", [[[0, 10], [0.4, 0.6], [0.2, 0.7]]])
    assert result == pytest.approx([3.2, 7.2])

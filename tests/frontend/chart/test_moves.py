"""Lines and bars moved between two drawings of Plotly."""

from tests.frontend.modules import Node


def test_moved_bars_are_stacked(node: Node) -> None:
    body = """
        const { moveTraces } = await import("./chart/plotly/moves.js");
        const drawn = [];
        const path = () => ({ setAttribute: (_, text) => drawn.push(text) });
        const bars = [1, 2, 3].map(() => ({ querySelectorAll: () => [path()] }));
        const axis = { d2p: (value) => 10 * value };
        moveTraces({
          data: [{}, {}, {}],
          _fullData: Array(3).fill({ xaxis: "x", yaxis: "y" }),
          querySelector: () => null,
          _fullLayout: { xaxis: axis, yaxis: axis },
          querySelectorAll: (selector) => (selector.includes("bar") ? bars : []),
        }, [1, 2, 3].map((y) => ({ type: "bar", x: [1], y: [y] })));
        return drawn;
    """
    assert node.run(body, {}) == ["M5,0V10H15V0Z", "M5,10V30H15V10Z", "M5,30V60H15V30Z"]


def test_a_line_moves_with_its_own_trace_after_a_highlight_has_changed_the_order(node: Node) -> None:
    body = """
        const { moveTraces } = await import("./chart/plotly/moves.js");
        const drawn = {};
        const lines = ["b", "a"].map((uid) => [`trace${uid}`, {
          querySelectorAll: () => [{ setAttribute: (_, text) => (drawn[uid] = text) }],
          querySelector: () => null,
        }]);
        const axis = { d2p: (value) => value };
        moveTraces({
          data: [{}, {}],
          _fullData: ["a", "b"].map((uid) => ({ uid, xaxis: "x", yaxis: "y" })),
          _fullLayout: { xaxis: axis, yaxis: axis },
          querySelector: (selector) => lines.find(([name]) => selector.endsWith(name))[1],
          querySelectorAll: (selector) => (selector.includes("bar") ? [] : lines.map(([, line]) => line)),
        }, [5, 7].map((y) => ({ type: "scatter", x: [1, 2], y: [y, y] })));
        return drawn;
    """
    assert node.run(body, {}) == {"a": "M1,5L2,5", "b": "M1,7L2,7"}

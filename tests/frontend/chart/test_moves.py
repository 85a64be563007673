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
          _fullLayout: { xaxis: axis, yaxis: axis },
          querySelectorAll: (selector) => (selector.includes("bar") ? bars : []),
        }, [1, 2, 3].map((y) => ({ type: "bar", x: [1], y: [y] })));
        return drawn;
    """
    assert node.run(body, {}) == ["M5,0V10H15V0Z", "M5,10V30H15V10Z", "M5,30V60H15V30Z"]

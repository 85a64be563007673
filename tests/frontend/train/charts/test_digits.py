"""A score at the end of its curve has the decimals that it has in the sentence and in the table."""

from tests.frontend.modules import Node


def test_an_accuracy_at_the_end_of_a_curve_has_the_decimals_of_the_table(node: Node):
    """95.5 % is neither 95 nor 96."""
    body = (
        'const { VALUES } = await import("./train/charts/axes.js"); return given.map((x) => VALUES.share(x));'
    )
    assert node.run(body, [0.955, 0.9464, 1, 0]) == ["95.5", "94.6", "100.0", "0.0"]


def test_scores_that_are_compared_have_the_decimals_of_the_table(node: Node):
    """Where the least spread needs two decimals in the table, the ends of the curves have two as well."""
    body = """
        const { VALUES } = await import("./train/charts/axes.js");
        const { makeCurveTrace } = await import("./train/charts/traces.js");
        const curve = { name: "A", x: [0, 1], y: [0.5, 0.9464], low: [0.4, 0.8], high: [0.6, 0.99] };
        const hover = ["share", "fit", "decades"].map((kind) =>
            makeCurveTrace(curve, { kind, decimals: 3 }).hovertemplate);
        return [VALUES.share(0.9464, 2), VALUES.fit(0.83126, 2), ...hover];
    """
    assert node.run(body, None) == [
        "94.64", "0.83",
        "%{customdata[0]:.3f} ± %{customdata[1]:.3f} %", "%{customdata[0]:.3f} ± %{customdata[1]:.3f}",
        "%{customdata[0]:.4~g}, seeds %{customdata[2]:.4~g} to %{customdata[3]:.4~g}",
    ]  # fmt: skip

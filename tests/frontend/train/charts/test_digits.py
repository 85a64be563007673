"""A score at the end of its curve has the decimals that it has in the sentence and in the table."""

from tests.frontend.modules import Node


def test_an_accuracy_at_the_end_of_a_curve_has_the_decimals_of_the_table(node: Node):
    """95.5 % is neither 95 nor 96."""
    body = """
        const { VALUES } = await import("./train/charts/axes.js");
        return given.map(VALUES.share);
    """
    assert node.run(body, [0.955, 0.9464, 1, 0]) == ["95.5", "94.6", "100.0", "0.0"]

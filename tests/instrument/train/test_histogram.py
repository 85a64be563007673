"""What the histogram of pre-activations says."""

from __future__ import annotations

from tests.instrument.modules import Node

WORDS = """
    const { histogramWords } = await import("./train/histogram.js");
    const gradients = { zero_counts: Int32Array.of(2, 0), passed_counts: Int32Array.of(0, given) };
    return histogramWords("Sigmoid surrogate", gradients, true);
"""


def test_a_gradient_that_is_rounded_to_0_is_0_in_float32(node: Node):
    """A sigmoid's slope is above 0 everywhere; 1 − sigmoid(18) is 0 in float32 alone."""
    words = "of the pre-activations get gradient 0 in float32 (grey)"
    assert node.run(WORDS, 2) == f"Sigmoid surrogate: 50 % {words}"
    assert node.run(WORDS, 1000) == f"Sigmoid surrogate: less than 1 % {words}"

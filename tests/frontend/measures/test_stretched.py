"""The kinks of a format while its scale is dragged: those of another scale, stretched."""

import numpy as np
import pytest

from explorer.catalogue import find_op, values
from explorer.instrument.entries import entry
from tests.frontend.modules import Node

SCRIPT = """
const { kinksWithin } = await import("./measures/stretched.js");
const { opKinks } = await import("./formula/curves.js");
const span = [-3, 3];
const at = (find) => {
  let asked = 0; // for the scale: at each look at the formula
  const found = given.drag.map(([{ s, ...others }, far]) => {
    const parameters = { ...others };
    Object.defineProperty(parameters, "s", { enumerable: true, get: () => (asked += 1) && s });
    const kinks = find(given.op, parameters, span, [-3 - far, 3 + far]);
    return kinks && Float64Array.from(kinks);
  });
  return { found, asked };
};
return { searched: at(opKinks), stretched: at(kinksWithin) };
"""
# As a hand drags a scale, with how far the noise reaches: down, up, and wider on the way.
DRAG = [(0.7 - 0.005 * step, 2.0) for step in range(60)] + [(0.4 + 0.01 * step, 2.5) for step in range(60)]


@pytest.mark.parametrize(
    ("op", "stretches"),
    [
        ("fp8_e4m3", True),
        ("fp8_e5m2", True),
        ("formula: float8_e5m2(x / s) * s + k", True),
        ("formula: round(x / s) * s + x", False),
        ("formula: round(x / s - mean(abs(x / s))) * s", False),
    ],
)
def test_a_dragged_scale_has_the_kinks_that_a_search_finds(node: Node, op: str, stretches: bool) -> None:
    record = find_op(op)
    drag = [(values(record, None, {"s": s}), far) for s, far in DRAG]
    found = node.run(SCRIPT, {"op": entry(record), "drag": drag})
    searched, stretched = found["searched"], found["stretched"]
    for ours, wanted in zip(stretched["found"], searched["found"], strict=True):
        inside = [each[np.abs(each) < 4.999] for each in (ours, wanted)]  # rounding decides at the ends
        np.testing.assert_allclose(*inside, rtol=1e-13, atol=1e-12)
    assert len(stretched["found"][0]) > 5
    assert (stretched["asked"] < searched["asked"] / 2) == stretches


def test_a_mean_over_a_reference_is_taken_once(node: Node) -> None:
    script = """
    const { evaluate } = await import("./formula/evaluation.js");
    let reads = 0;
    const reference = { get x() { reads += 1; return Float64Array.of(-1, 2, 5); }, parameters: {} };
    const other = { x: Float64Array.of(4), parameters: {} };
    const of = (x, reference) => evaluate(given, { x: Float64Array.of(x), parameters: {}, reference })[0];
    const first = of(1, reference);
    const before = reads;
    return [first, of(2, reference), of(2, other), reads - before];
    """
    tree = ["*", ["name", "x"], ["call", "mean", ["name", "x"]]]
    assert node.run(script, tree) == [2, 4, 8, 0]

"""The noise lens in the browser's numbers against Python's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from explorer.catalogue import find_op, values
from explorer.catalogue.noises import NOISES
from explorer.instrument.document import noises
from explorer.instrument.entries import entry
from explorer.lens import distance, seen
from explorer.lens.means import growth
from explorer.lens.parts import curves_of, parts_of
from explorer.lens.smoothing import smoothed
from tests.frontend.modules import Node

SCRIPT = """
const { distanceOf, seenThrough } = await import("./measures/lens.js");
const { valuesOf } = await import("./formula/curves.js");
const { op, parameters, noise, width, span } = given;
const found = seenThrough(op, valuesOf(op, null, parameters), noise, width, span);
return { ...found, own: String(distanceOf(found.x, found.gradient, found.x.map(Math.cos))) };
"""
USUAL = "round sign fraction relu hardtanh tanh gelu softplus hardswish softshrink sin cube exp log"
OPS: dict[str, dict[str, float]] = {
    **{op: {} for op in USUAL.split()},
    **{op: {} for op in ("reciprocal", "absmean_ternary", "fp4_e2m1", "fp8_e4m3", "formula: 2")},
    **{f"formula: {text}": {} for text in ("floor(x) * sin(x) + abs(x)", "x + detach(round(x) - x)")},
    **{
        "quantize": {"s": 0.3},
        "leaky_relu": {"slope": 0.2},
        "celu": {"alpha": 0.5},
        "soft_round": {"a": 6.0},
    },
}
MANY_TERMS = ("round", "soft_round", "fp8_e4m3")  # which a few nodes stand for


def in_browser(node: Node, op: str, parameters: dict[str, float], noise: str, width: float) -> dict[str, Any]:
    """x, gradient and reason as the browser computes them."""
    given = {"op": entry(find_op(op)), "parameters": parameters, "noise": noises()[noise], "width": width}
    found: dict[str, Any] = node.run(SCRIPT, given | {"span": [-3, 3]})
    return found


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("op", "parameters"), OPS.items())
def test_the_browser_sees_what_python_sees(
    node: Node, op: str, parameters: dict[str, float], noise: str
) -> None:
    record, law, span = find_op(op), NOISES[noise], (-3.0, 3.0)
    settled = values(record, None, parameters)
    for width in (0.2, 1.3, *([4.0] if op in MANY_TERMS and noise != "cauchy" else [])):
        found = in_browser(node, op, parameters, noise, width)
        assert found["reason"] == seen(record, settled, law, width, span)[2]
        if found["reason"]:
            continue
        curves = curves_of(record, settled, span)
        assert curves
        _, reach = growth(curves[0], law, width)
        parts = parts_of(record, settled, span, reach)
        assert parts
        wanted = smoothed(parts, law, width, reach, torch.from_numpy(found["x"].copy())).numpy()
        size = np.abs(np.nan_to_num(wanted)).max(initial=1)
        near = 1e-4 if noise == "cauchy" else 1e-7  # which has no end
        np.testing.assert_allclose(found["gradient"], wanted, rtol=1e-6, atol=near * size)
        if np.nanmax(np.abs(wanted)) < 1e-6:
            continue  # rounding, of which no distance is a share
        own = distance(found["x"], wanted, np.cos(found["x"]))
        assert float(found["own"].lower()) == pytest.approx(own, rel=10 * near, abs=10 * near)

"""Numbers as Python and NumPy write them, and tables as pandas does: in node."""

import math
import random

import numpy as np
import pandas as pd

from explorer.catalogue import FORMULA_PREFIX
from explorer.curves import Curves, sample_curves
from tests.frontend.modules import Node

TEXTS = """
    const { formatFloat, formatFloat32 } = await import("./formula/python.js");
    return [given.doubles.map(formatFloat), given.singles.map(formatFloat32)];
"""
TABLES = """
    const { makeCsv } = await import("./measures/csv.js");
    const numbers = (values) => given.single ? Float32Array.from(values) : Float64Array.from(values);
    const read = (texts) => numbers(texts.map(Number));
    const all = (columns) => Object.fromEntries(Object.entries(columns).map(([key, of]) => [key, read(of)]));
    const { x, y, gradients, parts } = given;
    const drawn = given.drawn && { spread: all(given.drawn.spread), exact: { y: read(given.drawn.exact) } };
    const curves = { x: read(x), y: read(y), gradients: all(gradients), parts: all(parts), drawn };
    return makeCsv(curves, Object.keys(gradients), given.learning);
"""


def numbers() -> list[float]:
    rng = random.Random(2)
    edges = [
        *(0.0, 1.0, -1.0, 0.1, 1e-4, 9.999e-5, 1e-5, 1e15, 1e16, 123456789.0, 1e7, 9999999.0, 9999999.5),
        *(16777216.0, 123456.7, 1e22, 5e-324, 1.7e308, 2.5e-7),
    ]
    near = [rng.uniform(-1, 1) * 10.0 ** rng.randint(-6, 20) for _ in range(2000)]
    return [*edges, *near, *(rng.uniform(-1, 1) * 10.0 ** rng.randint(-300, 300) for _ in range(2000))]


def test_numbers_are_written_as_in_python(node: Node) -> None:
    doubles = numbers()
    singles = [float(np.float32(x)) for x in doubles if abs(x) < 3e38]
    long, short = node.run(TEXTS, {"doubles": doubles, "singles": singles})
    assert long == [repr(x) for x in doubles]
    assert short == [str(np.float32(x)) for x in singles]


def test_a_table_is_that_of_pandas(node: Node) -> None:
    odd = f"{FORMULA_PREFIX}where(x > 0, g, log(x))"
    for curves in (
        sample_curves("reciprocal", ["default", odd], start=-1, stop=1, points=11),
        sample_curves("quantize", ["lsq", "zero", "default"], learns="s", points=31, s=0.3),
        sample_curves("tanh", "default", points=51, dtype="float64"),
        sample_curves("bernoulli", ["sigmoid_st", "reinmax"], points=31),
        sample_curves("gaussian_noise", ["default", "zero"], learns="s", points=31, dtype="float64"),
    ):
        assert node.run(TABLES, sent(curves)) == curves.frame.to_csv(index=False)


def test_a_text_with_a_comma_or_a_quotation_mark_is_a_field_as_in_pandas(node: Node) -> None:
    texts = ["plain", "a, b", 'so "called"', 'both, "so"']
    script = 'const { quote } = await import("./measures/csv.js"); return given.map(quote);'
    assert node.run(script, texts) == pd.Series(texts).to_csv(index=False, header=False).split("\n")[:-1]


def sent(curves: Curves) -> dict[str, object]:
    def texts(values: object) -> list[str]:
        named = {math.inf: "Infinity", -math.inf: "-Infinity"}
        return [named.get(x, repr(x)) if x == x else "NaN" for x in map(float, np.asarray(values))]

    return {
        "single": curves.x.dtype == np.float32,
        "learning": bool(curves.learns),
        "x": texts(curves.x),
        "y": texts(curves.y),
        "gradients": {key: texts(values) for key, values in curves.gradients.items()},
        "parts": {key: texts(values) for key, values in curves.parts.items()},
        "drawn": curves.unbiased is not None
        and {
            "spread": {key: texts(values) for key, values in curves.spreads.items()},
            "exact": texts(curves.unbiased),
        },
    }

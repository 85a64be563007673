"""Curves as CSV: every number reads back as itself, in node."""

import random
from io import StringIO

import numpy as np
import pandas as pd

from explorer.catalogue import FORMULA_PREFIX
from explorer.curves import sample_curves
from tests.frontend.modules import Node

TEXTS = """
    const { formatExact } = await import("./formula/numbers.js");
    return [Float64Array, Float32Array].map((kind) => {
        const numbers = kind.from(given);
        return [...numbers].map((value) => formatExact(value, numbers));
    });
"""
TABLES = """
    const { makeCsv } = await import("./measures/csv.js");
    return makeCsv(given, Object.keys(given.gradients), given.learning);
"""


def test_numbers_read_back_as_themselves_with_as_few_digits_as_numpy_takes(node: Node) -> None:
    rng = random.Random(2)
    doubles = [0.0, 1.0, -1.0, 0.1, 1e-5, 1e16, 123456789.0, 9999999.5, 16777216.0, 2.5e-7, 1e-40]
    doubles += [rng.uniform(-1, 1) * 10.0 ** rng.randint(-30, 30) for _ in range(2000)]
    singles = [np.float32(x) for x in doubles]
    long, short = node.run(TEXTS, doubles)
    assert [*map(float, long)] == doubles
    assert [np.float32(text) for text in short] == singles
    for text, single in zip(short, singles, strict=True):
        assert count_digits(text) <= count_digits(str(single)), text


def count_digits(text: str) -> int:
    return len(text.partition("e")[0].replace(".", "").strip("-0"))


def test_a_table_holds_the_numbers_of_the_data_frame(node: Node) -> None:
    odd = f"{FORMULA_PREFIX}where(x > 0, g, log(x))"
    for curves in (
        sample_curves("reciprocal", ["default", odd], start=-1, stop=1, points=11),
        sample_curves("quantize", ["lsq", "zero", "default"], learns="s", points=31, s=0.3),
        sample_curves("tanh", "default", points=51, dtype="float64"),
        sample_curves("bernoulli", ["sigmoid_st", "reinmax"], points=31),
        sample_curves("gaussian_noise", ["default", "zero"], learns="s", points=31, dtype="float64"),
    ):
        given = {"x": curves.x, "y": curves.y, "gradients": {**curves.gradients}, "parts": {**curves.parts}}
        if curves.unbiased is not None:
            given["drawn"] = {"spread": {**curves.spreads}, "exact": {"y": curves.unbiased}}
        csv = node.run(TABLES, given | {"learning": bool(curves.learns)})
        found = pd.read_csv(StringIO(csv)).astype(curves.frame.dtypes)
        pd.testing.assert_frame_equal(found, curves.frame, check_exact=True)


def test_a_text_with_a_comma_or_a_quotation_mark_is_a_field_as_in_pandas(node: Node) -> None:
    texts = ["plain", "a, b", 'so "called"', 'both, "so"']
    quoted = [node.call("measures/csv.js quote", text) for text in texts]
    assert quoted == pd.Series(texts).to_csv(index=False, header=False).splitlines()

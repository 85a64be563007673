"""The numbers of a format in the browser, against torch's codes and the values of the op."""

from itertools import pairwise

import pytest
import torch

from explorer.catalogue import OPS, find_op
from explorer.gradient import apply
from explorer.instrument.entries import make_entry
from tests.formula.test_formats import CASTS, bits, codes, hard_points
from tests.frontend.modules import Node

ALL = """
    const formats = await import("./measures/formats.js");
    const { createScopeAt } = await import("./formula/curves.js");
    return given.map(([op, parameters, xs]) => {
      const { tree } = op;
      const format = formats.findFormat(tree, parameters);
      const octaves = format && formats.listOctaves(format);
      const scopeAt = createScopeAt(op, parameters, { start: -3, stop: 3, g: 1 });
      const landings = xs.map((x) => formats.findLanding(tree, x, parameters, scopeAt));
      if (!octaves) return [format, null, null, null, landings];
      return [format, octaves, formats.listNumbers(octaves), formats.countNumbers(octaves), landings];
    });
"""
CODES = {"fp8_e4m3": torch.float8_e4m3fn, "fp8_e5m2": torch.float8_e5m2}


def asked(node: Node, op: str, parameters: dict[str, float], xs: list[float]) -> list:
    (answer,) = node.run(ALL, [[make_entry(find_op(op)), parameters, xs]])
    return answer


@pytest.mark.parametrize("op", CODES)
def test_the_numbers_of_a_format_are_torchs_codes(node: Node, op: str) -> None:
    format_, octaves, numbers, count, _ = asked(node, op, {"s": 1.0}, [])
    every = codes(CODES[op]).tolist()
    assert numbers == [value for value in every if value >= 0]
    assert count == len(every)
    assert format_["largest"] == every[-1]
    assert sum(octave["count"] for octave in octaves) == len(numbers)
    for octave in octaves:
        inside = [value for value in numbers if octave["from"] <= value <= octave["to"]]
        assert {b - a for a, b in pairwise(inside)} <= {octave["step"]}


@pytest.mark.parametrize("text", CASTS)
def test_the_browser_rounds_as_torch_at_every_code_midpoint_and_neighbour(node: Node, text: str) -> None:
    dtype, top = CASTS[text]
    x = hard_points(codes(dtype), torch.float32)
    x = x[x.isfinite()]
    found = node.run(
        """
        const { evaluate } = await import("./formula/evaluation.js");
        return evaluate(given.tree, { x: given.x, parameters: {} });
        """,
        {"tree": make_entry(find_op("formula: " + text))["tree"], "x": x.double().numpy()},
    )
    due = x.clamp(-top, top).to(dtype).double()
    assert torch.equal(bits(torch.tensor(found)), bits(due))


def test_e2m1_has_fifteen_numbers(node: Node) -> None:
    _, _, numbers, count, _ = asked(node, "fp4_e2m1", {"s": 0.5}, [])
    assert (numbers, count) == ([0, 0.5, 1, 1.5, 2, 3, 4, 6], 15)


def test_an_x_lands_on_a_number_of_the_format_between_its_neighbours(node: Node) -> None:
    xs = [0.3, 0.0, -0.3, 448.0, 1e4, -1e4, 0.001, 2.0, 0.25]
    *_, landings = asked(node, "fp8_e4m3", {"s": 2.0}, xs)
    y = OPS["fp8_e4m3"].parsed.bind({"s": 2.0})(torch.tensor(xs, dtype=torch.float64))
    every = codes(torch.float8_e4m3fn).tolist()
    for landing, x, value in zip(landings, xs, y.tolist(), strict=True):
        at = every.index(landing["value"])
        assert (landing["x"], landing["y"], landing["value"]) == (x, value, value / 2)
        assert landing["before"] == (every[at - 1] if at else None)
        assert landing["after"] == (every[at + 1] if at + 1 < len(every) else None)
        assert landing["isBeyond"] == (abs(x / 2) > every[-1])


def test_a_mean_in_an_op_is_over_the_range_and_not_over_the_x_that_lands(node: Node) -> None:
    op = "formula: fp(x / mean(abs(x)), 1, 0, 6) * mean(abs(x))"
    *_, (landing,) = asked(node, op, {}, [2.8])
    assert landing["value"] == 2
    assert landing["y"] == pytest.approx(3, rel=1e-3)


LEVELS = """
    const { formatExact, findLevels } = await import("./measures/formats.js");
    return given.map(([op, start, stop]) => {
      const levels = findLevels(op, {}, { start, stop });
      return levels && [levels, levels.map(formatExact)];
    });
"""


def test_an_op_of_levels_shows_those_in_view(node: Node) -> None:
    ops = ["seq", "fake_quantize", "absmean_ternary", "round", "relu", "floor"]
    spans = [(-3, 3)] * 5 + [(-1e4, 1e4)]
    found = node.run(LEVELS, [[make_entry(find_op(op)), *span] for op, span in zip(ops, spans, strict=True)])
    seq, fake, ternary, rounded, relu, many = found
    assert seq == [[-0.75, -0.25, 0.25, 0.75], ["−0.75", "−0.25", "0.25", "0.75"]]
    usual = apply("fake_quantize", "zero", torch.linspace(-3, 3, 6001))
    assert fake[0] == sorted({value + 0.0 for value in usual.tolist()})
    assert ternary[0] == pytest.approx([-1.5, 0, 1.5], rel=1e-3)
    assert rounded[1] == ["−3", "−2", "−1", "0", "1", "2", "3"]
    assert relu is many is None


def test_numbers_are_written_exactly_where_that_is_short(node: Node) -> None:
    due = {
        57344.0: "57344", 0.28125: "0.28125", 0.0546875: "0.0546875", -448.0: "−448", 0.0: "0",
        6 * 0.3: "1.8", 2.0**-9: "2⁻⁹", 7 * 2.0**-16: "7·2⁻¹⁶", -3 * 2.0**-16: "−3·2⁻¹⁶",
        1 / 3: "0.3333333", 2.0**127: "2¹²⁷",
    }  # fmt: skip
    assert [node.call("measures/formats.js formatExact", value) for value in due] == list(due.values())


@pytest.mark.parametrize("op", CODES)
def test_the_text_of_each_number_of_a_format_is_exact(node: Node, op: str) -> None:
    texts = """
        const { formatExact, findFormat, listNumbers, listOctaves } = await import("./measures/formats.js");
        return listNumbers(listOctaves(findFormat(given, { s: 1 }))).map((each) => [each, formatExact(each)]);
    """
    small = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    for value, text in node.run(texts, make_entry(OPS[op])["tree"]):
        plain = text.translate(small)
        factor, _, power = plain.rpartition("·2") if "·" in text else ("1", "", plain[1:])
        assert (float(text) if plain == text else int(factor) * 2.0 ** int(power)) == value


def test_an_op_without_a_format_has_none_and_a_wide_one_is_not_listed(node: Node) -> None:
    assert asked(node, "round", {}, [0.3]) == [None, None, None, None, [None]]
    format_, octaves, *_ = asked(node, "formula: fp(x, 23, -126, 3.4e38)", {}, [])
    assert format_["mantissa"] == 23
    assert octaves is None


def test_parameters_of_a_format_are_read_as_fp_reads_them(node: Node) -> None:
    format_, *_ = asked(node, "formula: fp(x, m, e0, top)", {"m": 1.4, "e0": -0.2, "top": -6.0}, [])
    assert format_ == {"mantissa": 1, "least": 0, "largest": 6}

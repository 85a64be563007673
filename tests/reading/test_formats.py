"""Casts to number formats and torch's fake quantisation in pasted code, and what is refused."""

import pytest
import torch

from explorer.catalogue import find_op, find_rule
from explorer.formula.measured import e4m3_saturates
from explorer.reading import ReadingError, read_source
from tests.reading.sample import function


def reading_of(expression: str, backward: str = "grad_output") -> tuple[str, str]:
    op, rule = read_source(function(f"return {expression}", f"return {backward}"))
    return find_op(op).formula, find_rule(rule).formula


@pytest.mark.parametrize("expression", [
    "x.to(torch.float8_e4m3fn).to(x.dtype)", "x.to(dtype=torch.float8_e4m3fn).float()",
    "x.type(torch.float8_e4m3fn).type_as(x)",
])  # fmt: skip
def test_a_cast_there_and_back_is_its_function(expression: str) -> None:
    due = "float8_e4m3fn(x)" if e4m3_saturates() else "where(abs(x) > 464, 0 / 0, float8_e4m3fn(x))"
    assert reading_of(expression) == (due, "g")


def test_a_cast_to_e5m2_keeps_torchs_infinity() -> None:
    op, rule = reading_of("x.to(torch.float8_e5m2).to(x.dtype)", "grad_output.to(torch.float8_e5m2).float()")
    assert op == "where(abs(x) >= 61440, sign(x) / 0, float8_e5m2(x))"
    assert rule == "where(abs(g) >= 61440, sign(g) / 0, float8_e5m2(g))"
    x = torch.tensor([61439.0, 61440.0, -1e9, 3.3])
    due = x.to(torch.float8_e5m2).float()
    assert torch.equal(find_op(f"formula: {op}").parsed.bind()(x), due)


@pytest.mark.parametrize("kind", ["int8", "int16", "short"])
def test_an_integer_that_wraps_around_is_read_where_nothing_can(kind: str) -> None:
    dtype = "int16" if kind == "short" else kind
    with pytest.raises(ReadingError, match="wraps around"):
        reading_of(f"(3 * x).to(torch.{dtype}).to(x.dtype)")
    largest = 127 if kind == "int8" else 32767
    x = torch.tensor([-1e6, -3.4, 0.6, 2.5, 1e6])
    op, _ = reading_of(f"x.round().clamp(-{largest}, {largest}).to(torch.{dtype}).to(x.dtype)")
    due = x.round().clamp(-largest, largest).to(getattr(torch, dtype)).to(x.dtype)
    assert torch.equal(find_op(f"formula: {op}").parsed.bind()(x), due)
    assert reading_of(f"x * (x > 0).to(torch.{dtype})")[0] == "x * (x > 0)"


def test_fake_quantisation_per_channel_is_that_per_tensor() -> None:
    """Along a channel there is one scale, as for a whole tensor."""
    tensor = "def fn(x):\n    return torch.fake_quantize_per_tensor_affine(x, 0.25, 3, -8, 7)\n"
    channel = tensor.replace("per_tensor", "per_channel").replace("3, ", "3, 0, ")
    assert read_source(channel) == read_source(tensor)

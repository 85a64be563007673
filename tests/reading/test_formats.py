"""Casts to number formats and torch's fake quantisation in pasted code, and what is refused."""

import pytest
import torch
from torch import Tensor

from explorer.catalogue import find_op, find_rule
from explorer.formula.measured import e4m3_saturates
from explorer.gradient import apply
from explorer.reading import ReadingError, read_source
from tests.reading.low_precision import LOW_PRECISION
from tests.reading.sample import function
from tests.reading.test_published import _check_same, _drawn, _executed, _run


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


@pytest.mark.parametrize("kind", ["float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu", "bfloat16"])
def test_other_formats_are_refused(kind: str) -> None:
    with pytest.raises(ReadingError, match="another number format"):
        reading_of(f"x.to(torch.{kind}).to(x.dtype)")


PLAIN = {
    "cast": "def fn(x):\n    return x.to(torch.float8_e4m3fn).to(x.dtype)\n",
    "bitnet": (
        "def fn(w):\n    scale = 1.0 / w.abs().mean().clamp(min=1e-5)\n"
        "    u = (w * scale).round().clamp(-1, 1) / scale\n    return w + (u - w).detach()\n"
    ),
    "straight through a cast": (
        "def fn(x):\n    q = x.to(torch.float8_e4m3fn).to(x.dtype)\n    return x + (q - x).detach()\n"
    ),
    "fake quantize": "def fn(x):\n    return torch.fake_quantize_per_tensor_affine(x, 0.25, 3, 0, 15)\n",
}


@pytest.mark.parametrize("name", PLAIN)
def test_autograd_through_casts_and_fake_quantisation_is_torchs(name: str) -> None:
    wanted = _executed(_run(PLAIN[name], "fn"))
    got: tuple[Tensor, Tensor] = _drawn(*read_source(PLAIN[name]), {})
    _check_same(got, wanted)


@pytest.mark.parametrize("call", [
    "torch.fake_quantize_per_tensor_affine(x, 0.25, 3, -8, 7)",
    "torch.fake_quantize_per_channel_affine(x, 0.25, 3, 0, -8, 7)",
])  # fmt: skip
def test_fake_quantisation_per_tensor_and_per_channel_is_the_op(call: str) -> None:
    """Along a channel there is one scale, as for a whole tensor."""
    op, rule = read_source(f"def fn(x):\n    return {call}\n")
    x = torch.linspace(-5, 5, 401, dtype=torch.float64)
    given = {"s": 0.25, "z": 3, "qmin": -8, "qmax": 7}
    results = []
    for pair, parameters in (((op, rule), {}), (("fake_quantize", "fake_quantize"), given)):
        leaf = x.clone().requires_grad_()
        y = apply(*pair, leaf, **parameters)
        y.sum().backward()
        results.append((y.detach(), leaf.grad))
    assert torch.equal(results[0][0], results[1][0])
    assert torch.equal(results[0][1], results[1][1])


PARETOQ = """class StretchedElasticQuant(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, alpha, num_bits, layerwise):
        ctx.num_bits = num_bits
        if num_bits >= 16:
            return input
        if num_bits == 1 or num_bits == 0:
            lowest, highest = -1, 1
        else:
            lowest, highest = -(2 ** (num_bits - 1)), 2 ** (num_bits - 1) - 1
        least = torch.tensor(0.00001, device=alpha.device).float()
        alpha = torch.where(alpha > least, alpha, least)
        factor = 1.0 / math.sqrt(input.numel()) if not highest else 1.0 / math.sqrt(input.numel() * highest)
        ctx.save_for_backward(input, alpha)
        clip = 1 - 1e-2
        if num_bits == 0:
            count, shift = 1.5, 0
        else:
            count, shift = 2 ** (num_bits - 1), 0.5
        highest = (count - shift) / count
        lowest = -highest
        ctx.other = factor, lowest, highest, layerwise
        if num_bits == 1:
            level = input.sign()
        else:
            level = (torch.round(torch.clamp(input / alpha, -clip, clip) * count - shift) + shift) / count
        return level * alpha

    @staticmethod
    def backward(ctx, grad_output):
        if ctx.num_bits >= 16:
            return grad_output, None, None, None
        input, alpha = ctx.saved_tensors
        factor, lowest, highest, layerwise = ctx.other
        level = input / alpha
        clip = 1 - 1e-2
        if ctx.num_bits == 0:
            count, shift = 1.5, 0
        else:
            count, shift = 2 ** (ctx.num_bits - 1), 0.5
        below = (level < -clip).float()
        above = (level > clip).float()
        inside = 1.0 - below - above
        if ctx.num_bits == 1:
            if layerwise:
                towards = ((input.sign()) * grad_output * factor).sum().unsqueeze(dim=0)
            else:
                towards = torch.sum(input.sign() * grad_output * factor, dim=-1, keepdim=True)
        else:
            each = (below * lowest + above * highest + inside * (
                -level + (torch.round(torch.clamp(level, -clip, clip) * count - shift) + shift) / count
            )) * grad_output * factor
            if layerwise:
                towards = each.sum().unsqueeze(dim=0)
            else:
                towards = torch.sum(each, dim=-1, keepdim=True)
        return inside * grad_output, towards, None, None
"""


def test_paretoqs_quantiser_asks_for_bits_and_whether_it_is_layerwise() -> None:
    with pytest.raises(ReadingError, match="give num_bits and layerwise a value"):
        read_source(PARETOQ)
    source = PARETOQ.replace("num_bits, layerwise):", "num_bits=2, layerwise=True):")
    reading = read_source(source)
    x = torch.linspace(-2, 2, 161, dtype=torch.float64)
    g = torch.cos(x)
    y = apply(*reading, x.requires_grad_(), alpha=0.8)
    y.backward(g)
    leaf = x.detach().clone().requires_grad_()
    due = apply("seq", "seq", leaf, s=0.8, half=2.0, shift=0.5)
    due.backward(g)
    assert torch.equal(y, due)
    assert torch.equal(x.grad, leaf.grad)
    assert any("a gradient for alpha, which is left out" in note for note in reading.notes)  # it is too long


def test_at_least_eight_functions_of_low_precision_are_tested() -> None:
    assert len(LOW_PRECISION) >= 8

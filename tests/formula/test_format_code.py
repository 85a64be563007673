import math

import numpy as np
import pytest
import torch

from explorer.catalogue import find_op
from explorer.curves.kinks import find_kinks
from explorer.formula import parse
from explorer.snippets import jax_snippet, snippet
from tests.formula.format_cases import CASTS, FLOATS, HELPERS, bits, codes, hard_points
from tests.formula.test_printing import run_jax
from tests.selection import loop_over


@pytest.mark.parametrize(("text", "latex"), [
    ("fp(x / s, 1, 0, 6)", r"\operatorname{fp}_{1,0}^{6}\left(\frac{x}{s}\right)"),
    ("exponent(x, -6)", r"\max\left(\left\lfloor \log_2\left|x\right|\right\rfloor,-6\right)"),
    ("float8_e4m3fn(x)", r"\operatorname{E4M3}\left(x\right)"),
    ("float8_e5m2(x)", r"\operatorname{E5M2}\left(x\right)"),
])  # fmt: skip
def test_formats_have_latex(text, latex):
    assert parse(text, parameters=None).latex == latex


def test_uncalled_the_names_stay_parameters():
    formula = parse("x * fp + exponent / float8_e5m2 * through", parameters=None)
    assert formula.parameters == ("fp", "exponent", "float8_e5m2", "through")
    both = parse("exponent(x, exponent) * fp", parameters=None)
    assert both.parameters == ("exponent", "fp")
    assert both.bind({"exponent": -2.0, "fp": 3.0})(torch.tensor([5.0, 0.1])).tolist() == [6.0, -6.0]


@pytest.mark.parametrize(("text", "start", "count"), [
    ("fp(x, 3, -6, 448)", 448, 252), ("fp(x, 2, -14, 57344)", 57344, 246), ("fp(x, 1, 0, 6)", 57344, 14),
    ("fp(x, 3, -6, 448)", 3, 136), ("float8_e4m3fn(x)", 448, 252), ("float8_e5m2(x)", 3, 132),
    ("fp(x / 3, 1, 0, 6) * 3", 30, 14), ("fp(x**3, 1, 0, 6)", 3, 14), ("fp(-x * x, 1, 0, 6)", 4, 14),
])  # fmt: skip
def test_every_jump_of_a_format_is_found(text, start, count):
    result = find_kinks(find_op("formula: " + text), None, {}, -float(start), float(start))
    assert len(result) == count


def test_every_jump_of_an_exponent_is_found():
    result = find_kinks(find_op("formula: exponent(x, -6)"), None, {}, -3.0, 3.0)
    powers = [2.0**power for power in range(-5, 2)]
    assert result == [*(-power for power in reversed(powers)), *powers]


@pytest.mark.parametrize("text", ["fp(x, 3, -6, top)", "fp(x, m, least, top)", "exponent(x, least)"])
def test_a_parameter_that_is_a_tensor_gives_the_values_of_a_number(text):
    formula = parse(text, parameters=None)
    values = {"m": 2.0, "least": -3.0, "top": 20.0}
    values = {name: values[name] for name in formula.parameters}
    x = torch.cat([torch.linspace(-30, 30, 2001), torch.tensor([0.01, -0.3])])
    tensors = {name: torch.tensor(value, requires_grad=True) for name, value in values.items()}
    varied = formula.with_tensors(values).bind()(x, None, None, tensors)
    assert torch.equal(varied, formula.bind(values)(x))
    assert not varied.requires_grad


@loop_over("dtype", FLOATS)
@loop_over("arguments", [
    (3, -6, 448), (2, -14, 57344), (1, 0, 6), (7, -126, 3.3895313892515355e38), (10, -14, 65504),
    (52, -1022, math.inf), (0, -3, 5.3), (23, -149, 1e30), (2.5, -6.5, -7),
])  # fmt: skip
def test_the_helper_of_exported_code_has_the_same_bits(dtype, arguments):
    x = hard_points(codes(torch.float8_e5m2), dtype)
    formula = parse("fp(x, m, least, top)", parameters=None)
    mine = formula.bind(dict(zip(("m", "least", "top"), arguments, strict=True)))(x)
    assert torch.equal(bits(HELPERS._fp(x, *arguments)), bits(mine))
    binade = parse("exponent(x, least)", parameters=None).bind({"least": arguments[1]})(x)
    assert torch.equal(bits(HELPERS._exponent(x, arguments[1])), bits(binade))


@pytest.mark.parametrize("write", [snippet, jax_snippet])
def test_exported_code_has_one_helper_however_many_calls(write):
    code = write(
        "formula: fp(x, 1, 0, 6) + fp(2 * x, 3, -6, 448)", "formula: g * fp(x, 2, -14, 9) * exponent(x, -6)"
    )
    assert code.count("def _fp(") == code.count("def _exponent(") == 1
    assert "eval(" not in code


@loop_over("kind", [torch.float32, torch.float64])
@loop_over("text", CASTS)
def test_jax_has_the_same_bits_at_every_code_and_midpoint(text, kind):
    dtype, top = CASTS[text]
    numbers = codes(dtype)
    exact = torch.cat([numbers, (numbers[1:] + numbers[:-1]) / 2]).to(kind)
    beside = [torch.nextafter(exact, torch.full_like(exact, end)) for end in (-math.inf, math.inf)]
    x = torch.cat([exact, *beside, torch.tensor([1.1 * top, -2 * top], dtype=kind)])
    formula = parse(text)
    np.testing.assert_array_equal(run_jax(formula.jax_source, {"x": x.numpy()}), formula.bind()(x))


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_the_cast_of_exported_code_has_the_same_bits_and_gradient(name):
    x = hard_points(codes(torch.float8_e5m2), torch.float32).requires_grad_()
    g = torch.cos(x.detach().nan_to_num())
    theirs, mine = (function(x) for function in (vars(HELPERS)["_" + name], parse(f"{name}(x)").bind()))
    assert torch.equal(bits(theirs.detach()), bits(mine.detach()))
    assert torch.equal(torch.autograd.grad(theirs, x, g)[0], torch.autograd.grad(mine, x, g)[0])


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is ")  # torch calls it for forward mode
@pytest.mark.parametrize(
    "text", ["float8_e4m3fn(x)", "fp(x, 3, -6, 448) * x", "float8_e5m2(x) + exponent(x, -6)"]
)
def test_transforms_see_through(text):
    function = parse(text).bind()
    x = torch.tensor([[0.3, -2.2, 700.0], [1e-4, 17.3, 0.0]])
    if tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 13):
        assert torch.equal(torch.func.vmap(function)(x), function(x))
    else:
        with pytest.raises(RuntimeError, match="Batching rule not implemented"):
            torch.func.vmap(function)(x)
        return
    row = x[0]
    forward, backward = torch.func.jacfwd(function)(row), torch.func.jacrev(function)(row)
    assert torch.equal(forward, backward)

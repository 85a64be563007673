"""Code in which parameters learn: executed, it gives the gradients of explorer, bit for bit in PyTorch."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from explorer.catalogue import find_op, find_rule, resolve_values
from explorer.gradient import apply
from explorer.snippets import jax_snippet, snippet
from explorer.snippets.pair import make_pair
from tests.catalogue.oracles.learned import LEARNED
from tests.catalogue.test_contribution import learned_names
from tests.gradient.test_learning import CHANNELS, data, gradients, leaves
from tests.selection import take_part
from tests.snippets.runner import defined

OWN_LSQ = (
    "formula: g * (x / s < qmax); s: 1 / sqrt(N) * sum(g * y / s); qmax: s / N * sum(g * (x > qmax * s))"
)
BY_RULE = [(op, rule, learned_names(find_op(op), find_rule(rule))) for op, rule in LEARNED]
OTHERS = [
    ("quantize", "quantize_masked", ["s", "qmax"]), ("quantize", OWN_LSQ, ["s", "qmax"]),
    ("quantize_offset", "straight_through", ["beta"]),
    ("formula: a + 0 * mean(x)", "formula: g * a; a: sum(2)", ["a"]),
    ("elu", "formula: g * where(x > 0, 1, alpha)", ["alpha"]), ("formula: tanh(b * x) / b", "default", ["b"]),
    ("ttq", "default", ["wp", "wn"]), ("clamp", "default", ["lo", "hi"]),
    ("clamp", "straight_through", ["lo"]), ("formula: clamp(x / s, -0.5, hi)", "formula: g", ["s", "hi"]),
    ("softshrink", "default", ["lambd"]),
]  # fmt: skip
EVERY = [pytest.param(*case, id=f"{case[0]} {case[1][:20]}") for case in BY_RULE + OTHERS]
SHAPES = [(), (1,), (CHANNELS, 1)]


@cache
def code_of(op: str, rule: str, *names: str, write: Callable[..., str | None] = snippet) -> str | None:
    return write(op, rule, learns=names)


def _tensors(
    op: str, rule: str, names: list[str], shape: tuple[int, ...], dtype: torch.dtype
) -> dict[str, Any]:
    """The numbers, as this dtype holds them, and the leaves."""
    chosen = resolve_values(find_op(op), find_rule(rule), {})
    numbers = {name: float(torch.tensor(value, dtype=dtype)) for name, value in chosen.items()}
    return {**numbers, **leaves({name: numbers[name] for name in names}, shape, dtype)}


def _everything(
    y: Tensor, x: Tensor, arguments: dict[str, Any], names: list[str], g: Tensor
) -> dict[str, Tensor]:
    return {"y": y.detach(), **gradients(y, {"x": x} | {name: arguments[name] for name in names}, g)}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("op", "rule", "names"), EVERY)
def test_the_function_has_the_bits_of_explorer(op: str, rule: str, names: list[str], shape: tuple[int, ...]):
    function = defined(code_of(op, rule, *names))[make_pair(op, rule).name]
    for dtype in (torch.float32, torch.float64):
        x, g = data(dtype)
        x.requires_grad_()
        arguments = _tensors(op, rule, names, shape, dtype)
        both = function(x, **arguments), apply(op, rule, x, **arguments)
        mine, theirs = (_everything(y, x, arguments, names, g) for y in both)
        for name, value in theirs.items():
            assert mine[name].dtype == value.dtype
            assert torch.equal(mine[name], value), name


# torch itself calls torch.jit.script, about which it warns, when forward mode is first used.
@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")
@pytest.mark.parametrize(("op", "rule", "names"), [pytest.param(*case, id=case[1]) for case in BY_RULE])
def test_forward_mode_gives_what_explorer_gives(op: str, rule: str, names: list[str]):
    """By x, and by each parameter: a jvp of one alone, so that the others have no tangent."""
    function = defined(snippet(op, rule, learns=names))[make_pair(op, rule, {}, names).name]
    x = torch.linspace(-2.3, 2.9, 9, dtype=torch.float64)
    starts = [torch.tensor(resolve_values(find_op(op), find_rule(rule), {})[name]).double() for name in names]

    def theirs(x, *tensors):
        return apply(op, rule, x, **dict(zip(names, tensors, strict=True)))

    for position in range(1 + len(names)):
        own, expected = (torch.func.jacfwd(f, argnums=position)(x, *starts) for f in (function, theirs))
        torch.testing.assert_close(own, expected, rtol=1e-12, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("op", "rule", "names"), EVERY)
def test_the_layer_holds_a_parameter_of_a_shape(op: str, rule: str, names: list[str], shape: tuple[int, ...]):
    pair = make_pair(op, rule)
    layer = defined(code_of(op, rule, *names))[pair.layer](shape=shape)
    own = dict(layer.named_parameters())
    assert set(own) == {f"learned_{name}" for name in names}
    x, g = data(torch.float32)
    layer(x).backward(g)
    for name in names:
        assert isinstance(own[f"learned_{name}"], nn.Parameter)
        assert own[f"learned_{name}"].shape == own[f"learned_{name}"].grad.shape == shape
        assert torch.equal(own[f"learned_{name}"].detach(), torch.full(shape, pair.parameters[name]))
    again = defined(code_of(op, rule, *names))[pair.layer](shape=shape)
    again.load_state_dict(layer.state_dict())


def test_jax_gives_the_same_up_to_rounding(run_jax):
    jobs, expected, cases = [], [], [*BY_RULE, *take_part(OTHERS)]
    for number, (op, rule, names) in enumerate(cases):
        shape = SHAPES[2 - 2 * (number % 2)]
        x, g = data()
        x = x.clamp(-3, 3) + 0.001  # no kink: there the default rule is JAX's own
        arguments = _tensors(op, rule, names, shape, torch.float64)
        named = {"x": x.requires_grad_(), **{name: arguments[name] for name in names}}
        numbers = {name: value for name, value in arguments.items() if name not in names}
        inputs = {name: value.detach().tolist() for name, value in named.items()}
        code = {"code": jax_snippet(op, rule, learns=names), "name": make_pair(op, rule).name}
        jobs.append(code | {"leaves": inputs, "numbers": numbers, "g": g.tolist()})
        expected.append(list(_everything(apply(op, rule, x, **arguments), x, arguments, names, g).values()))
    for (op, rule, _), mine, theirs in zip(cases, run_jax("float64", True, jobs), expected, strict=True):
        for got, wanted in zip(mine, theirs, strict=True):
            got = torch.tensor(got, dtype=torch.float64)
            torch.testing.assert_close(got, wanted, rtol=1e-10, atol=1e-10, msg=f"{op} {rule}")


def test_only_what_is_asked_for_is_computed(monkeypatch):
    names = defined(snippet("quantize_offset", "lsq_plus", learns=["s", "beta"]))
    summed, sum_to_size = [], Tensor.sum_to_size
    monkeypatch.setattr(
        Tensor, "sum_to_size", lambda part, shape: summed.append(shape) or sum_to_size(part, shape)
    )
    x, _ = data()
    s = torch.tensor([0.25], requires_grad=True)
    names["quantize_offset_lsq_plus"](x, s, torch.tensor(0.1)).sum().backward()
    assert summed == [(1,)]


def test_the_words_say_what_is_learned_and_how():
    code = snippet("quantize", "lsq", learns=["s"])
    flat = re.sub(r"\s+", " ", code)
    assert "gradient of s = (1 / sqrt(N * qmax)) * sum(g * where(" in flat
    assert "that learns s" in flat
    assert "the N elements that share a value" in flat
    assert flat.count("Source: LSQ") == 2
    assert snippet("ttq", "ttq", learns=["wp"]).count("Source: TTQ") == 1


def test_parameters_that_cannot_learn_are_refused():
    with pytest.raises(ValueError, match="c does not appear in y"):
        snippet("sign", "clipped", learns=["c"])

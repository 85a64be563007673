"""Code of pairs that draw: given the same u it computes what ``apply`` computes."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from explorer.catalogue import find_op, find_rule, resolve_values
from explorer.gradient import apply
from explorer.snippets import custom_op_snippet, jax_snippet, notebook, snippet
from explorer.snippets.pair import make_pair
from tests.selection import take_part
from tests.snippets import drawing
from tests.snippets.conftest import RunJax
from tests.snippets.drawing import ARM, COIN, DISARM, DROPOUT, FLIP, LOSS, LOSS_CODE, NOISE, PAIRS, points
from tests.snippets.runner import DTYPES, Trial, defined, digest, execute_alone, passed

SOME = take_part(PAIRS)


def has_loss(op: str, rule: str) -> bool:
    return "f" in make_pair(op, rule, {}).extras


def leaves_of(op: str, rule: str, learns: tuple[str, ...], x: Tensor) -> list[Tensor]:
    """x, and what learns: a value for each of two channels."""
    defaults = resolve_values(find_op(op), find_rule(rule), {})
    steps = torch.tensor([[1.0], [1.25]], dtype=x.dtype)
    return [x, *(float(defaults[name]) * steps for name in learns)]


def given_to(op: str, rule: str, learns: tuple[str, ...], dtype: torch.dtype) -> Trial:
    x, u, g = points(dtype)
    leaves = leaves_of(op, rule, learns, x)
    return {"leaves": leaves, "u": u, "g": g, "loss": LOSS_CODE if has_loss(op, rule) else ""}


def expected_of(op: str, rule: str, learns: tuple[str, ...], dtype: torch.dtype) -> list[Tensor]:
    """What ``apply`` gives: y, and the gradients of x and of what learns."""
    given = given_to(op, rule, learns, dtype)
    leaves = [leaf.clone().requires_grad_() for leaf in given["leaves"]]
    named = dict(zip(learns, leaves[1:], strict=True)) | ({"f": LOSS} if given["loss"] else {})
    y = apply(op, rule, leaves[0], draw=given["u"], **named)
    return [y.detach(), *torch.autograd.grad(y, leaves, given["g"], materialize_grads=True)]


def test_executed_alone_it_gives_the_same_bits(tmp_path: Path) -> None:
    cases = [(*pair, dtype) for pair in PAIRS for dtype in DTYPES]
    jobs = [
        (snippet(*case, None, learns), make_pair(*case, {}, learns).name, {}, [given_to(*case, learns, kind)])
        for *case, learns, kind in cases
    ]
    results = zip(cases, execute_alone(jobs, tmp_path)(), strict=True)
    assert [case for case, ours in results if ours != digest(expected_of(*case))] == []


@pytest.mark.parametrize(("op", "rule", "learns"), SOME)
def test_a_layer_draws_new_numbers_at_each_call(op: str, rule: str, learns: tuple[str, ...]) -> None:
    layer = defined(snippet(op, rule, None, learns))[make_pair(op, rule, {}, learns).layer]
    made = layer(eval(LOSS_CODE)) if has_loss(op, rule) else layer()
    x = torch.linspace(-1, 1, 400).requires_grad_()
    torch.manual_seed(8)
    y = made(x)
    torch.manual_seed(8)
    expected = apply(op, rule, x, **({"f": LOSS} if has_loss(op, rule) else {}))
    torch.testing.assert_close(y, expected)
    assert torch.equal(made(x), y) == (not find_op(op).is_random or op == DROPOUT)  # which keeps all at p = 1
    if y.requires_grad:
        y.sum().backward()
    assert {name for name, _ in made.named_parameters()} == {f"learned_{name}" for name in learns}


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
@pytest.mark.parametrize(
    ("op", "rule"), [(COIN, drawing.SLOPE), (COIN, DISARM), (COIN, FLIP), (NOISE, "formula: g * normal()")]
)
def test_transforms_and_the_compiler_take_it(op: str, rule: str) -> None:
    function = defined(snippet(op, rule))[make_pair(op, rule, {}).name]
    loss = {"f": eval(LOSS_CODE)} if has_loss(op, rule) else {}
    x, u, _ = points(torch.float64)

    def at(x: Tensor, u: Tensor) -> Tensor:
        return function(x, u=u, **loss)

    torch.testing.assert_close(torch.func.vmap(at)(x, u), at(x, u))
    slope = torch.func.grad(lambda row, u: at(row, u).sum())(x, u)
    jacobian = torch.func.jacfwd(at)(x[0, :1], u[0, :1])
    torch.testing.assert_close(jacobian.flatten(), slope[0, :1])
    compiled = torch.compile(at, fullgraph=True, backend="aot_eager")
    leaf = x.clone().requires_grad_()
    y = compiled(leaf, u)
    torch.testing.assert_close(y.detach(), at(x, u))
    torch.testing.assert_close(torch.autograd.grad(y.sum(), leaf)[0], slope)


@pytest.mark.parametrize(("op", "rule", "learns"), SOME)
def test_an_operator_gives_the_same_bits(op: str, rule: str, learns: tuple[str, ...]) -> None:
    code = custom_op_snippet(op, rule, None, learns)
    assert (code is None) == has_loss(op, rule)
    if code is None:
        return
    function = defined(code)[make_pair(op, rule, {}, learns).name]
    limits = {"rtol": 1e-6, "atol": 1e-6} if rule == "default" else {"rtol": 0, "atol": 0}
    for dtype in DTYPES:
        ours = passed(function, given_to(op, rule, learns, dtype))
        for one, other in zip(ours, expected_of(op, rule, learns, dtype), strict=True):
            torch.testing.assert_close(one, other, **limits)


def test_jax_agrees_at_the_same_u(run_jax: RunJax) -> None:
    for dtype, tolerance, some in ((torch.float32, 2e-5, SOME[:1]), (torch.float64, 1e-11, SOME)):
        jobs = []
        for op, rule, learns in some:
            given, chosen = given_to(op, rule, learns, dtype), make_pair(op, rule, {}, learns)
            leaves = dict(zip(["x", *learns], [each.tolist() for each in given["leaves"]], strict=True))
            job = {
                "code": jax_snippet(op, rule, None, learns), "name": chosen.name, "numbers": chosen.numbers,
            }  # fmt: skip
            drawn = {"u": given["u"].tolist(), "loss": given["loss"], "g": given["g"].tolist()}
            jobs.append(job | drawn | {"leaves": leaves})
        for case, ours in zip(some, run_jax(str(dtype).removeprefix("torch."), False, jobs), strict=True):
            for one, other in zip(ours, expected_of(*case, dtype), strict=True):
                limits = {"rtol": tolerance, "atol": tolerance}
                np.testing.assert_allclose(one, other, err_msg=str(case), **limits)


def test_jax_takes_a_key() -> None:
    code = jax_snippet(COIN, drawing.BASELINE, {"b": 0.25})
    assert "(x, *, key, f, b=0.25):" in code
    assert "jax.random.uniform(key, x.shape, x.dtype, minval=jnp.finfo(x.dtype).tiny)" in code


def test_the_signature_names_what_is_drawn() -> None:
    assert "(x: Tensor, *, u: Tensor, s: float = 0.5)" in snippet(NOISE, "default", s=0.5)
    code = snippet(COIN, drawing.REINFORCE)
    assert "(x: Tensor, *, u: Tensor, f: Callable[[Tensor], Tensor])" in code
    assert "    u = torch.rand_like(x).clamp(min=torch.finfo(x.dtype).eps / 4)\n" in code  # as apply draws
    assert "y = custom_activation(x, u=u, f=lambda y: (y - 0.45) ** 2)" in code
    assert "u: " not in snippet("round", "straight_through")
    assert "ya = " not in snippet(COIN, "formula: f() * g")
    assert "ctx.save_for_backward(x, output, u)" in snippet(COIN, ARM)
    assert "ctx.f" in snippet(COIN, ARM)
    assert "ctx.f" not in snippet("formula: x * f * normal()", "formula: g * f")  # a number of that name


@pytest.mark.parametrize(
    ("op", "rule", "name", "words"),
    [
        ("formula: x * normal()", "formula: g * u", "u", "the draw"),
        ("formula: f * x", "formula: fa()", "f", "the loss"),
        ("formula: x * ya", "formula: ya()", "ya", "the output of the twin"),
    ],
)  # fmt: skip
def test_a_parameter_with_the_name_of_a_draw_is_refused(op: str, rule: str, name: str, words: str) -> None:
    for write in (snippet, custom_op_snippet, jax_snippet, notebook):
        with pytest.raises(ValueError, match=f"A parameter is called {name}, as {words} is in code"):
            write(op, rule)

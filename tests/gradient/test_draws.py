"""``apply`` of pairs that draw: where u comes from, and that op, rule and twin share it."""

from typing import Any

import pytest
import torch
from torch import Tensor

from explorer.gradient import Layer, apply, bind

COIN = "formula: where(u() < sigmoid(x), 1, 0)"
NOISE = "formula: x + 0.5 * normal()"
U = torch.tensor([0.1, 0.5, 0.4, 0.9, 0.3])


def leaf() -> Tensor:
    return torch.linspace(-2, 2, 5).requires_grad_()


def pulled(rule: str, op: str = COIN, **given: Any) -> tuple[Tensor, Tensor]:
    x = leaf()
    y = apply(op, rule, x, **{"draw": U, **given})
    y.backward(torch.full_like(y, 2.0))
    assert x.grad is not None
    return y.detach(), x.grad


def test_op_and_rule_see_the_same_draw() -> None:
    y, gradient = pulled("formula: g * (y - (u() < sigmoid(x))) + u()")
    assert y.tolist() == [float(u < p) for u, p in zip(U, torch.sigmoid(leaf()), strict=True)]
    torch.testing.assert_close(gradient, U)


def test_normal_is_the_quantile_of_the_same_u() -> None:
    y, gradient = pulled("formula: g * normal()", NOISE)
    torch.testing.assert_close(y, leaf().detach() + 0.5 * torch.special.ndtri(U))
    torch.testing.assert_close(gradient, 2 * torch.special.ndtri(U))


def test_a_twin_is_drawn_with_one_minus_u() -> None:
    x = leaf().detach()
    _, gradient = pulled("formula: ya() + 10 * fa() + 100 * f()", f="(y - target)**2", target=0.25)
    y, twin = (torch.where(u < torch.sigmoid(x), 1.0, 0.0) for u in (U, 1 - U))
    torch.testing.assert_close(gradient, twin + 10 * (twin - 0.25) ** 2 + 100 * (y - 0.25) ** 2)
    rule = "formula: f(1) + 10 * f(1 - y) + 100 * f(x * b) + 1000 * f(ya() + u())"
    _, gradient = pulled(rule, f="(y - target)**2", target=0.25, b=3.0)
    outputs = [torch.ones(5), 1 - y, 3 * x, twin + U]
    losses = [10**i * (output - 0.25) ** 2 for i, output in enumerate(outputs)]
    torch.testing.assert_close(gradient, sum(losses))
    _, gradient = pulled("formula: ya()", NOISE)
    torch.testing.assert_close(gradient, x - 0.5 * torch.special.ndtri(U))


def test_random_numbers_are_returned_in_separate_memory() -> None:
    u = U.clone()
    x = leaf()
    y = apply("formula: u()", "formula: u()", x, draw=u)
    (gradient,) = torch.autograd.grad(y, x, torch.ones(5), retain_graph=True)
    for given in (y.detach(), gradient):
        given.zero_()
        assert torch.equal(u, U)


def test_a_baseline_learns_from_the_loss() -> None:
    b = torch.tensor(0.2, requires_grad=True)
    rule = "formula: (f() - b) * (y - sigmoid(x)); b: 1 / N * sum(b - f())"
    y, gradient = pulled(rule, f="(y - 0.45)**2", b=b)
    loss = (y - 0.45) ** 2
    torch.testing.assert_close(gradient, (loss - 0.2) * (y - torch.sigmoid(leaf().detach())))
    assert b.grad is not None
    torch.testing.assert_close(b.grad, (0.2 - loss).mean())


def test_torchs_own_gradient_goes_past_what_is_drawn() -> None:
    _, gradient = pulled("default", "formula: where(u() < 0.4, x / 0.4, 0)")
    torch.testing.assert_close(gradient, torch.where(U < 0.4, 2 / 0.4, 0.0))
    _, gradient = pulled("default")
    assert gradient.tolist() == [0.0] * 5


def test_without_a_draw_torchs_default_generator_gives_it() -> None:
    def drawn(**given: Any) -> Tensor:
        torch.manual_seed(3)
        return apply(NOISE, "default", torch.zeros(4), **given)

    assert torch.equal(drawn(), drawn())
    generator = torch.Generator().manual_seed(3)
    assert torch.equal(drawn(), apply(NOISE, "default", torch.zeros(4), draw=generator))
    before = torch.get_rng_state()
    apply(NOISE, "default", torch.zeros(4), draw=generator)
    Layer(NOISE, "default")
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_no_draw_is_0_or_1(dtype: torch.dtype) -> None:
    u = apply("formula: u() + 0 * x", "default", torch.zeros(200_000, dtype=dtype))
    assert u.min() > 0
    assert u.max() < 1
    assert apply(NOISE, "default", torch.zeros(20_000, dtype=dtype)).isfinite().all()


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"draw": torch.zeros(5)}, ValueError, "draw must lie between 0 and 1, both excluded"),
        ({"draw": torch.ones(5)}, ValueError, "draw must lie between 0 and 1, both excluded"),
        ({"draw": torch.rand(3)}, ValueError, r"draw of shape \(3,\) does not broadcast"),
        ({"draw": 3}, TypeError, "draw must be a torch.Generator or a tensor, got int"),
        ({"f": "y +"}, ValueError, "a value is missing at the end"),
        ({"f": "3"}, ValueError, r"a loss is a formula of y, such as \(y - target\)\*\*2"),
        ({"target": 1.0}, ValueError, "unknown parameter 'target'"),
        ({}, ValueError, "the rule uses the loss of each element: pass f, a formula of y"),
    ],
)
def test_invalid_draws_losses_and_targets_are_explained(given, error, message):
    lost = ("formula: f()", "formula: f(1) - f(0)", "flip")
    for rule in ("formula: g * u()",) if "draw" in given or "target" in given else lost:
        with pytest.raises(error, match=message):
            apply(COIN, rule, torch.zeros(5), **given)
    assert apply("formula: f * x", "default", torch.ones(1), f=2.0) == 2  # a number is a parameter


def test_bind_refuses_a_random_pair() -> None:
    for op, rule in ((COIN, "straight_through"), ("round", "formula: g * u()")):
        with pytest.raises(ValueError, match="is random, so it has no single value at each x"):
            bind(op, rule, {})


@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_transforms_and_the_compiler_take_a_draw() -> None:
    def draw(x: Tensor, u: Tensor) -> Tensor:
        return apply(COIN, "formula: g * u()", x, draw=u)

    x = leaf()
    torch.testing.assert_close(torch.func.vmap(draw)(x.detach(), U), draw(x, U).detach())
    torch.testing.assert_close(torch.compile(draw, fullgraph=True, backend="aot_eager")(x, U), draw(x, U))
    gradient = torch.func.grad(lambda at: draw(at, U).sum())(x.detach())
    torch.testing.assert_close(gradient, U)


def test_a_layer_draws_new_random_numbers_at_each_call() -> None:
    layer = Layer("formula: x + s * normal()", "default", s=2.0)
    x = torch.zeros(1000)
    assert not torch.equal(layer(x), layer(x))
    assert layer(x).std() == pytest.approx(2.0, rel=0.1)
    loss = Layer(COIN, "formula: f() * (y - sigmoid(x))", f="y**2")
    assert "f='y**2'" in repr(loss)
    loss(leaf()).sum().backward()

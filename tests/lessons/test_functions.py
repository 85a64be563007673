"""The Functions under their published names; where gradcheck must refuse one, test_claims has the error."""

import pytest
import torch
from torch import Tensor, nn
from torch.autograd import gradcheck, gradgradcheck

import explorer
from explorer import lessons


@pytest.mark.parametrize(
    ("function", "op", "rule"),
    [
        (lessons.RoundGradient, "round", "straight_through"), (lessons.MyReLU, "relu", "seed_relu"),
        (lessons.ClampGradient, "clamp", "published_clamp"), (lessons.FixedClampGradient, "clamp", "masked"),
    ],
)  # fmt: skip
def test_a_published_function_is_the_rule_of_the_catalogue(function, op: str, rule: str):
    """Values and gradients are the same, for several g, at the kinks too."""
    points = torch.tensor([-1.3, -0.4, 0.2, 0.7, 1.6, -0.0, 0.0, 0.5, 1.0, 1.5, 2.5])
    for g in (1.0, 2.0, -1.0, 0.0):
        results = []
        for compute in (function.apply, lambda x: explorer.apply(op, rule, x)):
            leaf = points.clone().requires_grad_()
            y = compute(leaf)
            results.append((y.detach(), *torch.autograd.grad(y, leaf, torch.full_like(y, g))))
        torch.testing.assert_close(results[0], results[1], rtol=0, atol=0)


def matrices(*shapes: tuple[int, ...]) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(*shape, dtype=torch.double, generator=generator).requires_grad_() for shape in shapes]


@pytest.mark.parametrize("bias", [[], [(30,)]], ids=["no bias", "bias"])
def test_linear_with_the_published_shapes(bias):
    inputs = matrices((20, 20), (30, 20), *bias)
    assert gradcheck(lessons.LinearFunction.apply, inputs, eps=1e-6, atol=1e-4)
    torch.testing.assert_close(lessons.LinearFunction.apply(*inputs), nn.functional.linear(*inputs))
    assert gradgradcheck(lessons.LinearFunction.apply, matrices((3, 2), (4, 2), *[(4,) for _ in bias]))


def test_mul_constant():
    (tensor,) = matrices((5,))
    for check in (gradcheck, gradgradcheck):
        assert check(lambda tensor: lessons.MulConstant.apply(tensor, 3.5), (tensor,))


def test_my_layer_learns_its_numbers():
    layer = lessons.MyLayer()
    assert ((layer.mytensor >= 0) & (layer.mytensor <= 1)).all()
    (input,) = matrices((3, 3))
    layer(input.float()).sum().backward()
    torch.testing.assert_close(layer.mytensor.grad, input.detach().float())
    assert gradcheck(layer.double(), (input,))

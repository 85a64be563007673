"""Code that draws: read as formulas in u() and normal(), beside torch itself at the same u or by moments."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from explorer.catalogue import find_op, find_rule
from explorer.formula import parse
from explorer.gradient import apply
from explorer.questions.read import read_code
from explorer.reading import ReadingError, list_initial_values, read_source, read_sources
from explorer.reading.exercises import EXERCISES, judge_text
from tests.reading.sample import function
from tests.reading.test_unreadable import _fn

COIN = "where(u() < sigmoid(x), 1, 0)"
KEEP = "ctx.save_for_backward(x)\n"
SLOPE = "(x,) = ctx.saved_tensors\np = torch.sigmoid(x)\nreturn grad_output * p * (1 - p)"
SHARE = "sigmoid((x - log(u() / (1 - u()))) / 0.5)"
SLOPE_RULE = "g * sigmoid(x) * (1 - sigmoid(x))"


def drops(call: str) -> str:
    return f"def f(x):\n  return {call}\n"


# A source whose own call of torch is given u, or the quantile of u; op and rule.
SAME_U = {
    "rand_like below p": (
        function(KEEP + "p = torch.sigmoid(x)\nreturn (torch.rand_like(x) < p).float()", SLOPE),
        COIN, SLOPE_RULE),
    "rand of a size": (function("return (torch.rand(*x.size()) < x).to(x)"), "where(u() < x, 1, 0)", "g"),
    "stochastic rounding": (function("return torch.floor(x + torch.rand_like(x))"), "floor(x + u())", "g"),
    "noise": (function("return x + 0.25 * torch.randn_like(x)"), "x + 0.25 * normal()", "g"),
    "the draw is kept for backward": (
        function("u = torch.rand_like(x)\nctx.save_for_backward(u, x)\nreturn (u < torch.sigmoid(x)).float()",
                 "u, x = ctx.saved_tensors\nreturn grad_output * (u < 0.5) + u * x"),
        COIN, "g * (u() < 0.5) + u() * x"),
    "the mask is kept as an attribute": (
        function("ctx.mask = torch.rand_like(x) < 0.75\nreturn x * ctx.mask / 0.75",
                 "return grad_output * ctx.mask"),
        "x * (u() < 0.75) / 0.75", "g * (u() < 0.75)"),
    "what is drawn is the saved output": (
        function("y = (torch.rand_like(x) < torch.sigmoid(x)).float()\nctx.save_for_backward(x, y)\nreturn y",
                 "x, y = ctx.saved_tensors\nreturn grad_output * (y - torch.sigmoid(x))"),
        COIN, "g * (y - sigmoid(x))"),
    "backward alone draws": (
        function("return x.round()", "return grad_output + 0.1 * torch.randn_like(grad_output)"),
        "round(x)", "g + 0.1 * normal()"),
    "both paths of detach": (
        "def f(x):\n  p = torch.sigmoid(x)\n  b = (torch.rand_like(p) < p).float()\n"
        "  return b.detach() + p - p.detach()\n",
        COIN, "g * (1 - sigmoid(x)) * sigmoid(x)"),
    "Gumbel by hand": (
        "def f(x):\n  u = torch.rand_like(x)\n"
        "  return torch.sigmoid((x + torch.log(u) - torch.log(1 - u)) / 0.5)\n",
        "sigmoid((x + log(u()) - log(1 - u())) / 0.5)", "default"),
}  # fmt: skip
# A source that draws by torch's own means, op and rule.
BY_MOMENTS = {
    "bernoulli": (function(KEEP + "return torch.bernoulli(torch.sigmoid(x))", SLOPE), COIN, SLOPE_RULE),
    "bernoulli_": (function("return x * torch.empty_like(x).bernoulli_(0.75) / 0.75"),
                   "x * (u() < 0.75) / 0.75", "g"),
    "bernoulli kept": (
        function("m = torch.bernoulli(torch.full_like(x, 0.75))\nctx.save_for_backward(m)\nreturn x * m",
                 "(m,) = ctx.saved_tensors\nreturn grad_output * m"),
        "x * (u() < 0.75)", "g * (u() < 0.75)"),
    "bernoulli is no path": (
        "def f(x):\n  return torch.bernoulli(torch.sigmoid(x)) + x.detach() - x.detach() + x\n",
        "(u() < sigmoid(x)) + x", "g"),
    "normal_": (function("return x + x.new_empty(x.shape).normal_(0, 0.5)"), "x + 0.5 * normal()", "g"),
    "nn.init": (function("return x + nn.init.normal_(torch.empty_like(x), std=0.5)"),
                "x + 0.5 * normal()", "g"),
    "normal of means": ("def f(x):\n  return torch.normal(x, 0.5) + 2 * x\n", "x + 0.5 * normal() + 2 * x",
                        "g * 2"),
    "dropout": (drops("F.dropout(x, 0.25, training=True)"), "where(u() < 0.75, x / 0.75, 0)", "default"),
    "nn.Dropout": (
        "class M(nn.Module):\n  def __init__(self):\n    super().__init__()\n    self.d = nn.Dropout(0.25)\n"
        "  def forward(self, x):\n    return self.d(x)\n",
        "where(u() < 0.75, x / 0.75, 0)", "default"),
    "training": ("class M(nn.Module):\n  def forward(self, x):\n    return F.dropout(x, 0.25, self.training)",
                 "where(u() < 0.75, x / 0.75, 0)", "default"),
    "no dropout": (drops("F.dropout(x, 0.5, False) + F.dropout(x, 0) + nn.Dropout(0.5, True)(x * 1.5)"),
                   "x + x + where(u() < 0.5, x * 1.5 / 0.5, 0)", "default"),
    "gumbel_softmax of two": (
        "def f(x):\n  y = F.gumbel_softmax(torch.stack([x, torch.zeros_like(x)], dim=-1), tau=0.5)\n"
        "  return y[..., 0]\n", SHARE, "default"),
    "a hard one of two": (
        "def f(x):\n  y = F.gumbel_softmax(torch.stack([x, torch.zeros_like(x)], -1), tau=0.5, hard=True)\n"
        "  return y[..., 0]\n",
        "where(x - log(u() / (1 - u())) > 0, 1, 0)", f"g * (1 - {SHARE}) * {SHARE} / 0.5"),
}  # fmt: skip


def callable_of(source: str) -> Callable[[Tensor], Tensor]:
    """What a source defines, as torch runs it."""
    names: dict[str, Any] = {"torch": torch, "nn": nn, "F": functional, "math": math}
    exec(source, names)
    (own,) = [value for key, value in names.items() if key in ("Fn", "f", "M")]
    if isinstance(own, type) and issubclass(own, torch.autograd.Function):
        return own.apply  # type: ignore[no-any-return]  # torch's own has no type
    return own() if isinstance(own, type) else own  # type: ignore[no-any-return]  # executed text has none


def curves(function: Callable[[Tensor], Tensor], x: Tensor) -> tuple[Tensor, Tensor]:
    leaf = x.clone().requires_grad_()
    y = function(leaf)
    return y.detach(), torch.autograd.grad(y, leaf, torch.full_like(y, 1.5))[0]


@pytest.mark.parametrize(("source", "op", "rule"), [*SAME_U.values(), *BY_MOMENTS.values()])
def test_it_is_read_as_formulas(source: str, op: str, rule: str) -> None:
    own, gradient = read_source(source)
    assert find_op(own).formula == find_op(f"formula: {op}").formula
    wanted = rule if rule == "default" else f"formula: {rule}"
    assert find_rule(gradient).formula == find_rule(wanted).formula


@pytest.mark.parametrize("source", [source for source, *_ in SAME_U.values()], ids=SAME_U)
def test_torch_computes_the_same_at_the_same_u(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.linspace(-1.9, 2.3, 400)
    u = torch.rand(400, generator=torch.Generator().manual_seed(2)).clamp(0.001, 0.999)
    quantile = torch.special.ndtri(u)
    for name, values in (("rand", u), ("rand_like", u), ("randn", quantile), ("randn_like", quantile)):
        monkeypatch.setattr(torch, name, lambda *_, values=values, **__: values)
    ours = curves(lambda leaf: apply(*read_source(source), leaf, draw=u), x)
    for one, other in zip(ours, curves(callable_of(source), x), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("source", [source for source, *_ in BY_MOMENTS.values()], ids=BY_MOMENTS)
def test_torch_draws_with_the_same_moments(source: str) -> None:
    many = 60_000
    x = torch.tensor([-1.25, 0.5, 1.5]).repeat(many, 1)
    torch.manual_seed(6)
    ours = curves(lambda leaf: apply(*read_source(source), leaf), x)
    for one, other in zip(ours, curves(callable_of(source), x), strict=True):
        noise = one.std(0) * math.sqrt(2 / many)
        assert ((one.mean(0) - other.mean(0)).abs() <= 4.5 * noise + 1e-4).all()
        torch.testing.assert_close(one.std(0), other.std(0), rtol=0.02, atol=1e-3)


REFUSED = {
    "two draws": (_fn("return torch.rand_like(x) + torch.rand_like(x)"), 3,
        "torch.rand_like(x) is a second draw, and a formula has one for each element and step: draw once"),
    "a draw in each pass": (_fn("return x + torch.rand_like(x)", "return g * torch.rand_like(g)"), 5,
        "torch.rand_like(g) is a second draw"),
    "one number": (_fn("return x + torch.rand(1)"), 3, "otherwise than one number for each element of x"),
    "of a number": (_fn("return x * torch.bernoulli(p)", takes="ctx, x, p"), 3, "write torch.rand_like(x)"),
    "other shapes": (_fn("return x + torch.rand_like(x.mean())"), 3, "for each element of x"),
    "whole numbers": (_fn("return x + torch.randint_like(x, 2)"), 3, "draws otherwise than by one uniform"),
    "several classes": (drops("F.gumbel_softmax(x)"), 2, "draws one of several classes; of two, given as"),
    "three classes": (drops("F.gumbel_softmax(torch.stack([x, x, x], -1))[..., 0]"), 2,
        "draws one of several classes"),
    "another dimension": (drops("F.gumbel_softmax(torch.stack([x, x], 0), dim=0)[0]"), 2, "several classes"),
    "both of two": (drops("F.gumbel_softmax(torch.stack([x, x], -1))"), 1, "needs a tensor or a number"),
    "trains or not": ("def f(x, training):\n  return F.dropout(x, 0.5, training)\n", 2,
        "depends on whether the module is in training mode"),
    "rounded noise": (_fn("return x + torch.rand_like(x, dtype=torch.half)"), 3, "another number format"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "line", "words"), REFUSED.values(), ids=REFUSED)
def test_unreadable_random_code_is_explained(source: str, line: int, words: str) -> None:
    with pytest.raises(ReadingError) as caught:
        read_source(source)
    assert words in caught.value.message
    assert caught.value.message.startswith(f"line {line}: ")


DRAWS_A_COIN = (
    "u = torch.rand_like(x)\np = torch.sigmoid(x)\ny = torch.where(u < p, 1.0, 0.0)\n"
    "ctx.f = f\nctx.save_for_backward(x, y, u)\nreturn y"
)
KEPT = "x, y, u = ctx.saved_tensors\np = torch.sigmoid(x)\n"
LOSSES = {
    "at the draw": ("return ctx.f(y) * (y - p)", "f() * (y - sigmoid(x))"),
    "at both outputs": ("return p * (1 - p) * (ctx.f(torch.ones_like(x)) - ctx.f(torch.zeros_like(x)))",
        "sigmoid(x) * (1 - sigmoid(x)) * (f(1) - f(0))"),
    "at numbers": ("return (ctx.f(1.0) - ctx.f(0)) * p", "(f(1) - f(0)) * sigmoid(x)"),
    "at the other output": ("f, other = ctx.f, 1 - y\nreturn (2 * y - 1) * (f(y) - f(other)) * g",
        "(2 * y - 1) * (f() - f(1 - y)) * g"),
    "at the twin": ("ya = torch.where(1 - u < p, 1.0, 0.0)\nreturn (ctx.f(ya) - ctx.f(y)) * (u - 0.5)",
        "(fa() - f()) * (u() - 0.5)"),
}  # fmt: skip


@pytest.mark.parametrize(("backward", "rule"), LOSSES.values(), ids=LOSSES)
def test_an_input_that_backward_calls_is_the_loss(backward: str, rule: str) -> None:
    source = _fn(DRAWS_A_COIN, f"{KEPT}{backward}, None", takes="ctx, x, f")
    op, read = read_source(source)
    assert find_op(op).formula == COIN
    assert find_rule(read).formula == rule
    assert find_rule(read).parameters == ()
    (reading,) = read_sources(source)
    assert reading.second is None
    assert reading.notes == ()


@pytest.mark.parametrize(
    ("forward", "backward", "words"),
    [
        ("return f(x)", "return g", "line 3: f(x) is not among the functions that can be read"),
        (DRAWS_A_COIN, KEPT + "return ctx.f(y, 2) * g",
         "ctx.f(y, 2) does not ask for the loss of one output"),
        (DRAWS_A_COIN, KEPT + "return ctx.f(y.mean()) * g", "does not ask for the loss of one output"),
        (DRAWS_A_COIN + "\n", KEPT + "return ctx.f(y) * ctx.h(y)",
         "ctx.h(y) is a second function that the text does not hold"),
    ],
)  # fmt: skip
def test_a_call_of_an_input_that_is_no_loss_is_named(forward: str, backward: str, words: str) -> None:
    with pytest.raises(ReadingError) as caught:
        read_source(_fn(forward.replace("ctx.f = f", "ctx.f, ctx.h = f, h"), backward, takes="ctx, x, f, h"))
    assert words in caught.value.message


def test_a_second_draw_that_nobody_uses_does_no_harm() -> None:
    source = _fn("u = torch.rand_like(x)\nv = torch.rand_like(x)\nreturn (u < x).float()")
    assert find_op(read_source(source)[0]).formula == "where(u() < x, 1, 0)"


def test_each_function_in_a_text_draws_new_numbers() -> None:
    one, two = (_fn("return x + torch.rand_like(x)").replace("Fn", name) for name in ("Fn", "Gn"))
    assert [reading.problem for reading in read_sources(f"{one}\n{two}")] == [None, None]
    body = "if k == 1:\n  return x + torch.rand_like(x)\nreturn x - torch.rand_like(x)"
    branches = _fn(body, takes="ctx, x, k")
    assert find_op(read_source(branches)[0]).formula == "where(k == 1, x + u(), x - u())"


def test_a_chance_begins_at_even_odds() -> None:
    source = "def f(x, p):\n  return F.dropout(x, p)\n"
    (reading,) = read_sources(source)
    assert find_op(reading.op).formula == "where(u() < 1 - p, x / (1 - p), 0)"
    assert list_initial_values(find_op(reading.op).parsed.tree) == {"p": 0.5}
    assert list_initial_values(parse("where(p > u(), x, 0)", parameters=None).tree) == {"p": 0.5}
    assert list_initial_values(parse("where(x > u(), x, p)", parameters=None).tree) == {}


def test_the_page_shows_random_functions() -> None:
    source, op, rule = SAME_U["rand_like below p"]
    (shown,) = read_code(source)["readings"]
    assert (shown["op"], shown["rule"]) == (op, rule)
    assert "makes y float32 for x of any dtype" in shown["notes"][0]
    (refused,) = read_code(REFUSED["two draws"][0])["readings"]
    assert refused["at"] == 3
    assert "is a second draw" in refused["message"]


def test_an_exercise_does_not_judge_random_functions() -> None:
    source = _fn(
        KEEP + "return x.clamp(0, 1)", "return g * (ctx.saved_tensors[0] == ctx.saved_tensors[0].clamp(0, 1))"
    )
    source = source.replace("Fn", "Clamp").replace("  def", "  @staticmethod\n  def")
    assert judge_text(EXERCISES["clamp"], source).kind == "right"
    drawn = source.replace("x.clamp(0, 1)", "x.clamp(0, 1) * torch.rand_like(x)")
    verdict = judge_text(EXERCISES["clamp"], drawn)
    assert verdict.kind == "unread"
    assert verdict.sentence == "Its forward draws at random, which is not judged here."

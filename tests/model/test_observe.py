"""An observation of anybody's net, against gradients that torch computes without it."""

from __future__ import annotations

import math
import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional

import explorer
from explorer.model.observing.rows import has_any
from tests.checks.cases.case import make_function
from tests.model import nets


@pytest.mark.parametrize("value", [0.0, -0.0, 1e-40, -1.0, math.nan])
def test_one_nonzero_value_among_many_is_found(value):
    values = torch.zeros(3, 5000)
    values[-1, -1] = value
    assert has_any(values) is has_any(values.T) is (value != 0)


def test_sites_are_seen_however_the_op_is_called():
    torch.manual_seed(0)
    model = nets.Net()
    before = nets.gradients_of(model, nets.IMAGES, nets.DIGITS)
    seen = nets.observed(model, nets.IMAGES, nets.DIGITS, [nets.FakeQuant])
    assert list(seen.frame["op"]) == ["relu", "FakeQuant", "relu", "round", "tanh"]
    assert next(iter(seen.sites)) == "act1"
    assert [name.split(":")[0] for name in seen.sites][1:] == ["forward"] * 4
    assert seen.unseen == ()
    assert "apply" not in vars(nets.FakeQuant)
    nets.same(nets.gradients_of(model, nets.IMAGES, nets.DIGITS), before)
    by_op = {row["op"]: row for row in seen.frame.to_dict("records")}
    assert by_op["round"]["dead_by_rule"] == by_op["round"]["units"] == 8
    assert by_op["FakeQuant"]["dead_from_above"] == by_op["FakeQuant"]["units"] == 8
    assert by_op["tanh"]["share_grad"] == 1
    told = seen.describe()
    assert "(round) is to blame: its rule, default, lets no gradient through to all its 8 units." in told
    assert "No gradient comes from above to act1 (4 of 4 units)" in told


def test_shares_agree_with_the_gradients_themselves():
    model = nets.made(lambda h: h.clamp(-1, 1))
    row = nets.only(nets.observed(model))
    h = model.a(nets.X).detach().requires_grad_()
    clamped = h.clamp(-1, 1)
    loss = functional.cross_entropy(model.b(clamped), nets.Y)
    g, gradient = torch.autograd.grad(loss, [clamped, h])
    assert row["share_grad"] == pytest.approx(float((gradient != 0).float().mean()))
    assert row["blocked_here"] == pytest.approx(float((gradient == 0).float().mean()))
    assert row["none_came"] == 0
    assert row["g_out"] == pytest.approx(float(g.norm()), rel=1e-5)
    assert row["g_in"] == pytest.approx(float(gradient.norm()), rel=1e-5)
    assert row["x_sd"] == pytest.approx(float(h.detach().std(unbiased=False)), rel=1e-5)
    assert row["rule"] == "default"
    assert nets.only(nets.observed(nets.made(lambda h: torch.erf(h) * 1e-9)))["rule"] == "own"


def test_the_mean_and_the_width_of_x_are_those_of_all_pixels_and_channels():
    """Steps of 8 elements would take the pixels of one column alone."""
    model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU())
    with explorer.observe(model) as seen:
        model(torch.rand(64, 1, 8, 8))
    x = model[0](torch.rand(64, 1, 8, 8)).detach()
    row = nets.only(seen)
    assert row["x_mean"] == pytest.approx(float(x.mean()), abs=0.1 * float(x.std()))
    assert row["x_sd"] == pytest.approx(float(x.std()), rel=0.1)


class TwoOutputs(torch.autograd.Function):
    forward = staticmethod(lambda ctx, x: (x.sign(), x.round()))
    backward = staticmethod(lambda ctx, g, other: g + other)


def test_two_calls_on_one_line_are_two_sites_and_one_call_in_a_loop_is_one():
    seen = nets.observed(nets.made(lambda h: torch.sign(h) + torch.sign(h - 1)))
    assert len(seen.frame) == 2
    assert len({*seen.frame["line"]}) == 1

    for function in (torch.tanh, lambda h: (h > 0).float(), lambda h: sum(TwoOutputs.apply(h))):
        seen = nets.observed(nets.made(lambda h, function=function: sum(function(h) for _ in range(3))))
        assert nets.only(seen)["calls"] == 3


def test_a_module_used_in_two_places_gives_two_sites():
    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.relu, self.a = nn.ReLU(), nn.Linear(8, 3)

        def forward(self, x):
            x = self.relu(x)
            return self.relu(self.a(x))

    names = [*nets.observed(Shared()).sites]
    assert [name.split("@")[0] for name in names] == ["relu", "relu"]


def test_a_stack_of_torchs_own_modules_is_one_site_from_wherever_it_is_called():
    model = nn.Sequential(nn.Linear(8, 3), nn.ReLU())
    with explorer.observe(model) as seen:
        nets.loss_of(model).backward()
        nets.loss_of(model).backward()
    assert [*seen.sites] == ["1"]
    assert nets.only(seen)["calls"] == 2


def test_the_loss_is_no_site():
    model = nn.Linear(8, 3)
    with explorer.observe(model) as seen:
        model(nets.X).abs().sum().backward()
    assert seen.frame.empty
    assert seen.describe() == "No op of the catalogue was seen to be called."
    assert "No op" not in nets.observed(nets.made(lambda h: (h * 1).fill_(0.5))).describe()


@pytest.mark.parametrize(
    ("function", "note"),
    [
        (lambda h: (y := h * 1, y.data.round_())[0], "it writes behind autograd's back, by .data"),
        (lambda h: (y := h * 1, setattr(y, "data", y.data.sign()))[0], "it writes behind autograd's back"),
        (lambda h: h * torch.sign(h.detach()), "its output is detached"),
        (lambda h: h * torch.no_grad()(torch.sign)(h), "called under no_grad"),
        (lambda h: h * torch.sigmoid(h).detach(), "its output is detached"),
        (lambda h: h + (torch.tanh(h) > 0), "a comparison: its result has no gradient"),
    ],
)
def test_values_that_leave_the_graph_are_named_and_not_called_dead(function, note):
    seen = nets.observed(nets.made(function))
    row = nets.only(seen)
    assert row["note"].startswith(note)
    assert all(math.isnan(row[name]) for name in ("share_grad", "blocked_here", "none_came", "dead_by_rule"))
    assert f"no gradient is seen: {note}" in seen.describe()
    assert "to blame" not in seen.describe()


earlier, Flipped = nets.FakeQuant.apply, make_function(lambda x: x.view_as(x), lambda x, g: -g, "Flipped")


def test_unexplained_zero_gradients_are_named():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seen = nets.observed(nets.made(nets.scripted))
    assert [each.node for each in seen.unseen] == ["ReluBackward0"]
    assert "Unseen: ReluBackward0" in seen.describe()


@pytest.mark.parametrize(
    ("function", "op", "computes"),
    [
        (lambda h: torch.maximum(h, torch.zeros_like(h)), "maximum", "relu"),
        (lambda h: torch.erf(h.float()), "erf", ""),  # no cut
        (lambda h: (h > 0) * h, "gt → mul", "relu"),
        (lambda h: torch.where(h > 0, h, 0.1 * h), "gt → where", ""),
        (lambda h: h * (h.abs() < 0.5), "abs → lt → mul", ""),
        (lambda h: h * (h.clamp(-0.5, 0.5) == h).float(), "clamp → eq → mul", ""),
        (lambda h: h.masked_fill(h < 0, 0), "lt → masked_fill", "relu"),
        (lambda h: nets.FakeQuant.apply(h, 0.5), "FakeQuant", ""),
        (lambda h: earlier(h, 0.5), "FakeQuant", ""),
        (lambda h: nets.FakeQuant.apply(h - 9, 100.0), "FakeQuant", ""),  # y is 0, as of relu
        (lambda h: h**2, "square", "square"),
        (lambda h: Flipped.apply(h / 9), "Flipped", "identity"),
        (lambda h: h.clamp(torch.zeros(()), nn.Parameter(torch.tensor(0.5))), "clamp", "clamp"),
        (lambda h: h.to(torch.float8_e4m3fnuz).float(), "float8_e4m3fnuz", "fp8_e4m3"),
        (lambda h: torch.max(torch.zeros_like(h), h), "max", "relu"),
        (lambda h: torch.zeros_like(h).scatter(-1, h.topk(2).indices, 1.0) * h, "topk → scatter → mul", ""),
        (lambda h: h * functional.one_hot(h.argmax(-1)[:, None].view(-1), 6), "argmax → one_hot → mul", ""),
        (lambda h: h - h.mean() * (h > 0).float().mean(), "gt → mean", ""),
        (lambda h: functional.one_hot(h.topk(1).indices[:, 0], 6) * h.mean(), "topk → one_hot", ""),
        (lambda h: h * (h > 1).any(-1, keepdim=True), "gt → any → mul", ""),
        (lambda h: h.to(torch.float8_e4m3fn).to(h.dtype), "fp8_e4m3", "fp8_e4m3"),
        (lambda h: h.type(torch.float8_e5m2).type_as(h), "fp8_e5m2", "fp8_e5m2"),
    ],
)
def test_calls_masks_and_functions_that_are_no_ops_of_the_catalogue_are_sites(function, op, computes):
    seen = nets.observed(nets.made(function))
    row = nets.only(seen)
    assert (row["op"], row["computes"]) == (op, computes)
    assert "b" not in seen.sites  # the module that takes y
    assert seen.unseen == ()


@pytest.mark.parametrize(
    "function",
    [
        lambda h: functional.dropout(functional.layer_norm(h, (6,)), 0.1),
        lambda h: h.masked_fill(torch.arange(6) < 2, 0), lambda h: torch.where(torch.arange(6) < 2, h, h * 2),
        lambda h: torch.softmax(h, 1) @ torch.eye(6), lambda h: h / h.detach().norm(),
        lambda h: h.bfloat16().float(), lambda h: torch.where(h.isnan(), 0.0, h),
    ],
)  # fmt: skip
def test_linear_and_mixing_calls_are_not_sites(function):
    seen = nets.observed(nets.made(function))
    assert seen.frame.empty
    assert seen.unseen == ()


def test_a_function_that_another_thread_calls_does_no_harm():
    seen = nets.observed(nets.made(nets.in_another_thread), functions=[nets.FakeQuant])
    assert seen.frame.empty
    assert (seen.parameters["gradient"] == "arrives").all()


def test_calls_before_the_model_are_not_observed():
    model = nets.made(torch.tanh)
    with explorer.observe(model) as seen:
        model(torch.atan(nets.X.clone().requires_grad_())).sum().backward()
    assert seen.unseen == ()


@pytest.mark.parametrize(("op", "rule", "learns"), [("sign", "clipped", ()), ("quantize", "lsq", ("s",))])
def test_a_layer_of_this_package_is_a_site_with_its_rule(op, rule, learns):
    seen = nets.observed(nets.made(explorer.Layer(op, rule, learns=learns)))
    row = seen.frame[seen.frame.op == op].iloc[0]
    assert (row["site"].split("@")[0], row["op"], row["rule"]) == ("function", op, rule)
    assert seen.unseen == ()


@pytest.mark.parametrize(
    "function", [nets.in_place, nn.ReLU(inplace=True), lambda h: functional.relu(h, True)]
)
def test_an_op_in_place_still_works_in_place(function):
    model = nets.made(function)
    plain = nets.gradients_of(nets.made(torch.relu))
    seen = nets.observed(model)
    for name, p in model.named_parameters():
        torch.testing.assert_close(p.grad, plain[name.replace("function.", "")])
    assert nets.only(seen)["x_mean"] == pytest.approx(float(model.a(nets.X).detach().mean()), rel=1e-4)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((torch.relu,), "observe takes a model, an nn.Module, not a builtin_function_or_method"),
        ((nn.ReLU(), [nn.ReLU]), "functions takes classes of torch.autograd.Function, not ReLU"),
    ],
)
def test_bad_input_is_one_sentence(arguments, words):
    with pytest.raises(ValueError, match=words):
        explorer.observe(*arguments)


def test_a_model_that_is_not_called_says_so():
    with explorer.observe(nn.ReLU()) as seen:
        pass
    assert seen.describe().startswith("Nothing was observed: the model has not been called")

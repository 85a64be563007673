"""What a swap reaches, and what it refuses with a sentence."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import nn
from torch.func import grad

import explorer
from explorer.model.tape.passes import Passes
from tests.model import nets
from tests.model.nets import Doubled, FakeQuant, X, gradients_of, made, rounded, same, scripted, swapped

earlier = FakeQuant.apply


class Traced(nn.Module):
    """A Function in a model that torch.fx traces."""

    def forward(self, x):
        return FakeQuant.apply(x, 0.5)


@pytest.mark.parametrize(
    ("function", "what", "words"),
    [
        (torch.tanh, torch.round, "has not called round: nothing is swapped"),
        (lambda h: h * torch.sign(h).detach(), "sign", r"left autograd's graph \(its output is detached\)"),
        (torch.tanh, "a", "has called a, which has no op that a rule can replace: nothing is swapped"),
        (nn.Identity(), "function", "has called function, which has no op"),
        (lambda h: h.topk(3).values.repeat(1, 2), "topk", r"y has the shape \(16, 3\), and its x \(16, 6\)"),
        (scripted, "relu", "has not called relu"),
        (lambda h: torch.relu(scripted(h)), "relu", "a ReluBackward0 whose call is not seen"),
        (nets.in_another_thread, FakeQuant, "has not called FakeQuant"),
        (
            lambda h: nets.in_another_thread(FakeQuant.apply(h, 0.5)),
            FakeQuant,
            "a FakeQuantBackward whose call is not seen, as in another thread",
        ),
        (lambda h: FakeQuant.apply(h, 0.5), "round", "round only in the forward of FakeQuant, .*: swap F"),
        (torch.fx.symbolic_trace(Traced()), FakeQuant, "torch.fx, which inlines a Function's forward"),
    ],
)
def test_a_swap_that_reaches_no_call_is_refused(function, what, words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(explorer.model.UnreachedError, match=words):
            gradients_of(swapped(function, what, rule="straight_through"))


def test_a_call_in_the_forward_of_a_function_is_none_of_the_sites():
    fixed = swapped(lambda h: FakeQuant.apply(h, 0.5).round(), "round", rule="straight_through")
    fixed(X)
    assert list(fixed.sites["calls"]) == [1]
    assert fixed.sites["site"][0].startswith("lambda")


def test_a_call_under_no_grad_gets_the_rule_at_its_first_use():
    expected = gradients_of(made(lambda h: h * explorer.apply("sign", "clipped", h)))
    fixed = swapped(lambda h: h * torch.no_grad()(torch.sign)(h), "sign", rule="clipped")
    same(gradients_of(fixed), expected)


def test_an_apply_that_was_taken_earlier_is_reached():
    """As in Brevitas, which keeps each under a name of its own."""
    fixed = swapped(lambda h: earlier(FakeQuant.apply(h, 0.5), 0.5), FakeQuant, rule="formula: 3 * g")
    plain = gradients_of(made(lambda h: 9 * FakeQuant.apply(h, 0.5) - 8 * FakeQuant.apply(h, 0.5).detach()))
    same(gradients_of(fixed), plain)
    assert sum(fixed.sites["calls"]) == 2
    assert earlier == FakeQuant.apply
    other = swapped(lambda h: earlier(h, 0.5), FakeQuant, op="round", rule="straight_through")
    with torch.no_grad():
        torch.testing.assert_close(other(X), other.b(torch.round(other.a(X))))


def test_an_apply_that_was_taken_earlier_is_reached_under_vmap():
    taken = Doubled.apply
    fixed = swapped(lambda h: taken(2.0, h), Doubled, rule="formula: 5 * g")
    (g,) = [grad(lambda x: fixed(x).sum())(x) for x in (X[:1],)]
    torch.testing.assert_close(g, 5 * fixed.b.weight.sum(0, keepdim=True).detach() @ fixed.a.weight.detach())


@pytest.mark.filterwarnings("ignore")
def test_compiled_code_in_a_swapped_model_runs_as_it_is_written():
    """A function, and a submodule that is compiled after the swap: torch.compile would see no call."""
    torch._dynamo.reset()
    expected = gradients_of(made(nets.straight))
    fixed = swapped(torch.compile(rounded, backend="aot_eager"), "round", rule="straight_through")
    same(gradients_of(fixed), expected)
    inner = nn.Sequential(made(rounded))
    fixed = explorer.swap(inner, "round", rule="straight_through")
    inner[0].compile(backend="aot_eager")
    same({name[2:]: each for name, each in gradients_of(fixed).items()}, expected)
    assert torch._dynamo.eval_frame._stance.stance == "default"
    first, last = Passes(inner), Passes(inner)  # as two threads whose passes overlap
    first.attach()
    last.attach()
    first.detach()
    assert torch._dynamo.eval_frame._stance.stance == "force_eager"
    last.detach()
    assert torch._dynamo.eval_frame._stance.stance == "default"


def test_calls_before_the_model_are_not_swapped():
    """The input's own history holds the op too, and is none of the swap's."""
    fixed = swapped(torch.relu, "relu", rule="straight_through")
    x = torch.relu(X.clone().requires_grad_())
    assert fixed(x).shape == (16, 3)


def test_a_part_that_is_not_reached_is_warned_of():
    fixed = swapped(lambda h: torch.sign(h) * torch.sign(h).detach(), "sign", rule="clipped")
    with pytest.warns(UserWarning, match="has left autograd's graph"):
        fixed(X)


def test_torch_fx_cannot_trace_a_swapped_model():
    with pytest.raises(explorer.model.UnreachedError, match="its graph would lose the rule"):
        torch.fx.symbolic_trace(swapped(nn.ReLU(), "relu", rule="straight_through"))


def test_in_place_modules_are_replaced_and_given_back():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(8, 6), nn.LeakyReLU(0.2), nn.Sequential(nn.Hardtanh(-0.5, 0.5)), nn.Linear(6, 3)
    )
    expected = gradients_of(
        explorer.swap(explorer.swap(model, nn.LeakyReLU, rule="zero"), nn.Hardtanh, rule="masked")
    )
    plain = gradients_of(model)
    first = explorer.swap(model, nn.LeakyReLU, rule="zero", inplace=True)
    second = explorer.swap(model, "2", rule="masked", inplace=True)
    same(gradients_of(model), expected)
    assert list(second.sites["site"]) == ["2.0"]
    assert "lo=-0.5" in second.sites["layer"][0]
    assert second.undo() is first.undo() is model
    same(gradients_of(model), plain)


@pytest.mark.filterwarnings("ignore")
def test_a_model_swapped_in_place_compiles_and_exports_as_one_graph():
    model = nn.Sequential(nn.Linear(8, 6), nn.Sigmoid(), nn.Linear(6, 3))
    explorer.swap(model, nn.Sigmoid, rule="straight_through", inplace=True)
    plain = gradients_of(model)
    torch._dynamo.reset()
    found = gradients_of(torch.compile(model, backend="aot_eager", fullgraph=True))
    same({k.removeprefix("_orig_mod."): v for k, v in found.items()}, plain)
    torch.testing.assert_close(torch.export.export(model, (X,)).module()(X), model(X))


@pytest.mark.filterwarnings("ignore", "error:.*lru_cache")  # torch's, of code that the user does not know
def test_a_compiled_swap_has_the_right_gradients():
    fixed = swapped(rounded, "round", rule="straight_through")
    plain = gradients_of(fixed)
    torch._dynamo.reset()
    compiled = torch.compile(fixed, backend="aot_eager")
    same({k.removeprefix("_orig_mod."): v for k, v in gradients_of(compiled).items()}, plain)


@pytest.mark.parametrize(
    ("module", "what", "words"),
    [
        (nn.ReLU(), torch.relu, "inplace=True replaces modules, and relu is not a module"),
        (nn.GELU(approximate="tanh"), nn.GELU, "computes something else than the op gelu"),
        (nn.PReLU(), nn.PReLU, "is not one op without parameters"),
        (nn.Softmax(1), nn.Softmax, "cannot be replaced in place: it fails on a vector of numbers"),
    ],
)
def test_an_impossible_swap_is_refused_and_changes_nothing(module, what, words):
    model = nn.Sequential(nn.Linear(8, 3), module)
    with pytest.raises(explorer.model.UnreachedError, match=words):
        explorer.swap(model, what, rule="straight_through", inplace=True)
    assert model[1] is module


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((torch.relu, "relu", "zero"), "swap takes a model, an nn.Module"),
        ((made(torch.relu), "rond", "zero"), "or site 'rond', and it is no op: did you mean 'round'"),
        ((made(torch.relu), nn.GELU, "zero"), "no submodule of the class GELU"),
        ((made(torch.relu), nn.Linear(1, 1), "zero"), "this Linear is no submodule of the model"),
        ((made(torch.relu), torch.softmax, "zero"), "softmax is no op of the catalogue"),
        ((made(torch.relu), "relu", "zeros"), "unknown rule 'zeros'"),
        ((made(torch.relu), "relu", "lsq"), "the rule lsq does not suit relu: "),
        ((made(torch.relu), "relu", 3), "rule must be a key of RULES, a formula, .* or a function, not 3"),
        ((made(torch.relu), "relu", lambda a, b, c, d: a), r"function must take x, \(x, g\) or \(x, y, g\)"),
        ((made(torch.relu), nn.Parameter(X), "zero"), "this parameter does not belong to the model"),
    ],
)
def test_bad_input_is_one_sentence(arguments, words):
    with pytest.raises(ValueError, match=words):
        explorer.swap(*arguments[:2], rule=arguments[2])


@pytest.mark.parametrize(("what", "words"), [("relu", "unknown parameter"), ("a", "unknown parameter 'w'")])
def test_an_unknown_parameter_is_one_sentence(what, words):
    with pytest.raises(ValueError, match=words):
        swapped(torch.relu, what, rule="zero", w=1)


def test_a_rule_that_does_not_suit_what_is_called_is_one_sentence():
    with pytest.raises(ValueError, match="the rule lsq does not suit relu"):
        swapped(nn.ReLU(), nn.ReLU, rule="lsq")(X)
    with pytest.raises(
        ValueError, match="default is torch's own gradient of an op, and that of FakeQuant is not known here"
    ):
        swapped(lambda h: FakeQuant.apply(h, 1.0), FakeQuant, rule="default")(X)


def lower_in_place(h):
    y = torch.round(h)
    return y + h.sub_(1)


@pytest.mark.parametrize(("function", "rule", "error", "words"), [
    (lower_in_place, "formula: x * g", RuntimeError, "its x was modified in place after the call"),
    (torch.round, lambda x: x.sum(), ValueError, "must return a tensor of the shape of y"),
    (torch.round, lambda x: x.sign().detach(), ValueError, "of the shape of y, differentiable in x"),
    (torch.round, lambda x, g: None, ValueError, r"round.: the rule <lambda> returned None: it must"),
    (torch.round, lambda x, g: x > 0, ValueError, "returned a torch.bool tensor of shape"),
])  # fmt: skip
def test_a_rule_that_fails_in_backward_says_why(function, rule, error, words):
    fixed = swapped(lambda h: function(h * 1), "round", rule=rule)
    with pytest.raises(error, match=words):
        gradients_of(fixed)


@pytest.mark.filterwarnings("ignore")
def test_a_compiled_model_is_observed_and_swapped_eagerly():
    model = made(torch.relu)
    torch._dynamo.reset()
    compiled = torch.compile(model, backend="aot_eager")
    gradients_of(compiled)
    with explorer.observe(compiled) as seen:
        nets.loss_of(compiled).backward()
    assert list(seen.frame["op"]) == ["relu"]
    assert seen.frame["share_grad"][0] > 0
    with pytest.warns(UserWarning, match="the model is compiled, but runs eagerly while it is swapped"):
        fixed = explorer.swap(compiled, "relu", rule="zero")
    assert not gradients_of(fixed)["_orig_mod.a.weight"].any()

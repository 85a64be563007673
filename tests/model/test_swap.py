"""Swapped models, against nets that were written with the other backward by hand."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn
from torch.func import functional_call, grad, stack_module_state, vmap
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

import explorer
from tests.model.nets import DIGITS, IMAGES, FakeQuant, Net, X, Y, gradients_of, loss_of, made


def rounded(h):
    return torch.round(h * 2) / 2


def straight(h):
    return explorer.apply("round", "straight_through", h * 2) / 2


def same(one, other):
    assert one.keys() == other.keys()
    for name, gradient in one.items():
        torch.testing.assert_close(gradient, other[name])


def swapped(function, what, **arguments):
    return explorer.swap(made(function), what, **arguments)


def test_the_forward_stays_and_the_backward_is_the_rules():
    model = made(rounded)
    fixed = explorer.swap(model, torch.round, rule="straight_through")
    torch.testing.assert_close(fixed(X), model(X), rtol=0, atol=0)
    same(gradients_of(fixed), gradients_of(made(straight)))
    assert not gradients_of(model)["a.weight"].any()
    assert list(fixed.sites["site"]) == [f"rounded:{rounded.__code__.co_firstlineno + 1}"]
    assert fixed.undo() is model
    same(gradients_of(fixed), gradients_of(model))


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda h: h.round(), torch.round),
        (lambda h: torch.round(h), torch.Tensor.round),
        (lambda h: torch.round(h), "round"),
        (nn.ReLU(), functional.relu),
        (nn.ReLU(), nn.ReLU),
        (nn.ReLU(), "function"),
        (nn.Sequential(nn.Identity(), nn.ReLU()), "function"),
        (nn.ReLU(inplace=True), "relu"),
        (lambda h: h.clamp(min=0), torch.clamp),
    ],
)
def test_what_is_swapped_is_named_in_many_ways(function, what):
    expected = made(function)
    plain = expected(X)
    rule = "formula: 3 * g"
    fixed = swapped(function, what, rule=rule)
    torch.testing.assert_close(fixed(X), plain)
    h = fixed.a(X).detach().requires_grad_()
    y = function(h.clone()).detach().requires_grad_()
    (g,) = torch.autograd.grad(functional.cross_entropy(fixed.b(y), Y), y)
    model = fixed.undo()
    explorer.swap(model, what, rule=rule)
    again = explorer.swap(model, what, rule=rule)
    again.zero_grad()
    loss_of(again).backward()
    torch.testing.assert_close(model.a.weight.grad, 3 * g.T @ X)


def test_a_site_of_an_observation_is_swapped_alone():
    def twice(h):
        return torch.sign(h) + torch.sign(h - 1)

    model = made(twice)
    with explorer.observe(model) as seen:
        loss_of(model).backward()
    first, second = seen.sites
    only = explorer.swap(model, second, rule="clipped")
    assert len(only.sites) == 0
    found = gradients_of(only)
    assert list(only.sites["site"]) == [second.split(":", 1)[0] + ":" + str(seen.sites[second].line)]
    expected = made(lambda h: torch.sign(h) + explorer.apply("sign", "clipped", h - 1))
    same(found, gradients_of(expected))
    same(
        gradients_of(explorer.swap(model, seen.sites[first], rule="clipped")),
        gradients_of(made(lambda h: explorer.apply("sign", "clipped", h) + torch.sign(h - 1))),
    )


def test_the_op_has_the_parameters_of_the_call():
    fixed = swapped(lambda h: h.clamp(-0.4, 0.9), "clamp", rule="masked")
    same(
        gradients_of(fixed),
        gradients_of(made(lambda h: explorer.apply("clamp", "masked", h, lo=-0.4, hi=0.9))),
    )
    open_ended = swapped(lambda h: h.clamp(min=0.3), "clamp", rule="masked")
    same(
        gradients_of(open_ended),
        gradients_of(made(lambda h: explorer.apply("clamp", "masked", h, lo=0.3, hi=1e9))),
    )


def test_the_rule_has_parameters_of_its_own():
    fixed = swapped(torch.sign, "sign", rule="clipped", c=0.3)
    same(gradients_of(fixed), gradients_of(made(lambda h: explorer.apply("sign", "clipped", h, c=0.3))))


def test_a_function_is_swapped_and_keeps_its_forward():
    torch.manual_seed(0)
    model = Net()
    fixed = explorer.swap(model, FakeQuant, rule="zero")
    torch.testing.assert_close(fixed(IMAGES), model(IMAGES))
    half = explorer.swap(explorer.swap(model, "round", rule="straight_through"), FakeQuant, rule="zero")
    gradients = gradients_of(half, IMAGES, DIGITS)
    assert gradients["c1.weight"].any()
    assert not gradients["c2.weight"].any()
    assert "apply" not in vars(FakeQuant)


def test_another_op_changes_the_forward_and_says_by_how_much():
    fixed = swapped(
        lambda h: FakeQuant.apply(h, 0.25), FakeQuant, op="quantize", rule="lsq", s=0.25, qmin=-4, qmax=3
    )
    gradients_of(fixed)
    assert fixed.sites["change"][0] == 0
    other = swapped(torch.relu, "relu", op="leaky_relu", rule="default", slope=0.1)
    same(gradients_of(other), gradients_of(made(lambda h: functional.leaky_relu(h, 0.1))))
    assert other.sites["change"][0] == pytest.approx(0.1 * float(-other.a(X).min().detach()), rel=1e-5)


class Scaled(torch.autograd.Function):
    """A quantiser that learns its step."""

    @staticmethod
    def forward(ctx, x, s):
        ctx.save_for_backward(x, s)
        return (x / s).round() * s

    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        return g, (g * ((x / s).round() - x / s)).sum()


def test_what_a_call_learns_beside_x_keeps_its_gradient():
    class Learned(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.s, self.act = nn.Linear(8, 3), nn.Parameter(torch.tensor(0.3)), nn.PReLU()

        def forward(self, x):
            return self.act(Scaled.apply(self.a(x), self.s))

    torch.manual_seed(0)
    model = Learned()
    plain = gradients_of(model)
    fixed = gradients_of(explorer.swap(model, Scaled, rule="zero"))
    torch.testing.assert_close(fixed["s"], plain["s"])
    assert not fixed["a.weight"].any()
    fixed = gradients_of(explorer.swap(model, nn.PReLU, rule="straight_through"))
    torch.testing.assert_close(fixed["act.weight"], plain["act.weight"])
    assert not torch.equal(fixed["a.weight"], plain["a.weight"])
    with pytest.raises(ValueError, match="Scaled gets a tensor that learns beside x"):
        gradients_of(explorer.swap(model, Scaled, op="quantize", rule="lsq"))


TRICKS = {
    "usual": lambda h: h + (torch.sign(h) - h).detach(),
    "three terms": lambda h: h - h.detach() + torch.sign(h).detach(),
    "of the detached": lambda h: torch.sign(h.detach()) + h - h.detach(),
    "a surrogate": lambda h: h.tanh() + (h.sign() - h.tanh()).detach(),
}


@pytest.mark.parametrize("trick", TRICKS)
def test_a_detach_trick_is_swapped_as_a_whole(trick):
    fixed = swapped(TRICKS[trick], torch.sign, rule="clipped")
    torch.testing.assert_close(fixed(X), made(torch.sign)(X), atol=1e-5, rtol=1e-5)
    same(gradients_of(fixed), gradients_of(made(lambda h: explorer.apply("sign", "clipped", h))))
    with explorer.observe(fixed) as seen:
        loss_of(fixed).backward()
    assert set(seen.frame["rule"]) <= {"clipped", "ede"} | ({"default"} if trick == "a surrogate" else set())


@pytest.mark.parametrize("mask", [lambda h: h * (h > 0), lambda h: torch.where(h > 0, h, 0.0)])
def test_a_mask_is_swapped_as_a_whole_by_its_comparison(mask):
    expected = gradients_of(made(lambda h: mask(h).detach() + h - h.detach()))
    same(gradients_of(swapped(mask, "gt", rule="straight_through")), expected)


def several(h):
    return h + ((h / 0.5).round().clamp(-4, 3) * 0.5 - h).detach()


def test_a_trick_of_another_scale_takes_a_rule_of_g_alone_or_an_op():
    same(
        gradients_of(swapped(several, "round", rule="zero")),
        gradients_of(made(lambda h: several(h).detach() + 0 * h)),
    )
    fixed = swapped(several, "round", op="quantize", rule="lsq", s=0.5, qmin=-4, qmax=3)
    same(
        gradients_of(fixed),
        gradients_of(made(lambda h: explorer.apply("quantize", "lsq", h, s=0.5, qmin=-4, qmax=3))),
    )
    with pytest.raises(explorer.model.UnreachedError, match=r"restores round → clamp of another scale"):
        gradients_of(swapped(several, "round", rule="formula: x * g"))


def test_an_op_that_draws_is_put_in_and_draws_from_torchs_generator():
    fixed = swapped(torch.sign, "sign", op="bernoulli", rule="st_gumbel", tau=0.5)
    by_hand = made(lambda h: explorer.apply("bernoulli", "st_gumbel", h, tau=0.5))
    gradients = []
    for model in (fixed, by_hand):
        torch.manual_seed(3)
        gradients.append(gradients_of(model))
    same(*gradients)
    assert not torch.equal(fixed(X), fixed(X))


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            {"op": "bernoulli", "rule": "arm"},
            "arm asks for the loss of each element, which a swap does not know",
        ),
        ({"rule": "formula: g * u()"}, "which a swap that keeps the op of the model needs"),
    ],
    ids=["the loss", "a rule alone"],
)
def test_a_swap_refuses_draws_that_it_does_not_know(arguments, why):
    with pytest.raises(ValueError, match=why):
        gradients_of(swapped(torch.sign, torch.sign, **arguments))


def with_no_grad(h):
    with torch.no_grad():
        gate = torch.sign(h)
    return h * gate


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch says that TorchScript is on its way out

    def relu_of(x):
        return torch.relu(x)

    scripted = torch.jit.script(relu_of)

earlier = FakeQuant.apply


def in_another_thread(h):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(FakeQuant.apply, h, 0.5).result()


class Traced(nn.Module):
    """A Function in a model that torch.fx traces."""

    def forward(self, x):
        return FakeQuant.apply(x, 0.5)


@pytest.mark.parametrize(
    ("function", "what", "words"),
    [
        (torch.tanh, torch.round, "has not called round: nothing is swapped"),
        (
            lambda h: h * torch.sign(h).detach(),
            "sign",
            r"has left autograd's graph \(its output is detached\)",
        ),
        (scripted, "relu", "has not called relu"),
        (lambda h: torch.relu(scripted(h)), "relu", "a ReluBackward0 whose call is not seen"),
        (in_another_thread, FakeQuant, "has not called FakeQuant"),
        (
            lambda h: in_another_thread(FakeQuant.apply(h, 0.5)),
            FakeQuant,
            "a FakeQuantBackward whose call is not seen, as in another thread",
        ),
        (torch.fx.symbolic_trace(Traced()), FakeQuant, "torch.fx, which inlines a Function's forward"),
    ],
)
def test_what_a_swap_would_not_reach_is_refused(function, what, words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(explorer.model.UnreachedError, match=words):
            gradients_of(swapped(function, what, rule="straight_through"))


def test_what_is_called_under_no_grad_gets_the_rule_at_its_first_use():
    expected = gradients_of(made(lambda h: h * explorer.apply("sign", "clipped", h)))
    same(gradients_of(swapped(with_no_grad, "sign", rule="clipped")), expected)


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
    class Twice(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x, factor):
            return factor * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return None, 2 * g

    taken = Twice.apply
    fixed = swapped(lambda h: taken(2.0, h), Twice, rule="formula: 5 * g")
    (g,) = [grad(lambda x: fixed(x).sum())(x) for x in (X[:1],)]
    torch.testing.assert_close(g, 5 * fixed.b.weight.sum(0, keepdim=True).detach() @ fixed.a.weight.detach())


def test_compiled_code_in_a_swapped_model_runs_as_it_is_written():
    """A function, and a submodule that is compiled after the swap: torch.compile would see no call."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch._dynamo.reset()
        expected = gradients_of(made(straight))
        fixed = swapped(torch.compile(rounded, backend="aot_eager"), "round", rule="straight_through")
        same(gradients_of(fixed), expected)
        inner = nn.Sequential(made(rounded))
        fixed = explorer.swap(inner, "round", rule="straight_through")
        inner[0].compile(backend="aot_eager")
        same({name[2:]: each for name, each in gradients_of(fixed).items()}, expected)
        assert torch._dynamo.eval_frame._stance.stance == "default"


def test_what_came_before_the_model_is_not_asked_for():
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


def test_stacked_models_under_vmap_and_grad_equal_one_after_another():
    models = [explorer.swap(made(rounded, seed), "round", rule="straight_through") for seed in range(4)]
    parameters, buffers = stack_module_state(models)

    def loss(own, buffers):
        return functional.cross_entropy(functional_call(models[0], (own, buffers), (X,)), Y)

    together = vmap(grad(loss), (0, 0))(parameters, buffers)
    for number, model in enumerate(models):
        for name, gradient in gradients_of(model).items():
            torch.testing.assert_close(together[name][number], gradient, rtol=1e-4, atol=1e-6)


def test_a_trick_is_swapped_under_vmap_too():
    model = explorer.swap(made(TRICKS["usual"]), "sign", rule="clipped")

    def loss(own, x, y):
        return functional.cross_entropy(functional_call(model, own, (x[None],)), y[None])

    each = vmap(grad(loss), (None, 0, 0))(dict(model.named_parameters()), X, Y)
    for name, gradient in gradients_of(made(lambda h: explorer.apply("sign", "clipped", h))).items():
        torch.testing.assert_close(each[name].mean(0), gradient)


def test_threads_have_swaps_of_their_own():
    rules = ["straight_through", "zero", "formula: 2 * g"] * 3
    function = lambda h: FakeQuant.apply(h, 0.5)  # noqa: E731
    expected = {rule: gradients_of(swapped(function, FakeQuant, rule=rule)) for rule in set(rules)}
    found, start = {}, threading.Barrier(len(rules))

    def work(number):
        fixed = swapped(function, FakeQuant, rule=rules[number])
        start.wait()
        for _ in range(20):
            found[number] = gradients_of(fixed)

    models = threading.Lock()
    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(rules))]
    with models:  # torch has one random state: the nets are made one by one
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    shapes = {name: gradient.shape for name, gradient in expected["zero"].items()}
    for number, rule in enumerate(rules):
        assert {name: gradient.shape for name, gradient in found[number].items()} == shapes
        assert bool(found[number]["a.weight"].any()) == (rule != "zero")
    assert "apply" not in vars(FakeQuant)


def test_a_copy_is_swapped_and_has_parameters_of_its_own():
    fixed = swapped(rounded, "round", rule="straight_through")
    twin = copy.deepcopy(fixed)
    same(gradients_of(twin), gradients_of(fixed))
    with torch.no_grad():
        twin.a.weight.zero_()
    assert fixed.a.weight.any()
    assert not twin.undo().a.weight.any()


def test_a_swapped_model_is_pickled_where_the_model_can_be():
    fixed = explorer.swap(made(nn.ReLU()), nn.ReLU, rule="straight_through")
    same(gradients_of(pickle.loads(pickle.dumps(fixed))), gradients_of(fixed))


@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("where", ["function", "module"])
def test_a_checkpoint_calls_the_swapped_op_again(reentrant, where):
    class Saved(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.relu, self.b = nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 3)

        def part(self, z):
            return torch.sign(self.a(z)) if where == "function" else self.relu(self.a(z))

        def forward(self, x):
            return self.b(checkpoint(self.part, x, use_reentrant=reentrant))

    torch.manual_seed(0)
    model, x = Saved(), X.clone().requires_grad_()
    fixed = explorer.swap(model, "sign" if where == "function" else "relu", rule="formula: x * g")
    found = gradients_of(fixed, x)
    y = model.part(x).detach().requires_grad_()
    (g,) = torch.autograd.grad(functional.cross_entropy(model.b(y), Y), y)
    torch.testing.assert_close(found["a.weight"], (model.a(x) * g).detach().T @ X)


def test_names_state_and_methods_are_the_models_own():
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.norm = nn.Linear(8, 3), nn.BatchNorm1d(3)
            self.scale = 2.0

        def encode(self, x):
            return torch.sign(self.norm(self.a(x))) * self.scale

        def forward(self, x):
            return self.encode(x)

    model = Own()
    fixed = explorer.swap(model, "sign", rule="clipped")
    assert [*fixed.state_dict()] == [*model.state_dict()]
    assert all(one is other for one, other in zip(fixed.parameters(), model.parameters(), strict=True))
    assert fixed.scale == 2
    fixed.encode(X).sum().backward()
    assert model.a.weight.grad.any()
    assert not fixed.eval().training
    assert not model.training
    assert not model.norm.training
    fixed.double()
    assert model.a.weight.dtype == torch.float64
    with pytest.raises(AttributeError, match="nothing"):
        _ = fixed.nothing


def test_without_gradient_it_is_the_model_itself():
    fixed = swapped(torch.sign, "sign", rule="clipped")
    with torch.no_grad():
        torch.testing.assert_close(fixed(X), fixed.undo()(X))


def test_an_observed_swap_has_the_swapped_rule():
    fixed = swapped(rounded, "round", rule="straight_through")
    with explorer.observe(fixed) as seen:
        loss_of(fixed).backward()
    (row,) = seen.frame.to_dict("records")
    assert (row["op"], row["rule"], row["share_grad"]) == ("round", "straight_through", 1)
    assert seen.unseen == ()


def test_a_model_that_raises_leaves_nothing_behind():
    def raising(h):
        FakeQuant.apply(h, 0.5)
        raise KeyError("mine")

    fixed = swapped(raising, FakeQuant, rule="zero")
    with pytest.raises(KeyError, match="mine"):
        fixed(X)
    assert "apply" not in vars(FakeQuant)
    assert not torch.overrides._get_current_function_mode_stack()


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


def test_a_model_swapped_in_place_compiles_and_exports_as_one_graph():
    model = nn.Sequential(nn.Linear(8, 6), nn.Sigmoid(), nn.Linear(6, 3))
    explorer.swap(model, nn.Sigmoid, rule="straight_through", inplace=True)
    plain = gradients_of(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch._dynamo.reset()
        same(
            {
                k.removeprefix("_orig_mod."): v
                for k, v in gradients_of(torch.compile(model, backend="aot_eager", fullgraph=True)).items()
            },
            plain,
        )
        torch.testing.assert_close(torch.export.export(model, (X,)).module()(X), model(X))


def test_a_compiled_swap_has_the_right_gradients():
    fixed = swapped(rounded, "round", rule="straight_through")
    plain = gradients_of(fixed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch._dynamo.reset()
        compiled = torch.compile(fixed, backend="aot_eager")
        same({k.removeprefix("_orig_mod."): v for k, v in gradients_of(compiled).items()}, plain)


@pytest.mark.parametrize(
    ("module", "what", "words"),
    [
        (nn.ReLU(), torch.relu, "inplace=True replaces modules, and relu is none"),
        (nn.GELU(approximate="tanh"), nn.GELU, "computes something else than the op gelu"),
        (nn.PReLU(), nn.PReLU, "is not one op without parameters"),
        (nn.Softmax(1), nn.Softmax, "cannot be replaced: it takes no single numbers"),
    ],
)
def test_what_cannot_be_replaced_is_refused_and_nothing_is_changed(module, what, words):
    model = nn.Sequential(nn.Linear(8, 3), module)
    with pytest.raises(explorer.model.UnreachedError, match=words):
        explorer.swap(model, what, rule="straight_through", inplace=True)
    assert model[1] is module


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((torch.relu, "relu", "zero"), "swap takes a model, an nn.Module"),
        (
            (made(torch.relu), "rond", "zero"),
            "no submodule or site 'rond', and it is no op: did you mean 'round'",
        ),
        ((made(torch.relu), nn.GELU, "zero"), "no submodule of the class GELU"),
        ((made(torch.relu), nn.Linear(1, 1), "zero"), "this Linear is no submodule of the model"),
        ((made(torch.relu), torch.softmax, "zero"), "softmax is no op of the catalogue"),
        ((made(torch.relu), "relu", "zeros"), "unknown rule 'zeros'"),
        ((made(torch.relu), "relu", "lsq"), "the rule lsq does not suit relu: "),
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
        ValueError, match="default is torch's own gradient of an op, and FakeQuant is a Function"
    ):
        swapped(lambda h: FakeQuant.apply(h, 1.0), FakeQuant, rule="default")(X)


def test_a_compiled_model_is_observed_and_swapped_eagerly():
    model = made(torch.relu)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch._dynamo.reset()
        compiled = torch.compile(model, backend="aot_eager")
        gradients_of(compiled)
        with explorer.observe(compiled) as seen:
            loss_of(compiled).backward()
    assert list(seen.frame["op"]) == ["relu"]
    assert seen.frame["share_grad"][0] > 0
    with pytest.warns(UserWarning, match="the model is compiled: while it is swapped it runs eagerly"):
        fixed = explorer.swap(compiled, "relu", rule="zero")
    assert not gradients_of(fixed)["_orig_mod.a.weight"].any()

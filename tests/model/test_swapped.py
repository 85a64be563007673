"""Swapped models under torch.func, threads, copies, checkpoints and without gradient."""

from __future__ import annotations

import copy
import pickle
import threading
from functools import partial

import pytest
import torch
from torch import nn
from torch.func import functional_call, grad, stack_module_state, vmap
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

import explorer
from tests.model.nets import FakeQuant, X, Y, gradients_of, loss_of, made, observed, rounded, same, swapped


def test_stacked_models_under_vmap_and_grad_equal_one_after_another():
    models = [explorer.swap(made(rounded, seed), "round", rule="straight_through") for seed in range(4)]
    assert repr(models[0]).count("round → straight_through") == 1, "the swap is told once, not in each part"
    parameters, buffers = stack_module_state(models)

    def loss(own, buffers):
        return functional.cross_entropy(functional_call(models[0], (own, buffers), (X,)), Y)

    together = vmap(grad(loss), (0, 0))(parameters, buffers)
    for number, model in enumerate(models):
        for name, gradient in gradients_of(model).items():
            torch.testing.assert_close(together[name][number], gradient, rtol=1e-4, atol=1e-6)


def test_a_trick_is_swapped_under_vmap_too():
    model = explorer.swap(made(lambda h: h + (torch.sign(h) - h).detach()), "sign", rule="clipped")

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

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(rules))]
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


@pytest.mark.parametrize(
    "swap", [{"what": "gt", "rule": "fast_sigmoid"}, {"what": "relu", "rule": "zero", "op": "relu"}]
)
def test_a_new_node_in_a_checkpoint_that_repeats_it_without_the_swap_is_refused(swap):
    def saved(h, reentrant):
        return checkpoint(lambda z: z * (z.relu() - 0.1 > 0.3).float(), h, use_reentrant=reentrant)

    with pytest.raises(ValueError, match="use_reentrant=True"):
        swapped(partial(saved, reentrant=False), **swap)(X)
    found = gradients_of(swapped(partial(saved, reentrant=True), **swap))
    same(found, gradients_of(swapped(lambda z: z * (z.relu() - 0.1 > 0.3).float(), **swap)))


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
    seen = observed(fixed)
    (row,) = seen.frame.to_dict("records")
    assert (row["op"], row["rule"], row["share_grad"]) == ("round", "straight_through", 1)
    assert seen.unseen == ()


def compared(h):
    above = h > 0.3
    return above.float()


def quantised(h):
    return FakeQuant.apply(h, 0.5)


SWAPS = {
    "comparison": (compared, torch.gt, {}, "gt"),
    "another op for a comparison": (compared, torch.gt, {"op": "step"}, "step"),
    "another op": (lambda h: torch.round(h), torch.round, {"op": "floor"}, "floor"),
    "another op for a Function": (quantised, FakeQuant, {"op": "floor"}, "floor"),
    "no_grad": (lambda h: torch.no_grad()(torch.round)(h), torch.round, {}, "round"),
}


@pytest.mark.parametrize("name", SWAPS)
def test_an_observed_swap_is_at_the_line_of_its_call_and_in_the_module_that_runs(name):
    function, what, parameters, op = SWAPS[name]
    outer = nn.Sequential(nn.Linear(8, 8), swapped(function, what, rule="straight_through", **parameters))
    seen = observed(outer)
    site, row = next((site, row) for (site, _), row in seen.listener.rows.items() if row.op == op)
    function_line = function.__code__.co_firstlineno
    assert site.module == "1"
    assert site.function == function.__name__.strip("<>")
    assert site.line == function_line + (function.__name__ != "<lambda>")
    assert row.share(row.got) == 1
    assert "Bridge" not in seen.frame.to_string() + seen.describe()


def test_the_slope_of_a_swapped_comparison_is_measured():
    fixed = swapped(compared, torch.gt, rule="straight_through")
    slope = observed(fixed).slope(lambda: loss_of(fixed), f"compared:{compared.__code__.co_firstlineno + 1}")
    assert slope.slope > 2 * slope.error > 0


def test_a_model_that_raises_leaves_nothing_behind():
    def raising(h):
        FakeQuant.apply(h, 0.5)
        raise KeyError("mine")

    fixed = swapped(raising, FakeQuant, rule="zero")
    with pytest.raises(KeyError, match="mine"):
        fixed(X)
    assert "apply" not in vars(FakeQuant)
    assert not torch.overrides._get_current_function_mode_stack()

"""An observation of anybody's net, against gradients that torch computes without it."""

from __future__ import annotations

import gc
import math
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

import explorer
from explorer.catalogue import OPS
from explorer.model.tape.calls import CALLS, op_key_of, parameters_of
from tests.model.nets import DIGITS, IMAGES, FakeQuant, Net, X, Y, gradients_of, loss_of, made

x_grid = torch.linspace(-3, 3, 121)


def observed(model, x=X, y=Y, functions=()):
    with explorer.observe(model, functions) as seen:
        loss_of(model, x, y).backward()
    return seen


def rows(seen):
    return {row["site"]: row for row in seen.frame.to_dict("records")}


def only(seen):
    (row,) = seen.frame.to_dict("records")
    return row


@pytest.mark.parametrize("function", CALLS, ids=lambda f: getattr(f, "__qualname__", str(f)))
def test_a_function_of_torch_computes_the_op_it_is_listed_for(function):
    call = CALLS[function]
    numbers = {"min": -0.5, "max": 0.75, "min_val": -0.5, "max_val": 0.75}
    numbers |= {"scale": 0.25, "zero_point": 0, "quant_min": -4, "quant_max": 3}
    keywords = {name: numbers.get(name, 0.3) for name in call.keywords} if call.op else {"exponent": 3}
    if call.op == "prelu":
        keywords = {"weight": torch.tensor([0.3])}
    x = x_grid.clone()
    try:
        y = function(x.clone(), **keywords)
    except TypeError:  # a builtin that takes positions alone
        y = function(x.clone(), *keywords.values())
    key = op_key_of(call, (x,), keywords)
    expected = OPS[key].parsed.bind(parameters_of(call, (x,), keywords))(x)
    torch.testing.assert_close(y, expected, equal_nan=True)
    positional = parameters_of(call, (x, *keywords.values()), {})
    assert positional == parameters_of(call, (x,), keywords)


def test_what_a_call_leaves_out_is_at_torchs_own_default():
    names = ("hardtanh", "leaky_relu", "elu", "celu", "softshrink")
    for function in (getattr(functional, name) for name in names):
        op = OPS[CALLS[function].op]
        defaults = {p.name: p.default for p in op.parameters} | parameters_of(CALLS[function], (x_grid,), {})
        torch.testing.assert_close(function(x_grid.clone()), op.parsed.bind(defaults)(x_grid))
    assert parameters_of(CALLS[torch.clamp], (x_grid,), {"min": 0}) == {"lo": 0, "hi": math.inf}


def test_sites_are_seen_however_the_op_is_called():
    torch.manual_seed(0)
    model = Net()
    before = gradients_of(model, IMAGES, DIGITS)
    seen = observed(model, IMAGES, DIGITS, [FakeQuant])
    assert list(seen.frame["op"]) == ["relu", "FakeQuant", "relu", "round", "tanh"]
    assert next(iter(seen.sites)) == "act1"
    assert [name.split(":")[0] for name in seen.sites][1:] == ["forward"] * 4
    assert seen.unseen == ()
    model.zero_grad()
    assert "apply" not in vars(FakeQuant)
    for name, gradient in gradients_of(model, IMAGES, DIGITS).items():
        torch.testing.assert_close(gradient, before[name])
    by_op = {row["op"]: row for row in seen.frame.to_dict("records")}
    assert by_op["round"]["dead_by_rule"] == by_op["round"]["units"] == 8
    assert by_op["FakeQuant"]["dead_from_above"] == by_op["FakeQuant"]["units"] == 8
    assert by_op["tanh"]["share_grad"] == 1
    assert (
        "(round) is to blame: its rule, default, lets no gradient through to all its 8 units."
        in seen.describe()
    )
    assert "No gradient comes from above to act1 (4 of 4 units)" in seen.describe()


def test_the_shares_are_those_of_the_gradients_themselves():
    model = made(lambda h: h.clamp(-1, 1))
    row = only(observed(model))
    h = model.a(X).detach().requires_grad_()
    clamped = h.clamp(-1, 1)
    loss = functional.cross_entropy(model.b(clamped), Y)
    g, gradient = torch.autograd.grad(loss, [clamped, h])
    assert row["share_grad"] == pytest.approx(float((gradient != 0).float().mean()))
    assert row["blocked_here"] == pytest.approx(float((gradient == 0).float().mean()))
    assert row["none_came"] == 0
    assert row["g_out"] == pytest.approx(float(g.norm()), rel=1e-5)
    assert row["g_in"] == pytest.approx(float(gradient.norm()), rel=1e-5)
    assert row["x_sd"] == pytest.approx(float(h.detach().std(unbiased=False)), rel=1e-5)
    assert row["rule"] == "default"


def twice(h):
    return torch.sign(h) + torch.sign(h - 1)


def test_two_calls_on_one_line_are_two_sites_and_one_call_in_a_loop_is_one():
    seen = observed(made(twice))
    assert len(seen.frame) == 2
    assert len({row["line"] for row in rows(seen).values()}) == 1

    def loop(h):
        for _ in range(3):
            h = torch.tanh(h)
        return h

    assert only(observed(made(loop)))["calls"] == 3


def test_a_module_that_stands_at_two_places_is_two_sites():
    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.relu, self.a = nn.ReLU(), nn.Linear(8, 3)

        def forward(self, x):
            x = self.relu(x)
            return self.relu(self.a(x))

    names = [*observed(Shared()).sites]
    assert [name.split("@")[0] for name in names] == ["relu", "relu"]


def test_a_stack_of_torchs_own_modules_is_one_site_from_wherever_it_is_called():
    model = nn.Sequential(nn.Linear(8, 3), nn.ReLU())
    with explorer.observe(model) as seen:
        loss_of(model).backward()
        loss_of(model).backward()
    assert [*seen.sites] == ["1"]
    assert only(seen)["calls"] == 2


def test_the_loss_is_no_site():
    model = nn.Linear(8, 3)
    with explorer.observe(model) as seen:
        model(X).abs().sum().backward()
    assert seen.frame.empty
    assert seen.describe() == "No op of the catalogue was seen to be called."


TRICKS = {
    "usual": (lambda h: h + (torch.round(h) - h).detach(), "round", "straight_through"),
    "turned": (lambda h: (h.round() - h).detach() + h, "round", "straight_through"),
    "three terms": (lambda h: h - h.detach() + torch.round(h).detach(), "round", "straight_through"),
    "of the detached": (lambda h: torch.round(h.detach()) + h - h.detach(), "round", "straight_through"),
    "by data": (lambda h: h + (h.round().data - h.data), "round", "straight_through"),
    "a surrogate": (lambda h: h.tanh() + (h.sign() - h.tanh()).detach(), "sign", "ede"),
    "several ops": (
        lambda h: h + ((h / 0.5).round().clamp(-4, 3) * 0.5 - h).detach(),
        "round → clamp",
        "straight_through",
    ),
}


@pytest.mark.parametrize("trick", TRICKS)
def test_a_detach_trick_is_one_site_with_the_rule_it_makes(trick):
    function, op, rule = TRICKS[trick]
    model = made(function)
    seen = observed(model)
    row = {each["op"]: each for each in seen.frame.to_dict("records")}[op]
    assert set(seen.frame["op"]) <= {op, "tanh", "lt → where"}
    assert row["note"] == "detach trick"
    assert row["rule"] == rule
    assert (row["share_grad"], row["blocked_here"], row["dead_by_rule"]) == (1, 0, 0)
    assert "to blame" not in seen.describe()
    h = model.a(X).detach().requires_grad_()
    (gradient,) = torch.autograd.grad(functional.cross_entropy(model.b(function(h)), Y), h)
    assert row["g_in"] == pytest.approx(float(gradient.norm()), rel=1e-5)
    assert seen.unseen == ()


def bireal(h):
    """The sign with Bi-Real's polynomial, which is itself the sign outside of -1 to 1."""
    p = torch.where(h < 0, h * h + 2 * h, 2 * h - h * h)
    p = torch.where(h.abs() < 1, p, torch.sign(h).detach())
    return p + (h.sign() - p).detach()


def test_a_trick_whose_way_holds_the_value_it_restores_is_made_of_x():
    row = observed(made(bireal)).frame.set_index("op").loc["abs → sign"]
    assert (row.note, row.computes, row.rule) == ("detach trick", "sign", "approx_sign")


def test_the_gradients_of_what_carries_a_trick_are_those_of_the_backward_alone():
    """The slope of a trick is asked for in the forward, through the same nodes: that is no backward."""
    function = TRICKS["a surrogate"][0]
    model = made(function)
    row = observed(model).frame.set_index("op").loc["tanh"]
    h = model.a(X).detach()
    y = function(h).requires_grad_()
    (g,) = torch.autograd.grad(functional.cross_entropy(model.b(y), Y), y)
    assert row.g_out == pytest.approx(float(g.norm()), rel=1e-4)
    assert row.g_in == pytest.approx(float((g * (1 - h.tanh() ** 2)).norm()), rel=1e-4)


def test_a_reset_by_a_detached_spike_is_no_trick():
    """A spiking neuron as libraries write it: its membrane less the spike's value, which stays 0 at first."""

    def neuron(h):
        membrane = torch.tensor(0.9).clamp(0, 1) * h - 100
        for _ in range(3):
            spike = torch.tanh(torch.sign(membrane).clamp(min=0))
            membrane = membrane.clone() - spike.detach()
        return membrane + spike

    seen = observed(made(neuron))
    assert set(seen.frame["op"]) == {"clamp", "sign", "tanh"}
    assert not seen.frame["note"].str.contains("trick").any()


def under_no_grad(h):
    with torch.no_grad():
        y = torch.round(h)
    return h + (y - h).detach()


def test_a_trick_under_no_grad_is_seen_as_well():
    row = only(observed(made(under_no_grad)))
    assert (row["rule"], row["note"], row["share_grad"]) == ("straight_through", "detach trick", 1)


def behind(h):
    h = h * 1
    h.data.round_()
    return h


def no_grad_alone(h):
    with torch.no_grad():
        gate = torch.sign(h)
    return h * gate


@pytest.mark.parametrize(
    ("function", "note"),
    [
        (behind, "it writes behind autograd's back, by .data"),
        (no_grad_alone, "called under no_grad"),
        (lambda h: h * torch.sigmoid(h).detach(), "its output is detached"),
    ],
)
def test_what_leaves_the_graph_is_named_and_never_called_dead(function, note):
    seen = observed(made(function))
    row = only(seen)
    assert row["note"].startswith(note)
    assert all(math.isnan(row[name]) for name in ("share_grad", "blocked_here", "none_came", "dead_by_rule"))
    assert f"no gradient is seen: {note}" in seen.describe()
    assert "to blame" not in seen.describe()


def relu_of(x):
    return torch.relu(x)


with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch says that TorchScript is on its way out
    scripted = torch.jit.script(relu_of)


earlier = FakeQuant.apply


def test_what_no_site_explains_is_named():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seen = observed(made(scripted))
    assert [each.node for each in seen.unseen] == ["ReluBackward0"]
    assert "Unseen: ReluBackward0" in seen.describe()


@pytest.mark.parametrize(
    ("function", "op", "computes"),
    [
        (lambda h: torch.maximum(h, torch.zeros_like(h)), "maximum", "relu"),
        (lambda h: torch.erf(h), "erf", ""),
        (lambda h: (h > 0) * h, "gt → mul", "relu"),
        (lambda h: torch.where(h > 0, h, 0.1 * h), "gt → where", ""),
        (lambda h: h.masked_fill(h < 0, 0), "lt → masked_fill", "relu"),
        (lambda h: FakeQuant.apply(h, 0.5), "FakeQuant", ""),
    ],
)
def test_calls_masks_and_functions_that_are_no_ops_of_the_catalogue_are_sites(function, op, computes):
    seen = observed(made(function))
    row = only(seen)
    assert (row["op"], row["computes"]) == (op, computes)
    assert seen.unseen == ()


@pytest.mark.parametrize(
    "function",
    [
        lambda h: functional.dropout(functional.layer_norm(h, (6,)), 0.1),
        lambda h: h.masked_fill(torch.arange(6) < 2, 0),
        lambda h: torch.where(torch.arange(6) < 2, h, h * 2),
        lambda h: torch.softmax(h, 1) @ torch.eye(6),
        lambda h: h / h.detach().norm(),
    ],
)
def test_what_is_linear_or_mixes_elements_is_no_site(function):
    seen = observed(made(function))
    assert seen.frame.empty
    assert seen.unseen == ()


def test_an_apply_that_was_taken_earlier_is_a_site():
    seen = observed(made(lambda h: earlier(h, 0.5)), functions=[FakeQuant])
    row = only(seen)
    assert (row["op"], row["rule"], row["calls"]) == ("FakeQuant", "straight_through", 1)
    assert seen.unseen == ()


def test_a_function_that_another_thread_calls_does_no_harm():
    def elsewhere(h):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(FakeQuant.apply, h, 0.5).result()

    seen = observed(made(elsewhere), functions=[FakeQuant])
    assert seen.frame.empty
    assert (seen.parameters["gradient"] == "arrives").all()


def test_what_came_before_the_model_is_not_its_own():
    model = made(torch.tanh)
    with explorer.observe(model) as seen:
        model(torch.atan(X.clone().requires_grad_())).sum().backward()
    assert seen.unseen == ()


def test_a_function_is_a_site_once_its_class_is_given():
    seen = observed(made(lambda h: FakeQuant.apply(h, 0.5)), functions=[FakeQuant])
    row = only(seen)
    assert (row["op"], row["rule"], row["share_grad"]) == ("FakeQuant", "straight_through", 1)
    assert seen.unseen == ()


def test_a_layer_of_ours_is_a_site_with_its_rule():
    seen = observed(made(explorer.Layer("sign", "clipped")))
    row = only(seen)
    assert (row["site"], row["op"], row["rule"]) == ("function", "sign", "clipped")
    assert seen.unseen == ()


def in_place(h):
    h.relu_()
    return h


@pytest.mark.parametrize("function", [in_place, nn.ReLU(inplace=True), lambda h: functional.relu(h, True)])
def test_an_op_in_place_still_works_in_place(function):
    model = made(function)
    plain = gradients_of(made(torch.relu))
    seen = observed(model)
    for name, p in model.named_parameters():
        torch.testing.assert_close(p.grad, plain[name.replace("function.", "")])
    assert only(seen)["x_mean"] == pytest.approx(float(model.a(X).detach().mean()), rel=1e-4)


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpoint_counts_its_calls_once(reentrant):
    class Saved(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.relu, self.b = nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 3)

        def forward(self, x):
            return self.b(checkpoint(lambda z: self.relu(self.a(z)), x, use_reentrant=reentrant))

    model, x = Saved(), X.clone().requires_grad_()
    plain = gradients_of(model, x)
    seen = observed(model, x)
    row = only(seen)
    assert (row["site"], row["calls"]) == ("relu", 1)
    assert row["share_grad"] > 0
    model.zero_grad()
    for name, gradient in gradients_of(model, x).items():
        torch.testing.assert_close(gradient, plain[name])


def test_an_encoder_layer_of_torch_is_seen():
    torch.manual_seed(0)
    model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    with explorer.observe(model) as seen:
        model(torch.randn(4, 5, 8)).sum().backward()
    assert set(seen.frame["op"]) == {"relu"}
    assert only(seen)["units"] == 16
    assert seen.unseen == ()


def test_a_model_that_raises_passes_its_error_through_and_keeps_no_hook():
    def raising(h):
        torch.relu(h)
        raise KeyError("mine")

    model = made(raising)
    seen = explorer.observe(model, [FakeQuant])
    with pytest.raises(KeyError, match="mine"), seen:
        model(X)
    assert not model._forward_hooks
    assert not model._forward_pre_hooks
    assert "apply" not in vars(FakeQuant)
    calls = only(seen)["calls"]
    with pytest.raises(KeyError):
        model(X)
    assert only(seen)["calls"] == calls == 1


def test_sites_are_counted_in_the_singular_and_the_plural():
    for ops, words in ([nn.ReLU()], "1 site;"), ([nn.ReLU(), nn.Tanh()], "2 sites;"):
        model = nn.Sequential(*ops)
        with explorer.observe(model) as seen:
            model(X)
            assert seen.describe().startswith(words)


def test_passes_without_a_backward_are_no_dead_units():
    model = made(torch.relu)
    with explorer.observe(model) as seen:
        model(X)
        assert math.isnan(only(seen)["share_grad"])
        assert seen.describe() == "1 site; no backward has run of these forward passes."
        loss_of(model).backward()
        model(X)
    row = only(seen)
    assert row["calls"] == 3
    assert row["none_came"] == 0


def test_a_backward_after_the_block_counts_too():
    model = made(torch.tanh)
    with explorer.observe(model) as seen:
        loss = loss_of(model)
    loss.backward()
    assert only(seen)["share_grad"] == 1


def test_a_loop_inside_the_block_adds_up_its_steps_and_keeps_none_of_them():
    model = made(torch.relu)
    with explorer.observe(model) as seen:
        kept = []
        for _ in range(30):
            loss_of(model).backward()
            kept.append((len(seen._listener.calls), len(seen._listener._measurements)))
    assert len({*kept[2:]}) == 1
    row = only(seen)
    assert row["calls"] == 30
    once = only(observed(model))
    assert row["share_grad"] == pytest.approx(once["share_grad"])
    assert row["x_sd"] == pytest.approx(once["x_sd"])


def test_nothing_is_left_behind_without_a_collection_of_garbage():
    model = made(lambda h: h + (torch.round(h) - h).detach())

    def tensors():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return sum(isinstance(each, torch.Tensor) for each in gc.get_objects())

    counts = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(4):
            observed(model)
            counts.append(tensors())
    finally:
        gc.enable()
    assert counts[-1] == counts[1]


def test_scalars_are_a_flat_dict_of_finite_numbers():
    scalars = observed(made(torch.relu)).scalars()
    (site,) = {name.split("/")[1] for name in scalars}
    assert {f"explorer/{site}/{name}" for name in ("share_grad", "blocked_here", "g_in", "units")} <= set(
        scalars
    )
    assert all(type(value) is float and math.isfinite(value) for value in scalars.values())
    assert all(name.startswith("a/b/") for name in observed(made(torch.relu)).scalars("a/b"))


def test_the_figure_has_the_inputs_and_the_gradient():
    seen = observed(made(lambda h: torch.tanh(h)))
    (name,) = seen.sites
    bars, curve = seen.figure(name).data
    assert sum(bars.y) == pytest.approx(1)
    x, gradient = torch.tensor(curve.x), torch.tensor(curve.y)
    torch.testing.assert_close(gradient, 1 - torch.tanh(x) ** 2)
    trick = observed(made(TRICKS["usual"][0]))
    (name,) = trick.sites
    measured = trick.figure(name).data[1]
    assert measured.mode == "markers"
    assert set(measured.y) == {1.0}
    with pytest.raises(ValueError, match=r"no site is called 'act9': the sites are "):
        seen.figure("act9")


def test_the_picture_of_the_model_shows_where_the_gradient_stops():
    model = nn.Sequential(nn.Linear(8, 6), nn.Tanh(), explorer.Layer("sign", "zero"), nn.Linear(6, 3))
    states = {trace.name: [*trace.text] for trace in observed(model).figure().data if trace.text}
    assert states == {
        "gradient arrives": ["3"],
        "the gradient stops here": ["2: sign"],
        "no gradient arrives": ["0", "1: tanh"],
    }
    with pytest.raises(ValueError, match="no picture of a model that has not been called"):
        explorer.observe(model).figure()


def test_the_slope_is_that_of_the_loss_where_the_op_is_smooth():
    model = made(torch.tanh)
    seen = observed(model)
    (name,) = seen.sites
    found = seen.slope(lambda: loss_of(model), name, sigma=0.01, draws=8)
    assert found.promised == pytest.approx(seen.frame["g_in"][0], rel=1e-5)
    assert found.slope == pytest.approx(found.promised, rel=0.02)
    assert "the loss falls along the rule's gradient" in str(found)


@pytest.mark.parametrize(("rule", "factor"), [("straight_through", 1.0), ("reversal", -1.0)])
def test_the_slope_under_noise_is_that_of_the_smoothed_step(rule, factor):
    """With noise of some steps the mean of round is x itself, so that the way is worth its norm."""
    model = made(lambda h: explorer.apply("round", rule, 3 * h))
    linear = torch.linspace(-1, 1, 48).reshape(16, 3)

    def loss():
        return (model(X) * linear).sum()

    with explorer.observe(model) as seen:
        loss().backward()
    found = seen.slope(loss, next(iter(seen.sites)), sigma=1.0, draws=60)
    assert found.slope == pytest.approx(factor * found.promised, abs=4 * found.error)
    assert found.error < 0.2 * found.promised


def test_a_slope_leaves_the_model_and_the_random_state_alone():
    model = nn.Sequential(nn.Linear(8, 6), nn.BatchNorm1d(6), nn.Tanh(), nn.Dropout(0.2), nn.Linear(6, 3))
    seen = observed(model)
    buffers, state = {n: b.clone() for n, b in model.named_buffers()}, torch.get_rng_state()
    seen.slope(lambda: loss_of(model), "2", draws=2)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(b, buffers[n]) for n, b in model.named_buffers())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda seen, loss: seen.slope(loss, "1", sigma=0), "sigma must be a number above 0, not 0"),
        (lambda seen, loss: seen.slope(loss, "1", draws=1), "draws must be 2 or more, not 1"),
        (lambda seen, loss: seen.slope(loss, "1"), "1 gets no gradient"),
    ],
)
def test_a_slope_that_cannot_be_is_one_sentence(make, words):
    model = nn.Sequential(nn.Linear(8, 3), explorer.Layer("sign", "zero"))
    seen = observed(model)
    with pytest.raises(ValueError, match=words):
        make(seen, lambda: loss_of(model))


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

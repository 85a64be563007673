"""What an observation returns besides its tables: scalars, figures, and the slope of a loss."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

import explorer
from tests.model.nets import X, Y, in_place, loss_of, made, observed, only


def test_scalars_are_a_flat_dict_of_finite_numbers():
    scalars = observed(made(torch.relu)).scalars()
    (site,) = {name.split("/")[1] for name in scalars}
    assert {f"explorer/{site}/{of}" for of in ("share_grad", "blocked_here", "g_in", "units")} <= set(scalars)
    assert all(type(value) is float and math.isfinite(value) for value in scalars.values())
    assert all(name.startswith("a/b/") for name in observed(made(torch.relu)).scalars("a/b"))


def test_the_figure_has_the_inputs_and_the_gradient():
    seen = observed(made(lambda h: torch.tanh(h)))
    (name,) = seen.sites
    bars, curve = seen.figure(name).data
    assert sum(bars.y) == pytest.approx(1)
    x, gradient = torch.tensor(curve.x), torch.tensor(curve.y)
    torch.testing.assert_close(gradient, 1 - torch.tanh(x) ** 2)
    trick = observed(made(lambda h: h + (torch.round(h) - h).detach()))
    (name,) = trick.sites
    measured = trick.figure(name).data[1]
    assert measured.mode == "markers"
    assert set(measured.y) == {1.0}
    with pytest.raises(ValueError, match=r"unknown site 'act9': this observation has "):
        seen.figure("act9")


def test_the_picture_of_the_model_shows_where_the_gradient_stops():
    model = nn.Sequential(nn.Linear(8, 6), nn.Tanh(), explorer.Layer("sign", "zero"), nn.Linear(6, 3))
    states = {trace.name: [*trace.text] for trace in observed(model).figure().data if trace.text}
    stuck = {"the gradient stops here": ["2: sign"], "no gradient arrives": ["0", "1: tanh"]}
    assert states == {"gradient arrives": ["3"]} | stuck
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


@pytest.mark.parametrize(
    "function",
    [lambda h: torch.tanh(h) * 2 - 1, lambda h: h + (torch.round(h) - h).detach(), in_place],
    ids=["begins an expression", "detach trick", "in place"],
)
def test_the_slope_is_measured_at_the_site_alone(function):
    """An expression has the line and column of the call that begins it, and is not that call."""
    model = made(function)
    seen = observed(model)
    found = seen.slope(lambda: loss_of(model), next(iter(seen.sites)), sigma=0.5, draws=20)
    assert found.promised == pytest.approx(seen.frame["g_in"][0], rel=1e-5)
    assert found.slope == pytest.approx(found.promised, rel=0.3)


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
def test_an_invalid_slope_raises_a_one_sentence_error(make, words):
    model = nn.Sequential(nn.Linear(8, 3), explorer.Layer("sign", "zero"))
    seen = observed(model)
    with pytest.raises(ValueError, match=words):
        make(seen, lambda: loss_of(model))


def test_sites_that_differ_in_their_names_alone_share_a_sentence():
    class Branches(nn.Module):
        def __init__(self):
            super().__init__()
            branch = lambda: nn.Sequential(nn.Linear(8, 3), explorer.Layer("sign", "zero"))  # noqa: E731
            self.branches = nn.ModuleList([branch() for _ in range(9)])

        def forward(self, x):
            return sum(branch(x) for branch in self.branches)

    (alike,) = [each for each in observed(Branches()).sentences if "alike" in each]
    assert alike.startswith(
        "9 sites alike (branches.0.1 (sign), branches.1.1 (sign), branches.2.1 (sign), …), each:"
    )


def test_what_stops_the_gradient_of_all_elements_is_told_before_a_rule_that_stops_some():
    half = observed(made(lambda h: torch.relu(h) * h.sign().detach())).sentences
    assert [each.split(": ")[-1] for each in half[:1]] == ["its output is detached."]
    whole = observed(made(lambda h: torch.sign(h) + h * h.abs().max().item())).sentences
    assert "(sign) is to blame" in whole[0]
    assert "item" in whole[-1]
    trick = observed(made(lambda h: torch.sign(h + (h.round() - h).detach()))).sentences
    # No gradient comes to it, by which to name its rule.
    assert not any("detach trick" in each for each in trick)


def test_units_that_are_dead_by_chance_in_a_small_batch_are_not_blamed():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 96), nn.ReLU(), nn.Linear(96, 3))
    seen = observed(model, X[:4], Y[:4])
    assert seen.frame.dead_by_rule[0] > 0
    assert "to blame" not in seen.describe()
    assert "Most are blocked" in observed(made(lambda h: torch.relu(h + 0.3)), X[:3], Y[:3]).describe()


def test_notes_tell_of_gradients_that_are_not_finite_and_of_another_shape():
    assert "gradients are not finite" in only(observed(made(lambda h: (h * 0).sqrt())))["note"]
    row = only(observed(made(lambda h: torch.maximum(h[:1], torch.full((16, 6), -9.0)))))
    assert row["note"] == "y has another shape than x"


def test_many_sites_to_which_no_gradient_comes_are_counted():
    layers = [layer for _ in range(8) for layer in (nn.Linear(8, 8), nn.Tanh())]
    seen = observed(nn.Sequential(*layers, explorer.Layer("sign", "zero"), nn.Linear(8, 3)))
    assert any(each.endswith("and 5 more.") for each in seen.sentences)


def test_tables_have_their_columns_also_when_they_are_empty():
    model = made(torch.relu)
    empty, full = explorer.observe(model), observed(model)
    assert [*empty.frame] == [*full.frame]
    assert [*empty.parameters] == [*full.parameters]
    columns = "site op calls share_grad blocked_here none_came units dead_by_rule dead_from_above"
    assert {*columns.split()} <= {*empty.frame}
    assert empty.frame.empty

"""Sentences on a pair that draws, held to ``explorer.expected``."""

import re

import numpy as np
import pytest

import explorer
from explorer.description import make_description


def said(op: str, *rules: str, **given: object) -> tuple[str, str, str]:
    """The headline, what stands below it, and all that is told beside the headline."""
    told = make_description(explorer.sample(op, list(rules), **given))  # type: ignore[arg-type]
    assert told.main == told.head
    return told.head, told.below, told.rest


def test_bias_spread_and_equilibria_are_described() -> None:
    head, main, rest = said("bernoulli", "sigmoid_st", "reinforce")
    table = explorer.expected("bernoulli", "sigmoid_st", np.linspace(-3, 3, 601))
    off, most = (table["mean"] - table.exact).abs().max(), table.exact.abs().max()
    told = "On average REINFORCE is exact for this loss and Straight-through (sigmoid) off by up to"
    assert head == f"{told} {off:.2g}."
    assert rest.startswith(f"{head.removesuffix('.')} (the exact gradient is at most {most:.2g}). Single")
    assert f"{table.sd.max():.2g} for Straight-through (sigmoid)" in main
    found = re.search(r"Straight-through \(sigmoid\) rests at x = (\S+);", rest)
    assert found
    at = float(found[1].replace("−", "-"))
    # There p is the target: the mean slope of the parabola is 0.
    assert 1 / (1 + np.exp(-at)) == pytest.approx(0.45, abs=1e-3)
    assert "REINFORCE moves x down, out of the picture" in rest


def test_exact_rules_are_named_for_each_loss() -> None:
    assert said("bernoulli", "reinmax")[0] == "On average ReinMax is exact for this loss."
    assert said("bernoulli", "reinmax", f="(y - 0.45)**4")[0].startswith("On average ReinMax is off by up to")
    both = "On average ReinMax and DisARM are exact for this loss."
    assert said("bernoulli", "reinmax", "disarm")[0] == both


def test_rules_that_do_not_spread_or_move_are_described_so() -> None:
    _, main, rest = said("round", "disarm")
    assert main == "DisARM returns 0 on every draw."
    assert said("bernoulli", "default")[1] == "Default autograd returns 0 on every draw."
    assert said("bernoulli", "flip")[1] == "Flip returns its mean on every draw."
    both = said("bernoulli", "default", "flip")[1]
    assert both.startswith("Default autograd and Flip return their means on every draw.")
    assert rest == f"{main} Descent along the mean: DisARM moves nothing; the exact gradient moves nothing."
    assert "rests at x = 0.45" in said("stochastic_round", "straight_through")[2]


@pytest.mark.parametrize(
    ("op", "rules", "f"),
    [
        ("gaussian_noise", ["straight_through"], "exp(exp(y))"), ("bernoulli", ["flip"], "log(y)"),
        ("bernoulli", ["sigmoid_st", "flip"], "1 / (y - 1)"),
    ],
)  # fmt: skip
def test_nothing_is_claimed_of_means_that_are_no_numbers(op: str, rules: list[str], f: str) -> None:
    head, below, rest = said(op, *rules, f=f)
    assert head == "No rule here has a finite mean to compare with the exact gradient."
    if len(rules) == 1:
        label = explorer.RULES[rules[0]].label
        descent = f"Descent along the mean: {label} has no mean; the exact gradient has no mean."
        assert below == rest == descent


def test_a_rule_without_a_mean_is_described_next_to_one_that_has_it() -> None:
    head, main, _ = said("bernoulli", "flip", "formula: 1 / (y - 1)")
    assert head == "On average Flip is exact for this loss and 1 / (y - 1) has no finite mean."
    assert main == "Flip returns its mean on every draw."


def test_long_descriptions_are_shortened_above_the_chart() -> None:
    unbiased = ("reinmax", "reinforce", "arm", "disarm")
    head, below, rest = said("bernoulli", "sigmoid_st", "st_gumbel", *unbiased)
    assert head == "On average 4 of 6 rules are exact for this loss; the others are off by up to 0.096."
    assert rest.startswith("On average ReinMax, REINFORCE, ARM and DisARM are exact for this loss, Straight-")
    assert below == "Single draws spread from 0.02 for DisARM to 0.25 for ReinMax (standard deviation)."
    assert "0.25 for Straight-through (sigmoid), 0.18 for Straight-through Gumbel, 0.25 for ReinMax" in rest
    head, _, _ = said("bernoulli", "sigmoid_st", *unbiased, "reinforce_baseline")
    assert head == "On average 5 of 6 rules are exact for this loss; the other is off by up to 0.096."
    loud = [f"formula: f() * (y - sigmoid(x)) + {k} * (u() - 0.5)" for k in range(6)]
    head, _, _ = said("bernoulli", *loud)
    assert head == "On average all 6 rules are exact for this loss."
    own = [f"formula: g * ({k} + sigmoid(x)) * (1 - sigmoid(x))" for k in range(6)]
    head, _, _ = said("bernoulli", *own)
    assert head == "On average none of 6 rules is exact for this loss: they are off by up to 3.9."


def test_a_mean_of_0_moves_nothing_though_sums_leave_something_of_it() -> None:
    frame = explorer.sample("formula: x * normal()", ["straight_through"], f="y**2")
    assert frame.gradient.abs().max() > 0
    assert "Straight-through moves nothing" in explorer.describe(frame)


def test_a_mean_without_a_spread_is_described() -> None:
    head, below, _ = said("gumbel_sigmoid", "default", f="1 / sqrt(y)")
    assert head == "On average Default autograd is exact for this loss."
    assert below.startswith("Descent along the mean: Default autograd moves x up")


def test_a_filtered_table_can_be_described() -> None:
    frame = explorer.sample("bernoulli", ["reinmax"])
    assert explorer.describe(frame[frame.x > 0])


def test_the_sentence_on_bias_is_not_repeated():
    frame = explorer.sample("bernoulli", ["straight_through", "reinforce"], f="(y - 0.45)**2")
    assert explorer.describe(frame).count("On average") == 1
    assert "the exact gradient is at most" in explorer.describe(frame)

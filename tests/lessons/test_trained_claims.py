"""The claims of lessons whose numbers take nets, walks or a rest to be computed, beside those numbers."""

from typing import Any

import numpy as np
import pytest
import torch

import explorer
from explorer.description.equilibria import find_equilibria
from explorer.description.net_gradient import compute_net_gradient, make_normal_numbers
from explorer.lessons.stories import learned_step, minimum, unbiased_or_quiet
from explorer.lessons.stories.surrogates import SEEDS, WIDTHS, Sign, train_nets
from explorer.training import Run, Settings
from explorer.training.ranking import differences_from, rank
from explorer.ui.links.link import from_text
from tests.lessons.conftest import results
from tests.selection import take_part

Results = dict[str, Any]


def test_surrogates(r: Results) -> None:
    sweep = r["sweep"]
    assert sweep["seeds"] == SEEDS
    assert sweep["narrow"]["c"] < sweep["best"]["c"] < sweep["wide"]["c"]
    right, _ = train_nets()
    scores = dict(zip(WIDTHS, right.tolist(), strict=True))
    none, narrow, *_, wide = WIDTHS
    above = [rule for rule, (_, most) in differences_from(scores, none, 1 / 500).items() if most < 0]
    assert narrow not in above, "as good as dead"
    assert wide in above, "mismatch is better than no gradient here"
    assert {none, narrow, wide} <= rank(scores, 1 / 500, unit="%").lower.keys()
    assert sweep["narrow"]["inside"] < 0.05 < sweep["best"]["inside"] < 0.5
    assert sweep["wide"]["inside"] > 0.95, "nearly everything passes"


def test_minimum(r: Results) -> None:
    gradient, loss = r["compute_gradients"], r["compute_losses"]
    assert gradient["straight_through"] == pytest.approx(r["compute_on_paper"], abs=0.005)
    assert max(gradient["relu"], gradient["clipped_relu"]) < 0.005, "told as 0.00"
    assert max(abs(loss[rule] - loss["before"]) for rule in ("relu", "clipped_relu")) < 0.03
    assert loss["straight_through"] > loss["before"] + 0.15, "uphill"


def test_the_spurious_minimum_of_the_lesson_is_one() -> None:
    """v is the lowest for its w, and the loss does not fall when w is turned a little."""
    v = minimum.solve_lowest(minimum.V_STAR)

    def loss(turned: float, v: torch.Tensor) -> float:
        w = -minimum.W_STAR + turned * torch.eye(10)[0]
        return minimum.compute_loss(w, v, "relu", 200_000, torch.Generator().manual_seed(0)).item()

    here = loss(0, v)
    assert min(loss(turned, v) for turned in (-0.3, 0.3)) > here
    for moved in torch.eye(4):
        assert min(loss(0, v + 0.1 * moved), loss(0, v - 0.1 * moved)) > here
    assert minimum.compute_loss(minimum.W_STAR, minimum.V_STAR, "relu", 1000, torch.Generator()).item() == 0


P, T = 0.2, 0.45  # of the unit that draws, by NumPy alone


def logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def by_numpy(x: Any, u: Any) -> dict[str, Any]:
    p, f = logistic(x), lambda y: (y - T) ** 2
    y, twin = np.where(u < p, 1, 0), np.where(1 - u < p, 1, 0)
    slope = 2 * (y - T)
    middle = (y + p) / 2
    return {
        "straight_through": slope * p * (1 - p),
        "reinmax": 2 * slope * middle * (1 - middle) - slope * p * (1 - p) / 2,
        "reinforce": f(y) * (y - p),
        "reinforce_baseline": (f(y) - p * f(1) - (1 - p) * f(0)) * (y - p),
        "arm": (f(twin) - f(y)) * (u - 1 / 2),
        "disarm": (f(twin) - f(y)) * (twin - y) * logistic(np.abs(x)) / 2,
    }


def test_unbiased_or_quiet(r: Results) -> None:
    exact = ((1 - T) ** 2 - T**2) * P * (1 - P)
    assert r["ends"] == pytest.approx({"zero": T**2, "one": (1 - T) ** 2})
    assert r["exact"] == pytest.approx(exact, abs=1e-12)
    assert exact == pytest.approx(0.0160, abs=1e-6)
    draws = by_numpy(np.log(P / (1 - P)), (np.arange(100_000) + 0.5) / 100_000)
    for name, each in draws.items():
        at = r["start"][name]
        assert (at["mean"], at["sd"]) == pytest.approx((each.mean(), each.std()), abs=1e-6), name
        assert (abs(at["mean"] - exact) < 1e-9) == (name != "straight_through"), "it alone is biased"
    sd = {name: round(at["sd"], 4) for name, at in r["start"].items() if name != "p"}
    assert sd == {
        "straight_through": 0.128, "reinmax": 0.212, "reinforce": 0.113, "reinforce_baseline": 0.024,
        "arm": 0.0199, "disarm": 0.0196,
    }  # fmt: skip
    assert r["start"]["straight_through"]["mean"] == pytest.approx(-0.08), "the wrong way"
    assert r["rest"] == pytest.approx(T, abs=1e-3)
    assert f"`t = {T}`" in unbiased_or_quiet.LESSON.prediction.ask


def test_runs_of_what_is_unbiased_and_loud_end_at_the_wrong_end() -> None:
    """With other draws the shares are the same, as near as so many runs tell."""
    shares, chance = results("unbiased-or-quiet")["shares"], np.random.default_rng(0)
    for name, by_rate in shares.items():
        for rate, share in zip((1, 2, 4, 8), by_rate, strict=True):
            x = np.full(2000, np.log(P / (1 - P)))
            for _ in range(150):
                x = x - rate * by_numpy(x, chance.random(2000))[name]
            other = (x > 0).mean()
            tells = 4 * np.sqrt((share * (1 - share) + other * (1 - other) + 1e-3) / 2000)
            assert share == pytest.approx(other, abs=tells), (name, rate)
    assert all(share > 0.04 for share in shares["reinmax"])
    assert all(share == 0 for name in ("reinforce_baseline", "arm", "disarm") for share in shares[name])
    said = dict(unbiased_or_quiet.ask_enough().answers)["No: some runs end at the wrong end"]
    assert "by straight-through 32, 36, 40, 39 %, by ReinMax 5.1, 11, 18, 25 %" in said


@pytest.mark.parametrize(
    ("key", "rule"), [("vanishing", "default"), ("straight-through", "straight_through")]
)
def test_a_net_in_the_words_is_the_net_that_trains_below_them(key: str, rule: str) -> None:
    run = Run(Settings(op="round", rules=(rule,), lr=1e-7), recorded=())
    run.advance(500)
    snapshot, said = run.snapshot(), results(key)["net"]
    assert said["first"] == pytest.approx(snapshot.losses[rule][0], rel=0.05), "two digits are told"
    assert said["last"] == pytest.approx(snapshot.loss[rule], rel=0.05)
    assert said["moved"] == pytest.approx(snapshot.gradients[rule].w1_moved, rel=0.05)


@pytest.mark.parametrize("c", take_part(WIDTHS))
def test_the_nets_of_a_width_are_those_that_train_below_the_words(c: float) -> None:
    """Point by point: data, start, batches and optimiser of the lesson are those of the page."""
    rule, parameters = ("clipped", {"c": c}) if c else ("zero", {})
    settings = {"task": "circles", "hidden": (16, 16, 16), "seeds": SEEDS}
    run = Run(Settings(op="sign", rules=(rule,), parameters=parameters, **settings), recorded=())
    run.advance(run.settings.steps)
    right, _ = train_nets()
    assert right[WIDTHS.index(c)].tolist() == pytest.approx(run.snapshot().score[rule].tolist(), abs=0.03)


@pytest.mark.parametrize("c", [0.05, 0.5, 5.0])
def test_the_gradient_of_the_lesson_is_the_rule_of_the_catalogue(c: float) -> None:
    x = torch.linspace(-6, 6, 481).requires_grad_()
    (expected,) = torch.autograd.grad(explorer.apply("sign", "clipped", x, c=c).sum(), x)
    (gradient,) = torch.autograd.grad(Sign.apply(x, torch.tensor(c)).sum(), x)
    assert torch.equal(gradient, expected)


def test_learned_step(r: Results) -> None:
    """The story is true, and the live panel below it has the same numbers."""
    numbers = learned_step.make_normal().tolist()
    settings = {"s": learned_step.START, "qmin": float(learned_step.LOW), "qmax": float(learned_step.HIGH)}
    assert numbers == pytest.approx(make_normal_numbers(), abs=1e-12)
    pulled = compute_net_gradient("quantize", "lsq", "s", make_normal_numbers(), settings)
    assert (pulled.up, pulled.down) == pytest.approx((r["pull"]["up"], r["pull"]["down"]), rel=1e-9)
    _, other = from_text(learned_step.LESSON.scenes[0].query)[0].rules
    rests = find_equilibria("quantize", ["lsq", other], "s", make_normal_numbers(), settings)
    ((at, _),) = rests.positions["lsq"]
    assert r["train_complete"]["s"] == pytest.approx(at, abs=1e-6), "it rests"
    complete, careless = r["train_complete"], r["train_careless"]
    assert complete["after"] < complete["before"] < careless["after"], "the error falls, or not"
    assert careless["step"] > 1e-4, "s still grows"
    assert careless["s"] < max(rests.positions[other])[0]

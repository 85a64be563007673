"""Every claim of every sentence, held against values computed in NumPy for 540 random choices."""

import math
import random
import re

import numpy as np
import pytest

from explorer.catalogue import Rule
from explorer.curves import Curves, sample_curves
from explorer.curves.sampled import EVEN
from explorer.description import describe, make_description
from explorer.description.claims import MAX_PIECES, Claim
from tests.description import claim_meanings
from tests.description.claim_truth import Truth, random_curves
from tests.selection import loop_over, take_part

CHOICES = 540
BATCHES = range(27)
NUMBER = r"−?[0-9]+(?:\.[0-9]+)?(?:e−?[0-9]+)?"


def _lost_in_32_bits(curves: Curves) -> list[float]:
    """Return for each curve the % of the evenly spaced x at which float64 alone has a number."""
    even, x = curves.marks == EVEN, curves.x.astype(np.float64)
    columns, evaluate = curves.columns.items(), curves.float64_curves.evaluate
    lost = (np.isfinite(evaluate(key, x)) & ~np.isfinite(y) for key, y in columns)
    return [100 * float(each[even].mean()) for each in lost]


def _numbers_are_claimed(text: str, curves: Curves, claims: tuple[Claim, ...]) -> bool:
    """Every number in a sentence is one of a claim, to four digits."""
    for label in sorted([curves.op.label, *curves.labels.values()], key=len, reverse=True):
        text = text.replace(label, "").replace(f"{label[:12].rstrip()}…", "").replace("Your formula", "")
    text = re.sub(r"Rule \d", "", text)
    known = [n for claim in claims for n in (*claim.numbers, *(end for span in claim.spans for end in span))]
    known += [100 * n for n in known] + [32, 64, 1, 99, 100, curves.g]
    known += _lost_in_32_bits(curves) if "64 bits hold numbers" in text else []
    points = [claim.about for claim in claims if claim.kind == "point"]
    known += [points.count((key,)) for key in curves.columns]
    known += [len(claim.numbers) for claim in claims] + [*range(1, len(curves.rules) + 1)]
    for result in re.findall(NUMBER, text.replace("%", "")):
        number = float(result.replace("−", "-"))
        slack = 0.51 if "." not in result else 0
        if not any(math.isclose(number, each, rel_tol=6e-4, abs_tol=slack) for each in known):
            return False
    return True


@loop_over("batch", take_part(BATCHES))
def test_every_claim_holds(batch: int):
    rng = random.Random(batch)
    wrong = []
    for _ in range(CHOICES // len(BATCHES)):
        curves = random_curves(rng)
        description, truth = make_description(curves), Truth(curves)
        text = f"{description.main} {description.rest}"
        skipped = {"default"} if "mean" in curves.op.formula else set()
        for claim in description.claims:
            with np.errstate(all="ignore"):
                holds = skipped & set(claim.about) or getattr(claim_meanings, claim.kind)(truth, claim)
            if not holds:
                wrong.append((claim, text, curves.start, curves.stop, curves.g, dict(curves.parameters)))
        assert _numbers_are_claimed(text, curves, description.claims), text
    assert not wrong, f"{len(wrong)}: {wrong[:6]}"


@pytest.mark.parametrize(
    ("op", "rule", "width", "share"),
    [
        ("identity", "formula: g * (x - hardswish(x))", 256559.0, 0.5),
        ("formula: where(x > 1.4, 2, x)", "sparse_fast_sigmoid", 4362.25, 1 - 1 / 4362.25),
    ],
    ids=["rounding leaves some of x", "kinks lie near one another"],
)
def test_a_gradient_that_is_0_on_a_part_is_claimed_to_be_0(op: str, rule: str, width: float, share: float):
    curves = sample_curves(op, rule, start=-width, stop=width)
    (part,) = [claim for claim in make_description(curves).claims if claim.kind == "part"]
    assert part.numbers == (0.0, pytest.approx(share, abs=1e-4))


@pytest.mark.parametrize(("count", "listed"), [(MAX_PIECES, True), (MAX_PIECES + 1, False)])
def test_the_x_at_which_two_rules_differ_are_listed_if_they_are_few(count: int, listed: bool):
    single = " + ".join(f"(x == {x})" for x in range(count))
    curves = sample_curves("identity", ["zero", f"formula: g * ({single})"], start=-9.0, stop=9.0)
    result = [claim.numbers for claim in make_description(curves).claims if claim.kind == "apart"]
    assert result == [tuple(range(count))] * listed


def test_one_point_of_a_stretch_without_values_is_no_single_x():
    """The sine swings so often that of many a stretch one point is drawn."""
    curves = sample_curves("sin", "formula: sqrt(y)", start=-37698.0, stop=37698.0, points=201)
    assert "undefined at" not in describe(curves)
    (missing,) = [claim for claim in make_description(curves).claims if claim.kind == "undefined"]
    assert missing.numbers == (pytest.approx(0.5, abs=0.05),)


@pytest.mark.parametrize("width", [10.0, 1e3, 1e6])
def test_rounding_errors_are_not_called_a_slope(width: float):
    curves = sample_curves("formula: hardswish(x) - x", ["default"], start=-width, stop=width)
    (flat,) = [claim for claim in make_description(curves).claims if claim.kind == "flat"]
    assert (flat.exact, flat.numbers) == (True, (pytest.approx((width - 3) / (2 * width)),))


@pytest.mark.parametrize(
    ("formula", "start", "stop"),
    [
        ("floor(x) * 1e-14", 1.0, 3.0), ("sign(x - 2) * 1e-14", 1.0, 3.0),
        ("sign(x - 999999) * 5e-8", -1e6, 1e6), ("detach(x * 1e-11)", -3.0, 3.0),
    ],
)  # fmt: skip
def test_a_small_step_is_no_rounding(formula: str, start: float, stop: float):
    curves = sample_curves(f"formula: {formula}", ["default"], start=start, stop=stop)
    forward = make_description(curves).claims[0]
    assert forward.kind == "flat"
    assert forward.numbers[0] == (0.0 if "detach" in formula else 1.0)
    assert len(set(curves.float64_curves.y)) > 1


def test_a_spike_between_two_kinks_that_touch_is_no_pole():
    """There is one float between them: what lies beyond it belongs to the other side of the next kink."""
    one_up, two_up = 1 + 2**-52, 1 + 2**-51
    formula = f"g * (1 + 1000000000 * (1 < x < {two_up!r}))"
    spike = Rule(key="spike", label="Spike", formula=formula, kinks=("1", repr(two_up)), purpose="")
    curves = sample_curves("identity", spike, dtype="float64")
    beside = curves.gradients["spike"][np.searchsorted(curves.x, [1.0, one_up, two_up])]
    assert (curves.kinks["spike"], beside.tolist()) == ((1.0, two_up), [1, 1e9 + 1, 1])
    assert "unbounded" not in {claim.kind for claim in make_description(curves).claims}
    pole = sample_curves("identity", "formula: g / (x - 1)", dtype="float64")
    assert "unbounded" in {claim.kind for claim in make_description(pole).claims}


def test_an_overflow_before_a_kink_is_not_called_a_pole():
    """exp(exp(x)) is beyond float64 from 6.56 on: how it grows up to there says nothing of the kink."""
    rule = "formula: g * exp(exp(x)) * (x < 6.61)"
    curves = sample_curves("identity", rule, start=-3, stop=8, dtype="float64")
    assert curves.kinks[rule] == (6.61,)
    assert {claim.kind for claim in make_description(curves).claims} == {"flat", "undefined", "range"}

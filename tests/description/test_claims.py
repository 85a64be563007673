"""Every claim of every sentence, held against values computed in NumPy for 1,000 random choices."""

import math
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

import numpy as np
import pytest
import torch

from explorer.catalogue import OWN, Op, Rule, find_op, find_rule, values
from explorer.curves import Curves, sample_curves
from explorer.description import describe, described
from explorer.description.claims import MOST_PIECES, Claim
from explorer.formula import FUNCTIONS, Formula, FormulaError, Function
from explorer.formula.tree import Call, Name, substituted, walk
from explorer.sampled import FORWARD
from tests.catalogue.fixed import OPS, RULES
from tests.formula import oracle
from tests.selection import loop_over, take_part

CHOICES = 1000
BATCHES = range(27)
UPSTREAM = (1.0, 1.0, 2.0, -1.0, 0.5, 0.0, 1e-6, 1e6)
NUMBER = r"−?[0-9]+(?:\.[0-9]+)?(?:e−?[0-9]+)?"
SINGLE = 3.4028235e38

# --- random choices --------------------------------------------------------------------------------------


def _has_own_curve(row: Function) -> bool:
    """Whether a function shows what no other does: a reduction, an approximation and nan_to_num do not."""
    return not (row.reduces or row.keywords or row.name == "nan_to_num")


def _term(rng: random.Random, names: str, depth: int) -> str:
    """A formula as a person may write one."""
    if depth == 0:
        return rng.choice([*names, "x", "x", "2", "0.5", f"{rng.uniform(0, 4):.2g}"])
    part = [_term(rng, names, rng.randrange(depth)) for _ in range(3)]
    level = rng.choice(["0", "1", f"{rng.uniform(-2, 2):.2g}"])
    one = rng.choice([row.name for row in FUNCTIONS.values() if row.arity == 1 and _has_own_curve(row)])
    return rng.choice(
        [
            f"({part[0]} {rng.choice('+-*/')} {part[1]})",
            f"{one}({part[0]})",
            f"{one}({part[0]})",
            f"({part[0]} {rng.choice(['<', '<=', '>', '>='])} {level})",
            f"(abs({part[0]}) <= {rng.uniform(0.1, 2):.2g})",
            f"where({part[0]} > {level}, {part[1]}, {part[2]})",
            f"clamp({part[0]}, -1, {rng.uniform(0, 2):.2g})",
            f"max({part[0]}, {part[1]})",
            f"({part[0]})**{rng.choice('23')}",
            f"mean(abs({part[0]})) * {part[1]}",
        ]
    )


def _entry(rng: random.Random, kind: str) -> Op | Rule:
    table, find = (OPS, find_op) if kind == "op" else (RULES, find_rule)
    if rng.random() < 0.5:
        return table[rng.choice(list(table))]
    while True:
        text = _term(rng, "x" if kind == "op" else "xyg", rng.randint(1, 3))
        try:
            return find(OWN + (text if kind == "op" or rng.random() < 0.3 else f"g * {text}"))
        except FormulaError:
            continue


def _choice(rng: random.Random) -> Curves:
    rules = [_entry(rng, "rule") for _ in range(rng.choice([1, 2, 2, 3, 6]))]
    op = _entry(rng, "op")
    width = 10 ** rng.uniform(-6, 6)
    start = rng.choice([-width, 0.0, rng.uniform(-2, 2), -width / 3])
    start, stop = max(start, -1e6), min(start + rng.choice([1, 2]) * width, 1e6)
    own = {p.name: p for entry in (op, *rules) for p in entry.parameters}
    ordered = {name for p in own.values() if p.below for name in (p.name, p.below)}
    free = [p for p in own.values() if p.name not in ordered and rng.random() < 0.2]
    chosen = {p.name: rng.uniform(p.low, p.high) for p in free}
    return sample_curves(
        op,
        rules,
        start=start,
        stop=stop,
        g=rng.choice(UPSTREAM),
        points=rng.choice([201, 300, 601]),
        **chosen,
    )


# --- values, computed apart ------------------------------------------------------------------------------


_UNDERFLOW = 1e-280


@dataclass(frozen=True)
class Truth:
    """The functions behind curves, by the oracle of the formula language, and torch for autograd."""

    curves: Curves

    @cached_property
    def random(self) -> np.ndarray:
        x = np.random.default_rng(0).uniform(self.curves.start, self.curves.stop, 1000)
        return np.sort(x)

    def of(self, key: str, x: np.ndarray) -> np.ndarray:
        if key == FORWARD:
            return self._formula(
                self.curves.op.parsed, values(self.curves.op, None, self.curves.parameters), x
            )
        (rule,) = [rule for rule in self.curves.rules if rule.key == key]
        parameters = values(self.curves.op, rule, self.curves.parameters)
        if rule.parsed is None:
            return self._autograd(x)
        return self._formula(rule.parsed, parameters, x)

    def _torchs(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """With y of torch at sampled x where both are 0 but for rounding, which a logarithm tells apart."""
        exact = self.curves.exact
        at = np.abs(np.subtract.outer(x, exact.x)).argmin(-1) if x.ndim else 0
        rounded = np.isclose(exact.x[at], x, rtol=1e-6, atol=0) & (np.abs(y - exact.y[at]) < 1e-15)
        return np.where(rounded & (np.abs(y) < 1e-15), exact.y[at], y)

    def _formula(self, formula: Formula, parameters: dict[str, float], x: np.ndarray) -> np.ndarray:
        scope = {**parameters, "x": x, "g": np.full_like(x, self.curves.g)}
        if "y" in formula.variables:
            scope["y"] = self._torchs(x, self._formula(self.curves.op.parsed, parameters, x))
        means = {node: Name(Formula(node).text) for node in walk(formula.tree) if _is_mean(node)}
        for node, name in means.items():
            even = np.linspace(self.curves.start, self.curves.stop, 2001)
            even[np.abs(even) < 1e-12 * (even[-1] - even[0])] = 0
            inner = Formula(node.arguments[0])
            scope[name.name] = np.mean(np.float64(self._formula(inner, parameters, even)))
        return np.asarray(oracle.evaluate(substituted(formula.tree, means), scope), np.float64)

    def slope(self, x: np.ndarray) -> np.ndarray:
        """Of the op, by torch."""
        return self._autograd(x, 1.0)

    def _autograd(self, x: np.ndarray, g: float | None = None) -> np.ndarray:
        at = torch.tensor(x, requires_grad=True)
        y = self.curves.op.parsed.bind(values(self.curves.op, None, self.curves.parameters))(at)
        if not y.requires_grad:
            return np.zeros_like(x)
        return torch.autograd.grad(y, at, torch.full_like(y, self.curves.g if g is None else g))[0].numpy()

    def share(self, key: str, holds: Callable[[np.ndarray], np.ndarray]) -> float:
        """On what part of the range something holds: of random x."""
        return float(np.mean(holds(self.of(key, self.random))))

    def zero_share(self, key: str) -> float:
        """On what part of the range it is 0, or what rounding leaves of that: 0 again and again beside it."""
        result = self.of(key, self.random)
        zero = result == 0
        beside = np.convolve(zero, np.ones(31), "same") > 0
        left = np.abs(result) <= 1e-13 * np.maximum(1, np.abs(self.random)) * abs(self.curves.g)
        return float(np.mean(zero | (beside & left)))

    def underflow_share(self, key: str) -> float:
        """On what part of the range it is 0 to the computer alone: beside values that are hardly numbers."""
        result = np.abs(self.of(key, self.random))
        edges = np.flatnonzero(np.diff(np.concatenate([[0], result == 0, [0]])))
        count = 0
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            beside = [*result[max(start - 1, 0) : start], *result[stop : stop + 1]]
            count += (stop - start) * (min(beside, default=1.0) < _UNDERFLOW)
        return count / len(result)


def _is_mean(node: object) -> bool:
    return isinstance(node, Call) and node.function == "mean"


# --- what each claim means -------------------------------------------------------------------------------


def _near(found: np.ndarray | float, value: float, size: float = 0.0) -> np.ndarray:
    return np.isclose(found, value, rtol=1e-6, atol=1e-9 * size)


def _level(truth: Truth, claim: Claim) -> bool:
    (value,), (key,) = claim.numbers, claim.about
    drawn = truth.curves.exact.x
    for start, stop in claim.spans:
        even = start + (stop - start) * np.linspace(0.00312, 0.99689, 41)
        x = even if claim.exact else drawn[(drawn > start) & (drawn < stop)]
        if not _near(truth.of(key, x), value).all():
            return False
    return True


def _beside(x: float) -> np.ndarray:
    return x + np.spacing(abs(x)) * np.arange(-8, 9)


def _point(truth: Truth, claim: Claim) -> bool:
    value, x = claim.numbers
    return bool(_near(truth.of(claim.about[0], _beside(x)), value).any())


def _among(truth: Truth, claim: Claim) -> bool:
    result = truth.of(claim.about[0], truth.random)
    result = result[np.isfinite(result)]
    return bool(np.any([_near(result, value) for value in claim.numbers], axis=0).all())


def _part(truth: Truth, claim: Claim) -> bool:
    value, share = claim.numbers
    if value == 0:
        return abs(truth.zero_share(claim.about[0]) - share) < 0.05
    return abs(truth.share(claim.about[0], lambda found: found == value) - share) < 0.05


def _range(truth: Truth, claim: Claim) -> bool:
    low, high, at = claim.numbers
    exact = truth.curves.exact
    seen = exact.x[np.isfinite(exact.columns[claim.about[0]])]  # torch's cosh ends before NumPy's
    x = np.concatenate([exact.x, truth.random]) if claim.exact else seen
    result = truth.of(claim.about[0], x)
    result = result[np.isfinite(result)]
    size = max(abs(low), abs(high))
    slack = 1e-6 * size + 1e-13 * max(1.0, abs(truth.curves.g))
    far = np.abs(truth.of(claim.about[0], np.append(_beside(at), at)))
    inside = result.min() >= low - slack and result.max() <= high + slack
    return bool(inside and np.isclose(far, size, rtol=1e-6, atol=slack).any())


def _undefined(truth: Truth, claim: Claim) -> bool:
    return abs(truth.share(claim.about[0], lambda found: ~np.isfinite(found)) - claim.numbers[0]) < 0.05


def _overflow(truth: Truth, claim: Claim) -> bool:
    def large(found: np.ndarray) -> np.ndarray:
        return np.isfinite(found) & (np.abs(found) > SINGLE)

    return abs(truth.share(claim.about[0], large) - claim.numbers[0]) < 0.05


def _unbounded(truth: Truth, claim: Claim) -> bool:
    return all(_grows(truth, claim.about[0], x) for x in claim.numbers)


def _grows(truth: Truth, key: str, x: float) -> bool:
    """The nearer, the larger, on one side at least; by a power or by a logarithm."""
    scale = max(abs(x), truth.curves.stop - truth.curves.start)
    steps = np.maximum(np.array([1e-7, 1e-9, 1e-11, 1e-13]) * scale, 4 * np.spacing(abs(x)))
    for side in (-1, 1):
        result = np.abs(truth.of(key, x + side * np.unique(steps)[::-1]))
        finite = result[np.isfinite(result)]
        if (
            len(finite)
            and (np.diff(finite) > 0).all()
            and (len(finite) < len(result) or finite[-1] > 1.1 * finite[0])
        ):
            return True
    return False


def _flat(truth: Truth, claim: Claim) -> bool:
    x = truth.random
    if not claim.exact:
        x = truth.curves.exact.x
        result = truth.of(FORWARD, x)
        same = np.isclose(result[1:], result[:-1], rtol=1e-15, atol=0) & np.isfinite(result[1:])
        cells = np.diff(x)[same]
        return abs(cells.sum() / (x[-1] - x[0]) - claim.numbers[0]) < 0.05
    step = 3e-5 * (truth.curves.stop - truth.curves.start)  # of 512 kinks few x have one so near
    left, right = truth.of(FORWARD, x - step), truth.of(FORWARD, x + step)
    rounded = np.abs(left - right) <= 4 * np.spacing(np.abs(x))
    flat = (left == right) | (rounded & (truth.slope(x) == 0))
    return abs(float(np.mean(flat & np.isfinite(left))) - claim.numbers[0]) < 0.05


def _many(truth: Truth, claim: Claim) -> bool:
    """The curve or the op bends or jumps in at least 100 positions; where it only may, nothing is claimed."""
    ends = np.array([truth.curves.start, truth.curves.stop])
    # A grid whose step is nearly a whole number skips the jumps of round: two grids hardly share one.
    for (start, stop), points in product((ends, np.clip(ends, -2, 2)), (20011, 14983)):
        x = np.linspace(start, stop, points)
        for key in (claim.about[0], FORWARD):
            result = truth.of(key, x)
            with np.errstate(invalid="ignore", over="ignore"):
                bends = np.abs(np.diff(result, n=2)) > 1e-9 * np.abs(result[1:-1])
            if np.sum(bends | ~np.isfinite(result[1:-1])) >= 100:
                return True
    return not claim.exact


def _alike(truth: Truth, claim: Claim) -> bool:
    one, *others = (truth.of(key, truth.curves.exact.x) for key in claim.about)
    size = np.abs(one[np.isfinite(one)]).max(initial=0.0)
    return all(
        np.isclose(one, other, rtol=1e-6, atol=1e-9 * size, equal_nan=True).mean() > 0.995 for other in others
    )


def _apart(truth: Truth, claim: Claim) -> bool:
    x = truth.random if claim.exact else truth.curves.exact.x
    x = x[~np.isin(x, claim.numbers)]
    one, other = (truth.of(key, x) for key in claim.about)
    return bool(np.isclose(one, other, rtol=1e-6, equal_nan=True).mean() > 0.995)


def _different(truth: Truth, claim: Claim) -> bool:
    """No two of the curves are the same at every drawn x; the others are like one of them."""
    result = {key: truth.of(key, truth.curves.exact.x) for key in truth.curves.gradients}
    rules, gradients = claim.numbers

    def same(one: str, other: str, rtol: float) -> bool:
        return bool(np.isclose(result[one], result[other], rtol=rtol, atol=0, equal_nan=True).all())

    apart = not any(same(one, other, 1e-10) for one, other in combinations(claim.about, 2))
    return apart and (len(result), len(claim.about)) == (rules, gradients)


def _hole(truth: Truth, claim: Claim) -> bool:
    """At each x there is no value, or none a few floats from it; around it there are some."""
    for x in claim.numbers:
        around = x + np.array([-1, 1]) * 1e-7 * (truth.curves.stop - truth.curves.start)
        around = around[(around > truth.curves.start) & (around < truth.curves.stop)]
        if np.isfinite(truth.of(claim.about[0], _beside(x))).all():
            return False
        if not np.isfinite(truth.of(claim.about[0], around)).any():
            return False
    return True


def _gap(truth: Truth, claim: Claim) -> bool:
    return all(
        _level(truth, Claim("level", (key,), (value,), claim.spans))
        for key, value in zip(claim.about, claim.numbers, strict=True)
    )


def _peak(truth: Truth, claim: Claim) -> bool:
    (peak,), (key,) = claim.numbers, claim.about
    curves = truth.curves
    x = np.concatenate([curves.exact.x, *map(_beside, curves.exact.kinks[key])])
    result = truth.of(key, x[(x >= curves.start) & (x <= curves.stop)])
    slack = 1e-6 * abs(peak) + 1e-13 * max(1.0, abs(curves.g))
    reached = np.isclose(result, peak, rtol=1e-6, atol=slack).any()
    return bool(np.abs(result).max() <= abs(peak) + slack and reached)


def _area(truth: Truth, claim: Claim) -> bool:
    """By two x in each of many cells, which grow by 4 % with the distance from each kink and the peak."""
    curves, (key,) = truth.curves, claim.about
    drawn = curves.exact.x
    width = drawn[-1] - drawn[0]
    centres = {*curves.exact.kinks[key], drawn[np.argmax(np.abs(truth.of(key, drawn)))]}
    steps = width * np.append(0, 1.04 ** -np.arange(760))
    edges = [drawn, *(centre + side * steps for centre in centres for side in (-1, 1))]
    edges = np.unique(np.clip(np.concatenate(edges), drawn[0], drawn[-1]))
    middles, halves = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    left, right = (truth.of(key, middles + side * halves / np.sqrt(3)) for side in (-1, 1))
    slack = 1e-9 * max(np.abs(left).max(), np.abs(right).max()) + 1e-13 * max(1.0, abs(curves.g))
    cancelled = 1e-3 * ((np.abs(left) + np.abs(right)) @ halves)  # where it swings about 0
    return math.isclose(
        (left + right) @ halves, claim.numbers[0], rel_tol=1e-3, abs_tol=slack * width + cancelled
    )


def _support(truth: Truth, claim: Claim) -> bool:
    apart = 1 - truth.zero_share(claim.about[0]) - claim.numbers[0]
    return min(abs(apart), abs(apart + truth.underflow_share(claim.about[0]))) < 0.05


HOLDS = {
    "infinite": _hole,
    "nowhere": _hole,
    "gap": _gap,
    "peak": _peak,
    "area": _area,
    "support": _support,
    "level": _level,
    "point": _point,
    "among": _among,
    "part": _part,
    "range": _range,
    "undefined": _undefined,
    "overflow": _overflow,
    "unbounded": _unbounded,
    "flat": _flat,
    "many": _many,
    "alike": _alike,
    "apart": _apart,
    "different": _different,
}


def _numbers_are_claimed(text: str, curves: Curves, claims: tuple[Claim, ...]) -> bool:
    """Every number in a sentence is one of a claim, to four digits."""
    for label in sorted([curves.op.label, *curves.labels.values()], key=len, reverse=True):
        text = text.replace(label, "").replace(f"{label[:12].rstrip()}…", "")
    text = re.sub(r"Rule \d", "", text)
    known = [n for claim in claims for n in (*claim.numbers, *(end for span in claim.spans for end in span))]
    known += [100 * n for n in known] + [32, 1, 99, 100, curves.g]
    known += [
        sum(claim.kind == "point" and claim.about == (key,) for claim in claims) for key in curves.columns
    ]
    known += [len(claim.numbers) for claim in claims] + [*range(1, len(curves.rules) + 1)]
    for result in re.findall(NUMBER, text.replace("%", "")):
        number = float(result.replace("−", "-"))
        near = [
            math.isclose(number, each, rel_tol=6e-4, abs_tol=0.51 if "." not in result else 0)
            for each in known
        ]
        if not any(near):
            return False
    return True


@loop_over("batch", take_part(BATCHES))
def test_every_claim_holds(batch: int):
    rng = random.Random(batch)
    wrong = []
    for _ in range(CHOICES // len(BATCHES)):
        curves = _choice(rng)
        description, truth = described(curves), Truth(curves)
        text = f"{description.main} {description.rest}"
        skipped = {"default"} if "mean" in curves.op.formula else set()
        for claim in description.claims:
            with np.errstate(all="ignore"):
                holds = skipped & set(claim.about) or HOLDS[claim.kind](truth, claim)
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
def test_a_gradient_that_is_0_is_said_to_be(op: str, rule: str, width: float, share: float):
    curves = sample_curves(op, rule, start=-width, stop=width)
    (part,) = [claim for claim in described(curves).claims if claim.kind == "part"]
    assert part.numbers == (0.0, pytest.approx(share, abs=1e-4))


@pytest.mark.parametrize(("count", "listed"), [(MOST_PIECES, True), (MOST_PIECES + 1, False)])
def test_the_x_at_which_two_rules_differ_are_listed_if_they_are_few(count: int, listed: bool):
    single = " + ".join(f"(x == {x})" for x in range(count))
    curves = sample_curves("identity", ["zero", f"formula: g * ({single})"], start=-9.0, stop=9.0)
    result = [claim.numbers for claim in described(curves).claims if claim.kind == "apart"]
    assert result == [tuple(range(count))] * listed


def test_one_point_of_a_stretch_without_values_is_no_single_x():
    """The sine swings so often that of many a stretch one point is drawn."""
    curves = sample_curves("sin", "formula: sqrt(y)", start=-37698.0, stop=37698.0, points=201)
    assert "undefined at" not in describe(curves)
    (missing,) = [claim for claim in described(curves).claims if claim.kind == "undefined"]
    assert missing.numbers == (pytest.approx(0.5, abs=0.05),)


@pytest.mark.parametrize("width", [10.0, 1e3, 1e6])
def test_what_rounding_leaves_is_no_slope(width: float):
    curves = sample_curves("formula: hardswish(x) - x", ["default"], start=-width, stop=width)
    (flat,) = [claim for claim in described(curves).claims if claim.kind == "flat"]
    assert (flat.exact, flat.numbers) == (True, (pytest.approx((width - 3) / (2 * width)),))


@pytest.mark.parametrize(
    ("formula", "start", "stop"),
    [
        ("floor(x) * 1e-14", 1.0, 3.0),
        ("sign(x - 2) * 1e-14", 1.0, 3.0),
        ("sign(x - 999999) * 5e-8", -1e6, 1e6),
        ("detach(x * 1e-11)", -3.0, 3.0),
    ],
)
def test_a_small_step_is_no_rounding(formula: str, start: float, stop: float):
    curves = sample_curves(f"formula: {formula}", ["default"], start=start, stop=stop)
    forward = described(curves).claims[0]
    assert forward.kind == "flat"
    assert forward.numbers[0] == (0.0 if "detach" in formula else 1.0)
    assert len(set(curves.exact.y)) > 1


def test_a_spike_between_two_kinks_that_touch_is_no_pole():
    """There is one float between them: what lies beyond it belongs to the other side of the next kink."""
    one_up, two_up = 1 + 2**-52, 1 + 2**-51
    formula = f"g * (1 + 1000000000 * (1 < x < {two_up!r}))"
    spike = Rule(key="spike", label="Spike", formula=formula, kinks=("1", repr(two_up)), purpose="")
    curves = sample_curves("identity", spike, dtype="float64")
    beside = curves.gradients["spike"][np.searchsorted(curves.x, [1.0, one_up, two_up])]
    assert (curves.kinks["spike"], beside.tolist()) == ((1.0, two_up), [1, 1e9 + 1, 1])
    assert "unbounded" not in {claim.kind for claim in described(curves).claims}
    pole = sample_curves("identity", "formula: g / (x - 1)", dtype="float64")
    assert "unbounded" in {claim.kind for claim in described(pole).claims}


def test_what_overflows_before_a_kink_is_no_pole_at_it():
    """exp(exp(x)) is beyond float64 from 6.56 on: how it grows up to there says nothing of the kink."""
    rule = "formula: g * exp(exp(x)) * (x < 6.61)"
    curves = sample_curves("identity", rule, start=-3, stop=8, dtype="float64")
    assert curves.kinks[rule] == (6.61,)
    assert {claim.kind for claim in described(curves).claims} == {"flat", "undefined", "range"}


@pytest.mark.parametrize("op", ["relu", "round", "tanh", "sign"])
def test_torch_is_asked_where_an_op_is_flat_only_when_rounding_may_have_bent_it(op: str, monkeypatch):
    def flat(_self: Curves) -> None:
        raise AssertionError("its values tell already")

    monkeypatch.setattr(Curves, "flat", flat)
    assert "is flat" in describe(sample_curves(op, "default"))

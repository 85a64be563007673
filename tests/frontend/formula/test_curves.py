"""The browser's curves against torch's, in node: the same x, the same values in float64.

Equal means: the same infinity, both not a number, or no further apart than 1e-12 of the value. Where a
curve comes near 0, where what cancels leaves the rounding of larger numbers, it is 1e-12 of its largest
value or of 1, whichever is smaller.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from explorer import catalogue
from explorer.catalogue import FORMULA_PREFIX, MAX_RULES, Op, Rule, find_op, find_rule, qualify_name
from explorer.curves import Curves, sample_curves
from explorer.curves.sampled import EVEN
from explorer.formula import FUNCTIONS, Formula
from explorer.formula.operands import find_reductions
from explorer.formula.tree import Call, Name, children, walk
from explorer.formula.tree import Node as Tree
from explorer.instrument import make_entry
from tests.catalogue.cases import suiting
from tests.catalogue.fixed import OPS, RULES
from tests.formula import oracle
from tests.formula.loops import undecided
from tests.formula.strategies import PARAMETERS, formulas, many
from tests.frontend.modules import Node
from tests.selection import count_examples, take_part

POINTS = 61
UPSTREAM = (1.0, -2.0, 0.5)
SAMPLE = """
    const { sampleCurves } = await import("./formula/curves.js");
    return given.cases.map((it) => sampleCurves(it, it.choice, { points: given.points }));
"""

known = cache(make_entry)  # each op and rule stands in many cases


@dataclass(frozen=True)
class Case:
    """An op, rules and everything else a curve depends on."""

    op: Op
    rules: tuple[Rule, ...]
    g: float
    parameters: dict[str, float]
    start: float = -4.03
    stop: float = 4.07
    learns: str = ""  # the parameter that does

    @property
    def name(self) -> str:
        rules = [rule.key for rule in self.rules]
        return f"{self.op.key} with {rules}, g = {self.g}, {self.parameters} {self.learns}"

    def data(self) -> dict[str, object]:
        choice = {"start": self.start, "stop": self.stop, "g": self.g, "parameters": self.parameters}
        choice["learns"] = self.learns
        return {"op": known(self.op), "rules": [known(rule) for rule in self.rules], "choice": choice}

    def torch(self) -> Curves:
        span = {"start": self.start, "stop": self.stop, "points": POINTS, "g": self.g, "learns": self.learns}
        return sample_curves(self.op, self.rules, dtype="float64", **span, **self.parameters)


def drawn(parameter: catalogue.Parameter, generator: random.Random) -> float:
    """A value within the bounds of a parameter; whole where all of its numbers are, such as levels."""
    low, high = parameter.low, parameter.high
    whole = abs(parameter.default) >= 3 and all(end.is_integer() for end in (low, high, parameter.default))
    return float(generator.randint(int(low), int(high))) if whole else generator.uniform(low, high)


def catalogue_cases() -> list[Case]:
    """Every op with every rule that suits it, default among them, at each g."""
    generator = random.Random(7)
    cases = []
    for op in OPS.values():
        rules = suiting(op)
        for first in range(0, len(rules), MAX_RULES):
            some = tuple(rules[first : first + MAX_RULES])
            for g in UPSTREAM:
                cases.append(Case(op, some, g, values_of(op, some, generator)))
    return cases


def values_of(op: Op, rules: Sequence[Rule], generator: random.Random) -> dict[str, float]:
    """A value for each parameter, of each rule its own; a pair that must not cross in order."""
    values: dict[str, float] = {p.name: drawn(p, generator) for p in op.parameters}
    names = [{p.name: p.name for p in op.parameters}]
    for rule in rules:
        own = catalogue.adapt_rule(op, rule).parameters
        names.append({p.display_name: p.name if p.name in names[0] else qualify_name(rule, p) for p in own})
        values |= {f"{rule.key}.{p.display_name}": drawn(p, generator) for p in own if p.name not in names[0]}
    for record, known in zip((op, *rules), names, strict=True):
        for low, high in ((known[p.name], known[p.below]) for p in record.parameters if p.below):
            values[low], values[high] = sorted((values[low], values[high]))
    return values


def own_cases() -> list[Case]:
    """Random formulas as rules, those in x alone as ops too."""
    texts: dict[str, Formula] = {}

    @settings(many, max_examples=count_examples(560))
    @given(formulas)
    def collect(formula: Formula) -> None:
        calls = [part for part in walk(formula.tree) if isinstance(part, Call) and part.function == "std"]
        if all(varies(call.arguments[0]) for call in calls):  # the spread of one number is rounding alone
            texts[formula.text] = formula

    collect()
    assert len(texts) >= count_examples(400)
    generator, ops = random.Random(7), OPS_DECIDED
    cases = []
    for text, formula in texts.items():
        op, g = generator.choice(ops), generator.choice(UPSTREAM)
        own = {name: PARAMETERS[name] for name in formula.parameters}
        usual = {p.name: p.default for p in op.parameters}
        cases.append(Case(op, (find_rule(FORMULA_PREFIX + text),), g, own | usual))
        if set(formula.variables) <= {"x"}:
            cases.append(Case(find_op(FORMULA_PREFIX + text), (RULES["default"],), g, own))
    return cases


def varies(tree: Tree) -> bool:
    """Whether a tree has another value at another x."""
    if isinstance(tree, Call) and FUNCTIONS[tree.function].reduces:
        return False
    return tree in (Name("x"), Name("y")) or any(map(varies, children(tree)))


def equal(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    finite = np.abs(right[np.isfinite(right)])
    scale = min(finite.max(initial=0), 1)
    with np.errstate(invalid="ignore"):
        near = np.abs(left - right) <= 1e-12 * np.maximum(np.abs(right), scale)
    return near | (left == right) | (np.isnan(left) & np.isnan(right))


def unequal_curves(sampled: dict, curves: Curves) -> dict[str, np.ndarray]:
    """By the names of the curves that differ: at which of the x that both have; (n,) int."""
    values = {"forward": sampled["y"], **sampled["gradients"]}
    _, here, there = np.intersect1d(sampled["x"], curves.x, return_indices=True)
    result = {key: there[~equal(values[key][here], some[there])] for key, some in curves.columns.items()}
    return {key: some for key, some in result.items() if len(some)}


def same_points(sampled: dict, curves: Curves) -> bool:
    """Whether x, marks and kinks are equal to the last bit."""
    kinks = {key: None if result is None else tuple(result) for key, result in sampled["kinks"].items()}
    pairs = [(sampled["x"], curves.x), (sampled["marks"], curves.marks)]
    return kinks == curves.kinks and all(np.array_equal(*pair) for pair in pairs)


def sampled_in(node: Node, cases: list[Case]) -> list[dict]:
    return node.run(SAMPLE, {"points": POINTS, "cases": [case.data() for case in cases]})


def assert_equal_curves(node: Node, cases: list[Case]) -> None:
    """Compare all points and values of some cases with those of torch."""
    for case, sampled in zip(cases, sampled_in(node, cases), strict=True):
        curves = case.torch()
        assert same_points(sampled, curves), case.name
        assert not unequal_curves(sampled, curves), case.name


def is_decided(op: Op) -> bool:
    """Whether no jump hangs on the last bit of a mean, which is summed in another order here and there."""
    return op.kinks is not None or not find_reductions(op.parsed.tree)


OPS_DECIDED = [op for op in OPS.values() if is_decided(op)]


def test_an_op_that_jumps_at_a_mean_is_equal_but_at_the_jump(node: Node):
    rules = (RULES["default"], RULES["straight_through"])
    cases = [Case(op, rules, 2.0, {}, -3.0, 2.0) for op in OPS.values() if not is_decided(op)]
    assert cases
    for case, sampled in zip(cases, sampled_in(node, cases), strict=True):
        curves = case.torch()
        kinks, jumps = sampled["kinks"]["forward"], curves.kinks["forward"]
        np.testing.assert_allclose(kinks, jumps, rtol=1e-12)
        values = dict(zip(sampled["x"], sampled["y"], strict=True))
        even = [(x, y) for x, y in zip(curves.x, curves.y, strict=True) if x in values and x not in jumps]
        assert len(even) > 60
        np.testing.assert_allclose([values[x] for x, _ in even], [y for _, y in even], rtol=1e-12)


def test_the_catalogue(node: Node):
    assert_equal_curves(node, take_part(case for case in catalogue_cases() if is_decided(case.op)))


def test_the_kinks_of_an_op_are_looked_for_once_for_all_rules(node: Node):
    rules = [make_entry(RULES[key]) for key in ("default", "straight_through", "zero", "clipped", "ewgs")]
    looks = """
        const { sampleCurves } = await import("./formula/curves.js");
        let looks = 0;
        const op = Object.defineProperty({ ...given.op }, "pieces", {
          get: () => (looks += 1) && given.op.pieces,
        });
        const choice = { start: -1000, stop: 1000, g: 1, parameters: {} };
        const { kinks } = sampleCurves({ op, rules: given.rules }, choice);
        return [looks, Object.values(kinks).map((some) => some.length)];
    """
    count, found = node.run(looks, {"op": make_entry(OPS["fp8_e4m3"]), "rules": rules})
    assert (count, found) == (1, [252, 252, 252, 252, 254, 252])


def test_own_formulas(node: Node):
    """As the catalogue; but where the last bits of tanh or log decide, kinks and values may be others."""
    cases = take_part(own_cases())
    undecided_cases = set()
    for case, sampled in zip(cases, sampled_in(node, cases), strict=True):
        curves = case.torch()
        if not same_points(sampled, curves):
            assert set(curves.x[curves.marks == EVEN]) <= set(sampled["x"]), case.name
            undecided_cases.add(case.name)
        for key, there in unequal_curves(sampled, curves).items():
            assert decided(case, curves, key)[there].sum() == 0, f"{key} at {curves.x[there]}: {case.name}"
            undecided_cases.add(case.name)
    assert len(undecided_cases) <= 1 + len(cases) / 80, undecided_cases


def decided(case: Case, curves: Curves, key: str) -> np.ndarray:
    """The x at which a curve stays if every result but those of + − × ÷ is changed in its last bits.

    What is 0, as small as numbers get, or NaN is changed in its sign: in torch's own softshrink that of a
    zero hangs on the place in its vector. Through a cast of an infinite number the app's torch passes 0, and
    the browser g.
    """
    x = torch.tensor(curves.x)
    formula = case.op.parsed if key == "forward" else case.rules[0].parsed or case.op.parsed.gradient
    values = {"x": curves.x, "y": curves.y, "g": np.full_like(curves.x, case.g), **case.parameters}
    exact, generator = oracle.evaluate(formula.tree, values), np.random.default_rng(0)
    same = ~undecided(case.op.parsed, case.parameters, x, x).numpy()
    for call in walk(case.op.parsed.tree):
        if isinstance(call, Call) and FUNCTIONS[call.function].format:
            same &= ~np.isinf(oracle.evaluate(call.arguments[0], values))

    def wobbled(some: np.ndarray) -> np.ndarray:
        noise = generator.uniform(-1, 1, some.shape)
        return np.where(np.abs(some) >= 1e-300, some * (1 + 1e-15 * noise), np.copysign(some, noise))

    for _ in range(512):  # two rounded numbers are equal in few of them
        same &= equal(oracle.evaluate(formula.tree, values | {"y": wobbled(curves.y)}, wobbled), exact)
    return same


def test_every_function_of_the_table_and_no_other(node: Node):
    functions, reductions = node.run(
        'const tables = await import("./formula/functions.js");'
        "return [Object.keys(tables.FUNCTIONS), Object.keys(tables.REDUCTIONS)]"
    )
    assert sorted([*functions, *reductions]) == sorted(FUNCTIONS)
    assert sorted(reductions) == sorted(row.name for row in FUNCTIONS.values() if row.reduces)


@pytest.mark.parametrize(
    ("start", "stop"), [(-1e6, 1e6), (-40.0, 40.0), (0.1, 0.1 + 1e-9), (3.0, -2.0), (1.5, 1.5), (0.0, 1e-300)]
)
def test_ranges(node: Node, start, stop):
    rules = tuple(map(find_rule, ("default", "masked", "formula: g * (sin(x) > 0.5)")))
    assert_equal_curves(node, [Case(op, rules, 2.0, {}, start, stop) for op in take_part(OPS_DECIDED)])


def test_kinks_that_share_a_cell_of_the_scan(node: Node):
    op = find_op(FORMULA_PREFIX + "abs(abs(x - 0.0011) - 0.0002)")
    case = Case(op, (RULES["default"],), 1.0, {}, -3.0, 3.0)
    (sampled,) = sampled_in(node, [case])
    assert sampled["kinks"]["forward"] == [0.0009, 0.0011, 0.0013]
    assert same_points(sampled, case.torch())


@pytest.mark.parametrize("size", [1e-37, 1e-39, 1e-44, 7.1e-46, 7e-46])
def test_celu_at_constants_that_float32_holds_in_few_bits(node: Node, size: float):
    op, default = find_op("formula: celu(x, c)"), (RULES["default"],)
    assert_equal_curves(node, [Case(op, default, 0.5, {"c": c}, -2 * size, 3 * size) for c in (size, -size)])

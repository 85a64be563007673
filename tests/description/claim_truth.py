"""Random choices of curves, and their values computed apart: with NumPy, by the oracle of formulas."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from explorer.catalogue import FORMULA_PREFIX, Op, Rule, find_op, find_rule, resolve_values
from explorer.curves import Curves, sample_curves
from explorer.curves.sampled import FORWARD
from explorer.formula import FUNCTIONS, Formula, FormulaError, Function
from explorer.formula.tree import Call, Name, substitute, walk
from tests.catalogue.fixed import OPS, RULES
from tests.formula import oracle

UPSTREAM = (1.0, 1.0, 2.0, -1.0, 0.5, 0.0, 1e-6, 1e6)


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
            f"({part[0]} {rng.choice('+-*/')} {part[1]})", f"{one}({part[0]})", f"{one}({part[0]})",
            f"({part[0]} {rng.choice(['<', '<=', '>', '>='])} {level})",
            f"(abs({part[0]}) <= {rng.uniform(0.1, 2):.2g})",
            f"where({part[0]} > {level}, {part[1]}, {part[2]})",
            f"clamp({part[0]}, -1, {rng.uniform(0, 2):.2g})", f"max({part[0]}, {part[1]})",
            f"({part[0]})**{rng.choice('23')}", f"mean(abs({part[0]})) * {part[1]}",
        ]
    )  # fmt: skip


def _entry(rng: random.Random, kind: str) -> Op | Rule:
    table, find = (OPS, find_op) if kind == "op" else (RULES, find_rule)
    if rng.random() < 0.5:
        return table[rng.choice(list(table))]
    while True:
        text = _term(rng, "x" if kind == "op" else "xyg", rng.randint(1, 3))
        try:
            return find(FORMULA_PREFIX + (text if kind == "op" or rng.random() < 0.3 else f"g * {text}"))
        except FormulaError:
            continue


def random_curves(rng: random.Random) -> Curves:
    rules = [_entry(rng, "rule") for _ in range(rng.choice([1, 2, 2, 3, 6]))]
    op = _entry(rng, "op")
    width = 10 ** rng.uniform(-6, 6)
    start = rng.choice([-width, 0.0, rng.uniform(-2, 2), -width / 3])
    start, stop = max(start, -1e6), min(start + rng.choice([1, 2]) * width, 1e6)
    own = {p.name: p for entry in (op, *rules) for p in entry.parameters}
    ordered = {name for p in own.values() if p.below for name in (p.name, p.below)}
    free = [p for p in own.values() if p.name not in ordered and rng.random() < 0.2]
    chosen = {p.name: rng.uniform(p.low, p.high) for p in free}
    g, points = rng.choice(UPSTREAM), rng.choice([201, 300, 601])
    return sample_curves(op, rules, start=start, stop=stop, g=g, points=points, **chosen)


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
        op = self.curves.op
        if key == FORWARD:
            return self._formula(op.parsed, resolve_values(op, None, self.curves.parameters), x)
        (rule,) = [rule for rule in self.curves.rules if rule.key == key]
        if rule.parsed is None:
            return self._autograd(x)
        return self._formula(rule.parsed, resolve_values(op, rule, self.curves.parameters), x)

    def _torchs(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """With y of torch at sampled x where both are 0 but for rounding, which a logarithm tells apart."""
        exact = self.curves.float64_curves
        at = np.abs(np.subtract.outer(x, exact.x)).argmin(-1) if x.ndim else 0
        rounded = np.isclose(exact.x[at], x, rtol=1e-6, atol=0) & (np.abs(y - exact.y[at]) < 1e-15)
        return np.where(rounded & (np.abs(y) < 1e-15), exact.y[at], y)

    def _formula(self, formula: Formula, parameters: dict[str, float], x: np.ndarray) -> np.ndarray:
        scope = {**parameters, "x": x, "g": np.full_like(x, self.curves.g)}
        if "y" in formula.variables:
            scope["y"] = self._torchs(x, self._formula(self.curves.op.parsed, parameters, x))
        calls = [node for node in walk(formula.tree) if isinstance(node, Call) and node.function == "mean"]
        means = {node: Name(Formula(node).text) for node in calls}
        for node, name in means.items():
            even = np.linspace(self.curves.start, self.curves.stop, 2001)
            even[np.abs(even) < 1e-12 * (even[-1] - even[0])] = 0
            inner = Formula(node.arguments[0])
            scope[name.name] = np.mean(np.float64(self._formula(inner, parameters, even)))
        return np.asarray(oracle.evaluate(substitute(formula.tree, means), scope), np.float64)

    def slope(self, x: np.ndarray) -> np.ndarray:
        """Of the op, by torch."""
        return self._autograd(x, 1.0)

    def _autograd(self, x: np.ndarray, g: float | None = None) -> np.ndarray:
        at = torch.tensor(x, requires_grad=True)
        y = self.curves.op.parsed.bind(resolve_values(self.curves.op, None, self.curves.parameters))(at)
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

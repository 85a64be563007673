"""Sample an op and its backward rules over a range of x."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from explorer import catalogue
from explorer.curves import grids
from explorer.curves.deterministic import DeterministicEvaluator
from explorer.curves.grids import find_late_jumps, round_to_dtype
from explorer.curves.kinks import find_contribution_kinks, find_kinks, find_mean_kinks
from explorer.curves.sampled import FORWARD, POINTS, Floats, SampledCurves, to_contribution_key
from explorer.curves.stochastic import StochasticEvaluator
from explorer.curves.user_functions.entries import OpLike, RuleLike, UserRule, resolve_op, resolve_rule

if TYPE_CHECKING:
    import pandas as pd

READING_POINTS = 7


@dataclass(frozen=True, eq=False, repr=False)
class Curves(SampledCurves):
    """An op's output and its gradients by several backward rules, sampled with PyTorch."""

    def __repr__(self) -> str:
        rules, span = ", ".join(self.gradients), f"{self.start:g} to {self.stop:g}"
        return f"Curves({self.op.key} with {rules}, x from {span}, {len(self.x)} points, g = {self.g:g})"

    def __deepcopy__(self, _memo: object) -> Curves:
        return self  # pandas deep-copies attrs, which an immutable object does not need

    def evaluate(self, key: str, x: Floats) -> Floats:
        """Evaluate one of the curves at other x within the sampled range. Returns x's dtype."""
        rule = next((rule for rule in self.rules if rule.key == key), self.rules[0])
        y, gradients = self._evaluate_rule(rule, x, self.g)
        return y if key == FORWARD else gradients

    def compute_autograd(self, g: float) -> Floats:
        """Compute torch's own gradient of the op at each sampled x, for an upstream gradient g."""
        return self._evaluate_rule(catalogue.RULES["default"], self.x, g)[1]

    def _evaluate_rule(self, rule: catalogue.Rule, x: Floats, g: float) -> tuple[Floats, Floats]:
        loss, span = catalogue.find_loss(self.loss) if self.loss else None, (self.start, self.stop)
        return _make_evaluator(self.op, loss, self.parameters, g, span, self.learns).evaluate(rule, x)

    @property
    def frame(self) -> pd.DataFrame:
        """The curves as a new DataFrame with the columns rule, x, y and gradient, one block of rows per rule.

        ``attrs["curves"]`` is this object. Stochastic ops and rules add the columns y_sd, gradient_sd and
        unbiased. If a parameter learns, there is a column part, with NaN for rules by which it cannot learn.
        """
        import pandas as pd  # imported late, because it takes 40 MB and 0.3 s, and training does not need it

        blocks = [
            pd.DataFrame({"rule": key, "x": self.x, "y": self.y, "gradient": gradients})
            for key, gradients in self.gradients.items()
        ]
        if self.unbiased is not None:
            spread = self.spreads[FORWARD]
            blocks = [
                block.assign(y_sd=spread, gradient_sd=self.spreads[key], unbiased=self.unbiased)
                for key, block in zip(self.gradients, blocks, strict=True)
            ]
        if self.learns:
            missing = np.full_like(self.y, np.nan)
            parts = [self.parts.get(key, missing) for key in self.gradients]
            blocks = [block.assign(part=part) for block, part in zip(blocks, parts, strict=True)]
        frame = pd.concat(blocks, ignore_index=True)
        frame.attrs = {"curves": self}
        return frame

    @cached_property
    def float64_curves(self) -> Curves:
        """The same curves sampled in float64, or this object if it is in float64 already."""
        if self.x.dtype == np.float64:
            return self
        request: dict[str, Any] = {
            name: getattr(self, name) for name in ("start", "stop", "points", "g", "learns")
        }
        request |= {"f": self.loss} if self.loss else {}
        return sample_curves(self.op, self.rules, dtype="float64", **(request | dict(self.parameters)))


def sample_curves(
    op: OpLike,
    rules: RuleLike | Sequence[RuleLike],
    *,
    start: float = -3.0,
    stop: float = 3.0,
    points: int = POINTS,
    g: float = 1.0,
    dtype: str | torch.dtype = "float32",
    learns: str = "",
    f: str | float = catalogue.SQUARE,
    **parameters: float,
) -> Curves:
    """Sample an op and its gradients as a Curves object. The arguments are those of ``sample``."""
    op = resolve_op(op)
    chosen_rules = tuple(catalogue.adapt_rule(op, rule) for rule in _resolve_rules(rules))
    torch_dtype = grids.to_torch_dtype(dtype)
    start, stop = span = grids.normalize_range(start, stop, torch_dtype)
    points, g = grids.check_points(points), catalogue.to_finite("g", g)
    if not isinstance(f, str):
        parameters, f = {"f": f, **parameters}, catalogue.SQUARE
    loss = catalogue.find_loss(f) if op.is_random or any(rule.is_random for rule in chosen_rules) else None
    settings = catalogue.check_values(op, chosen_rules, parameters, (), loss)
    contributions = _find_contributions(op, chosen_rules, learns)
    all_kinks = _find_all_kinks(op, chosen_rules, learns, contributions, settings, span, g, loss)
    kinks = {key: None if at is None else round_to_dtype(at, torch_dtype) for key, at in all_kinks.items()}
    kink_x = [value for positions in kinks.values() for value in positions or ()]
    x, marks = grids.make_grid(start, stop, points, kink_x, torch_dtype)

    known_marks = None if kinks[FORWARD] is None else marks
    evaluator = _make_evaluator(op, loss, settings, g, span, learns)
    values = evaluator.evaluate_curves(chosen_rules, x, known_marks)
    late_x = None
    if not loss:
        late_x = find_late_jumps(x, marks, values.y, lambda x: evaluator.evaluate(chosen_rules[0], x)[0])
    if late_x:
        x[list(late_x)] = list(late_x.values())
        values = evaluator.evaluate_curves(chosen_rules, x, known_marks)
    parts = {
        rule.key: evaluator.evaluate_contribution(rule, contributions[rule.key].formula, x)
        for rule in chosen_rules
        if rule.key in contributions
    }
    return Curves(
        op, chosen_rules, settings, *span, points, g, x, marks, values.y, values.gradients, kinks,
        learns, parts, loss.text if loss else "", values.spreads, values.unbiased,
    )  # fmt: skip


def _make_evaluator(
    op: catalogue.Op,
    loss: catalogue.Loss | None,
    settings: Mapping[str, float],
    g: float,
    span: tuple[float, float],
    learns: str,
) -> StochasticEvaluator | DeterministicEvaluator:
    if loss:
        return StochasticEvaluator(op, loss, settings, g, span)
    return DeterministicEvaluator(op, settings, g, span, learns)


def _find_all_kinks(
    op: catalogue.Op,
    rules: Sequence[catalogue.Rule],
    learns: str,
    learning_keys: Collection[str],
    settings: Mapping[str, float],
    span: tuple[float, float],
    g: float,
    loss: catalogue.Loss | None,
) -> dict[str, list[float] | None]:
    """Return a dict from each curve's key to its kinks, or to None if the curve has too many.

    The keys are "forward", each rule's key and ``to_contribution_key(rule key)``. With a loss, the kinks
    of means over random numbers are included.
    """
    all_kinks = {FORWARD: find_kinks(op, None, settings, *span, g)}
    all_kinks |= {rule.key: find_kinks(op, rule, settings, *span, g) for rule in rules}
    all_kinks |= {
        to_contribution_key(rule.key): find_contribution_kinks(op, rule, learns, settings, *span, g)
        for rule in rules
        if rule.key in learning_keys
    }
    if not loss:
        return all_kinks
    by_key = {rule.key: rule for rule in rules}
    for key, curve_kinks in all_kinks.items():
        if curve_kinks is not None:
            mean_kinks = find_mean_kinks(op, by_key.get(key), loss, settings, *span, g, curve_kinks)
            all_kinks[key] = None if mean_kinks is None else sorted([*curve_kinks, *mean_kinks])
    return all_kinks


def _find_contributions(
    op: catalogue.Op, rules: Sequence[catalogue.Rule], name: str
) -> dict[str, catalogue.Contribution]:
    """Return each rule's ``Contribution`` by key. Raises ValueError if no rule can train the parameter."""
    if not name:
        return {}
    parts = {
        rule.key: part for rule in rules if (part := catalogue.find_contribution_or_none(op, rule, name))
    }
    if not parts:
        catalogue.find_contribution(op, rules[0], name)  # raises the error that says why there is no gradient
    return parts


def sample(
    op: OpLike,
    rules: RuleLike | Sequence[RuleLike],
    *,
    start: float = -3.0,
    stop: float = 3.0,
    points: int = POINTS,
    g: float = 1.0,
    dtype: str | torch.dtype = "float32",
    learns: str = "",
    f: str | float = catalogue.SQUARE,
    **parameters: float,
) -> pd.DataFrame:
    """Sample an op and its gradients by backward rules over a range of x, and return a table.

    Args:
        op: a key of ``OPS``, ``"formula: …"`` in x, or a user-defined function: a Function class, a module, a
            torch function or a lambda. It is called with x alone; the default rule is its own backward.
        rules: one rule or up to 6: keys of ``RULES``, ``"formula: …"`` in x, y, g, or functions. Only the
            backward of a function is used, under the key ``sampled: `` and its name.
        start: one end of the range of x, within ±1e6.
        stop: the other end. If both round to the same float of the dtype, the range is widened by 1 on both
            sides, within the bounds.
        points: the number of evenly spaced x, 2 to 4,001. Each kink in the range and the floats next to it
            are added.
        learns: the name of the parameter that learns, or "". Autograd treats it as a tensor.
        g: the upstream gradient, the same for every x.
        f: the loss of a stochastic op or rule, as a formula of y; its derivative times g is the upstream
            gradient. Its parameters are given by name. If a number, it is the parameter named f.
            Deterministic ops and rules ignore it.
        dtype: "float32" or "float64", or the torch dtype.
        **parameters: parameter values by name, or by ``rule.name`` for one rule only.

    Returns:
        A tidy table with the columns rule (key), x, y and gradient, with numbers of the requested dtype. It
        has one block of rows per rule, all with the same ascending x. With ``learns`` there is a column part:
        the contribution of one element to the parameter's gradient, before any scale. For a stochastic op or
        rule, y, gradient and part are means over the random draws, and y_sd and gradient_sd are their
        standard deviations, NaN if unbounded. The column unbiased is the slope of the mean loss, the mean
        gradient of an unbiased rule. Values outside the op's domain are NaN or infinite. ``mean(…)`` is taken
        over 2,001 even points of the range. ``attrs["curves"]`` holds the Curves for ``explorer.figure`` and
        ``explorer.describe``.

    Raises:
        ValueError: for an unknown key, parameter or dtype, a number out of bounds, or a function that is not
            elementwise, raises, is random or takes longer than 10 s.
    """
    view: dict[str, Any] = {"start": start, "stop": stop, "points": points, "g": g, "dtype": dtype}
    return sample_curves(op, rules, learns=learns, f=f, **(view | parameters)).frame


def _resolve_rules(rules: RuleLike | Sequence[RuleLike]) -> tuple[catalogue.Rule, ...]:
    """Return the backward rules for keys, formulas or functions. Functions of equal name get numbers.

    Raises ValueError for no rule and for more than ``MAX_RULES``.
    """
    rule_list = [rules] if isinstance(rules, str | catalogue.Rule) or callable(rules) else list(rules)
    by_key: dict[str, catalogue.Rule] = {}
    for rule in map(resolve_rule, {id(key_or_rule): key_or_rule for key_or_rule in rule_list}.values()):
        suffixes = chain([""], (f" {number}" for number in count(2)))
        suffix = next(each for each in suffixes if rule.key + each not in by_key)
        if suffix and isinstance(rule, UserRule):
            rule = replace(rule, key=rule.key + suffix, label=rule.label + suffix)
        by_key[rule.key] = rule
    if not 1 <= len(by_key) <= catalogue.MAX_RULES:
        raise ValueError(f"choose 1 to {catalogue.MAX_RULES} rules, not {len(by_key)}")
    return tuple(by_key.values())

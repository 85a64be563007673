"""The declared kinks are those a numerical search finds, no more and no fewer."""

from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor

from explorer.catalogue import Op, Rule, list_kink_points
from explorer.curves.kinks import find_kinks
from explorer.formula.reference import replace_reductions
from tests.catalogue.cases import all_kinks, settings_of, usual_op
from tests.catalogue.finder import clusters, kinks_of
from tests.catalogue.fixed import OPS, RULES
from tests.selection import loop_over

START, STOP = -3.012345, 7.034567


def _assert_declared(found: list[float], declared: list[float]) -> None:
    assert found == pytest.approx(declared, abs=1e-4), f"found {found}, declared {declared}"


@loop_over("op", OPS.values())
def test_kinks_of_op(op: Op):
    for parameters in settings_of(op):
        alone, means = replace_reductions(op.parsed, op.parsed, parameters, START, STOP, 1.0)
        found = kinks_of(alone.bind({**parameters, **means}), START, STOP)
        known = clusters(all_kinks(op, None, parameters, START, STOP))
        if op.kinks is None:  # near 0 they lie closer than what the finder takes for one
            found, known = ([x for x in each if abs(x) > 0.2] for each in (found, known))
        _assert_declared(found, known)


@loop_over("rule", [rule for rule in RULES.values() if rule.formula])
def test_kinks_of_rule(rule: Rule):
    op = usual_op(rule)
    forward = op.parsed.bind({p.name: p.default for p in op.parameters})
    for parameters in settings_of(rule):
        found: list[float] = []
        for g in (1.0, 2.0, -1.0):  # a rule that is not linear may show a kink at some g only
            slope = partial(_slope, forward, rule.parsed.bind(parameters), g)
            new = kinks_of(slope, START, STOP)
            found += [point for point in new if all(abs(point - other) > 1e-4 for other in found)]
        _assert_declared(sorted(found), _known(op, rule, parameters))


def _known(op: Op, rule: Rule, parameters: dict[str, float]) -> list[float]:
    if rule.kinks is None:  # they are searched together with those of the op
        beside = op if "y" in rule.parsed.variables else OPS["identity"]
        ops = list_kink_points(beside.kinks, parameters, START, STOP, 100)
        return [kink for kink in find_kinks(beside, rule, parameters, START, STOP) if kink not in ops]
    declared = rule.kinks + (op.kinks if "y" in rule.parsed.variables else ())
    return list_kink_points(declared, parameters, START, STOP, 100)


def _slope(forward: Callable[..., Tensor], backward: Callable[..., Tensor], g: float, x: Tensor) -> Tensor:
    return backward(x, forward(x), torch.full_like(x, g))


@pytest.mark.parametrize(
    ("function", "kinks"),
    [
        (torch.abs, [0.0]), (torch.sin, []),
        (torch.frac, [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]),
        (lambda x: torch.exp(-((20 * x) ** 2)), []), (lambda x: x + 1e-3 * (x > 0.3), [0.3]),
    ],
    ids=["abs", "sin", "frac", "narrow bell", "small jump"],
)  # fmt: skip
def test_the_search_itself(function, kinks):
    _assert_declared(kinks_of(function, START, STOP), kinks)

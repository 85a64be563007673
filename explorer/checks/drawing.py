"""Of a pair that draws: does the rule see the op's own draw, and is it right on average?"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from explorer.catalogue import Loss, Op, Rule, find_loss
from explorer.checks.curve import Curve
from explorer.checks.result import Result, by_design, fails, format_number, holds
from explorer.curves.expectation import DrawnPair
from explorer.formula import DRAWS, Formula, listed
from explorer.formula.tree import NORMAL, UNIFORM, Binary, Name, Node, Number, Unary, substituted, walk

# By their names in sentences.
_LOSSES = {"a straight loss": "y", "a parabola": "(y - 0.45)**2", "a fourth power": "(y - 0.45)**4"}
_NONE = 1e-6  # of the exact gradient's size: as much as integrals are off
_LESS = 0.9  # of the bias: a draw turned round that leaves so little fits better
_U, _NORMAL = Name(UNIFORM), Name(NORMAL)
_SEES = {"y", "g", *DRAWS}  # g is the slope of the loss at y
_TURNED: dict[Node, Node] = {_U: Binary("-", Number(1.0), _U), _NORMAL: Unary("-", _NORMAL)}
_X = torch.linspace(-2.95, 3.05, 25, dtype=torch.float64)


def check_bias(curve: Curve) -> Result:
    """Return whether the mean over draws is the slope of the mean loss, for which losses."""
    right = {name: _measure_bias(curve, find_loss(text)) for name, text in _LOSSES.items()}
    fitting = [name for name, bias in right.items() if bias <= _NONE]
    failing = [name for name in right if name not in fitting]
    if not failing:
        return holds("On average it is the slope of the mean loss, for a straight loss and for curved ones.")
    largest = max(right[name] for name in failing)
    off = f"It is off by up to {_format_share(largest)} for {listed(failing)}"
    if fitting:
        return by_design(f"On average it is right for {listed(fitting)}. {off}.", figure=largest)
    return by_design(f"{off}, however many draws are averaged.", figure=largest)


def check_draw(curve: Curve) -> Result:
    """Return whether the rule with 1 − u for u, and the op unchanged, would be less biased."""
    op, rule = _get_pair(curve)
    if rule.parsed is None or not {_U.name, _NORMAL.name} & {*rule.parsed.draws}:
        if rule.parsed and not _SEES & {
            part.name for part in walk(rule.parsed.tree) if isinstance(part, Name)
        }:
            return holds("The rule sees no draw: it returns the same for each.")
        return holds("The rule itself draws nothing: it sees the op's draw through y alone.")
    loss = find_loss(_LOSSES["a parabola"])
    index, turned = _measure_bias(curve, loss), _measure_bias(curve, loss, _turn(rule))
    if turned < _LESS * index:
        return fails(
            f"With 1 − u for u in the rule its bias is {_format_share(turned)}, instead of "
            f"{_format_share(index)}: its draw "
            f"does not fit that of {op.label}. Turn the sign of its noise.",
            figure=index,
        )
    return holds("The rule's draw is the op's: with 1 − u in the rule its bias would be larger.")


def _format_share(bias: float) -> str:
    if bias < 1:
        return f"{format_number(100 * bias)} % of the largest exact slope"
    return f"{format_number(bias)} times the largest exact slope"


def _turn(rule: Rule) -> Rule:
    """Return the rule with 1 − u for u."""
    assert rule.parsed
    return replace(rule, formula=Formula(substituted(rule.parsed.tree, _TURNED)).text)


def _get_pair(curve: Curve) -> tuple[Op, Rule]:
    assert curve.drawn
    return curve.drawn


def _measure_bias(curve: Curve, loss: Loss, rule: Rule | None = None) -> float:
    """Return the largest distance of the mean from the exact gradient, relative to the largest exact one."""
    op, native = _get_pair(curve)
    pair = DrawnPair(op, rule or native, loss, curve.subject.parameters, over=_X)
    exact: Tensor = pair.exact(_X)
    size = float(exact.abs().max())
    off = float((pair.gradient(_X).mean - exact).abs().max())
    return off / size if size > 0 else off

"""Of a pair that draws: does the rule see the op's own draw, and is it right on average?"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from explorer.catalogue import Loss, Op, Rule, find_loss
from explorer.checks.curve import Curve
from explorer.checks.result import Finding, by_design, fails, holds, short
from explorer.expectation import DrawnPair
from explorer.formula import DRAWS, Formula, listed
from explorer.formula.tree import NORMAL, UNIFORM, Binary, Name, Node, Number, Unary, substituted, walk

# By what a sentence calls them.
_LOSSES = {"a straight loss": "y", "a parabola": "(y - 0.45)**2", "a fourth power": "(y - 0.45)**4"}
_NONE = 1e-6  # of the exact gradient's size: as much as integrals are off
_LESS = 0.9  # of the bias: a draw turned round that leaves so little fits better
_U, _NORMAL = Name(UNIFORM), Name(NORMAL)
_SEES = {"y", "g", *DRAWS}  # g is the slope of the loss at y
_TURNED: dict[Node, Node] = {_U: Binary("-", Number(1.0), _U), _NORMAL: Unary("-", _NORMAL)}
_X = torch.linspace(-2.95, 3.05, 25, dtype=torch.float64)


def unbiased(curve: Curve) -> Finding:
    """Whether the mean over what is drawn is the slope of the mean loss, for which losses."""
    right = {name: _bias(curve, find_loss(text)) for name, text in _LOSSES.items()}
    fitting = [name for name, bias in right.items() if bias <= _NONE]
    others = [name for name in right if name not in fitting]
    if not others:
        return holds("On average it is the slope of the mean loss, for a straight loss and for curved ones.")
    most = max(right[name] for name in others)
    off = f"It is off by up to {_share(most)} for {listed(others)}"
    if fitting:
        return by_design(f"On average it is right for {listed(fitting)}. {off}.", figure=most)
    return by_design(f"{off}, however many draws are averaged.", figure=most)


def draw_fits(curve: Curve) -> Finding:
    """Whether the rule with 1 − u in place of u, beside the op as it is, would be less biased."""
    op, rule = _drawn(curve)
    if rule.parsed is None or not {_U.name, _NORMAL.name} & {*rule.parsed.draws}:
        if rule.parsed and not _SEES & {
            part.name for part in walk(rule.parsed.tree) if isinstance(part, Name)
        }:
            return holds("The rule sees no draw: it returns the same for each.")
        return holds("The rule itself draws nothing: it sees the op's draw through y alone.")
    loss = find_loss(_LOSSES["a parabola"])
    here, turned = _bias(curve, loss), _bias(curve, loss, _turned(rule))
    if turned < _LESS * here:
        return fails(
            f"With 1 − u for u in the rule its bias is {_share(turned)}, instead of {_share(here)}: its draw "
            f"does not fit that of {op.label}. Turn the sign of its noise.",
            figure=here,
        )
    return holds("The rule's draw is the op's: with 1 − u in the rule its bias would be larger.")


def _share(bias: float) -> str:
    if bias < 1:
        return f"{short(100 * bias)} % of the largest exact slope"
    return f"{short(bias)} times the largest exact slope"


def _turned(rule: Rule) -> Rule:
    """The rule with 1 − u for u."""
    assert rule.parsed
    return replace(rule, formula=Formula(substituted(rule.parsed.tree, _TURNED)).text)


def _drawn(curve: Curve) -> tuple[Op, Rule]:
    assert curve.drawn
    return curve.drawn


def _bias(curve: Curve, loss: Loss, rule: Rule | None = None) -> float:
    """The largest distance of the mean from the exact gradient, as a share of the largest exact one."""
    op, own = _drawn(curve)
    pair = DrawnPair(op, rule or own, loss, curve.subject.parameters, over=_X)
    exact: Tensor = pair.exact(_X)
    largest = float(exact.abs().max())
    off = float((pair.gradient(_X).mean - exact).abs().max())
    return off / largest if largest > 0 else off

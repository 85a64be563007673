"""For a pair that draws at random: does the rule use the op's draw, and is it unbiased?"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from explorer.catalogue import Loss, Op, Rule, find_loss
from explorer.checks.curve import Curve
from explorer.checks.result import Result, by_design, fails, format_number, holds
from explorer.curves.expectation import StochasticPair
from explorer.formula import RANDOM_NAMES, Formula, join_texts
from explorer.formula.tree import NORMAL, UNIFORM, Binary, Name, Node, Number, Unary, substitute, walk

# Formulas of losses by the names they have in sentences.
_LOSSES = {"a straight loss": "y", "a parabola": "(y - 0.45)**2", "a fourth power": "(y - 0.45)**4"}
_TOLERANCE = 1e-6  # of the largest exact gradient: the error of the integrals
_CLEARLY_LESS = 0.9  # of the bias: if less is left with 1 − u, then 1 − u is the op's draw
_U, _NORMAL = Name(UNIFORM), Name(NORMAL)
_DEPENDS_ON_DRAW = {"y", "g", *RANDOM_NAMES}  # g too: it is the slope of the loss at y
_ANTITHETIC: dict[Node, Node] = {_U: Binary("-", Number(1.0), _U), _NORMAL: Unary("-", _NORMAL)}
_X = torch.linspace(-2.95, 3.05, 25, dtype=torch.float64)


def check_bias(curve: Curve) -> Result:
    """Return for which losses the mean gradient over draws is the slope of the mean loss."""
    biases = {name: _measure_bias(curve, find_loss(text)) for name, text in _LOSSES.items()}
    fitting = [name for name, bias in biases.items() if bias <= _TOLERANCE]
    failing = [name for name in biases if name not in fitting]
    if not failing:
        return holds("On average it is the slope of the mean loss, for a straight loss and for curved ones.")
    largest = max(biases[name] for name in failing)
    off = f"It is off by up to {_format_share(largest)} for {join_texts(failing)}"
    if fitting:
        return by_design(f"On average it is right for {join_texts(fitting)}. {off}.", figure=largest)
    return by_design(f"{off}, however many draws are averaged.", figure=largest)


def check_draw(curve: Curve) -> Result:
    """Return whether the rule would be less biased with 1 − u in place of u, the op unchanged."""
    op, rule = _get_pair(curve)
    if rule.parsed is None or not {_U.name, _NORMAL.name} & {*rule.parsed.random_names}:
        if rule.parsed and not _DEPENDS_ON_DRAW & {
            part.name for part in walk(rule.parsed.tree) if isinstance(part, Name)
        }:
            return holds("The rule sees no draw: it returns the same for each.")
        return holds("The rule itself draws nothing: it sees the op's draw through y alone.")
    loss = find_loss(_LOSSES["a parabola"])
    bias, antithetic = _measure_bias(curve, loss), _measure_bias(curve, loss, _make_antithetic(rule))
    if antithetic < _CLEARLY_LESS * bias:
        return fails(
            f"With 1 − u in place of u the rule's bias is {_format_share(antithetic)}, instead of "
            f"{_format_share(bias)}: its draw is not that of {op.label}. Turn the sign of its noise.",
            figure=bias,
        )
    return holds("The rule's draw is the op's: with 1 − u in its place the bias is not clearly smaller.")


def _format_share(bias: float) -> str:
    if bias < 1:
        return f"{format_number(100 * bias)} % of the largest exact slope"
    return f"{format_number(bias)} times the largest exact slope"


def _make_antithetic(rule: Rule) -> Rule:
    """Return the rule with 1 − u in place of u."""
    assert rule.parsed
    return replace(rule, formula=Formula(substitute(rule.parsed.tree, _ANTITHETIC)).text)


def _get_pair(curve: Curve) -> tuple[Op, Rule]:
    assert curve.drawn_pair
    return curve.drawn_pair


def _measure_bias(curve: Curve, loss: Loss, rule: Rule | None = None) -> float:
    """Return the largest error of the mean gradient over draws, relative to the largest exact gradient."""
    op, native = _get_pair(curve)
    pair = StochasticPair(op, rule or native, loss, curve.subject.parameters, mean_points=_X)
    exact: Tensor = pair.compute_mean_slope(_X)
    size = float(exact.abs().max())
    off = float((pair.gradient(_X).mean - exact).abs().max())
    return off / size if size > 0 else off

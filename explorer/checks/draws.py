"""Checks of random functions on average over many samples, and of the random number that a rule uses."""

from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from explorer.catalogue import Loss, Rule, find_loss
from explorer.checks.result import Result, by_design, fails, format_number, holds, unknown
from explorer.curves.expectation import StochasticPair
from explorer.curves.user_functions.curve import Curve
from explorer.curves.user_functions.elementwise import NEAR
from explorer.formula import RANDOM_NAMES, Formula, join_texts
from explorer.formula.tree import NORMAL, UNIFORM, Binary, Name, Node, Number, Unary, substitute, walk

# Formulas of losses by the names they have in sentences.
_LOSSES = {"a straight loss": "y", "a parabola": "(y - 0.45)**2", "a fourth power": "(y - 0.45)**4"}
_TOLERANCE = 1e-6  # error of the integrals, as a fraction of the largest exact gradient
_CLEARLY_LESS = 0.9  # the op draws with 1 − u if replacing u by 1 − u reduces the bias below this fraction
_U, _NORMAL = Name(UNIFORM), Name(NORMAL)
# variables that depend on the random number; g does through the loss
_DEPENDS_ON_DRAW = {"y", "g", *RANDOM_NAMES}
_ANTITHETIC: dict[Node, Node] = {_U: Binary("-", Number(1.0), _U), _NORMAL: Unary("-", _NORMAL)}
_POINTS, _COPIES = 161, 256  # number of x, and of random numbers at each x
_SIGNIFICANT = 5.0  # a deviation of this many standard errors is significant
_X = torch.linspace(-2.95, 3.05, 25, dtype=torch.float64)


DERIVATIVE = by_design(
    "Its forward draws at random, so y has no slope: the rule stands in for one. See area."
)
KINKS = unknown("Its forward draws at random, so the gradient exactly at a kink was not tried.")


def _average(curve: Curve) -> tuple[Tensor, Tensor, Tensor, float]:
    """Average a random function over many random samples.

    Returns x, the mean of y, the running integral of the mean gradient, (n,) each, and the largest standard
    error of the mean of y.
    """
    x = torch.linspace(*(curve.subject.domain or (-NEAR, NEAR)), _POINTS, dtype=curve.dtype)
    x_of_draws, subject = x.repeat(_COPIES), curve.subject
    y, r = (values(x_of_draws).reshape(_COPIES, -1) for values in (subject.y, subject.gradient))
    total = torch.cat([torch.zeros(1, dtype=x.dtype), torch.cumulative_trapezoid(r.mean(0), x)])
    return x, y.mean(0), total, float(y.std(0).max()) / _COPIES**0.5


def check_area_on_average(curve: Curve) -> Result:
    """Check for a random function whether the integral of its mean gradient equals the rise of its mean y."""
    x, y, total, error = _average(curve)
    area, rise = float(total[-1]), float(y[-1] - y[0])
    is_same = abs(area - rise) <= 2 * _SIGNIFICANT * error + 0.03 * abs(rise)
    words = f"From {{low}} to {{high}} its area is {{figure}}, {'and' if is_same else 'where'} the mean of y"
    conclude = partial(holds if is_same else by_design, low=x[0], high=x[-1], rise=rise)
    return conclude(f"{words} over draws rises by {{rise}}.", None, area)


def check_antiderivative_on_average(curve: Curve) -> Result:
    """Check for a random function whether the integral of its mean gradient follows its mean y."""
    x, y, total, error = _average(curve)
    off = total - y
    off = (off - off[len(x) // 2]).abs()
    if bool((off <= 2 * _SIGNIFICANT * error + 0.02 * (y.max() - y.min())).all()):
        return holds("Its antiderivative is the mean of y over draws.")
    if float(total[-1]) * float(y[-1] - y[0]) < 0:
        return fails("Its antiderivative moves opposite to the mean of y over draws: its sign is wrong.")
    words = "The net learns as if the op were the integral of its gradient, which differs from the mean of y"
    worst = int(off.argmax())
    return by_design(f"{words} over draws by {{off}} at x = {{at}}.", x[worst], off=off[worst])


def check_bias(curve: Curve) -> Result:
    """Check whether a random function's mean gradient is the slope of its mean loss, for several losses."""
    biases = {name: _measure_bias(curve, find_loss(text)) for name, text in _LOSSES.items()}
    fitting = [name for name, bias in biases.items() if bias <= _TOLERANCE]
    failing, largest = [name for name in biases if name not in fitting], max(biases.values())
    if not failing:
        return holds("On average it is the slope of the mean loss, for a straight loss and for curved ones.")
    off = f"It is off by up to {_format_share(largest)} for {join_texts(failing)}"
    if fitting:
        return by_design(f"On average it is right for {join_texts(fitting)}. {off}.", figure=largest)
    return by_design(f"{off}, however many draws are averaged.", figure=largest)


def check_draw(curve: Curve) -> Result:
    """Check whether a rule uses the op's random number u: replacing it by 1 − u must not reduce its bias."""
    assert curve.drawn_pair
    op, rule = curve.drawn_pair
    if rule.parsed is None or not {_U.name, _NORMAL.name} & {*rule.parsed.random_names}:
        parts = walk(rule.parsed.tree) if rule.parsed else (Name("y"),)
        if not _DEPENDS_ON_DRAW & {part.name for part in parts if isinstance(part, Name)}:
            return holds("The rule sees no draw: it returns the same for each.")
        return holds("The rule itself draws nothing: it sees the op's draw through y alone.")
    loss = find_loss(_LOSSES["a parabola"])
    antithetic_rule = replace(rule, formula=Formula(substitute(rule.parsed.tree, _ANTITHETIC)).text)
    bias, antithetic_bias = _measure_bias(curve, loss), _measure_bias(curve, loss, antithetic_rule)
    if antithetic_bias < _CLEARLY_LESS * bias:
        return fails(
            f"With 1 − u in place of u the rule's bias is {_format_share(antithetic_bias)}, instead of "
            f"{_format_share(bias)}: its draw is not that of {op.label}. Turn the sign of its noise.",
            figure=bias,
        )
    return holds("The rule's draw is the op's: with 1 − u in its place the bias is not clearly smaller.")


def _format_share(bias: float) -> str:
    size = f"{format_number(100 * bias)} %" if bias < 1 else f"{format_number(bias)} times"
    return f"{size}{' of' * (bias < 1)} the largest exact slope"


def _measure_bias(curve: Curve, loss: Loss, rule: Rule | None = None) -> float:
    """Return the largest error of the mean gradient over samples, relative to the largest exact gradient."""
    assert curve.drawn_pair
    op, native = curve.drawn_pair
    pair = StochasticPair(op, rule or native, loss, curve.subject.parameters, mean_points=_X)
    exact: Tensor = pair.compute_mean_slope(_X)
    size = float(exact.abs().max())
    off = float((pair.gradient(_X).mean - exact).abs().max())
    return off / size if size > 0 else off

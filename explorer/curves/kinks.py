"""Find the kinks of ops and gradients, as declared in the catalogue or else by a numerical search."""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache

import torch
from torch import Tensor

from explorer import catalogue
from explorer.catalogue import UPSTREAM, Loss, Op, Rule, TooManyKinksError, adapt_rule, resolve_values
from explorer.curves import bisection
from explorer.curves.bisection import MAX_KINKS, SCAN_POINTS, Curve, find_changes, is_near, merge_close
from explorer.formula import Formula, pieces
from explorer.formula.pieces import find_edge_pieces, substitute_extremes
from explorer.formula.reference import make_even_points, replace_reductions
from explorer.formula.tree import Call, Node, UserCall, children, find_names, walk

_OUTPUT_NAMES = {"y", "g", "ya()", "f()", "fa()"}
_SCAN_OFFSET = 0.137  # shift of the scan in steps, off round x, which are often kinks


def find_kinks(
    op: Op,
    rule: Rule | None,
    settings: Mapping[str, float],
    start: float,
    stop: float,
    g: float = 1.0,
    *,
    mean_range: tuple[float, float] | None = None,
) -> list[float] | None:
    """Find the kinks of an op, or of its gradient by a backward rule, between ``start`` and ``stop``.

    Returns ascending positions, or None if there are too many to plot. ``settings`` maps parameter names to
    values. Ops and rules of the catalogue declare their kinks. In a custom formula, each comparison,
    rounding, division, ``abs`` and so on is scanned over the range, and bisection in float64 locates each x
    at which it switches. In a user-defined function, the values and the backward are searched for jumps. A
    rule that does not depend on y does not jump with its op, so that an op with too many kinks adds none to
    the rule. Torch's own gradient also has a kink at a single x that differs from both sides. Reductions such
    as ``mean(…)`` are taken over ``mean_range``, by default the range itself.
    """
    parameters, rule = resolve_values(op, rule, settings), rule and adapt_rule(op, rule)
    is_autograd = rule is not None and rule.parsed is None
    op_kinks = _find_entry_kinks(op, op, parameters, start, stop, g, is_autograd, mean_range)
    if rule is None or rule.parsed is None:
        is_flat = is_autograd and pieces.find_degree(op.parsed.tree) == 0  # 0 on both sides of a jump
        return [] if op_kinks is None and is_flat else op_kinks
    rule_kinks = _find_entry_kinks(rule, op, parameters, start, stop, g, mean_range=mean_range)
    if op_kinks is None and "y" not in rule.parsed.variables:
        op_kinks = []
    return None if op_kinks is None or rule_kinks is None else _sort_or_none({*op_kinks, *rule_kinks})


def find_mean_kinks(
    op: Op,
    rule: Rule | None,
    loss: Loss,
    settings: Mapping[str, float],
    start: float,
    stop: float,
    g: float,
    known_kinks: Sequence[float],
) -> list[float] | None:
    """Find the kinks of the mean of a stochastic op or rule beyond the kinks in ``known_kinks``.

    At these x the rule or the loss jumps or bends for an extreme random number: ``abs(y - 1)``, for instance,
    has a kink where the largest possible y passes 1. Returns None if there are too many kinks.
    """
    parameters = loss.values(settings) | resolve_values(op, rule, settings) | {UPSTREAM.name: g}
    formulas = [loss.parsed, loss.slope, *([rule.parsed] if rule and rule.parsed else [])]
    trees: dict[Node, None] = {}
    for piece in (piece for formula in formulas for piece in pieces.find_pieces(formula.tree)):
        if _OUTPUT_NAMES.intersection(find_names(piece)):
            trees |= dict.fromkeys(
                substitute_extremes(catalogue.expand_in_draws(Formula(piece), op.parsed, loss))
            )
    all_kinks = _find_tree_changes(trees, parameters, start, stop)
    return all_kinks and [x for x in all_kinks if not is_near(x, known_kinks, 1e-6 * (stop - start))]


def find_contribution_kinks(
    op: Op, rule: Rule, name: str, settings: Mapping[str, float], start: float, stop: float, g: float = 1.0
) -> list[float] | None:
    """Find the kinks in x of one element's contribution to the gradient of a parameter.

    The result combines the kinks of the op, those of the rule if the contribution depends on it, and those of
    the contribution's formula if the rule declares none for it. Returns None if there are too many. Raises
    ValueError if the parameter cannot learn by the rule.
    """
    element_part = catalogue.find_contribution(op, rule, name)
    sources = [find_kinks(op, None, settings, start, stop, g)]
    if element_part.origin != "torch":
        sources.append(find_kinks(op, rule, settings, start, stop, g))
    if element_part.origin == "rule" and rule.kinks is None:
        parameters = resolve_values(op, rule, settings)
        sources.append(_search_formula(element_part.formula, op, parameters, start, stop, g))
    if None in sources:
        return None
    return _sort_or_none({x for positions in sources for x in positions or ()})


def _sort_or_none(positions: set[float]) -> list[float] | None:
    return sorted(positions) if len(positions) <= MAX_KINKS else None


def _find_entry_kinks(
    entry: Op | Rule,
    op: Op,
    parameters: Mapping[str, float],
    start: float,
    stop: float,
    g: float,
    is_autograd: bool = False,
    mean_range: tuple[float, float] | None = None,
) -> list[float] | None:
    """Return the kinks declared by an op or rule, else those found by a search; None if too many."""
    try:
        if entry.kinks is not None:
            return _sort_or_none(
                set(catalogue.list_kink_points(entry.kinks, parameters, start, stop, MAX_KINKS))
            )
    except TooManyKinksError:
        return None
    assert entry.parsed  # an entry without a formula is the default rule, which declares its kinks
    if entry.is_random or op.is_random:
        return _find_tree_changes(dict.fromkeys(find_edge_pieces(entry.parsed.tree)), parameters, start, stop)
    return _search_formula(entry.parsed, op, parameters, start, stop, g, is_autograd, mean_range)


def _find_tree_changes(
    trees: Iterable[Node], parameters: Mapping[str, float], start: float, stop: float
) -> list[float] | None:
    positions: list[float] = []
    try:
        for tree in trees:
            positions += find_changes(Formula(tree).bind(parameters), start, stop, positions)
    except TooManyKinksError:
        return None
    return _sort_or_none({x for x in merge_close(sorted(positions), stop - start) if start <= x <= stop})


def _search_formula(
    formula: Formula,
    op: Op,
    parameters: Mapping[str, float],
    start: float,
    stop: float,
    g: float,
    is_autograd: bool = False,
    mean_range: tuple[float, float] | None = None,
) -> list[float] | None:
    span = mean_range or (start, stop)
    reduced, parameters_formula = replace_reductions(formula, op.parsed, parameters, *span, g)
    forward, parameters_y = replace_reductions(op.parsed, op.parsed, parameters, *span, g)
    is_user = is_autograd and any(isinstance(node, UserCall) for node in walk(reduced.tree))
    upstream = g if is_user or "g" in reduced.variables else 1.0  # a user-defined backward may use g
    y_formula = forward if "y" in reduced.variables else None
    bound = tuple(sorted({**parameters_formula, **parameters_y}.items()))
    try:
        kinks = _search_kinks(reduced, y_formula, bound, start, stop, upstream, is_autograd)
        return _sort_or_none(set(kinks))
    except TooManyKinksError:
        return None


@lru_cache(maxsize=256)
def _search_kinks(
    formula: Formula,
    forward: Formula | None,
    parameters: tuple[tuple[str, float], ...],
    start: float,
    stop: float,
    g: float,
    is_autograd: bool,
) -> tuple[float, ...]:
    """Search for the kinks of a formula in x, y and g between ``start`` and ``stop``.

    The formula must not contain reductions such as ``mean(…)``. ``forward`` is the formula of y; it may be
    None if there is no y in ``formula``. Raises TooManyKinksError if there are too many kinks to plot.
    """
    bound = dict(parameters)
    op = forward.bind(bound) if forward else None

    def make_curve(tree: Node) -> Curve:
        evaluate = Formula(tree).bind(bound)
        return lambda x: evaluate(x, op(x) if op else None, torch.full_like(x, g))

    positions: list[float] = []
    # Go from inner to outer expressions: an outer one changes twice in a cell only around an extremum of an
    # inner one.
    for piece in reversed(dict.fromkeys(pieces.find_pieces(formula.tree))):
        turning_points: list[float] = []
        for tree in pieces.list_derivative_signs(piece) or ():
            with suppress(TooManyKinksError):
                turning_points += find_changes(make_curve(tree), start, stop, positions + turning_points)
        changes = find_changes(make_curve(piece), start, stop, positions + turning_points)
        is_sign = piece == Call("sign", children(piece))
        zero_x = bisection.find_zeros(make_curve(piece), turning_points) if is_sign else []
        positions += zero_x + [x for x in changes if not is_near(x, zero_x, 1e-6 * (stop - start))]
    for node in walk(formula.tree):
        if isinstance(node, UserCall):
            positions += _find_user_kinks(make_curve(node), start, stop, g)
    inside = [x for x in merge_close(sorted(positions), stop - start) if start <= x <= stop]
    candidates = torch.tensor(inside, dtype=torch.float64)
    is_kink = _mask_kinks(make_curve(formula.tree), candidates, stop - start, is_autograd, g)
    kinks: list[float] = candidates[is_kink].tolist()
    return tuple(kinks)


def _find_user_kinks(curve: Curve, start: float, stop: float, g: float) -> list[float]:
    step = (stop - start) / SCAN_POINTS
    scan = make_even_points(start - step, stop + step, SCAN_POINTS) + _SCAN_OFFSET * step
    positions: list[float] = []
    for function in (torch.no_grad()(curve), lambda x: _evaluate_with_slopes(curve, x, g)[1]):
        jump_x = bisection.find_jumps(function, scan)[0]
        if len(jump_x) > MAX_KINKS:
            raise TooManyKinksError(
                f"the function jumps {len(jump_x)} times within the range of x, but a chart shows at most "
                f"{MAX_KINKS} kinks: choose a narrower range"
            )
        positions += jump_x.tolist()
    return positions


def _evaluate_with_slopes(curve: Curve, x: Tensor, g: float) -> tuple[Tensor, Tensor]:
    """Return a function's values at x and autograd's gradient for g, 0 if x has no path to the values."""
    leaf = x.detach().requires_grad_()
    values = curve(leaf)
    slopes = torch.zeros_like(leaf)
    if values.requires_grad:
        (slopes,) = torch.autograd.grad(values, leaf, torch.full_like(values, g))
    return values.detach(), slopes.detach()


def _mask_kinks(curve: Curve, x: Tensor, width: float, is_autograd: bool, g: float) -> Tensor:
    """Return a mask of those of the positions x at which a curve has a kink.

    x is (n,), ascending. Changes of value and slope across each x are measured over two distances. At the
    smaller one, a hundredth of the other, smooth changes shrink to a hundredth; jumps and corners do not.
    Ends of the domain and unbounded slopes count as kinks too.
    """
    if not len(x):
        return torch.zeros(0, dtype=torch.bool)
    rounding_step = 32 * torch.nextafter(x.abs(), torch.tensor(math.inf, dtype=x.dtype)) - 32 * x.abs()
    gaps = torch.cat([x.diff(), torch.tensor([width])])
    max_step = torch.minimum(gaps, gaps.roll(1)) / 300  # so that 100 steps stay clear of the next candidate
    step = torch.maximum(rounding_step, max_step.clamp(max=1e-10 * width))
    (changes_far, steepness_far, _), (changes, steepness, has_value) = (
        _measure_changes(curve, x, step * factor, is_autograd, g) for factor in (100, 1)
    )
    is_smooth: Tensor = (changes < changes_far / 2 + 1e-300).all(0) & (
        steepness <= 1.05 * steepness_far + 1e-300
    )
    return ~is_smooth & has_value


def _measure_changes(
    curve: Curve, x: Tensor, step: Tensor, is_autograd: bool, g: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Measure how a curve changes within ``step`` of each x.

    Returns:
        Three tensors: the changes of value and slope, (2, n), set to 0 if below rounding error; the largest
        slope, (n,); and a mask, (n,), of the x at which, or next to which, the curve has a value.
    """
    values, slopes = _evaluate_with_slopes(curve, torch.stack([x - step, x, x + step]), g)
    jump = torch.maximum((values[0] - values[1]).abs(), (values[2] - values[1]).abs())
    corner = (slopes[0] - slopes[2]).abs()
    if is_autograd:
        corner = torch.maximum(corner, (slopes[1] - slopes[0]).abs())
    tolerance = 1e-11 * torch.stack([values.abs().amax(0), slopes.abs().amax(0)])
    changes = torch.stack([jump, corner])
    changes = torch.where(changes.isfinite() & (changes <= tolerance), 0.0, changes)
    return changes, slopes[::2].abs().amax(0), ~values.isnan().all(0)

"""The area and the width of backward rules, and rules scaled to the same area or width."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from explorer import catalogue
from explorer.catalogue import FORMULA_PREFIX, Op, Rule, adapt_rule, find_op, find_rule, resolve_values
from explorer.catalogue.custom import parse_custom_rule
from explorer.curves import sample_curves
from explorer.curves.bisection import bisect
from explorer.curves.kinks import find_kinks
from explorer.curves.user_functions.curve import Curve
from explorer.curves.user_functions.elementwise import NEAR, merge_points
from explorer.curves.user_functions.subject import prepare_pair
from explorer.formula import FUNCTIONS, Formula, FormulaError, format_number, join_texts
from explorer.formula.tree import (
    Binary,
    Call,
    Name,
    Node,
    Number,
    Polyline,
    UserCall,
    make_number,
    substitute,
    walk,
)
from explorer.measures.maps import find_nonlinear_intervals
from explorer.measures.size import measure_size

Kind = Literal["area", "width"]

_X = Name("x")
_ROUNDING = 1e-9  # values below this fraction of a peak are rounding errors
_STEP, _MIN_DISTANCE, _MAX_DISTANCE = 1.02, 1e-6, 1e6  # ratio and range of the geometric grid at 0 and kinks
_MAX_KINKS = 20  # with more kinks, the grid is refined around 0 only
_FLAT = 1e-3  # a flat top wider than this fraction of the width is no peak
_NEAR_PEAK = 1e-6  # a peak nearer to a kink than this fraction of the width is at the kink
_BISECTIONS = 60
_EQUAL_FACTOR = 1e-6  # a factor this close to 1 counts as 1
_MAX_LENGTH, _SUFFIX = 40, "_scaled"
_IN_Y = "is written in y, which does not widen with it"
_TOO_LONG = "would need too long a formula"


@dataclass(frozen=True)
class SizeValue:
    """The area or width of a backward rule: a number above 0, or NaN with a reason if it is undefined."""

    value: float = math.nan
    reason: str = ""


@dataclass(frozen=True)
class Sizes:
    """A backward rule's area over all x, its width at half its height, and the x of its peak, at g = 1."""

    area: SizeValue
    width: SizeValue
    peak: float = 0.0


@dataclass(frozen=True)
class ScaledRules:
    """Scaled copies of backward rules, as a dict from the original rules' keys, and a sentence about them."""

    rules: Mapping[str, Rule]
    sentence: str


def find_sizes(op: str | Op, rule: str | Rule, parameters: Mapping[str, float]) -> Sizes:
    """Return the area and width of a backward rule with an op. Missing parameters have their defaults."""
    op = find_op(op)
    rule = adapt_rule(op, find_rule(rule))
    reason = _find_reason(op, rule, parameters)
    if reason:
        return Sizes(SizeValue(reason=reason), SizeValue(reason=reason))
    op = _replace_stochastic(op)
    curve = Curve(prepare_pair(op, rule, _select_values(op, rule, parameters)))
    area = _measure_area(curve)
    if rule.parsed and "y" in rule.parsed.variables:
        return Sizes(area, SizeValue(reason=_IN_Y))
    kink_positions = find_kinks(op, rule, resolve_values(op, rule, parameters), -NEAR, NEAR, 1.0) or []
    width, peak = _measure_width(curve, kink_positions)
    return Sizes(area, width, peak)


def scale_rules(
    op: str | Op, rules: Sequence[str], parameters: Mapping[str, float], kind: Kind
) -> ScaledRules:
    """Scale backward rules to the area or width of the first rule that has a finite one.

    The result has copies of those rules only that change. Raises ValueError if fewer than two of the rules
    have a finite area or width.
    """
    op = find_op(op)
    records = {key: find_rule(key) for key in rules}
    sizes = {key: find_sizes(op, rule, parameters) for key, rule in records.items()}
    chosen_sizes = {key: getattr(each, kind) for key, each in sizes.items()}
    first = next((key for key, each in chosen_sizes.items() if not each.reason), None)
    if first is None or sum(not each.reason for each in chosen_sizes.values()) < 2:
        raise ValueError(
            f"rules are scaled to the same {kind}, so at least two must have a finite {kind}: "
            "choose other rules"
        )
    scaled, descriptions, failures = {}, [], []
    for key, rule in records.items():
        label, size = rule.label, chosen_sizes[key]
        factor = float(f"{chosen_sizes[first].value / size.value:.6g}")
        if key == first or abs(factor - 1) <= _EQUAL_FACTOR:
            continue
        new = None if size.reason else _scale(op, rule, parameters, kind, factor, sizes[key].peak)
        if new is None:
            failures.append(f"{label} {size.reason or _TOO_LONG}")
            continue
        lost_names = [each.name for each in rule.learned]
        loss = f" (without its own gradient for {join_texts(lost_names)})" if lost_names else ""
        descriptions.append(f"{label} × {format_number(factor, 6)}{loss}")
        scaled[key] = new
    lead = f"Scaled to the {kind} of {records[first].label}, {format_number(chosen_sizes[first].value, 4)}"
    main = f"{lead}: {join_texts(descriptions)}." if descriptions else f"{lead}: every rule already has it."
    return ScaledRules(scaled, f"{main} Not scaled: {'; '.join(failures)}." if failures else main)


def _find_reason(op: Op, rule: Rule, parameters: Mapping[str, float]) -> str:
    if rule.parsed is None:
        return "is torch's own gradient of the op"
    nodes = [*walk(rule.parsed.tree)]
    if rule.parsed.uses_loss or rule.parsed.other_outputs:
        return "depends on the loss"
    if rule.is_random or ("y" in rule.parsed.variables and op.is_random):
        return "changes with each draw"
    if any(isinstance(node, Call) and FUNCTIONS[node.function].reduces for node in nodes):
        return "depends on all x at once"
    if any(isinstance(node, UserCall | Polyline) for node in nodes):
        return "has no formula"
    span: dict[str, Any] = {"start": -NEAR, "stop": NEAR, "points": 2, "dtype": "float64"}
    curves = sample_curves(_replace_stochastic(op), rule, **(span | _select_values(op, rule, parameters)))
    is_linear = find_nonlinear_intervals(curves, rule.key) == []
    return "" if is_linear else "is not linear in g, so its size depends on g"


def _replace_stochastic(op: Op) -> Op:
    """Return the identity for a stochastic op, because only rules without y then have a size."""
    return find_op("identity") if op.is_random else op


def _select_values(op: Op, rule: Rule, parameters: Mapping[str, float]) -> dict[str, Any]:
    names = {p.name for p in (*_replace_stochastic(op).parameters, *rule.parameters)}
    return {name: value for name, value in resolve_values(op, rule, parameters).items() if name in names}


def _measure_area(curve: Curve) -> SizeValue:
    size = measure_size(curve)
    if math.isinf(size.area):
        return SizeValue(reason="has no finite area")
    if math.isnan(size.area):
        return SizeValue(reason="cannot be integrated")
    if not size.peak:
        return SizeValue(reason="blocks everything")
    return SizeValue(abs(size.area)) if size.area else SizeValue(reason="has an area of 0")


def _measure_width(curve: Curve, kink_positions: Sequence[float]) -> tuple[SizeValue, float]:
    def compute_sizes(x: Tensor) -> Tensor:
        return curve.subject.gradient(x).nan_to_num(nan=0.0, posinf=0.0, neginf=0.0).abs()

    x = _make_grid(kink_positions)
    signed, heights = curve.subject.gradient(x), compute_sizes(x)
    top = int(heights.argmax())
    height = float(heights[top])
    if height == 0:
        return SizeValue(reason="blocks everything"), 0.0
    same_side = bool((signed.nan_to_num() * signed[top].sign() >= -_ROUNDING * height).all())
    rising, falling = heights[: top + 1].diff(), heights[top:].diff()
    if not (same_side and (rising >= -_ROUNDING * height).all() and (falling <= _ROUNDING * height).all()):
        return SizeValue(reason="has lobes"), 0.0
    peak = _find_highest(compute_sizes, float(x[max(top - 1, 0)]), float(x[min(top + 1, len(x) - 1)]))
    half = max(height, float(compute_sizes(torch.tensor([peak], dtype=torch.float64)))) / 2
    low, high = (_find_crossing(compute_sizes, x, heights >= half, top, half, step) for step in (-1, 1))
    if math.isnan(low + high):
        return SizeValue(reason="never falls to half its height"), 0.0
    width = high - low
    highest = x[heights >= height * (1 - _ROUNDING)]
    if float(highest[-1] - highest[0]) > _FLAT * width:
        return SizeValue(reason="is flat on top, so it has no peak to scale"), 0.0
    near = (at for at in (0.0, *kink_positions) if abs(at - peak) <= _NEAR_PEAK * width)
    return SizeValue(width), next(near, peak)


def _make_grid(kink_positions: Sequence[float]) -> Tensor:
    """Return x values, evenly spaced and at geometric distances from 0 and each kink, but no kink itself."""
    count = math.ceil(math.log(_MAX_DISTANCE / _MIN_DISTANCE, _STEP))
    steps = _MIN_DISTANCE * _STEP ** torch.arange(count, dtype=torch.float64)
    centres = [0.0, *(kink_positions if len(kink_positions) <= _MAX_KINKS else ())]
    around = [centre + side * steps for centre in centres for side in (-1, 1)]
    sides = [at + side * _ROUNDING for at in (0.0, *kink_positions) for side in (-1, 1)]
    close = torch.tensor(sides, dtype=torch.float64)
    even = torch.linspace(-NEAR, NEAR, 4001, dtype=torch.float64)
    x = merge_points([even, close, *around])
    return x[~torch.isin(x, torch.tensor([*kink_positions], dtype=torch.float64))]


def _find_crossing(
    sizes: Callable[[Tensor], Tensor], x: Tensor, is_high: Tensor, top: int, half: float, step: int
) -> float:
    """Return the x at which a rule falls below half its height on one side of its peak, or NaN.

    Args:
        sizes: function from x to the size of the rule.
        x: (n,) ascending.
        is_high: (n,) mask of the x at which the size is at least ``half``.
        top: index of the peak.
        half: half the height of the peak.
        step: 1 to search above the peak, −1 below it.
    """
    index = top
    while 0 <= index < len(x) and is_high[index]:
        index += step
    if not 0 <= index < len(x):
        return math.nan
    return float(bisect(lambda x: sizes(x) >= half, x[[index - step]], x[[index]])[0])


def _find_highest(sizes: Callable[[Tensor], Tensor], low: float, high: float) -> float:
    for _ in range(_BISECTIONS):
        third = (high - low) / 3
        left, right = sizes(torch.tensor([low + third, high - third], dtype=torch.float64)).tolist()
        low, high = (low + third, high) if left < right else (low, high - third)
    return (low + high) / 2


def _scale(
    op: Op, rule: Rule, parameters: Mapping[str, float], kind: Kind, factor: float, peak: float
) -> Rule | None:
    assert rule.parsed
    shared = {p.name for p in op.parameters}
    numbers = resolve_values(op, adapt_rule(op, rule), parameters)
    replaced: dict[Node, Node] = {
        Name(name): make_number(value) for name, value in numbers.items() if name not in shared
    }
    if kind == "width":
        scale, centre = Number(float(f"{1 / factor:.6g}")), float(f"{peak:.6g}")
        distance = Binary("-" if centre > 0 else "+", _X, Number(abs(centre))) if centre else _X
        product = Binary("*", scale, distance)
        replaced[_X] = Binary("+", make_number(centre), product) if centre else product
    tree = substitute(rule.parsed.tree, replaced)
    if kind == "area":
        tree = Binary("*", Number(factor), tree)
    if rule.key.startswith(FORMULA_PREFIX):
        name = "" if rule.label == rule.formula else rule.label
    else:
        name = rule.key[: _MAX_LENGTH - len(_SUFFIX)] + _SUFFIX
    try:
        return parse_custom_rule(
            catalogue.make_custom_key(Formula(tree).text, name).removeprefix(FORMULA_PREFIX)
        )
    except FormulaError:
        return None

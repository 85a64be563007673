"""Rules on an equal footing: their areas and widths at g = 1, and rules scaled to one area or one width."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from explorer.catalogue import OWN, Op, Rule, beside, find_op, find_rule, own_key, values
from explorer.catalogue.own import own_rule
from explorer.checks.curve import Curve
from explorer.curves import sample_curves
from explorer.curves.foreign import NEAR, make_pair_subject, merge_points
from explorer.curves.kinks import kinks
from explorer.formula import FUNCTIONS, Formula, FormulaError, listed, number_text, with_minus
from explorer.formula.tree import Binary, Call, Foreign, Name, Node, Number, Through, Unary, substituted, walk
from explorer.measures.maps import bent
from explorer.measures.size import size_of

Kind = Literal["area", "width"]

_X = Name("x")
_SAME = 1e-9  # of a peak: less is rounding
_STEP, _LEAST, _FARTHEST = 1.02, 1e-6, 1e6  # from one x to the next by factors around 0 and each kink
_MOST_KINKS = 20  # around which points are laid
_FLAT = 1e-3  # of a width: a longer stretch at the peak is no peak
_NEAR_PEAK = 1e-6  # of a width: the peak is at that kink
_HALVINGS = 60
_EQUAL = 1e-6  # of the size of the first rule: that is it
_LONGEST, _ENDING = 40, "_scaled"
_IN_Y = "is written in y, which does not widen with it"
_TOO_LONG = "would be too long a formula"


@dataclass(frozen=True)
class Sized:
    """An area or a width above 0; NaN with the `reason` why there is none."""

    value: float = math.nan
    reason: str = ""


@dataclass(frozen=True)
class Sizes:
    """The area of a rule over all x, its width at half its height, and the x of its peak; all at g = 1."""

    area: Sized
    width: Sized
    peak: float = 0.0


@dataclass(frozen=True)
class Scaled:
    """Rules scaled to the size of the first one that has one: `rules` by the keys of those they replace."""

    rules: Mapping[str, Rule]
    sentence: str


def find_sizes(op: str | Op, rule: str | Rule, parameters: Mapping[str, float]) -> Sizes:
    """Return the sizes of a rule next to an op; values left out of `parameters` are at their default."""
    op = find_op(op)
    rule = beside(op, find_rule(rule))
    reason = _find_reason(op, rule, parameters)
    if reason:
        return Sizes(Sized(reason=reason), Sized(reason=reason))
    op = _without_draws(op)
    curve = Curve(make_pair_subject(op, rule, _of(op, rule, parameters)))
    area = _area(curve)
    if rule.parsed and "y" in rule.parsed.variables:
        return Sizes(area, Sized(reason=_IN_Y))
    found = kinks(op, rule, values(op, rule, parameters), -NEAR, NEAR, 1.0) or []
    width, peak = _width(curve, found)
    return Sizes(area, width, peak)


def scale_rules(op: str | Op, rules: Sequence[str], parameters: Mapping[str, float], kind: Kind) -> Scaled:
    """Return all rules that can be scaled to the size of the first one that has one.

    Raises ValueError where fewer than two have one.
    """
    op = find_op(op)
    records = {key: find_rule(key) for key in rules}
    sizes = {key: find_sizes(op, rule, parameters) for key, rule in records.items()}
    sized = {key: getattr(each, kind) for key, each in sizes.items()}
    first = next((key for key, each in sized.items() if not each.reason), None)
    if first is None or sum(not each.reason for each in sized.values()) < 2:
        raise ValueError(f"it takes two rules that have a finite {kind}")
    scaled, told, refused = {}, [], []
    for key, rule in records.items():
        label, size = rule.label, sized[key]
        factor = float(f"{sized[first].value / size.value:.6g}")
        if key == first or abs(factor - 1) <= _EQUAL:
            continue
        new = None if size.reason else _scale(op, rule, parameters, kind, factor, sizes[key].peak)
        if new is None:
            refused.append(f"{label} {size.reason or _TOO_LONG}")
            continue
        lost = [each.name for each in rule.learned]
        told.append(
            f"{label} × {_text(factor)}{f' (without its own gradient for {listed(lost)})' if lost else ''}"
        )
        scaled[key] = new
    lead = f"To the {kind} of {records[first].label}, {_text(sized[first].value, 4)}"
    main = f"{lead}: {listed(told)}." if told else f"{lead}: all have it already."
    return Scaled(scaled, f"{main} Not scaled: {'; '.join(refused)}." if refused else main)


def _find_reason(op: Op, rule: Rule, parameters: Mapping[str, float]) -> str:
    """Return why a rule has no size of its own, "" where it may have one."""
    if rule.parsed is None:
        return "is torch's own gradient of the op"
    nodes = [*walk(rule.parsed.tree)]
    if rule.parsed.names_loss or rule.parsed.other_outputs:
        return "hangs on the loss"
    if rule.draws or ("y" in rule.parsed.variables and op.draws):
        return "is another one at each draw"
    if any(isinstance(node, Call) and FUNCTIONS[node.function].reduces for node in nodes):
        return "hangs on all x at once"
    if any(isinstance(node, Foreign | Through) for node in nodes):
        return "is no formula"
    span: dict[str, Any] = {"start": -NEAR, "stop": NEAR, "points": 2, "dtype": "float64"}
    curves = sample_curves(_without_draws(op), rule, **(span | _of(op, rule, parameters)))
    return "" if bent(curves, rule.key) == [] else "is not linear in g, so its size hangs on g"


def _without_draws(op: Op) -> Op:
    """Return another op for one that draws, of which a rule without y knows nothing."""
    return find_op("identity") if op.draws else op


def _of(op: Op, rule: Rule, parameters: Mapping[str, float]) -> dict[str, Any]:
    """Return the values of the parameters of an op that does not draw, and of a rule, by name."""
    names = {p.name for p in (*_without_draws(op).parameters, *rule.parameters)}
    return {name: value for name, value in values(op, rule, parameters).items() if name in names}


def _area(curve: Curve) -> Sized:
    size = size_of(curve)
    if math.isinf(size.area):
        return Sized(reason="has no finite area")
    if math.isnan(size.area):
        return Sized(reason="cannot be summed")
    if not size.peak:
        return Sized(reason="blocks everything")
    return Sized(reason="has an area of 0") if curve.cancels else Sized(abs(size.area))


def _width(curve: Curve, bends: Sequence[float]) -> tuple[Sized, float]:
    """Return the width of a rule at half its height, and the x at which it is highest."""

    def sizes(x: Tensor) -> Tensor:
        return curve.subject.gradient(x).nan_to_num(nan=0.0, posinf=0.0, neginf=0.0).abs()

    x = _points(bends)
    signed, known = curve.subject.gradient(x), sizes(x)
    top = int(known.argmax())
    height = float(known[top])
    if height == 0:
        return Sized(reason="blocks everything"), 0.0
    same_side = bool((signed.nan_to_num() * signed[top].sign() >= -_SAME * height).all())
    rising, falling = known[: top + 1].diff(), known[top:].diff()
    if not (same_side and (rising >= -_SAME * height).all() and (falling <= _SAME * height).all()):
        return Sized(reason="has lobes"), 0.0
    about = _highest(sizes, float(x[max(top - 1, 0)]), float(x[min(top + 1, len(x) - 1)]))
    half = max(height, float(sizes(torch.tensor([about], dtype=torch.float64)))) / 2
    low, high = (_crossing(sizes, x, known >= half, top, half, way) for way in (-1, 1))
    if math.isnan(low + high):
        return Sized(reason="never falls to half its height"), 0.0
    width = high - low
    highest = x[known >= height * (1 - _SAME)]
    if float(highest[-1] - highest[0]) > _FLAT * width:
        return Sized(reason="is flat on top: a mask has no peak"), 0.0
    return Sized(width), next((at for at in (0.0, *bends) if abs(at - about) <= _NEAR_PEAK * width), about)


def _points(bends: Sequence[float]) -> Tensor:
    """Return points by factors around 0 and each kink, ascending, next to kinks and not at them."""
    steps = _LEAST * _STEP ** torch.arange(
        math.ceil(math.log(_FARTHEST / _LEAST, _STEP)), dtype=torch.float64
    )
    centres = [0.0, *(bends if len(bends) <= _MOST_KINKS else ())]
    around = [centre + side * steps for centre in centres for side in (-1, 1)]
    close = torch.tensor([at + side * _SAME for at in (0.0, *bends) for side in (-1, 1)], dtype=torch.float64)
    even = torch.linspace(-NEAR, NEAR, 4001, dtype=torch.float64)
    x = merge_points([even, close, *around])
    return x[~torch.isin(x, torch.tensor([*bends], dtype=torch.float64))]


def _crossing(
    sizes: Callable[[Tensor], Tensor], x: Tensor, is_high: Tensor, top: int, half: float, way: int
) -> float:
    """Return the x on one side of the top from where on a rule is below half its height; NaN for none."""
    index = top
    while 0 <= index < len(x) and is_high[index]:
        index += way
    if not 0 <= index < len(x):
        return math.nan
    inside, outside = float(x[index - way]), float(x[index])
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if float(sizes(torch.tensor([middle], dtype=torch.float64))) < half:
            outside = middle
        else:
            inside = middle
    return inside


def _highest(sizes: Callable[[Tensor], Tensor], low: float, high: float) -> float:
    """Return the x between two others at which a rule with one peak is highest."""
    for _ in range(_HALVINGS):
        third = (high - low) / 3
        one, other = sizes(torch.tensor([low + third, high - third], dtype=torch.float64)).tolist()
        low, high = (low + third, high) if one < other else (low, high - third)
    return (low + high) / 2


def _scale(
    op: Op, rule: Rule, parameters: Mapping[str, float], kind: Kind, factor: float, peak: float
) -> Rule | None:
    """Return a rule made higher or wider, with numbers for its own parameters; None if that is too long."""
    assert rule.parsed
    shared = {p.name for p in op.parameters}
    numbers = values(op, beside(op, rule), parameters)
    replaced: dict[Node, Node] = {
        Name(name): _number(value) for name, value in numbers.items() if name not in shared
    }
    if kind == "width":
        replaced[_X] = _inner(float(f"{1 / factor:.6g}"), float(f"{peak:.6g}"))
    tree = substituted(rule.parsed.tree, replaced)
    if kind == "area":
        tree = Binary("*", Number(factor), tree)
    if rule.key.startswith(OWN):
        name = "" if rule.label == rule.formula else rule.label
    else:
        name = rule.key[: _LONGEST - len(_ENDING)] + _ENDING
    try:
        return own_rule(own_key(Formula(tree).text, name).removeprefix(OWN))
    except FormulaError:
        return None


def _inner(factor: float, centre: float) -> Node:
    """Return what stands for x in a rule that is as much wider around its centre as 1 / `factor`."""
    if centre == 0:
        return Binary("*", Number(factor), _X)
    distance = Binary("-" if centre > 0 else "+", _X, Number(abs(centre)))
    return Binary("+", _number(centre), Binary("*", Number(factor), distance))


def _number(value: float) -> Node:
    return Unary("-", Number(-value)) if value < 0 else Number(value)


def _text(value: float, digits: int = 6) -> str:
    return with_minus(number_text(float(f"{value:.{digits}g}")))

"""Curves: an op and rules sampled over a range."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.catalogue import (
    MOST_RULES,
    RULES,
    SQUARE,
    Contribution,
    Op,
    Rule,
    beside,
    checked,
    contribution,
    contribution_or_none,
    find_loss,
    finite,
    gradient_beside,
    values,
)
from explorer.curves.drawn import Drawing
from explorer.curves.kinks import kinks, part_kinks
from explorer.foreign import ForeignRule, GivenOp, GivenRule, entry_op, entry_rule
from explorer.formula.reference import even_points, fixed
from explorer.gradient import joined, pulled_back
from explorer.sampled import (
    BESIDE,
    EVEN,
    FORWARD,
    KINK,
    LARGEST_RANGE,
    POINTS,
    Floats,
    Sampled,
    part_key,
)

if TYPE_CHECKING:
    import pandas as pd

READING_POINTS = 7
MOST_POINTS = 4001
# Of the larger end, and at 0: in a range below that float64 has too few numbers for a curve.
NARROWEST_RANGE, LEAST_RANGE = 1e-12, 1e-30
_MUCH = 0.02  # of a curve's height: a change within a step of the grid that may be a jump
_HALVINGS = 120  # from a step of the grid to neighbours next to 0, in float64
DTYPES = {"float32": torch.float32, "float64": torch.float64}


@dataclass(frozen=True, eq=False)
class Curves(Sampled):
    """Curves that torch computed."""

    def __deepcopy__(self, _memo: object) -> Curves:
        return self  # nothing in it changes; pandas copies what stands in attrs

    def at(self, key: str, x: Floats) -> Floats:
        """The values of one curve at other x of the range; (m,), of their dtype."""
        rule = next((rule for rule in self.rules if rule.key == key), self.rules[0])
        y, gradients = self._evaluated(rule, x, self.g)
        return y if key == FORWARD else gradients

    def autograd(self, g: float) -> Floats:
        """The gradient of torch's own autograd for the op and an upstream gradient; (n,)."""
        return self._evaluated(RULES["default"], self.x, g)[1]

    def _evaluated(self, rule: Rule, x: Floats, g: float) -> tuple[Floats, Floats]:
        span = self.start, self.stop
        if self.loss:
            return Drawing(self.op, find_loss(self.loss), self.parameters, g, span).values(rule, x)
        return _evaluated(self.op, rule, x, g, self.parameters, span, self.learns)

    @property
    def frame(self) -> pd.DataFrame:
        """A new tidy table: rule, x, y, gradient, one block a rule; these curves in ``attrs["curves"]``.

        Where a parameter learns there is a column part as well, NaN for a rule by which it cannot.
        """
        import pandas as pd  # 40 MB and a third of a second, which no training needs

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
    def exact(self) -> Curves:
        """The same curves, sampled in float64."""
        if self.x.dtype == np.float64:
            return self
        chosen: dict[str, Any] = {
            name: getattr(self, name) for name in ("start", "stop", "points", "g", "learns")
        }
        chosen |= {"f": self.loss} if self.loss else {}
        return sample_curves(self.op, self.rules, dtype="float64", **(chosen | dict(self.parameters)))


def sample_curves(
    op: GivenOp,
    rules: GivenRule | Sequence[GivenRule],
    *,
    start: float = -3.0,
    stop: float = 3.0,
    points: int = POINTS,
    g: float = 1.0,
    dtype: str | torch.dtype = "float32",
    learns: str = "",
    f: str | float = SQUARE,
    **parameters: float,
) -> Curves:
    """The curves that ``sample`` makes a table of; the arguments are the same."""
    op = entry_op(op)
    chosen = tuple(beside(op, rule) for rule in _rules(rules))
    torch_dtype = _dtype(dtype)
    start, stop = _range(start, stop, torch_dtype)
    if not isinstance(points, int) or not 2 <= points <= MOST_POINTS:
        raise ValueError(f"points must be a whole number from 2 to {MOST_POINTS}, not {points!r}")
    g = finite("g", g)
    if not isinstance(f, str):
        parameters, f = {"f": f, **parameters}, SQUARE
    loss = find_loss(f) if op.draws or any(rule.draws for rule in chosen) else None
    settings = checked(op, chosen, parameters, (), loss)
    positions = {FORWARD: kinks(op, None, settings, start, stop, g)}
    positions |= {rule.key: kinks(op, rule, settings, start, stop, g) for rule in chosen}
    learning = _learning(op, chosen, learns)
    positions |= {
        part_key(rule.key): part_kinks(op, rule, learns, settings, start, stop, g)
        for rule in chosen
        if rule.key in learning
    }
    exact = {key: None if some is None else _exact(some, torch_dtype) for key, some in positions.items()}
    bends = [value for some in exact.values() for value in some or ()]
    x, marks = grid(start, stop, points, bends, torch_dtype)
    span = (start, stop)

    if loss:
        drawing = Drawing(op, loss, settings, g, span)
        means = drawing.means(chosen, x, marks)
        parts = {
            key: drawing.part(rule, learning[key].formula, x)
            for key, rule in ((rule.key, rule) for rule in chosen)
            if key in learning
        }
        return Curves(
            op, chosen, settings, *span, points, g, x, marks, means.y, means.gradients, exact, learns, parts,
            loss.text, means.spreads, means.unbiased,
        )  # fmt: skip
    columns = {rule.key: _evaluated(op, rule, x, g, settings, span, learns) for rule in chosen}
    y = columns[chosen[0].key][0]
    late = _late(x, marks, y, lambda some: _evaluated(op, chosen[0], some, g, settings, span, learns)[0])
    if late:
        x[list(late)] = list(late.values())
        columns = {rule.key: _evaluated(op, rule, x, g, settings, span, learns) for rule in chosen}
        y = columns[chosen[0].key][0]
    gradients = {key: gradients for key, (_, gradients) in columns.items()}
    parts = {
        rule.key: _part(op, rule, learning[rule.key], x, g, settings, span)
        for rule in chosen
        if rule.key in learning
    }
    return Curves(op, chosen, settings, *span, points, g, x, marks, y, gradients, exact, learns, parts)


def _late(
    x: Floats, marks: NDArray[np.int8], y: Floats, curve: Callable[[Floats], Floats]
) -> dict[int, float]:
    """Jumps that come later than four floats behind a kink: its outer float's index, the x to stand there.

    Next to 0 floats lie so close that a summand swallows them: in float32 ``round(x - 0.5)`` jumps at -3e-8.
    The x is the first float beyond the jump; it is looked for where a curve changes by much within a step.
    """
    kinks, side = np.flatnonzero(marks == KINK)[:, None], np.array([-1, 1])
    near, far = (kinks + 2 * side).ravel(), (kinks + 3 * side).ravel()
    usual = y[np.isfinite(y)]
    if not len(usual):
        return {}
    with np.errstate(invalid="ignore", over="ignore"):
        inside = (far >= 0) & (far < len(x))
        near, far = near[inside], far[inside]
        change = np.abs(y[far] - y[near])
        may = (marks[near] == BESIDE) & (marks[far] == EVEN) & (change > _MUCH * np.ptp(usual))
        if not may.any():
            return {}
        inner, outer = _narrowed(curve, x[near[may]], x[far[may]])
        jumps = np.abs(curve(outer) - curve(inner)) > change[may] / 2
    return dict(zip(near[may][jumps].tolist(), outer[jumps].tolist(), strict=True))


def _narrowed(curve: Callable[[Floats], Floats], inner: Floats, outer: Floats) -> tuple[Floats, Floats]:
    """Neighbouring floats between ``inner`` and ``outer``, (m,) each, where most of the change is."""
    for _ in range(_HALVINGS):
        middle = (inner + outer) / 2
        first, second, third = curve(np.concatenate([inner, middle, outer])).reshape(3, -1)
        is_inner = np.abs(second - first) <= np.abs(third - second)
        inner, outer = np.where(is_inner, middle, inner), np.where(is_inner, outer, middle)
    return inner, outer


def _learning(op: Op, rules: Sequence[Rule], name: str) -> dict[str, Contribution]:
    """The contribution of one element to the gradient for a parameter, by the rules by which it can learn.

    Raises ValueError where it can learn by none of them.
    """
    if not name:
        return {}
    parts = {rule.key: part for rule in rules if (part := contribution_or_none(op, rule, name))}
    if not parts:
        contribution(op, rules[0], name)  # which says why
    return parts


def _part(
    op: Op,
    rule: Rule,
    contributed: Contribution,
    x: Floats,
    g: float,
    settings: Mapping[str, float],
    span: tuple[float, float],
) -> Floats:
    """The contribution of each x to a parameter's gradient, for one upstream gradient; (n,) of x's dtype."""
    parameters = values(op, rule, settings)
    forward, bound = fixed(op.parsed, op.parsed, parameters, *span, g)
    formula, means = fixed(contributed.formula, op.parsed, parameters, *span, g)
    at = torch.from_numpy(x)
    y = forward.bind(bound)(at)
    part: Floats = formula.bind(bound | means)(at, y, _upstream(g, y)).numpy()
    return part


def _upstream(g: float, y: torch.Tensor) -> torch.Tensor:
    """One upstream gradient for all of y; infinite where it is too large for y's dtype."""
    return g * torch.ones_like(y)


def sample(
    op: GivenOp,
    rules: GivenRule | Sequence[GivenRule],
    *,
    start: float = -3.0,
    stop: float = 3.0,
    points: int = POINTS,
    g: float = 1.0,
    dtype: str | torch.dtype = "float32",
    learns: str = "",
    f: str | float = SQUARE,
    **parameters: float,
) -> pd.DataFrame:
    """Sample an op and the gradients its rules return.

    Args:
        op: key of ``OPS`` or ``"formula: …"`` in x; or anybody's own function: a Function class, a module, a
            function of torch, a lambda. It is called with x alone; the default rule is its own backward.
        rules: up to 6 keys of ``RULES`` or ``"formula: …"`` in x, y, g; one key alone may be a string. Of a
            function among them the backward counts alone. Its key is its name behind ``sampled: ``.
        start, stop: ends of the range of x, both within ±1e6; swapped if reversed, 1 apart from
            their common value on both sides, within these bounds, if they are the same float of the dtype.
        points: evenly spaced x, 2 to 4,001; every kink in the range is added with the nearest
            floats on both sides of it.
        learns: a parameter that learns, or ""; it is a tensor then, for torch's own gradient of x too.
        g: the upstream gradient, the same for every x.
        f: of an op or rule that draws, the loss, a formula of y; the upstream gradient is its derivative
            times g, and its parameters are given by name. Others pass it over; a number is a
            parameter of that name.
        dtype: "float32" or "float64" (or torch's own).
        **parameters: values by name, or ``rule.name`` for one rule only.

    Returns:
        A tidy table with the columns rule (key), x, y, gradient, the numbers of the asked dtype; one
        block per rule on the same x, ascending; with ``learns`` a column part as well, what one element
        contributes to the gradient for that parameter, before any scale. Where something is drawn y,
        gradient and part are means over it, and there are columns y_sd and gradient_sd, the standard
        deviations, and unbiased, the slope of the mean loss, which an unbiased rule returns on average.
        Outside the op's domain values are NaN or infinite. ``mean(…)`` is over 2,001 even points of the
        range, whatever is drawn.
        ``attrs["curves"]`` holds the Curves, for ``explorer.figure`` and ``explorer.describe``.

    Raises:
        ValueError: an unknown key, parameter, dtype, or a number out of bounds, in a plain sentence; a
            function that is not elementwise, raises, draws at random or does not come back within 10 s.
    """
    view: dict[str, Any] = {"start": start, "stop": stop, "points": points, "g": g, "dtype": dtype}
    return sample_curves(op, rules, learns=learns, f=f, **(view | parameters)).frame


def readings(
    op: GivenOp, rules: Sequence[GivenRule], *, points: int = READING_POINTS, **sampling: Any
) -> pd.DataFrame:
    """Gradients of torch's own autograd, beside the rules, at a few even steps and around each kink.

    Arguments as for ``sample``. One row per x: columns x, y, "torch" and one per rule, named by its label,
    or by its key where the label is taken (the own rule ``x``). Around a kink stand the kink itself and the
    nearest float on each side.
    """
    import pandas as pd

    curves = sample_curves(op, rules, points=points, **sampling)
    table = pd.DataFrame({"x": curves.x, "y": curves.y, "torch": curves.autograd(curves.g)})
    for key, label in curves.labels.items():
        if key != "default":
            table[key if label in table else label] = curves.gradients[key]
    kink = np.pad(curves.marks == KINK, 1)
    drawn = (curves.marks != BESIDE) | kink[:-2] | kink[2:]
    return pd.DataFrame(table[drawn].reset_index(drop=True))


def _evaluated(
    op: Op,
    rule: Rule,
    x: Floats,
    g: float,
    settings: Mapping[str, float],
    span: tuple[float, float],
    learns: str,
) -> tuple[Floats, Floats]:
    """Forward values and gradients at x (n,), for one upstream gradient; both (n,) of x's dtype."""
    parameters = values(op, rule, settings)
    forward, bound = fixed(op.parsed, op.parsed, parameters, *span, g)
    backward = rule.parsed or gradient_beside(op, learns)
    if backward is None and forward != op.parsed:
        backward = op.parsed.gradient  # through each mean as well, which autograd would take for a number
    if backward is not None:
        backward, means = fixed(backward, op.parsed, parameters, *span, g)
        bound |= means
    at = torch.from_numpy(x).requires_grad_()
    y = joined(forward, backward, bound)(at)
    return y.detach().numpy(), pulled_back(y, at, _upstream(g, y)).numpy()


def _rules(rules: GivenRule | Sequence[GivenRule]) -> tuple[Rule, ...]:
    """Rules by their keys, each once; of own functions of one name the later ones are numbered."""
    several = [rules] if isinstance(rules, str | Rule) or callable(rules) else list(rules)
    chosen: dict[str, Rule] = {}
    for rule in map(entry_rule, {id(each): each for each in several}.values()):
        ending = _ending(rule, chosen) if isinstance(rule, ForeignRule) else ""
        named = replace(rule, key=rule.key + ending, label=rule.label + ending) if ending else rule
        chosen[named.key] = named
    if not 1 <= len(chosen) <= MOST_RULES:
        raise ValueError(f"choose 1 to {MOST_RULES} rules, not {len(chosen)}")
    return tuple(chosen.values())


def _ending(rule: Rule, taken: Collection[str]) -> str:
    """A number behind the key of a rule that no other one has; "" where there is no need."""
    endings = chain([""], (f" {number}" for number in count(2)))
    return next(ending for ending in endings if rule.key + ending not in taken)


def _range(start: float, stop: float, dtype: torch.dtype) -> tuple[float, float]:
    low, high = sorted((finite("start", start), finite("stop", stop)))
    if max(-low, high) > LARGEST_RANGE:
        raise ValueError(f"start and stop must lie within ±{LARGEST_RANGE:.15g}, not at {start} and {stop}")
    ends = _exact([low, high], dtype)
    if ends[0] < ends[1]:
        return low, high
    return max(low - 1.0, -LARGEST_RANGE), min(high + 1.0, LARGEST_RANGE)


def _dtype(dtype: str | torch.dtype) -> torch.dtype:
    torch_dtype = DTYPES.get(str(dtype).removeprefix("torch."))
    if torch_dtype is None:
        raise ValueError(f"dtype must be {' or '.join(DTYPES)}, not {dtype!r}")
    return torch_dtype


def _exact(numbers: Sequence[float], dtype: torch.dtype) -> tuple[float, ...]:
    """Numbers as the nearest floats of a dtype, without −0."""
    return tuple((torch.tensor(numbers, dtype=torch.float64).to(dtype) + 0.0).tolist())


def grid(
    start: float, stop: float, points: int, kinks: Sequence[float], dtype: torch.dtype
) -> tuple[Floats, NDArray[np.int8]]:
    """The x of curves, ascending and distinct, and the mark of each.

    Four floats to each side of a kink are tried as well: where an op divides x before it rounds,
    the jump may come that late.
    """
    at = torch.tensor(kinks, dtype=dtype)
    beside = []
    for direction in (-math.inf, math.inf):
        steps = [at]
        for _ in range(4):
            steps.append(torch.nextafter(steps[-1], torch.full_like(at, direction)))
        beside += [steps[1], steps[4]]
    parts = {KINK: at, BESIDE: torch.cat(beside), EVEN: even_points(start, stop, points).to(dtype)}
    marks = np.concatenate([np.full(len(part), mark, dtype=np.int8) for mark, part in parts.items()])
    # Of equal x the first is taken: a kink before what lies beside one, and that before the even grid.
    x, first = np.unique(torch.cat(list(parts.values())).numpy(), return_index=True)
    low, high = _exact([start, stop], dtype)
    inside = (x >= low) & (x <= high)
    return x[inside], marks[first][inside]

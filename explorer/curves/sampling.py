"""Curves: an op and rules sampled over a range."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from explorer.catalogue import (
    MOST_RULES,
    RULES,
    SQUARE,
    Contribution,
    Loss,
    Op,
    Rule,
    beside,
    checked,
    contribution,
    contribution_or_none,
    find_loss,
    finite,
)
from explorer.curves.drawn import Drawing
from explorer.curves.evaluated import Evaluation
from explorer.curves.foreign import ForeignRule, GivenOp, GivenRule, entry_op, entry_rule
from explorer.curves.grids import exact_floats, given_dtype, given_points, given_range, grid, late_jumps
from explorer.curves.kinks import kinks, part_kinks, through_kinks
from explorer.curves.sampled import BESIDE, FORWARD, KINK, POINTS, Floats, Sampled, part_key

if TYPE_CHECKING:
    import pandas as pd

READING_POINTS = 7


@dataclass(frozen=True, eq=False, repr=False)
class Curves(Sampled):
    """Curves that torch computed."""

    def __repr__(self) -> str:
        rules, span = ", ".join(self.gradients), f"{self.start:g} to {self.stop:g}"
        return f"Curves({self.op.key} with {rules}, x from {span}, {len(self.x)} points, g = {self.g:g})"

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
        loss, span = find_loss(self.loss) if self.loss else None, (self.start, self.stop)
        return _source(self.op, loss, self.parameters, g, span, self.learns).values(rule, x)

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
    torch_dtype = given_dtype(dtype)
    start, stop = span = given_range(start, stop, torch_dtype)
    points, g = given_points(points), finite("g", g)
    if not isinstance(f, str):
        parameters, f = {"f": f, **parameters}, SQUARE
    loss = find_loss(f) if op.draws or any(rule.draws for rule in chosen) else None
    settings = checked(op, chosen, parameters, (), loss)
    learning = _learning(op, chosen, learns)
    positions = {
        key: None if some is None else exact_floats(some, torch_dtype)
        for key, some in _kinks(op, chosen, learns, learning, settings, span, g, loss).items()
    }
    bends = [value for some in positions.values() for value in some or ()]
    x, marks = grid(start, stop, points, bends, torch_dtype)

    known = None if positions[FORWARD] is None else marks
    source = _source(op, loss, settings, g, span, learns)
    found = source.curves(chosen, x, known)
    late = {} if loss else late_jumps(x, marks, found.y, lambda some: source.values(chosen[0], some)[0])
    if late:
        x[list(late)] = list(late.values())
        found = source.curves(chosen, x, known)
    parts = {
        rule.key: source.part(rule, learning[rule.key].formula, x) for rule in chosen if rule.key in learning
    }
    return Curves(
        op, chosen, settings, *span, points, g, x, marks, found.y, found.gradients, positions, learns, parts,
        loss.text if loss else "", found.spreads, found.unbiased,
    )  # fmt: skip


def _source(
    op: Op,
    loss: Loss | None,
    settings: Mapping[str, float],
    g: float,
    span: tuple[float, float],
    learns: str,
) -> Drawing | Evaluation:
    """What computes the values of curves; with a loss, of what draws."""
    return Drawing(op, loss, settings, g, span) if loss else Evaluation(op, settings, g, span, learns)


def _kinks(
    op: Op,
    rules: Sequence[Rule],
    learns: str,
    learning: Collection[str],
    settings: Mapping[str, float],
    span: tuple[float, float],
    g: float,
    loss: Loss | None,
) -> dict[str, list[float] | None]:
    """The kinks of each curve, by "forward", rule key or ``part_key`` of one; None for too many.

    Where something draws those of the mean ``loss`` are among them all.
    """
    found = {FORWARD: kinks(op, None, settings, *span, g)}
    found |= {rule.key: kinks(op, rule, settings, *span, g) for rule in rules}
    found |= {
        part_key(rule.key): part_kinks(op, rule, learns, settings, *span, g)
        for rule in rules
        if rule.key in learning
    }
    if not loss:
        return found
    by_key = {rule.key: rule for rule in rules}
    for key, known in found.items():
        if known is not None:
            more = through_kinks(op, by_key.get(key), loss, settings, *span, g, known)
            found[key] = None if more is None else sorted([*known, *more])
    return found


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
        deviations, NaN where one has no bound, and unbiased, the slope of the mean loss, which an unbiased
        rule returns on average.
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

"""An op with a rule that draw: their means and spreads over u at given x, and the exact gradient."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from explorer.catalogue import UPSTREAM, Loss, Op, Rule, beside, in_draws, values
from explorer.curves.expectation.integral import Moments, Shape, moments
from explorer.curves.expectation.jumps import Switch, is_flat, roots, switches
from explorer.formula import Formula, quoted
from explorer.formula.operands import reductions
from explorer.formula.tree import (
    NORMAL,
    UNIFORM,
    Binary,
    Call,
    Name,
    Node,
    Number,
    Unary,
    children,
    names,
    substituted,
)
from explorer.gradient.draws import to_normal

_BESIDE = 1e-9  # of the distance from 0 or 1: on either side of a jump
_ULPS = 2.0**-49  # of 1 + |x|: so far may a jump lie from where it was found
_SAME = 1e-8  # of the distance from 0 or 1: jumps that are one
_ONE = 1e-15  # of u: nothing lies between
_BENT = {"where", "abs", "relu", "min", "max", "clamp", "detach"}
_DRAWN = {UNIFORM, NORMAL}
_Y, _G = Name("y"), Name("g")


@dataclass(frozen=True)
class DrawnPair:
    """An op, a rule and a loss, of which the first two may draw.

    ``settings`` holds parameter values by name, the loss's too; ``g`` is a factor on the loss. A mean over
    elements is one over the x in ``over``, (n,) float64. Raises ValueError for a mean over elements of what
    is drawn, and for any without ``over``.
    """

    op: Op
    rule: Rule
    loss: Loss
    settings: Mapping[str, float]
    g: float = 1.0
    over: Tensor | None = None

    def __post_init__(self) -> None:
        self._forward, self._backward  # noqa: B018  # they raise

    @cached_property
    def parameters(self) -> dict[str, float]:
        """All numbers, by their names in formulas."""
        own = self.loss.values(self.settings)
        return own | values(self.op, self.rule, self.settings) | {UPSTREAM.name: self.g}

    @cached_property
    def _forward(self) -> Node:
        return self._without_means(self.op.parsed.tree)

    def _without_means(self, tree: Node) -> Node:
        """A tree in x and u with a number for each mean over elements."""
        means = reductions(tree)
        if any(_DRAWN.intersection(names(part)) for part in means) or (means and self.over is None):
            raise ValueError("a mean over the elements of what is drawn has no one value at each x")
        values = {part: float(Formula(part).bind(self.parameters)(self.over)[0]) for part in means}
        numbers: dict[Node, Node] = {
            part: Number(value) if value >= 0 else Unary("-", Number(-value))
            for part, value in values.items()
        }
        return substituted(tree, numbers)

    @cached_property
    def _lost(self) -> Node:
        """f(op(x, u))."""
        return substituted(self.loss.parsed.tree, {_Y: self._forward})

    @cached_property
    def _backward(self) -> Node:
        """The rule in x and u alone: y is the op, g the slope of the loss there."""
        rule = beside(self.op, self.rule).parsed or self.op.parsed.gradient
        if rule is None:
            raise ValueError(f"torch's gradient of {quoted(self.op.key)} is too long to be written out")
        return self._in_draws(rule)

    def _in_draws(self, formula: Formula) -> Node:
        """A formula in x, y, g and draws as one in x and u alone."""
        return self._without_means(in_draws(formula, self.op.parsed, self.loss))

    def _values(self, formula: Formula) -> Callable[[Tensor, Tensor], Tensor]:
        bound, needs_normal = formula.bind(self.parameters), NORMAL in formula.draws

        def at(x: Tensor, u: Tensor) -> Tensor:
            drawn = {UNIFORM: u, NORMAL: to_normal(u)} if needs_normal else {UNIFORM: u}
            return bound(x, None, None, drawn)

        return at

    def _cuts(self, x: Tensor, tree: Node) -> Tensor:
        """The u at which a tree switches, ascending, with 1 at the end; (n, m)."""
        found = [roots(switch, self._values, x) for switch in switches(tree)]
        cuts = torch.cat([*found, torch.ones(len(x), 1, dtype=x.dtype)], dim=1).nan_to_num(1.0).sort(dim=1)[0]
        cuts[:, :-1][cuts.diff(dim=1) <= _ONE] = 1.0
        return cuts.sort(dim=1)[0][:, : 1 + int((cuts < 1).sum(1).max())]

    def _moments(self, x: Tensor, tree: Node) -> Moments:
        values = self._values(Formula(tree))
        if not _DRAWN.intersection(names(tree)):
            return Moments(values(x, torch.full_like(x, 0.5)), torch.zeros_like(x))
        return moments(values, x, self._cuts(x, tree), _shape(tree))

    def forward(self, x: Tensor) -> Moments:
        """Mean and spread of y at x, (n,) float64."""
        return self._moments(x, self._forward)

    def gradient(self, x: Tensor) -> Moments:
        """Mean and spread of what the rule returns."""
        return self._moments(x, self._backward)

    def part(self, x: Tensor, formula: Formula) -> Moments:
        """Mean and spread of a formula in x, y, g and draws: what an element contributes."""
        return self._moments(x, self._in_draws(formula))

    def lost(self, x: Tensor) -> Tensor:
        """The mean of the loss, times g."""
        return self.g * self._moments(x, self._lost).mean

    def exact(self, x: Tensor) -> Tensor:
        """g · d/dx E f(op(x, u)): the mean of f's slope in x, and what its jumps along u add as they move.

        Where the mean has a corner the value is that of one side.
        """
        tree = self._lost
        smooth = Formula(tree).gradient
        if smooth is None:
            raise ValueError(f"the gradient of {quoted(self.op.key)} is too long to be written out")
        path = self._moments(x, substituted(smooth.tree, {_G: Number(1.0)})).mean
        moving = [self._moving(switch, x) for switch in switches(tree) if not switch.is_soft]
        if not moving:
            return self.g * path
        places, speeds = (torch.cat(columns, dim=1) for columns in zip(*moving, strict=True))
        there = places.nan_to_num(0.5)
        room = torch.minimum(there, 1 - there)
        near = (places[:, :, None] - places[:, None]).abs() <= _SAME * room[..., None]
        same = near.sum(2).clamp(min=1)  # found by two switches
        value, at = self._values(Formula(tree)), x[:, None].expand(places.shape)
        rounded = _ULPS * (1 + x.abs())[:, None]
        step = torch.maximum(_BESIDE * room, rounded).minimum(room / 2)
        jump = value(at, there - step) - value(at, (there + step).clamp(max=1 - torch.finfo(x.dtype).eps / 2))
        return self.g * (path + torch.where(jump == 0, 0.0, jump * speeds / same).nansum(1))

    def _moving(self, switch: Switch, x: Tensor) -> tuple[Tensor, Tensor]:
        """The u at which a formula switches, and their slopes in x; (n, m), NaN for none that moves."""
        u = roots(switch, self._values, x)
        here = u.isfinite()
        leaf = x[:, None].expand(u.shape)[here].clone().requires_grad_()
        place = u[here].requires_grad_()
        inner = self._values(switch.inner)(leaf, place)
        speeds = torch.full_like(u, torch.nan)
        if inner.requires_grad:
            by_x, by_u = torch.autograd.grad(inner.sum(), (leaf, place), allow_unused=True)
            if by_x is not None and by_u is not None:
                speeds[here] = torch.where(by_u == 0, torch.nan, -by_x / by_u)
        return torch.where(speeds.isfinite(), u, torch.nan), speeds

    def drawn(self, x: Tensor, u: Tensor) -> tuple[Tensor, Tensor]:
        """y and what the rule returns for one draw at each x; (n,) each."""
        return self._values(Formula(self._forward))(x, u), self._values(Formula(self._backward))(x, u)


def _shape(tree: Node) -> Shape:
    """The shape of a tree along u between its switches: flat, a polynomial or nearly, or anything."""
    if is_flat(tree):
        return "flat"
    return "smooth" if _is_smooth(tree) else "any"


def _is_smooth(node: Node) -> bool:
    """Whether a tree is nearly a polynomial along u: nothing bends there by itself, as log and normal do."""
    if is_flat(node):
        return True
    match node:
        case Name(name):
            return name != NORMAL
        case Binary("/" | "**", _, right) if _DRAWN.intersection(names(right)):
            return False
        case Call(function) if function not in _BENT:
            return False
    return all(map(_is_smooth, children(node)))

"""The means of a stochastic op and its backward rule over their random numbers, and the unbiased gradient."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from explorer.catalogue import UPSTREAM, Loss, Op, Rule, adapt_rule, expand_in_draws, resolve_values
from explorer.curves.expectation.integral import Moments, Shape, integrate_moments
from explorer.curves.expectation.jumps import Switch, bind_formula, find_roots, find_switches, is_flat
from explorer.formula import Formula, quote
from explorer.formula import tree as nodes
from explorer.formula.operands import find_reductions

_SIDE_STEP = 1e-9  # distance from a jump to the u on its sides, relative to its distance from 0 or 1
_ROOT_ERROR = 2.0**-49  # error in the position of a jump, relative to 1 + |x|
_SAME_JUMP = 1e-8  # jumps closer than this, relative to their distance from 0 or 1, are the same
_MIN_GAP = 1e-15  # cuts of the integral that are closer than this are merged
_NOT_SMOOTH = {"where", "abs", "relu", "min", "max", "clamp", "detach"}
_RANDOM_NAMES = {nodes.UNIFORM, nodes.NORMAL}
_Y, _G = nodes.Name("y"), nodes.Name("g")


@dataclass(frozen=True)
class StochasticPair:
    """A stochastic op, a backward rule and a loss, with methods that average them over random numbers.

    ``settings`` maps the names of parameters, including the loss's, to values. ``g`` is a factor on the loss.
    Reductions over elements, such as ``mean(…)``, are taken over the x in ``mean_points``, (n,) float64.
    Raises ValueError for a reduction of random values, and for any reduction without ``mean_points``. Methods
    raise NoMeanError if no mean exists.
    """

    op: Op
    rule: Rule
    loss: Loss
    settings: Mapping[str, float]
    g: float = 1.0
    mean_points: Tensor | None = None

    def __post_init__(self) -> None:
        self._forward, self._backward  # noqa: B018  # raises any error now

    @cached_property
    def parameters(self) -> dict[str, float]:
        """The values of all parameters, by their names in formulas."""
        loss_parameters = self.loss.values(self.settings)
        return loss_parameters | resolve_values(self.op, self.rule, self.settings) | {UPSTREAM.name: self.g}

    @cached_property
    def _forward(self) -> nodes.Node:
        return self._replace_means(self.op.parsed.tree)

    def _replace_means(self, tree: nodes.Node) -> nodes.Node:
        means = find_reductions(tree)
        if any(_RANDOM_NAMES.intersection(nodes.find_names(part)) for part in means) or (
            means and self.mean_points is None
        ):
            raise ValueError(
                "a mean over elements of a random value differs in each draw and cannot be plotted: take a "
                "mean of x instead"
            )
        values = {part: float(Formula(part).bind(self.parameters)(self.mean_points)[0]) for part in means}
        return nodes.substitute(tree, {part: nodes.make_number(value) for part, value in values.items()})

    @cached_property
    def _loss_tree(self) -> nodes.Node:
        return nodes.substitute(self.loss.parsed.tree, {_Y: self._forward})

    @cached_property
    def _backward(self) -> nodes.Node:
        rule = adapt_rule(self.op, self.rule).parsed or self.op.parsed.gradient
        if rule is None:
            raise ValueError(
                f"torch's gradient of {quote(self.op.key)} is too long to write out: choose another rule"
            )
        return self._expand_in_draws(rule)

    def _expand_in_draws(self, formula: Formula) -> nodes.Node:
        return self._replace_means(expand_in_draws(formula, self.op.parsed, self.loss))

    def _find_cuts(self, x: Tensor, tree: nodes.Node) -> Tensor:
        """Return the u at which an expression jumps for each x. Shape (n, m); each row ascends to 1."""
        root_lists = [find_roots(switch, self.parameters, x) for switch in find_switches(tree)]
        ends = torch.ones(len(x), 1, dtype=x.dtype)
        cuts = torch.cat([*root_lists, ends], dim=1).nan_to_num(1.0).sort(dim=1)[0]
        cuts[:, :-1][cuts.diff(dim=1) <= _MIN_GAP] = 1.0
        return cuts.sort(dim=1)[0][:, : 1 + int((cuts < 1).sum(1).max())]

    def _compute_moments(self, x: Tensor, tree: nodes.Node) -> Moments:
        values = bind_formula(Formula(tree), self.parameters)
        if not _RANDOM_NAMES.intersection(nodes.find_names(tree)):
            return Moments(values(x, torch.full_like(x, 0.5)), torch.zeros_like(x))
        shape: Shape = "flat" if is_flat(tree) else "smooth" if _is_smooth(tree) else "any"
        return integrate_moments(values, x, self._find_cuts(x, tree), shape)

    def forward(self, x: Tensor) -> Moments:
        """Compute mean and standard deviation of the op's output over u, for each x in float64."""
        return self._compute_moments(x, self._forward)

    def gradient(self, x: Tensor) -> Moments:
        """Compute mean and standard deviation of the rule's gradient over u, for each x in float64."""
        return self._compute_moments(x, self._backward)

    def compute_contribution(self, x: Tensor, formula: Formula) -> Moments:
        """Compute the mean and standard deviation of each element's contribution to a parameter's gradient.

        ``formula`` is the formula of the contribution, in x, y, g and random numbers.
        """
        return self._compute_moments(x, self._expand_in_draws(formula))

    def compute_loss(self, x: Tensor) -> Tensor:
        """Return the mean loss over the random number u at each x, multiplied by the factor g."""
        return self.g * self._compute_moments(x, self._loss_tree).mean

    def compute_mean_slope(self, x: Tensor) -> Tensor:
        """Return the unbiased gradient at each x: g times the slope in x of the mean loss over draws of u.

        This is g · d/dx E f(op(x, u)): the mean slope of f in x, plus the contribution of jumps along u whose
        position depends on x. At a corner of the mean loss, the result is the slope on one side. Raises
        ValueError if the slope of f in x is too long to write out.
        """
        tree = self._loss_tree
        smooth = Formula(tree).gradient
        if smooth is None:
            raise ValueError(
                f"the gradient of {quote(self.op.key)} is too long to write out: shorten its formula"
            )
        path = self._compute_moments(x, nodes.substitute(smooth.tree, {_G: nodes.Number(1.0)})).mean
        moving_jumps = [
            self._find_moving_jumps(switch, x) for switch in find_switches(tree) if not switch.is_soft
        ]
        if not moving_jumps:
            return self.g * path
        jump_u, speeds = (torch.cat(columns, dim=1) for columns in zip(*moving_jumps, strict=True))
        u = jump_u.nan_to_num(0.5)
        room = torch.minimum(u, 1 - u)
        is_same = (jump_u[:, :, None] - jump_u[:, None]).abs() <= _SAME_JUMP * room[..., None]
        times = is_same.sum(2).clamp(min=1)  # number of expressions that have found the same jump
        value, at = bind_formula(Formula(tree), self.parameters), x[:, None].expand(jump_u.shape)
        error = _ROOT_ERROR * (1 + x.abs())[:, None]
        step = torch.maximum(_SIDE_STEP * room, error).minimum(room / 2)
        jump = value(at, u - step) - value(at, (u + step).clamp(max=1 - torch.finfo(x.dtype).eps / 2))
        return self.g * (path + torch.where(jump == 0, 0.0, jump * speeds / times).nansum(1))

    def _find_moving_jumps(self, switch: Switch, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the u of a formula's jumps, and their derivatives by x; NaN for jumps that stay."""
        u = find_roots(switch, self.parameters, x)
        is_root = u.isfinite()
        leaf = x[:, None].expand(u.shape)[is_root].clone().requires_grad_()
        u_leaf = u[is_root].requires_grad_()
        inner = bind_formula(switch.inner, self.parameters)(leaf, u_leaf)
        speeds = torch.full_like(u, torch.nan)
        if inner.requires_grad:
            by_x, by_u = torch.autograd.grad(inner.sum(), (leaf, u_leaf), allow_unused=True)
            if by_x is not None and by_u is not None:
                speeds[is_root] = torch.where(by_u == 0, torch.nan, -by_x / by_u)
        return torch.where(speeds.isfinite(), u, torch.nan), speeds


def _is_smooth(node: nodes.Node) -> bool:
    if is_flat(node):
        return True
    match node:
        case nodes.Name(name):
            return name != nodes.NORMAL
        case nodes.Binary("/" | "**", _, right) if _RANDOM_NAMES.intersection(nodes.find_names(right)):
            return False
        case nodes.Call(function) if function not in _NOT_SMOOTH:
            return False
    return all(map(_is_smooth, nodes.children(node)))

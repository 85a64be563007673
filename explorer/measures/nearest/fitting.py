"""The member of a family that is nearest to a target: from a grid by least squares, many starts at once.

The factor is solved for at each step, not searched. A jump has no slope to follow, so where the kinks
of a member lie beside those of the target counts as well, a little.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import torch
from torch import Tensor

from explorer.measures.nearest.family import Family
from explorer.measures.nearest.target import Target

_STEPS = 30
_SETTLED = 1e-3  # of the square that is left: a step that gains less is the last
_DAMPING = (0.0, 1e-2, 1.0, 30.0)  # tried at every step, each times what the last one needed
_DIFFERENCE = 1e-6
_JUMP = 1e-3  # of the largest value, within such a difference: no slope, but a kink that has passed a point
_KINK_WEIGHT, _KINK_REACH = 0.1, 0.05  # of the size, and of the range
_STARTS = 3
_THIN = 3  # of the points, for a first look
EXACT = 1e-7  # of the size: as near as that two curves are the same
_MOST_KINKS = 8
_MEETING_STEPS = 8
_WIDTHS = 15
_PARAMETERS, _SHIFT, _WIDTH = "parameters", "parameters shift", "parameters width shift"
_NEAR = 1e-3  # of the range: what a picture does not tell apart


@dataclass(frozen=True, eq=False)
class Starts:
    """Starts of fits: members (s, k), masks of the numbers (s, k) and of the factors (s,) that may change."""

    members: Tensor
    moves: Tensor
    scaled: Tensor

    def __add__(self, other: Starts) -> Starts:
        pairs = zip(self._parts, other._parts, strict=True)
        return Starts(*(torch.cat(pair) for pair in pairs))

    def __getitem__(self, some: Tensor) -> Starts:
        return Starts(*(part[some] for part in self._parts))

    def __len__(self) -> int:
        return len(self.members)

    @property
    def _parts(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.members, self.moves, self.scaled


@dataclass(frozen=True, eq=False)
class Fit:
    """A member with its factor, and the share of the target's size that it leaves."""

    member: Tensor
    factor: float
    distance: float

    @property
    def is_exact(self) -> bool:
        """Whether the fit is the target's curve up to rounding."""
        return self.distance <= EXACT


def _starts(members: Tensor, moving: str, scaled: bool) -> Starts:
    moves = _moves(moving, members.shape[1])
    return Starts(members, moves.expand(len(members), -1), torch.full((len(members),), scaled))


def _moves(moving: str, count: int) -> Tensor:
    """Mask over ``count`` numbers (parameters, width, shift) that may change."""
    parts = ["parameters"] * (count - 2) + ["width", "shift"]
    return torch.tensor([part in moving.split() for part in parts])


class Fitting:
    """A family beside a target."""

    def __init__(self, family: Family, target: Target) -> None:
        self.family, self.target = family, target
        rows = len(target.upstream)
        self._root = (target.weights / rows).sqrt().expand(rows, -1).flatten() / (target.size or 1.0)
        self._wanted = target.values.flatten() * self._root
        self._kinks = torch.tensor(target.kinks, dtype=torch.float64)
        usual = family.kinks(family.usual[None])[0]
        start, stop = target.span
        self._keeps_kinks = bool(((usual > start) & (usual < stop)).any())

    def fits(self) -> list[Fit]:
        """The nearest members: as they are or with a factor; if none is exact, moved and widened as well."""
        if not self.target.size:
            return [self._beside_zero()]
        plain = self._best(self._plain())
        if any(fit.is_exact for fit in plain):
            return plain
        return plain + self._best(self._moved(plain))

    def _beside_zero(self) -> Fit:
        """The fit to a rule that is 0 everywhere, with which no factor can be found."""
        left = (self._curves(self.family.usual[None], self.target.x) * self._root).any()
        return Fit(self.family.usual, 1.0, float(left))

    def _plain(self) -> Starts:
        """Starts without width and shift: unchanged, with a factor, with other parameters, with both."""
        usual = self.family.usual[None]
        grid = torch.cat([self.family.grid(), self._meeting(_PARAMETERS)])
        starts = [_starts(usual, "", scaled) for scaled in (False, True)]
        if self.family.parameters:
            starts += [self._promising(_starts(grid, _PARAMETERS, scaled)) for scaled in (False, True)]
        return sum(starts[1:], starts[0])

    def _moved(self, plain: list[Fit]) -> Starts:
        """Starts shifted so that kinks or peaks meet, with and without another width."""
        shifted = torch.cat([self._shifted(self.family.grid()), self._meeting(_SHIFT)])
        few = torch.stack([self.family.usual, *(fit.member for fit in plain)])
        low, high = (float(bound[-2]) for bound in self.family.bounds)
        widths = torch.linspace(low, high, _WIDTHS, dtype=torch.float64)
        wide = few.repeat_interleave(len(widths), 0)
        wide[:, -2] = widths.repeat(len(few))
        wide = torch.cat([self._shifted(wide), self._meeting(_WIDTH)])
        starts = _starts(shifted, _SHIFT, True), _starts(wide, _WIDTH, True)
        return self._promising(starts[0]) + self._promising(starts[1])

    def _meeting(self, moving: str) -> Tensor:
        """Members whose kinks come to lie on some of the target's; (m, k).

        One at either end may be out of sight.
        """
        count = self.family.kinks(self.family.usual[None]).shape[1]
        parts = [slice(0, count)] + ([slice(0, count - 1), slice(1, count)] if count > 2 else [])
        return torch.cat([self._meeting_in(part, moving) for part in parts])

    def _meeting_in(self, part: slice, moving: str) -> Tensor:
        """Newton's method from the usual member, for all choices of the target's kinks at once."""
        usual, low, high = self.family.usual, *self.family.bounds
        own = self.family.kinks(usual[None])[:, part]
        some = list(combinations(self._kinks[:_MOST_KINKS].tolist(), own.shape[1]))
        moves = _moves(moving, len(usual))
        if not (own.shape[1] and some and moves.any()):
            return usual.new_zeros(0, len(usual))
        wanted = torch.tensor(some, dtype=torch.float64)
        members, steps = usual.expand(len(some), -1), torch.diag(moves * _DIFFERENCE)
        for _ in range(_MEETING_STEPS):
            around = torch.cat([members[:, None], members[:, None] + steps], 1)
            kinks = self.family.kinks(around.flatten(0, 1))[:, part].reshape(len(some), len(steps) + 1, -1)
            slopes = (kinks[:, 1:] - kinks[:, :1]).transpose(1, 2) / _DIFFERENCE
            change = torch.linalg.pinv(slopes.nan_to_num(0.0, 0.0, 0.0)) @ (wanted - kinks[:, 0])[..., None]
            members = (members + change[..., 0].clamp(-2, 2)).clamp(low, high)
        return members

    def _shifted(self, members: Tensor) -> Tensor:
        """Members moved so that one of their kinks or their peak lies where one of the target's does."""
        own = self.family.kinks(members)[:, :_MOST_KINKS]
        curves = self.family.curves(members, self.target.x)[:, 0].nan_to_num(0, 0, 0).abs()
        own = torch.cat([own, self.target.x[curves.argmax(1)][:, None]], 1)
        theirs = torch.cat([self._kinks[:_MOST_KINKS], torch.tensor([self.target.peak], dtype=torch.float64)])
        shifts = (theirs[None, None] - own[:, :, None]).flatten(1)
        moved = members.repeat_interleave(shifts.shape[1], 0)
        moved[:, -1] += shifts.flatten()
        return torch.cat([members, moved])

    def _promising(self, starts: Starts) -> Starts:
        """The starts that are nearest at a first look."""
        few = slice(None, None, _THIN)
        errors = self._errors(starts, self._cheap(few), few)[0]
        return starts[errors.argsort(stable=True)[:_STARTS]]

    def _cheap(self, some: slice) -> Tensor:
        rows = len(self.target.upstream)
        keep = torch.zeros(rows, len(self.target.x), dtype=torch.bool)
        keep[:, some] = True
        return keep.flatten()

    def _curves(self, members: Tensor, x: Tensor) -> Tensor:
        """The gradients of members, flat and finite; (…, upstream * n)."""
        flat = members.reshape(-1, members.shape[-1])
        values = self.family.curves(flat, x).nan_to_num(0.0, 0.0, 0.0).flatten(1)
        return values.reshape(*members.shape[:-1], -1)

    def _errors(
        self, starts: Starts, keep: Tensor | None = None, some: slice = slice(None)
    ) -> tuple[Tensor, Tensor]:
        """The squared residual of each member, kinks included, and its factor; (s,) each."""
        root, wanted = (self._root, self._wanted) if keep is None else (self._root[keep], self._wanted[keep])
        curves = self._curves(starts.members, self.target.x[some]) * root
        factors = _factors(curves, wanted, starts.scaled)
        left = ((wanted - factors[:, None] * curves) ** 2).sum(1)
        away = self._away(starts.members)
        return left + (away**2).sum(1) + self._lost(starts.members), factors

    def _away(self, members: Tensor) -> Tensor:
        """The weighted distance of each kink of members from the nearest one of the target; (…, kinks)."""
        flat = members.reshape(-1, members.shape[-1])
        own = self.family.kinks(flat)
        if not len(self._kinks):
            return own.new_zeros(*members.shape[:-1], 0)
        apart = own[:, :, None] - self._kinks
        near = apart.gather(2, apart.abs().argmin(2, keepdim=True))[:, :, 0] / self.target.width
        near = near.clamp(-_KINK_REACH, _KINK_REACH) * _KINK_WEIGHT
        return near.reshape(*members.shape[:-1], -1)

    def _lost(self, members: Tensor) -> Tensor:
        """Infinity for members that lost all kinks in a fit, as any rule is flat between kinks; else 0."""
        if not self._keeps_kinks:
            return members.new_zeros(len(members))
        start, stop = self.target.span
        own = self.family.kinks(members)
        outside = ((own <= start) | (own >= stop)).all(1)
        return torch.where(outside, torch.inf, 0.0)

    def _best(self, starts: Starts) -> list[Fit]:
        """The nearest member for each kind of start, the most restricted first."""
        errors, _ = self._errors(starts)
        damping = torch.full_like(errors, 1e-3)
        for _ in range(_STEPS):
            before = errors
            starts, errors, damping = self._step(starts, errors, damping)
            if ((before - errors <= _SETTLED * before) | (errors < 1e-24)).all() or (errors < 1e-24).any():
                break
        return self._by_kind(starts, errors)

    def _by_kind(self, starts: Starts, errors: Tensor) -> list[Fit]:
        kinds: dict[tuple[int, bool, int], int] = {}  # parameters before factors, these before all else
        for index in errors.argsort(stable=True).tolist():
            moves, scaled = starts.moves[index], bool(starts.scaled[index])
            kinds.setdefault((int(moves[-2:].sum()), scaled, int(moves.sum())), index)
        return [
            self.measured(starts.members[index][None], None if kind[1] else 1.0)[0]
            for kind, index in sorted(kinds.items())
        ]

    def measured(self, members: Tensor, factor: float | None = None) -> list[Fit]:
        """Members (m, k) as fits, each with the best factor where none is given."""
        curves = self._curves(members, self.target.x) * self._root
        if factor is None:
            factors = _factors(curves, self._wanted, torch.ones(len(members)).bool())
        else:
            factors = torch.full((len(members),), factor, dtype=torch.float64)
        left = ((self._wanted - factors[:, None] * curves) ** 2).sum(1).sqrt()
        return [Fit(*row) for row in zip(members, factors.tolist(), left.tolist(), strict=True)]

    def apart(self, members: Tensor) -> Tensor:
        """The total distance of the kinks of members (m, k) from the target's, as a share of the range."""
        return self._away(members).abs().sum(1) / _KINK_WEIGHT

    def worst(self, fit: Fit) -> float:
        """The x with the largest residual."""
        curves = self._curves(fit.member[None], self.target.x)[0]
        left = (self.target.values.flatten() - fit.factor * curves).abs() * (self._root > 0)
        x = float(self.target.x[left.reshape(len(self.target.upstream), -1).amax(0).argmax()])
        close = (kink for kink in self.target.kinks if abs(kink - x) <= _NEAR * self.target.width)
        return next(close, 0.0 if abs(x) <= _NEAR * self.target.width else x)

    def _step(self, starts: Starts, errors: Tensor, damping: Tensor) -> tuple[Starts, Tensor, Tensor]:
        """The best of several damped steps of least squares from every start, with its error and damping."""
        left, slopes = self._linear(starts)
        normal = slopes.transpose(1, 2) @ slopes
        toward = (slopes.transpose(1, 2) @ left[..., None])[..., 0]
        size = normal.diagonal(dim1=1, dim2=2)
        size = torch.where(size > 0, size, 1.0)
        strength = damping[:, None] * torch.tensor(_DAMPING, dtype=torch.float64) + 1e-12
        damped = normal[:, None] + torch.diag_embed(strength[..., None] * size[:, None])
        steps = torch.linalg.solve(damped, toward[:, None].expand(-1, len(_DAMPING), -1))
        low, high = self.family.bounds
        tried = (starts.members[:, None] + steps).clamp(low, high)
        count = len(_DAMPING)
        flat = Starts(
            tried.flatten(0, 1),
            starts.moves.repeat_interleave(count, 0),
            starts.scaled.repeat_interleave(count),
        )
        sizes = self._errors(flat)[0].reshape(-1, count)
        best, which = sizes.min(1)
        better = best < errors
        members = torch.where(better[:, None], tried[torch.arange(len(tried)), which], starts.members)
        used = strength.gather(1, which[:, None])[:, 0]
        damping = torch.where(better, (used / 3).clamp(1e-9), damping * 100).clamp(max=1e6)
        return replace(starts, members=members), torch.where(better, best, errors), damping

    def _linear(self, starts: Starts) -> tuple[Tensor, Tensor]:
        """The residual of each member and its decrease with the member's numbers; (s, r) and (s, r, k)."""
        steps = torch.diag(torch.full_like(self.family.usual, _DIFFERENCE))
        around = torch.cat([starts.members[:, None], starts.members[:, None] + steps], 1)
        curves = self._curves(around, self.target.x) * self._root
        base, moved = curves[:, 0], curves[:, 1:]
        factors = _factors(base, self._wanted, starts.scaled)
        change = moved - base[:, None]
        change = torch.where(change.abs() > _JUMP * base.abs().amax(1)[:, None, None], 0.0, change)
        slopes = factors[:, None, None] * change / _DIFFERENCE
        length = (base**2).sum(1).clamp(min=1e-300)
        along = (slopes @ base[:, :, None])[..., 0] / length[:, None] * starts.scaled[:, None]
        slopes = (slopes - along[..., None] * base[:, None]) * starts.moves[..., None]
        away = self._away(around)
        bent = -(away[:, 1:] - away[:, :1]) / _DIFFERENCE * starts.moves[..., None]
        left = self._wanted - factors[:, None] * base
        return torch.cat([left, away[:, 0]], 1), torch.cat([slopes, bent], 2).transpose(1, 2)


def _factors(curves: Tensor, wanted: Tensor, scaled: Tensor) -> Tensor:
    """The factor that brings each curve (s, r) nearest to what is wanted (r,), or 1; (s,)."""
    length = (curves**2).sum(1)
    best = curves @ wanted / torch.where(length > 0, length, 1.0)
    return torch.where(scaled & (length > 0), best, 1.0)

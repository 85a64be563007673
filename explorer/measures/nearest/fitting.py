"""Fit the curves of a rule to a target curve, by least squares from many starting points in parallel.

The factor is solved for at each step instead of searched. Jumps have no slope to follow, so the error has a
small additional term: the distance of a curve's kinks from those of the target.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import torch
from torch import Tensor

from explorer.measures.nearest.family import Family
from explorer.measures.nearest.target import Target

_STEPS = 30
_MIN_GAIN = 1e-3  # the search stops once the squared error falls by less than this fraction
_DAMPING = (0.0, 1e-2, 1.0, 30.0)  # factors on the damping of a fit's last step, all of which are tried
_DIFFERENCE = 1e-6
_JUMP = 1e-3  # a larger change, as a fraction of the largest value, means that a kink crosses a point
_KINK_WEIGHT, _KINK_REACH = 0.1, 0.05  # weight, and limit as a fraction of the range
_MAX_STARTS = 3
_THINNING = 3  # starts of a fit are compared at every third point
EXACT = 1e-7  # curves with a smaller relative distance are equal
_MAX_KINKS = 8
_ALIGNMENT_STEPS = 8
_WIDTHS = 15
_PARAMETERS, _SHIFT, _WIDTH = "parameters", "parameters shift", "parameters width shift"
_NEAR = 1e-3  # points closer than this fraction of the range look the same in a plot


@dataclass(frozen=True, eq=False)
class Starts:
    """Starting points for fitting curves to a target.

    Attributes:
        members: (s, k) coordinates of the curves.
        moves: (s, k) mask of the coordinates that may change.
        scaled: (s,) mask of the starts whose factor may change.
    """

    members: Tensor
    moves: Tensor
    scaled: Tensor

    def __add__(self, other: Starts) -> Starts:
        return Starts(*(torch.cat(pair) for pair in zip(self._parts, other._parts, strict=True)))

    def __getitem__(self, index: Tensor) -> Starts:
        return Starts(*(part[index] for part in self._parts))

    def __len__(self) -> int:
        return len(self.members)

    @property
    def _parts(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.members, self.moves, self.scaled


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted curve: its coordinates, the factor on it, and its relative distance from the target."""

    member: Tensor
    factor: float
    distance: float

    @property
    def is_exact(self) -> bool:
        """Whether the fitted curve equals the target's up to rounding."""
        return self.distance <= EXACT


def _make_starts(members: Tensor, moving: str, scaled: bool) -> Starts:
    moves = _mask_moving(moving, members.shape[1])
    return Starts(members, moves.expand(len(members), -1), torch.full((len(members),), scaled))


def _mask_moving(moving: str, count: int) -> Tensor:
    parts = ["parameters"] * (count - 2) + ["width", "shift"]
    return torch.tensor([part in moving.split() for part in parts])


class Fitter:
    """A search for those curves of a rule, for any parameters, that are nearest to a target curve."""

    def __init__(self, family: Family, target: Target) -> None:
        self.family, self.target = family, target
        rows = len(target.upstream)
        self._root = (target.weights / rows).sqrt().expand(rows, -1).flatten() / (target.size or 1.0)
        self._goal = target.values.flatten() * self._root
        self._kinks = torch.tensor(target.kinks, dtype=torch.float64)
        default_kinks = family.find_kinks(family.default[None])[0]
        start, stop = target.span
        self._keeps_kinks = bool(((default_kinks > start) & (default_kinks < stop)).any())

    def find_fits(self) -> list[Fit]:
        """Return the nearest curves, with and without a factor.

        If none of them is exact, the nearest curves of another width and shift are included.
        """
        if not self.target.size:
            # The target is 0 everywhere, so that there is no best factor.
            left = (self._compute_curves(self.family.default[None], self.target.x) * self._root).any()
            return [Fit(self.family.default, 1.0, float(left))]
        plain = self._find_best(self._make_plain_starts())
        if any(fit.is_exact for fit in plain):
            return plain
        return plain + self._find_best(self._make_moved_starts(plain))

    def _make_plain_starts(self) -> Starts:
        """Return starting points of width 1 and shift 0, each with and without a free factor."""
        default = self.family.default[None]
        grid = torch.cat([self.family.make_grid(), self._align_kinks(_PARAMETERS)])
        starts = [_make_starts(default, "", scaled) for scaled in (False, True)]
        if self.family.parameters:
            starts += [
                self._select_promising(_make_starts(grid, _PARAMETERS, scaled)) for scaled in (False, True)
            ]
        return sum(starts[1:], starts[0])

    def _make_moved_starts(self, plain: list[Fit]) -> Starts:
        shifted = torch.cat([self._shift_members(self.family.make_grid()), self._align_kinks(_SHIFT)])
        members = torch.stack([self.family.default, *(fit.member for fit in plain)])
        low, high = (float(bound[-2]) for bound in self.family.bounds)
        widths = torch.linspace(low, high, _WIDTHS, dtype=torch.float64)
        wide = members.repeat_interleave(len(widths), 0)
        wide[:, -2] = widths.repeat(len(members))
        wide = torch.cat([self._shift_members(wide), self._align_kinks(_WIDTH)])
        starts = _make_starts(shifted, _SHIFT, True), _make_starts(wide, _WIDTH, True)
        return self._select_promising(starts[0]) + self._select_promising(starts[1])

    def _align_kinks(self, moving: str) -> Tensor:
        """Return curves whose kinks coincide with kinks of the target, except perhaps one at either end."""
        count = self.family.find_kinks(self.family.default[None]).shape[1]
        parts = [slice(0, count)] + ([slice(0, count - 1), slice(1, count)] if count > 2 else [])
        return torch.cat([self._align_part(part, moving) for part in parts])

    def _align_part(self, part: slice, moving: str) -> Tensor:
        default, low, high = self.family.default, *self.family.bounds
        start_kinks = self.family.find_kinks(default[None])[:, part]
        choices = list(combinations(self._kinks[:_MAX_KINKS].tolist(), start_kinks.shape[1]))
        moves = _mask_moving(moving, len(default))
        if not (start_kinks.shape[1] and choices and moves.any()):
            return default.new_zeros(0, len(default))
        goals = torch.tensor(choices, dtype=torch.float64)
        members, steps = default.expand(len(choices), -1), torch.diag(moves * _DIFFERENCE)
        for _ in range(_ALIGNMENT_STEPS):
            around = torch.cat([members[:, None], members[:, None] + steps], 1)
            kinks = self.family.find_kinks(around.flatten(0, 1))[:, part].reshape(
                len(choices), len(steps) + 1, -1
            )
            slopes = (kinks[:, 1:] - kinks[:, :1]).transpose(1, 2) / _DIFFERENCE
            change = torch.linalg.pinv(slopes.nan_to_num(0.0, 0.0, 0.0)) @ (goals - kinks[:, 0])[..., None]
            members = (members + change[..., 0].clamp(-2, 2)).clamp(low, high)
        return members

    def _shift_members(self, members: Tensor) -> Tensor:
        """Return the curves, and copies of them shifted so that a kink or peak meets one of the target's."""
        features = self.family.find_kinks(members)[:, :_MAX_KINKS]
        curves = self.family.compute_curves(members, self.target.x)[:, 0].nan_to_num(0, 0, 0).abs()
        features = torch.cat([features, self.target.x[curves.argmax(1)][:, None]], 1)
        goals = torch.cat([self._kinks[:_MAX_KINKS], torch.tensor([self.target.peak], dtype=torch.float64)])
        shifts = (goals[None, None] - features[:, :, None]).flatten(1)
        moved = members.repeat_interleave(shifts.shape[1], 0)
        moved[:, -1] += shifts.flatten()
        return torch.cat([members, moved])

    def _select_promising(self, starts: Starts) -> Starts:
        thinned = slice(None, None, _THINNING)
        keep = torch.zeros(len(self.target.upstream), len(self.target.x), dtype=torch.bool)
        keep[:, thinned] = True
        errors = self._compute_errors(starts, keep.flatten(), thinned)[0]
        return starts[errors.argsort(stable=True)[:_MAX_STARTS]]

    def _compute_curves(self, members: Tensor, x: Tensor) -> Tensor:
        flat = members.reshape(-1, members.shape[-1])
        values = self.family.compute_curves(flat, x).nan_to_num(0.0, 0.0, 0.0).flatten(1)
        return values.reshape(*members.shape[:-1], -1)

    def _compute_errors(
        self, starts: Starts, keep: Tensor | None = None, points: slice = slice(None)
    ) -> tuple[Tensor, Tensor]:
        """Return squared errors, which include the distances of kinks, and the best factor for each curve."""
        root, goal = (self._root, self._goal) if keep is None else (self._root[keep], self._goal[keep])
        curves = self._compute_curves(starts.members, self.target.x[points]) * root
        factors = _solve_factors(curves, goal, starts.scaled)
        left = ((goal - factors[:, None] * curves) ** 2).sum(1)
        distances = self._measure_kink_distances(starts.members)
        return left + (distances**2).sum(1) + self._reject_lost_kinks(starts.members), factors

    def _measure_kink_distances(self, members: Tensor) -> Tensor:
        flat = members.reshape(-1, members.shape[-1])
        kinks = self.family.find_kinks(flat)
        if not len(self._kinks):
            return kinks.new_zeros(*members.shape[:-1], 0)
        differences = kinks[:, :, None] - self._kinks
        nearest = differences.gather(2, differences.abs().argmin(2, keepdim=True))[:, :, 0]
        nearest = (nearest / self.target.width).clamp(-_KINK_REACH, _KINK_REACH) * _KINK_WEIGHT
        return nearest.reshape(*members.shape[:-1], -1)

    def _reject_lost_kinks(self, members: Tensor) -> Tensor:
        """Return a penalty for fitted curves: infinity without a kink in the range, otherwise 0.

        A curve without kinks may be flat and would fit any flat target. The result is 0 for all curves if the
        default curve has no kink in the range either.
        """
        if not self._keeps_kinks:
            return members.new_zeros(len(members))
        start, stop = self.target.span
        kinks = self.family.find_kinks(members)
        outside = ((kinks <= start) | (kinks >= stop)).all(1)
        return torch.where(outside, torch.inf, 0.0)

    def _find_best(self, starts: Starts) -> list[Fit]:
        errors, _ = self._compute_errors(starts)
        damping = torch.full_like(errors, 1e-3)
        for _ in range(_STEPS):
            before = errors
            starts, errors, damping = self._step(starts, errors, damping)
            if ((before - errors <= _MIN_GAIN * before) | (errors < 1e-24)).all() or (errors < 1e-24).any():
                break
        return self._select_by_kind(starts, errors)

    def _select_by_kind(self, starts: Starts, errors: Tensor) -> list[Fit]:
        # Fits are sorted by shift and width, then factor, then parameters.
        kinds: dict[tuple[int, bool, int], int] = {}
        for index in errors.argsort(stable=True).tolist():
            moves, scaled = starts.moves[index], bool(starts.scaled[index])
            kinds.setdefault((int(moves[-2:].sum()), scaled, int(moves.sum())), index)
        return [
            self.make_fits(starts.members[index][None], None if kind[1] else 1.0)[0]
            for kind, index in sorted(kinds.items())
        ]

    def make_fits(self, members: Tensor, factor: float | None = None) -> list[Fit]:
        """Return curves as fits, each with its best factor unless ``factor`` is given."""
        curves = self._compute_curves(members, self.target.x) * self._root
        if factor is None:
            factors = _solve_factors(curves, self._goal, torch.ones(len(members)).bool())
        else:
            factors = torch.full((len(members),), factor, dtype=torch.float64)
        left = ((self._goal - factors[:, None] * curves) ** 2).sum(1).sqrt()
        return [Fit(*row) for row in zip(members, factors.tolist(), left.tolist(), strict=True)]

    def measure_kink_distance(self, members: Tensor) -> Tensor:
        """Return the total distance of each fitted curve's kinks from the target's, relative to the range."""
        return self._measure_kink_distances(members).abs().sum(1) / _KINK_WEIGHT

    def find_worst_x(self, fit: Fit) -> float:
        """Return the x at which a fitted curve differs most from the target, or a kink or 0 next to it."""
        curves = self._compute_curves(fit.member[None], self.target.x)[0]
        left = (self.target.values.flatten() - fit.factor * curves).abs() * (self._root > 0)
        x = float(self.target.x[left.reshape(len(self.target.upstream), -1).amax(0).argmax()])
        close = (kink for kink in self.target.kinks if abs(kink - x) <= _NEAR * self.target.width)
        return next(close, 0.0 if abs(x) <= _NEAR * self.target.width else x)

    def _step(self, starts: Starts, errors: Tensor, damping: Tensor) -> tuple[Starts, Tensor, Tensor]:
        """Return the best of several damped least-squares steps from each point, its error and damping."""
        left, slopes = self._compute_jacobian(starts)
        normal = slopes.transpose(1, 2) @ slopes
        gradient = (slopes.transpose(1, 2) @ left[..., None])[..., 0]
        size = normal.diagonal(dim1=1, dim2=2)
        size = torch.where(size > 0, size, 1.0)
        strength = damping[:, None] * torch.tensor(_DAMPING, dtype=torch.float64) + 1e-12
        damped = normal[:, None] + torch.diag_embed(strength[..., None] * size[:, None])
        steps = torch.linalg.solve(damped, gradient[:, None].expand(-1, len(_DAMPING), -1))
        low, high = self.family.bounds
        tried = (starts.members[:, None] + steps).clamp(low, high)
        count = len(_DAMPING)
        flat = Starts(
            tried.flatten(0, 1),
            starts.moves.repeat_interleave(count, 0),
            starts.scaled.repeat_interleave(count),
        )
        sizes = self._compute_errors(flat)[0].reshape(-1, count)
        best, choice = sizes.min(1)
        better = best < errors
        members = torch.where(better[:, None], tried[torch.arange(len(tried)), choice], starts.members)
        used = strength.gather(1, choice[:, None])[:, 0]
        damping = torch.where(better, (used / 3).clamp(1e-9), damping * 100).clamp(max=1e6)
        return replace(starts, members=members), torch.where(better, best, errors), damping

    def _compute_jacobian(self, starts: Starts) -> tuple[Tensor, Tensor]:
        """Return residuals of s curves, (s, r), and how much they fall with each coordinate, (s, r, k)."""
        steps = torch.diag(torch.full_like(self.family.default, _DIFFERENCE))
        around = torch.cat([starts.members[:, None], starts.members[:, None] + steps], 1)
        curves = self._compute_curves(around, self.target.x) * self._root
        base, moved = curves[:, 0], curves[:, 1:]
        factors = _solve_factors(base, self._goal, starts.scaled)
        change = moved - base[:, None]
        change = torch.where(change.abs() > _JUMP * base.abs().amax(1)[:, None, None], 0.0, change)
        slopes = factors[:, None, None] * change / _DIFFERENCE
        length = (base**2).sum(1).clamp(min=1e-300)
        projection = (slopes @ base[:, :, None])[..., 0] / length[:, None] * starts.scaled[:, None]
        slopes = (slopes - projection[..., None] * base[:, None]) * starts.moves[..., None]
        distances = self._measure_kink_distances(around)
        kink_slopes = -(distances[:, 1:] - distances[:, :1]) / _DIFFERENCE * starts.moves[..., None]
        left = self._goal - factors[:, None] * base
        return torch.cat([left, distances[:, 0]], 1), torch.cat([slopes, kink_slopes], 2).transpose(1, 2)


def _solve_factors(curves: Tensor, goal: Tensor, scaled: Tensor) -> Tensor:
    length = (curves**2).sum(1)
    best = curves @ goal / torch.where(length > 0, length, 1.0)
    return torch.where(scaled & (length > 0), best, 1.0)

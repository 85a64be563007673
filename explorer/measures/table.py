"""Every rule that suits an op, a row each: its size, its share, and what its checks say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import torch

from explorer.catalogue import (
    FIXED_RULES,
    OWN_FAMILY,
    RULES,
    Op,
    Rule,
    checked,
    find_op,
    require_fixed,
    values,
)
from explorer.catalogue.noises import Noise
from explorer.checks import check_pair
from explorer.checks.curve import Curve
from explorer.curves.foreign import SPAN, make_pair_subject
from explorer.description.pull import normal_numbers
from explorer.gradient import bind, share_of_all
from explorer.measures.lens import distance, noise_of, seen
from explorer.measures.size import size_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Row:
    """One rule beside an op, at g = 1.

    Attributes:
        rule: its key.
        peak, area, support: as of ``Size``.
        share: the share of straight-through's gradient that it passes on the standard normal.
        linear: whether it is linear in g.
        finite: whether it is a number everywhere, in every dtype.
        fails: the names of the checks that fail, with commas between them.
        source: paper or public file.
    """

    rule: str
    peak: float
    area: float
    support: float
    share: float
    linear: bool
    finite: bool
    fails: str
    source: str

    @property
    def plain(self) -> dict[str, Any]:
        """Its fields as JSON types: numbers that JSON does not have are texts: "inf", "-inf" and "nan"."""
        return {name: _plain(value) for name, value in asdict(self).items()}


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def suiting(op: Op) -> list[Rule]:
    """The rules that make sense for an op; for one of one's own all that are for ops that draw nothing.

    None for an op that draws, which is not compared.
    """
    if op.draws:
        return []
    if op.family == OWN_FAMILY:
        return [*FIXED_RULES]
    return [rule for rule in RULES.values() if not rule.suits or op.family in rule.suits]


def compare(op: str | Op, *, noise: str = "uniform", width: float = 1.0, **parameters: float) -> pd.DataFrame:
    """Compare all rules of the catalogue that suit an op.

    Args:
        op: key of ``OPS``, ``"formula: …"`` in x, or an ``Op``.
        noise, width: of the lens, as for ``explorer.lens``.
        **parameters: values by name, or ``rule.name`` for one rule only; the others at their default.

    Returns:
        One row a rule, in the order of the catalogue. rule: its key; peak: its largest value by size, at
        g = 1; area: its integral over all x, infinite where it goes on growing, NaN where there is no sum;
        support: the length of x on which it is not 0, infinite for tails; share: of
        straight-through's gradient, what it passes on the standard normal (see ``share``); lens: the distance
        from the op's gradient under that noise over x from −3 to 3, at g = 1, as a share of that gradient's
        size: 0 for a rule that it is, NaN where there is no mean, infinite where it is 0; linear: in g;
        finite: everywhere, in every dtype; fails: the names of the checks that fail, "" for none; source.

    Raises:
        ValueError: an unknown key, noise or parameter.
    """
    import pandas as pd  # which no row needs

    op, law = find_op(op), noise_of(noise, width)
    require_fixed("compare", op)
    rules = suiting(op)
    settings = checked(op, rules, parameters)
    table = pd.DataFrame([asdict(row_of(op, rule, settings)) for rule in rules])
    table.insert([*table].index("share") + 1, "lens", _distances(op, rules, settings, law, width))
    return table


def lens_distances(
    op: str | Op, parameters: Mapping[str, float], noise: str, width: float
) -> dict[str, float]:
    """Return the column `lens` of `compare`, rule key -> distance; parameters of other rules are ignored."""
    entry = find_op(op)
    require_fixed("compare", entry)
    rules = suiting(entry)
    found = _distances(entry, rules, parameters, noise_of(noise, width), width)
    return dict(zip((rule.key for rule in rules), found, strict=True))


def _distances(
    op: Op, rules: Sequence[Rule], settings: Mapping[str, float], noise: Noise, width: float
) -> list[float]:
    """The distance of each rule from the op under noise."""
    x, gradient, _ = seen(op, values(op, None, settings), noise, float(width), SPAN)
    at = torch.from_numpy(x)
    subjects = [make_pair_subject(op, rule, values(op, rule, settings)) for rule in rules]
    return [distance(x, gradient, subject.gradient(at).numpy()) for subject in subjects]


def row_of(op: Op, rule: Rule, settings: Mapping[str, float]) -> Row:
    """The row of one rule; ``settings`` as of ``catalogue.values``."""
    own = values(op, rule, settings)
    size = size_of(Curve(make_pair_subject(op, rule, own)))
    results = check_pair(op, rule, own)
    verdicts = {result.name: result.verdict for result in results}
    normal = _normal()
    return Row(
        rule=rule.key,
        **asdict(size),
        share=share_of_all(bind(op, rule, own), [(normal, torch.ones_like(normal))]),
        linear=rule.linear,
        finite=verdicts["finite"] == "holds",
        fails=", ".join(result.name for result in results.failures),
        source=rule.source,
    )


@cache
def _normal() -> torch.Tensor:
    return torch.tensor(normal_numbers(), dtype=torch.float64)

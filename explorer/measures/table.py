"""A table of all backward rules for an op: their sizes and the results of their checks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import torch

from explorer import catalogue
from explorer.catalogue.noises import Noise
from explorer.checks import check_pair
from explorer.curves.user_functions.curve import Curve
from explorer.curves.user_functions.subject import SPAN, prepare_pair
from explorer.description.net_gradient import make_normal_numbers
from explorer.gradient import bind, share_of_all
from explorer.measures.lens import compute_lens, find_noise, measure_distance
from explorer.measures.size import measure_size

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Row:
    """The properties of one backward rule with an op, at g = 1.

    Attributes:
        rule: the rule's key.
        peak: as in ``Size``.
        area: as in ``Size``.
        support: as in ``Size``.
        share: the size of the rule's gradient relative to straight-through's, on standard normal data.
        linear: whether the rule is linear in g.
        finite: whether the rule is finite everywhere, in every dtype.
        fails: the names of the failed checks, comma-separated.
        source: the paper or public file with the rule.
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
        """The fields as a dict for JSON, in which infinite and NaN numbers are "inf", "-inf" and "nan"."""
        return {name: _to_json(value) for name, value in asdict(self).items()}


def _to_json(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def list_suitable_rules(op: catalogue.Op) -> list[catalogue.Rule]:
    """Return the catalogue's backward rules that suit an op; for a custom op, all deterministic rules.

    A stochastic op has no table, so that its list is empty.
    """
    if op.is_random:
        return []
    if op.family == catalogue.CUSTOM_FAMILY:
        return [*catalogue.FIXED_RULES]
    return [rule for rule in catalogue.RULES.values() if not rule.suits or op.family in rule.suits]


def compare(
    op: str | catalogue.Op, *, noise: str = "uniform", width: float = 1.0, **parameters: float
) -> pd.DataFrame:
    """Compare all backward rules of the catalogue that suit an op.

    Args:
        op: key of ``OPS``, ``"formula: …"`` in x, or an ``Op``.
        noise: noise of the lens, as for ``explorer.lens``.
        width: width of that noise, as for ``explorer.lens``.
        **parameters: values by name, or ``rule.name`` for one rule only; the others have their defaults.

    Returns:
        A DataFrame with one row per rule, in the order of the catalogue, and the columns

        - rule: its key;
        - peak: its value of largest size, at g = 1;
        - area: its integral over all x; infinite if it diverges, NaN if it cannot be computed;
        - support: the length of x on which it is not 0; infinite for tails;
        - share: the size of its gradient relative to straight-through's, on standard normal data (see
          ``share``);
        - lens: its distance from the op's gradient under that noise, over x from −3 to 3 at g = 1, relative
          to the size of that gradient: 0 for the same curve, NaN if the op has no mean, infinite if the
          gradient is 0;
        - linear: whether it is linear in g;
        - finite: whether it is finite everywhere, in every dtype;
        - fails: the names of the failed checks, "" if all pass;
        - source: the paper or public file that it is from.

    Raises:
        ValueError: for an unknown key, noise or parameter.
    """
    import pandas as pd  # imported late, because single rows do not need it

    op, law = catalogue.find_op(op), find_noise(noise, width)
    catalogue.require_deterministic("compare", op)
    rules = list_suitable_rules(op)
    settings = catalogue.check_values(op, rules, parameters)
    table = pd.DataFrame([asdict(make_row(op, rule, settings)) for rule in rules])
    table.insert([*table].index("share") + 1, "lens", _measure_distances(op, rules, settings, law, width))
    return table


def compute_lens_distances(
    op: str | catalogue.Op, parameters: Mapping[str, float], noise: str, width: float
) -> dict[str, float]:
    """Return a dict from the key of each rule that suits an op to its distance from the op under noise.

    ``noise`` and ``width`` are as for ``lens``. Raises ValueError for a stochastic op or an unknown noise.
    """
    entry = catalogue.find_op(op)
    catalogue.require_deterministic("compare", entry)
    rules = list_suitable_rules(entry)
    distances = _measure_distances(entry, rules, parameters, find_noise(noise, width), width)
    return dict(zip((rule.key for rule in rules), distances, strict=True))


def _measure_distances(
    op: catalogue.Op,
    rules: Sequence[catalogue.Rule],
    settings: Mapping[str, float],
    noise: Noise,
    width: float,
) -> list[float]:
    x, gradient, _ = compute_lens(op, catalogue.resolve_values(op, None, settings), noise, float(width), SPAN)
    points = torch.from_numpy(x)
    subjects = [prepare_pair(op, rule, catalogue.resolve_values(op, rule, settings)) for rule in rules]
    return [measure_distance(x, gradient, subject.gradient(points).numpy()) for subject in subjects]


def make_row(op: catalogue.Op, rule: catalogue.Rule, settings: Mapping[str, float]) -> Row:
    """Return the table row of one backward rule with an op; ``settings`` are parameter values by name."""
    numbers = catalogue.resolve_values(op, rule, settings)
    size = measure_size(Curve(prepare_pair(op, rule, numbers)))
    results = check_pair(op, rule, numbers)
    verdicts = {result.name: result.verdict for result in results}
    normal = _make_normal()
    return Row(
        rule=rule.key,
        **asdict(size),
        share=share_of_all(bind(op, rule, numbers), [(normal, torch.ones_like(normal))]),
        linear=rule.linear,
        finite=verdicts["finite"] == "holds",
        fails=", ".join(result.name for result in results.failures),
        source=rule.source,
    )


@cache
def _make_normal() -> torch.Tensor:
    return torch.tensor(make_normal_numbers(), dtype=torch.float64)

"""Where formulas mean something: a value beyond is refused by name, one beyond a slider alone is not."""

import math
from collections.abc import Iterator

import pytest
import torch

import explorer
from explorer.catalogue import Op, Parameter, Rule
from explorer.instrument.limits import find_reach
from tests.catalogue.fixed import OPS, RULES
from tests.selection import loop_over

ENTRIES = [*OPS.values(), *RULES.values()]
BOUND = [(entry, p) for entry in ENTRIES for p in entry.parameters if p.domain]
X = torch.tensor([-3.0, -1.3, -0.4, 0.0, 0.3, 1.1, 2.7], dtype=torch.float64)
TRIED = (-1000.0, -1.0, -0.3, 0.0, 1e-3, 0.3, 1.0, 1.5, 1000.0)


def sampled(entry: Op | Rule, **parameters: float) -> None:
    pair = (entry, "zero") if isinstance(entry, Op) else ("identity", entry)
    explorer.sample(*pair, points=5, **parameters)


def numbers(entry: Op | Rule, **parameters: float) -> torch.Tensor:
    known = {p.name: p.default for p in entry.parameters} | parameters
    assert entry.parsed
    return entry.parsed.bind(known)(X, X, torch.ones_like(X))


def outside(p: Parameter) -> Iterator[float]:
    yield from (value for value in (*TRIED, 1.000001) if not p.is_valid(value))


@loop_over(("entry", "p"), BOUND)
def test_a_value_beyond_is_refused_by_name(entry: Op | Rule, p: Parameter):
    beyond = list(outside(p)) if p.domain_names == {p.name} else [p.high + 1.0]
    assert beyond
    for value in beyond:
        with pytest.raises(ValueError, match=rf"^{entry.key} needs .*{p.name}.*, not {p.name} = "):
            sampled(entry, **{p.name: value})


@loop_over("entry", [entry for entry in ENTRIES if entry.parameters])
def test_within_its_domain_every_value_means_something(entry: Op | Rule):
    """No value that is admitted gives what is no number, however far beyond the slider."""
    for p in entry.parameters:
        for value in filter(p.is_valid, TRIED):
            own = {q.name: q.default for q in entry.parameters} | {p.name: value}
            if all(q.is_valid(own[q.name], own) for q in entry.parameters):
                assert not numbers(entry, **{p.name: value}).isnan().any(), (p.name, value)


@loop_over(("entry", "p"), BOUND)
def test_sliders_and_links_stay_within(entry: Op | Rule, p: Parameter):
    low, high = find_reach(p)
    assert p.is_valid(low)
    assert p.is_valid(high)
    assert low <= p.low
    assert p.high <= high


def test_ends_of_a_slider_alone_stay_soft():
    for entry, name, value in (("scale", "s", 1e3), ("dsq", "alpha", 0.95), ("clipped", "c", 50.0)):
        sampled(RULES[entry], **{name: value})
    sampled(OPS["clamp"], lo=2.0, hi=1.0)  # torch says what it is: hi everywhere


def test_a_value_beyond_is_refused_wherever_a_value_is_given():
    x = torch.zeros(3)
    with pytest.raises(ValueError, match=r"dsq needs 0 < alpha < 1, not alpha = 1"):
        explorer.sample("round", ["dsq"], alpha=1.0)
    with pytest.raises(ValueError, match=r"apply\('round', 'dsq'\): dsq needs 0 < alpha < 1, not alpha = 1"):
        explorer.apply("round", "dsq", x, alpha=1.0)
    with pytest.raises(ValueError, match="dsq needs"):
        explorer.apply("round", "dsq", x, alpha=torch.tensor(1.0))
    with pytest.raises(ValueError, match=r"dsq needs .* alpha = 1\.5"):
        explorer.check("elu", "dsq", **{"dsq.alpha": 1.5})
    with pytest.raises(ValueError, match="dsq needs"):
        explorer.snippet("round", "dsq", alpha=-1.0)
    with pytest.raises(ValueError, match="clipped needs c >= 0, not c = -1"):
        explorer.snippet("round", "clipped", {"c": -1})
    with pytest.raises(ValueError, match="quantize needs s > 0, not s = 0"):
        explorer.nearest("quantize", "lsq", s=0.0)
    with pytest.raises(ValueError, match=r"hardtanh needs lo <= hi, not lo = 2 and hi = 1"):
        explorer.sample("hardtanh", ["masked"], lo=2.0, hi=1.0)
    with pytest.raises(ValueError, match="dsq needs"):
        explorer.Layer("round", "dsq", alpha=1.0)
    with pytest.raises(ValueError, match="lsq needs s > 0"):
        explorer.Layer("round", "lsq", learns=("s",), s=-1.0)
    with pytest.raises(ValueError, match="dsq needs"):
        explorer.training.Settings(op="round", rules=("dsq",), parameters={"alpha": 1.0})
    with pytest.raises(ValueError, match="dsq needs"):
        explorer.study("digits", "round", ["dsq"], lrs=[0.1], seeds=1, steps=1, parameters={"alpha": 1.0})


def test_a_record_keeps_its_slider_within_its_domain():
    with pytest.raises(ValueError, match=r"the bounds 0 and 1 of s must satisfy s > 0"):
        Parameter("s", 0.5, 0, 1, domain="s > 0")
    assert Parameter("s", 0.5, 0.1, 1, domain="s > 0").is_valid(math.pi)

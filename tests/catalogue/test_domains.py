"""Where formulas mean something: a value beyond is refused by name, one beyond a slider alone is not."""

import math
from functools import partial

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


@loop_over(("entry", "p"), BOUND)
def test_a_value_beyond_is_refused_by_name(entry: Op | Rule, p: Parameter):
    alone = [value for value in (*TRIED, 1.000001) if not p.is_valid(value)]
    beyond = alone if p.domain_names == {p.name} else [p.high + 1.0]
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


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (partial(explorer.sample, "round", ["dsq"], alpha=1.0), r"dsq needs 0 < alpha < 1, not alpha = 1"),
        (partial(explorer.apply, "round", "dsq", X, alpha=1.0),
         r"apply\('round', 'dsq'\): dsq needs 0 < alpha < 1, not alpha = 1"),
        (partial(explorer.apply, "round", "dsq", X, alpha=torch.tensor(1.0)), "dsq needs"),
        (partial(explorer.check, "elu", "dsq", **{"dsq.alpha": 1.5}), r"dsq needs .* alpha = 1\.5"),
        (partial(explorer.snippet, "round", "dsq", alpha=-1.0), "dsq needs"),
        (partial(explorer.snippet, "round", "clipped", {"c": -1}), "clipped needs c >= 0, not c = -1"),
        (partial(explorer.nearest, "quantize", "lsq", s=0.0), "quantize needs s > 0, not s = 0"),
        (partial(explorer.sample, "hardtanh", ["masked"], lo=2.0, hi=1.0),
         "hardtanh needs lo <= hi, not lo = 2 and hi = 1"),
        (partial(explorer.Layer, "round", "dsq", alpha=1.0), "dsq needs"),
        (partial(explorer.Layer, "round", "lsq", learns=("s",), s=-1.0), "lsq needs s > 0"),
        (partial(explorer.training.Settings, op="round", rules=("dsq",), parameters={"alpha": 1.0}),
         "dsq needs"),
        (partial(explorer.study, "digits", "round", ["dsq"], lrs=[0.1], seeds=1, steps=1,
                 parameters={"alpha": 1.0}), "dsq needs"),
    ],
)  # fmt: skip
def test_a_value_beyond_is_refused_wherever_a_value_is_given(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def test_a_record_keeps_its_slider_within_its_domain():
    with pytest.raises(ValueError, match=r"the bounds 0 and 1 of s must satisfy s > 0"):
        Parameter("s", 0.5, 0, 1, domain="s > 0")
    assert Parameter("s", 0.5, 0.1, 1, domain="s > 0").is_valid(math.pi)

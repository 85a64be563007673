"""A new kind of layer is five named places: class with a site, architecture, task, stages, script."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest

from explorer.scripts import net, script
from explorer.training import Run, Settings, tasks
from explorer.training.instruments import INSTRUMENTS
from explorer.training.instruments.slow_motion import stages
from explorer.training.nets import DENSE, Architecture, Layer, OpSite, architectures
from explorer.training.nets.layers import Activation, Dense, Spread

SETTINGS = {"task": "circles", "rules": ("default", "clipped"), "hidden": (6, 5), "steps": 60, "seeds": 2}


class Residual(Activation):
    """``x + op(x)`` on every unit."""

    site = OpSite("residual", "the residual units' inputs")

    def forward(self, x, parameters, trace):
        return x + super().forward(x, parameters, trace)

    def backward(self, g, parameters, gradients, trace):
        return g + super().backward(g, parameters, gradients, trace)


def built(ends, bias, boundary, seeds):
    layers: list[Layer] = [Spread(seeds)]
    for number, (a, b) in enumerate(pairwise(ends)):
        layers += [Residual(boundary)] * bool(number)
        layers.append(Dense(a, b, bias=bias, first=not number))
    return layers


SCRIPT = """
for number, {layer} in enumerate(layers):
    x = x + op(x{before}) if number else x
    x = {x}
return x
"""


def missing(kind: type[Layer]) -> list[str]:
    """The places without a kind of layer, of those that a new one needs beside its class."""
    known = [each for each in vars(architectures).values() if isinstance(each, Architecture)]
    assert kind.site is not None
    has = {
        "an Architecture in nets/architectures.py": any(each.op_layer is kind for each in known),
        "a task": any(task.net.op_layer is kind for task in tasks.TASKS.values()),
        "a row of STAGES": kind.site.key in stages.STAGES,
        "a row of NETS": kind.site.key in net.NETS,
    }
    return [place for place, is_there in has.items() if not is_there]


def kinds(base: type[Layer] = Layer) -> Iterator[type[Layer]]:
    """The house's own kinds of layers with the op."""
    for kind in base.__subclasses__():
        if "site" in vars(kind) and kind.__module__.startswith("explorer."):
            yield kind
        yield from kinds(kind)


@pytest.fixture
def residual(monkeypatch: pytest.MonkeyPatch) -> Architecture:
    """The architecture of the made-up kind, of which a task is."""
    architecture = Architecture(Residual, built)
    monkeypatch.setattr(architectures, "RESIDUAL", architecture, raising=False)
    monkeypatch.setitem(tasks._BY_KEY, "circles", replace(tasks.TASKS["circles"], net=architecture))
    return architecture


@pytest.fixture
def run(residual: Architecture) -> Run:
    run = Run(Settings(**SETTINGS))
    run.advance(SETTINGS["steps"])
    return run


def test_each_kind_of_layer_is_complete_and_has_a_unique_key():
    keys = [kind.site.key for kind in dict.fromkeys(kinds()) if kind.site]  # one by several bases counts once
    assert len(keys) == len(set(keys)) > 2
    assert not {kind.__name__: missing(kind) for kind in kinds() if missing(kind)}
    assert set(keys) == set(stages.STAGES) == set(net.NETS)


def test_an_architecture_refuses_a_layer_without_its_own_site():
    class Nameless(Activation):
        """Another kind, whose site would be that of the first."""

    with pytest.raises(TypeError, match="Nameless must have an attribute site"):
        Architecture(Nameless, built)


def test_a_net_with_a_new_kind_of_layer_trains(run):
    other = Run(Settings(**SETTINGS | {"task": "moons"}))  # dense
    assert other.nets.ensemble.layers[2].__class__ is Activation
    assert isinstance(run.nets.ensemble.layers[2], Residual)
    assert run.snapshot().losses["clipped"][-1] < 0.7 * run.snapshot().losses["clipped"][0]


@pytest.mark.parametrize("key", sorted(set(INSTRUMENTS) - {"slow_motion"}))
def test_each_instrument_measures_a_new_kind_or_explains_why_not(key, run):
    if INSTRUMENTS[key].kind == "requested":
        assert set(run.measure(key)) == set(SETTINGS["rules"])
    else:
        snapshot = run.snapshot((key,))
        assert (key in snapshot.measured) != snapshot.unmeasured.get(key, "").startswith("Not ")


def test_instruments_use_the_words_of_a_new_site(run):
    measured = run.snapshot(("causes", "inputs")).measured
    assert measured["causes"]["clipped"]["words"][0].startswith("The residual units' inputs after w1: ")
    assert "The residual units' inputs after w1 are" in measured["inputs"]["clipped"]["words"][0]


def test_slow_motion_and_scripts_name_their_missing_row(run, monkeypatch):
    with pytest.raises(LookupError, match="does not know an op at 'residual': add an entry to STAGES"):
        run.measure("slow_motion")
    with pytest.raises(LookupError, match="no net for an op at 'residual': add an entry to NETS"):
        script(run.settings)
    monkeypatch.setitem(stages.STAGES, "residual", stages.ACTIVATIONS)
    monkeypatch.setitem(net.NETS, "residual", SCRIPT)
    assert [stage["key"] for stage in run.measure("slow_motion")["clipped"]["stages"]][:2] == ["input", "x"]
    names = {}
    exec(script(run.settings).rpartition("\nfor op")[0], names)
    losses = names["train"](names["sign_clipped"], 0)[0]
    assert losses == pytest.approx(run.snapshot().seed_losses["clipped"][0].tolist(), rel=1e-6)


def test_only_dense_tasks_have_the_same_x_at_every_step():
    assert all(task.net is DENSE for task in tasks.TASKS.values() if task.same)

"""Spikes of one example, beside a net of leaky units written by hand."""

import pytest
import torch

from explorer.training import Run
from tests.training.by_hand import read_layers, run_spikes
from tests.training.driving import build, read_records

TIMES, EXAMPLE = 8, 5


@pytest.fixture(scope="module")
def run() -> Run:
    return build(10, task="spikes", rules=("fast_sigmoid", "default"), parameters={"k": 1.0}, seeds=2)


def simulated(run: Run, member: int, brightness: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Spikes (units, times) of pixels and all hidden units, and the mean potentials of the outputs."""
    seen, outputs = run_spikes(brightness[None], read_layers(run, member), lambda v, _: (v >= 0).float())
    return torch.cat([torch.stack(spikes, -1)[0] for spikes in seen]), outputs[0]


def test_spikes_match_a_net_written_by_hand(run: Run):
    x, y = run.nets.data[0].held_out
    for rule, result in read_records(run, f"raster?example={EXAMPLE}").items():
        spikes, potentials = simulated(run, 2 * rule, x[EXAMPLE])
        assert result.units == [64, 32, 32]
        found = torch.from_numpy(result.spikes).view(-1, TIMES) / 255
        assert torch.equal(found, spikes)
        assert found[64:].any(), "some hidden units fire"
        torch.testing.assert_close(torch.from_numpy(result.potentials), potentials, rtol=1e-4, atol=1e-5)
        assert (result.label, result.read) == (int(y[EXAMPLE]), int(potentials.argmax()))
        assert result.words.startswith(f"a {result.label} read as {result.read}; ")
        assert f"{int(spikes[64:96].any(1).sum())} of 32 units after w1 fire" in result.words


def test_the_raster_shows_the_requested_example(run: Run):
    question = f"raster?example={EXAMPLE}"
    shown = run.snapshot(("raster", question))
    for rule in run.settings.rules:
        first, other = shown.measured["raster"][rule], shown.measured[question][rule]
        assert (first["example"], other["example"]) == (0, EXAMPLE)
        assert (first["spikes"] != other["spikes"]).any()
    assert shown.most["raster"] == {"example": 359}


@pytest.mark.parametrize(
    ("numbers", "why"),
    [
        ("example=360", "example must be from 0 to 359, not 360"),
        ("example=-1", "example = -1 must be a whole number with at most 9 digits"),
        ("example=", "example =  must be a whole number with at most 9 digits"),
        ("sample=1", "raster takes example, not sample"),
    ],
)
def test_an_invalid_example_is_refused_with_a_reason(run: Run, numbers: str, why: str):
    question = f"raster?{numbers}"
    snapshot = run.snapshot((question,))
    assert snapshot.unmeasured[question] == why
    assert question not in snapshot.measured
    assert snapshot.has_answers((question,))
    assert not snapshot.has_answers(("raster?example=1",))


def test_the_raster_of_tanh_has_more_than_two_values():
    run = build(task="spikes", op="tanh", rules=("default",))
    (result,) = read_records(run, "raster").values()
    hidden = torch.from_numpy(result.spikes)[64 * TIMES :]
    assert len(hidden.unique()) > 2

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch

from explorer.catalogue import RULES, Learned
from explorer.training import Run, Settings
from explorer.training.instruments import INSTRUMENTS
from explorer.training.runs.summary import make_sentences
from tests.training.runs.learning_cases import OPTIMISERS, UNITS, WEIGHTS, train


def test_a_run_whose_nets_have_all_left_has_a_snapshot():
    broken = dataclasses.replace(RULES["lsq"], key="broken", learned=(Learned("s", "g / 0"),))
    snapshot = train(5, **WEIGHTS | {"rules": (broken,)}).snapshot()
    assert snapshot.diverged == {"broken": 1}
    assert np.isnan(snapshot.learned["broken"]["s"]).tolist() == [[True, True]]


AFTER: dict[str, tuple[dict[str, Any], str]] = {
    "rests": (
        {"lsq": "quantize_masked"},
        "s no longer learns: Masked to the levels defines no gradient for it.",
    ),
    "op without it": (
        {"op": "sign", "lsq": "zero"},
        "s no longer learns: Sign with Zero has no such parameter.",
    ),
    "goes on": ({"lr": 0.02}, ""),
}


@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("case", AFTER)
def test_a_branch_with_learned_values_equals_a_run_of_its_settings(case, optimiser):
    """From a kept step on, and back and on from there, bit for bit; and it says what learns no more."""
    changes, words = AFTER[case]
    given = WEIGHTS | {"optimiser": optimiser, "learn": ("lsq.s",), "learn_rate": 0.3}
    run = Run(Settings(**given), recorded=("parameters",))
    run.advance(30)
    before = run.snapshot()
    other = run.branch(20, **changes)
    step = other.step
    assert 0 < step <= 20
    other.advance(40)
    whole = Run(other.settings, recorded=("parameters",))
    whole.advance(step + 40)
    for ours, theirs in ((other.snapshot(), whole.snapshot()), (run.snapshot(), before)):
        assert ours.losses["lsq"].tolist() == theirs.losses["lsq"].tolist()
        assert {name: value.tolist() for name, value in ours.learned["lsq"].items()} == {
            name: value.tolist() for name, value in theirs.learned["lsq"].items()
        }
    assert other.snapshot().resting == {"lsq": words}
    assert make_sentences(other.snapshot(), {"lsq": "LSQ"})[0].endswith(words or ".")
    assert np.isfinite(other.snapshot().measured["parameters"]["lsq"]["value"]).all()
    assert other.back(step) == step
    other.advance(40)
    assert other.snapshot().losses["lsq"].tolist() == whole.snapshot().losses["lsq"].tolist()


def test_a_branch_to_a_rule_without_the_parameter_continues():
    """An op that a branch goes on with need not have it: no instrument is at a loss."""
    run = train(12, **UNITS | {"learn": ("hi",), "rules": ("default",), "branch": ((5, "op", "relu"),)})
    assert run.snapshot().resting == {
        "default": "hi no longer learns: ReLU with Default autograd has no such parameter."
    }
    assert run.snapshot().learned == {"default": {}}


BY_CHANNEL: dict[str, tuple[dict[str, Any], list[int]]] = {
    "maps": (
        {"task": "digits convolution", "op": "quantize", "rules": ("lsq",), "hidden": (4, 3), "lr": 0.01,
         "parameters": {"s": 0.7, "qmin": -2.0, "qmax": 1.0}},
        [4, 3],
    ),
    "kernels": (WEIGHTS | {"task": "ternary kernels", "hidden": (4, 3), "lr": 0.01}, [4, 3]),
    "weights": (WEIGHTS | {"hidden": 6, "lr": 0.01}, [6, 10]),
    "units": (
        {"task": "digits", "op": "quantize", "rules": ("lsq",), "hidden": (6, 5), "lr": 0.01,
         "parameters": {"s": 0.7, "qmin": -2.0, "qmax": 1.0}},
        [6, 5],
    ),
}  # fmt: skip


def composed(run: Run, case: str, x: torch.Tensor, weights: list[Any], steps: list[Any]) -> torch.Tensor:
    """The output of a net with LSQ of a step size for each channel, in torch's words."""
    known = run.settings.parameters
    low, high = known["qmin"], known["qmax"]

    def quantised(values: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
        scale = (values.numel() / s.numel() * high) ** -0.5
        slow = (s - s * scale).detach() + s * scale
        held = (values / slow).clamp(low, high)
        return ((held.round() - held).detach() + held) * slow

    maps = x.view(-1, 1, 8, 8)
    for number, (w, b) in enumerate(weights):
        unit, s = len(w) ** 0.5, steps[number] if number < len(steps) else None
        if case in ("kernels", "weights") and s is not None:
            w = quantised(w * unit, s[None, :]) / unit
        if case in ("maps", "kernels") and number < len(weights) - 1:
            kernels, stride = w.T.unflatten(1, (-1, 3, 3)), 2 if number and maps.shape[2] > 2 else 1
            maps = torch.nn.functional.conv2d(maps, kernels, b[0], stride=stride, padding=1)
            maps = maps.relu() if case == "kernels" else quantised(maps, s[None, :, None, None])
            maps = maps if number else torch.nn.functional.avg_pool2d(maps, 2)
            x = maps.flatten(1)
            continue
        x = x.relu() if case == "weights" and number else x
        x = x @ w + b
        x = quantised(x, s[None, :]) if case == "units" and s is not None else x
    return x


@pytest.mark.parametrize("case", BY_CHANNEL)
def test_step_sizes_by_channel_match_autograd_with_torchs_optimiser(case):
    """N in LSQ's scale counts the elements of one channel."""
    given, channels = BY_CHANNEL[case]
    run = train(12, **given | {"learn": ("s",), "learn_each": "channel", "optimiser": "momentum",
                                 "device": "cpu"})  # fmt: skip
    settings = run.settings
    x, y, start = run.tensors()
    leaves = [each.clone().requires_grad_() for each in start]
    steps = [torch.full((count,), settings.parameters["s"], requires_grad=True) for count in channels]
    optimiser = torch.optim.SGD([*leaves, *steps], lr=settings.lr, momentum=0.9)
    generator = torch.Generator().manual_seed(settings.seed)
    for weights in start[::2]:
        torch.randn(weights.shape, generator=generator)
    losses = []
    for _ in range(12):
        chosen = torch.randint(len(x), (settings.batch,), generator=generator)
        output = composed(run, case, x[chosen], list(zip(leaves[::2], leaves[1::2], strict=True)), steps)
        loss = torch.nn.functional.cross_entropy(output, y[chosen])
        losses.append(loss.item())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert run.snapshot().losses["lsq"].tolist() == pytest.approx(losses, rel=1e-3)
    taken = run.weights()
    ours = [taken[f"lsq.0.op.{layer}.s"] for layer in range(len(channels))]
    assert [len(each) for each in ours] == channels
    for mine, theirs in zip(ours, steps, strict=True):
        moved = (theirs - settings.parameters["s"]).detach()
        assert len(moved.unique()) > 1
        torch.testing.assert_close(mine - settings.parameters["s"], moved, rtol=2e-2, atol=1e-5)
    record = run.snapshot().measured["parameters"]["lsq"]
    for field, end in (("value", torch.mean), ("least", torch.amin), ("most", torch.amax)):
        assert record[field].tolist() == pytest.approx([end(each).item() for each in ours])


def test_a_channel_value_that_falls_to_0_ends_its_rule():
    down = dataclasses.replace(
        RULES["lsq"], key="down", label="Down", learned=(Learned("s", "abs(g)", scale="100"),)
    )
    run = train(20, **WEIGHTS | {"rules": (down,), "learn_each": "channel"})
    assert run.snapshot().fallen == {
        "down": "s of layer 1 fell to 0 or below, where its formulas are undefined"
    }


def test_a_unit_of_a_map_is_computed_with_the_value_of_its_channel():
    given = BY_CHANNEL["maps"][0] | {"rules": ("lsq",), "learn": ("s",), "learn_each": "channel", "lr": 0.1}
    run = train(10, **given, device="cpu")
    (values,) = [run.weights()["lsq.0.op.0.s"]]
    answer = run.measure("unit", layer=0, cause=2)["lsq"]
    assert answer["parameters"]["s"] == pytest.approx(values[answer["unit"] // 64].item())
    assert len(values.unique()) == 4


def test_pictures_use_the_mean_of_the_channel_values():
    given = BY_CHANNEL["maps"][0] | {"learn": ("s",), "learn_each": "channel", "lr": 0.1}
    run = train(10, **given, device="cpu")
    nets = run.recorder.observe(run.settings)
    values = run.weights()["lsq.0.op.0.s"]
    assert nets.get_parameters(0, 0)["s"] == pytest.approx(values.mean().item())
    assert [nets.get_parameters(0, 0, 64 * at)["s"] for at in range(4)] == pytest.approx(values.tolist())
    assert all("their mean" in INSTRUMENTS[key].limits for key in ("inputs", "causes"))

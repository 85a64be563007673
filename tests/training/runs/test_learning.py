"""Parameters of the op that learn: against torch's own optimisers, alone and in company, on and on."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
import torch

from explorer.catalogue import RULES, Learned, Op, Parameter, Rule
from explorer.gradient import bind
from explorer.study.chunk import Chunk
from explorer.study.plan import Plan
from explorer.training import Run, Settings
from explorer.training.instruments import INSTRUMENTS
from explorer.training.numerics.losses import cross_entropy
from explorer.training.runs.summary import sentences

WEIGHTS: dict[str, Any] = {
    "task": "ternary weights", "op": "quantize", "rules": ("lsq",), "learn": ("s",),
    "parameters": {"s": 0.5, "qmin": -1.0, "qmax": 1.0}, "optimiser": "momentum", "lr": 0.1, "device": "cpu",
}  # fmt: skip
UNITS: dict[str, Any] = {
    "task": "digits", "op": "clamp", "rules": ("pact",), "learn": ("hi",), "parameters": {"hi": 0.5},
    "optimiser": "adam", "device": "cpu",
}  # fmt: skip
THRESHOLD = Op("threshold", "Threshold", "where(x - t > 0, 1, 0)", parameters=(Parameter("t", 0.2),),
               inner="x - t", outer="q")  # fmt: skip
HILL = Rule("hill", "Hill", "g / (1 + abs(x - t))**2", parameters=THRESHOLD.parameters)
SPIKES: dict[str, Any] = {
    "task": "spikes", "op": THRESHOLD, "rules": (HILL,), "learn": ("t",), "hidden": 6, "device": "cpu",
}  # fmt: skip
OPTIMISERS = {
    "sgd": lambda groups, lr: torch.optim.SGD(groups, lr=lr),
    "momentum": lambda groups, lr: torch.optim.SGD(groups, lr=lr, momentum=0.9),
    "adam": lambda groups, lr: torch.optim.Adam(groups, lr=lr),
}


def trained(steps: int, **settings: Any) -> Run:
    run = Run(Settings(**settings), recorded=("parameters",))
    run.advance(steps)
    return run


def lsq(latent: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    """LSQ of three values as its paper composes it: detached where the gradient is not to go."""
    scale = 1 / latent.numel() ** 0.5
    slow = (s - s * scale).detach() + s * scale
    u = latent / slow
    held = u.clamp(-1, 1)
    return ((held.round() - held).detach() + held) * slow


def pact(x: torch.Tensor, hi: torch.Tensor) -> torch.Tensor:
    return torch.where(x < 0, 0 * x, torch.where(x >= hi, hi, x))


def written_out(run: Run, steps: int, rate: float) -> tuple[list[float], list[float]]:
    """Losses and what was learned, of a net in torch's words: autograd, one optimiser of two groups."""
    settings = run.settings
    x, y, start = run.tensors()
    parameters = [each.clone().requires_grad_() for each in start]
    on_weights = settings.task == "ternary weights"
    name = settings.learn[0]
    learned = [
        torch.tensor(settings.parameters[name], requires_grad=True) for _ in range(2 if on_weights else 1)
    ]
    groups = [{"params": parameters}, {"params": learned, "lr": settings.lr * rate}]
    optimiser = OPTIMISERS[settings.optimiser](groups, settings.lr)
    generator = torch.Generator().manual_seed(settings.seed)
    for weights in parameters[::2]:
        torch.randn(weights.shape, generator=generator)
    losses = []
    for _ in range(steps):
        chosen = torch.randint(len(x), (settings.batch,), generator=generator)
        h = x[chosen]
        for number, (weights, bias) in enumerate(zip(parameters[::2], parameters[1::2], strict=True)):
            unit = len(weights) ** 0.5
            now = lsq(weights * unit, learned[number]) / unit if on_weights else weights
            if number:
                h = h.relu() if on_weights else pact(h, learned[0])
            h = h @ now + bias
        loss = torch.nn.functional.cross_entropy(h, y[chosen])
        losses.append(loss.item())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return losses, [each.item() for each in learned]


@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("given", [WEIGHTS, UNITS], ids=["weights", "units"])
def test_what_learns_goes_as_torchs_own_optimiser_moves_it(given, optimiser):
    """By another way: autograd of composed code; the learned group has its own rate."""
    rate = 0.3 if optimiser == "sgd" else 0.1
    run = trained(25, **given | {"optimiser": optimiser, "lr": 0.01, "learn_rate": rate})
    losses, learned = written_out(run, 25, rate)
    (rule,) = given["rules"]
    snapshot = run.snapshot()
    assert snapshot.losses[rule].tolist() == pytest.approx(losses, rel=1e-3)
    ours = snapshot.learned[rule][given["learn"][0]]
    assert ours.shape == (1, len(learned))
    start = given["parameters"][given["learn"][0]]
    moved = np.array(learned) - start
    assert abs(moved).min() > 1e-4
    assert ours[0] - start == pytest.approx(moved, rel=2e-2)


def test_the_gradient_of_a_spiking_threshold_is_the_sum_over_its_times():
    """It follows from the rule: what moves x by so much moves the threshold the other way."""
    nets = Run(Settings(**SPIKES), recorded=())._nets
    now = nets.ensemble.look_at(*nets.batch, cross_entropy)
    (trace,) = [each.op for each in now.traces if each.x is not None]
    ((pull,),) = nets.ensemble.rows.learned(now.flat)
    pull = pull.item()
    assert abs(pull) > 1e-4
    assert pull == pytest.approx(-trace.gradient.sum().item(), rel=1e-4)


@pytest.mark.parametrize("given", [WEIGHTS, UNITS], ids=["weights", "units"])
def test_a_lane_is_what_its_seed_alone_has_in_any_company(given):
    """Bit for bit, from two members on: beside rules that learn, rules that do not, and other seeds."""
    (rule,) = given["rules"]
    name = given["learn"][0]
    together = trained(40, **given | {"rules": (rule, "straight_through", "default"), "seeds": 3, "seed": 5,
                                      "learn": (f"{rule}.{name}",)}).snapshot()  # fmt: skip
    for seed in range(3):
        alone = trained(40, **given | {"seed": 5 + seed, "seeds": 1}).snapshot()
        assert alone.seed_losses[rule][0].tolist() == together.seed_losses[rule][seed].tolist()
        assert alone.learned[rule][name][0].tolist() == together.learned[rule][name][seed].tolist()


def test_a_rule_that_lets_nothing_learn_has_todays_bits():
    """Beside one that does; and its parameter stays as it was."""
    with_lsq = WEIGHTS | {"rules": ("quantize_masked", "lsq"), "learn": ("lsq.s",)}
    beside = trained(30, **with_lsq).snapshot()
    alone = trained(30, **WEIGHTS | {"rules": ("quantize_masked",), "learn": ()}).snapshot()
    assert beside.losses["quantize_masked"].tolist() == alone.losses["quantize_masked"].tolist()
    assert beside.learned["quantize_masked"]["s"].tolist() == [[0.5, 0.5]]
    assert alone.learned == {"quantize_masked": {}}
    assert "parameters" in alone.unmeasured
    assert np.isnan(beside.measured["parameters"]["quantize_masked"]["gradient"]).all()


@pytest.mark.parametrize("given", [WEIGHTS, UNITS, SPIKES], ids=["weights", "units", "spikes"])
def test_a_run_that_is_continued_is_as_one_that_was_not_interrupted(given):
    whole, first = trained(24, **given), trained(11, **given)
    state = first.state_dict()
    second = trained(0, **given)
    second.load_state_dict(state)
    second.advance(13)
    ours, theirs = second.snapshot(), whole.snapshot()
    (rule,) = whole.snapshot().losses
    assert ours.losses[rule].tolist() == theirs.losses[rule].tolist()
    for name, values in theirs.learned[rule].items():
        assert ours.learned[rule][name].tolist() == values.tolist()
        assert not np.array_equal(values, first.snapshot().learned[rule][name])
    for field, series in theirs.measured["parameters"][rule].items():
        np.testing.assert_array_equal(ours.measured["parameters"][rule][field], series)


def test_the_series_of_what_learns_begins_with_its_start_and_ends_with_its_value():
    snapshot = trained(400, **WEIGHTS, seeds=2).snapshot()
    record = snapshot.measured["parameters"]["lsq"]
    assert [series[0] for series in record["values"]] == [0.5, 0.5]
    now = snapshot.learned["lsq"]["s"]
    assert now.shape == (2, 2)
    assert record["value"].tolist() == pytest.approx(now.mean(0).tolist())
    assert len(record["gradients"]) == 2
    assert np.isfinite(record["gradients"]).all()


def test_what_falls_to_0_where_its_formula_needs_more_ends_its_rule_alone():
    down = dataclasses.replace(
        RULES["lsq"], key="down", label="Down", learned=(Learned("s", "abs(g)", scale="100"),)
    )
    run = Run(Settings(**WEIGHTS | {"rules": (down, "lsq"), "seeds": 2}), recorded=())
    run.advance(20)
    snapshot = run.snapshot()
    step = snapshot.diverged["down"]
    assert step is not None
    assert snapshot.diverged["lsq"] is None
    assert snapshot.step == 20
    words = sentences(snapshot, {"down": "Down", "lsq": "LSQ"})
    assert words[0] == (
        f"Down diverged at step {step}: s of layer 1 fell to 0 or below, where its formulas break."
    )
    again = Run(run.settings, recorded=())
    again.load_state_dict(run.state_dict())
    assert again.snapshot().fallen == snapshot.fallen


def test_what_is_no_longer_a_number_ends_its_rule_alone():
    broken = dataclasses.replace(RULES["lsq"], key="broken", learned=(Learned("s", "g / 0"),))
    run = trained(5, **WEIGHTS | {"rules": (broken, "lsq")})
    assert run.snapshot().diverged == {"broken": 1, "lsq": None}
    assert run.snapshot().fallen == {"broken": None, "lsq": None}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"learn": ("z",)}, "z cannot learn: "),
        ({"learn": ("lsq.z",)}, "lsq.z cannot learn: "),
        ({"learn": (3,)}, "learn must be names of parameters"),
        ({"op": "sign", "rules": ("clipped",), "learn": ("c",), "parameters": {}}, "c does not stand in y"),
        ({"learn_rate": 0}, "learn_rate must be above 0"),
    ],
)
def test_says_what_cannot_learn(given, words):
    with pytest.raises(ValueError, match=r"\w") as caught:
        Settings(**WEIGHTS | given)
    assert words in str(caught.value)


def test_settings_come_back_through_json():
    settings = Settings(**WEIGHTS | {"learn_rate": 0.1})
    assert Settings(**json.loads(json.dumps(dataclasses.asdict(settings)))) == settings


def test_a_name_is_as_good_as_a_list_of_one():
    assert Settings(**WEIGHTS | {"learn": "s"}) == Settings(**WEIGHTS)


def test_what_a_rule_alone_has_starts_from_its_own_value():
    """Of two rules that both have it, each from where ``rule.name`` puts it."""
    one, other = (
        Rule(key, key, "g * (0 <= x <= c)", parameters=(Parameter("c", 1.0),), learned=(Learned("c", "g"),))
        for key in ("one", "other")
    )
    settings = UNITS | {"rules": (one, other, "default"), "learn": ("c",), "parameters": {"one.c": 0.25}}
    snapshot = Run(Settings(**settings), recorded=()).snapshot()
    assert snapshot.learned["one"]["c"].tolist() == [[0.25]]
    assert snapshot.learned["other"]["c"].tolist() == [[1.0]]
    assert snapshot.learned["default"] == {}


def test_numbers_of_a_unit_are_those_of_the_value_its_layer_has_now():
    run = trained(20, **UNITS | {"learn_rate": 3.0})
    (hi,) = run.snapshot().learned["pact"]["hi"][0]
    assert abs(hi - 0.5) > 0.1
    answer = run.measure("unit", layer=0, cause=2)["pact"]
    assert answer["parameters"]["hi"] == pytest.approx(hi)
    assert answer["x"] < 0 or answer["x"] >= hi
    op = bind("clamp", "pact", {"hi": float(hi)})
    x, g = (torch.tensor([answer[name]]) for name in ("x", "g"))
    assert op.gradient(x, op.forward(x), g).item() == answer["gradient"] == 0


def test_what_was_learned_is_taken_away_with_the_weights():
    run = trained(10, **WEIGHTS | {"seeds": 2, "seed": 4})
    weights = run.weights()
    values = run.snapshot().learned["lsq"]["s"]
    own = {name: value.item() for name, value in weights.items() if ".op." in name}
    assert own == {
        f"lsq.{4 + seed}.op.{layer}.s": values[seed, layer] for seed in range(2) for layer in range(2)
    }
    assert weights["lsq.4.0.weight"].shape == (16, 64)
    assert weights["lsq.5.1.bias"].shape == (10,)
    history = run.history()
    assert history["parameters_value_2"][0] == pytest.approx(0.5)


def test_a_branch_goes_on_with_what_was_learned():
    """Another rule from step 20 on that lets nothing learn: the value rests where it had come to."""
    run = trained(
        40, **WEIGHTS | {"optimiser": "sgd", "learn": ("lsq.s",), "branch": ((20, "lsq", "quantize_masked"),)}
    )
    until = trained(20, **WEIGHTS | {"optimiser": "sgd"}).snapshot().learned["lsq"]["s"]
    assert run.snapshot().learned["lsq"]["s"].tolist() == until.tolist()
    assert until.tolist() != [[0.5, 0.5]]


@pytest.mark.parametrize("each", ["layer", "channel"])
def test_a_study_takes_what_learns_and_sweeps_where_it_starts(each):
    plan = Plan.of("ternary weights", "quantize", ["lsq", "quantize_masked"], lrs=[0.1], seeds=1, steps=12,
                   parameters={"s": [0.3, 0.5], "qmin": -1.0, "qmax": 1.0}, learn=("lsq.s",),
                   learn_each=each, optimiser="momentum", controls=False)  # fmt: skip
    chunk = Chunk(plan, plan.trials("choose"))
    while not chunk.finished:
        chunk.advance()
    for row in chunk.rows():
        alone = Run(plan.settings(row.trial), recorded=())
        alone.advance(12)
        assert row.loss == alone.snapshot().loss[row.trial.rule]
        assert alone.settings.learn == (("s",) if row.trial.rule == "lsq" else ())
        assert alone.settings.learn_each == each
    with pytest.raises(ValueError, match="z cannot learn"):
        Plan.of("ternary weights", "quantize", ["lsq"], lrs=[0.1], seeds=1, learn=("z",))


def test_a_run_of_which_all_nets_have_left_can_still_be_looked_at():
    broken = dataclasses.replace(RULES["lsq"], key="broken", learned=(Learned("s", "g / 0"),))
    snapshot = trained(5, **WEIGHTS | {"rules": (broken,)}).snapshot()
    assert snapshot.diverged == {"broken": 1}
    assert np.isnan(snapshot.learned["broken"]["s"]).tolist() == [[True, True]]


AFTER: dict[str, tuple[dict[str, Any], str]] = {
    "rests": ({"lsq": "quantize_masked"}, "s learns no more: Masked to the levels lets it stay as it is."),
    "op without it": (
        {"op": "sign", "lsq": "zero"},
        "s learns no more: Sign with Zero does not have it.",
    ),
    "goes on": ({"lr": 0.02}, ""),
}


@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("case", AFTER)
def test_a_branch_in_the_past_is_the_run_that_branched_there(case, optimiser):
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
    assert sentences(other.snapshot(), {"lsq": "LSQ"})[0].endswith(words or ".")
    assert np.isfinite(other.snapshot().measured["parameters"]["lsq"]["value"]).all()
    assert other.back(step) == step
    other.advance(40)
    assert other.snapshot().losses["lsq"].tolist() == whole.snapshot().losses["lsq"].tolist()


def test_a_rule_without_a_parameter_goes_on_where_one_learned():
    """An op that a branch goes on with need not have it: no instrument is at a loss."""
    run = trained(12, **UNITS | {"learn": ("hi",), "rules": ("default",), "branch": ((5, "op", "relu"),)})
    assert run.snapshot().resting == {
        "default": "hi learns no more: ReLU with Default autograd does not have it."
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
def test_a_step_size_of_each_channel_goes_as_autograd_and_torchs_optimiser_move_it(case):
    """N in LSQ's scale counts the elements of one channel."""
    given, channels = BY_CHANNEL[case]
    run = trained(12, **given | {"learn": ("s",), "learn_each": "channel", "optimiser": "momentum",
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


def test_a_value_of_one_channel_that_falls_to_0_ends_its_rule():
    down = dataclasses.replace(
        RULES["lsq"], key="down", label="Down", learned=(Learned("s", "abs(g)", scale="100"),)
    )
    run = trained(20, **WEIGHTS | {"rules": (down,), "learn_each": "channel"})
    assert run.snapshot().fallen == {"down": "s of layer 1 fell to 0 or below, where its formulas break"}


def test_numbers_of_a_unit_of_maps_are_those_of_its_channels_value():
    given = BY_CHANNEL["maps"][0] | {"rules": ("lsq",), "learn": ("s",), "learn_each": "channel", "lr": 0.1}
    run = trained(10, **given, device="cpu")
    (values,) = [run.weights()["lsq.0.op.0.s"]]
    answer = run.measure("unit", layer=0, cause=2)["lsq"]
    assert answer["parameters"]["s"] == pytest.approx(values[answer["unit"] // 64].item())
    assert len(values.unique()) == 4


def test_pictures_of_a_rule_take_the_mean_of_its_channels_values_and_say_so():
    given = BY_CHANNEL["maps"][0] | {"learn": ("s",), "learn_each": "channel", "lr": 0.1}
    run = trained(10, **given, device="cpu")
    nets = run._recorder.observed(run.settings)
    values = run.weights()["lsq.0.op.0.s"]
    assert nets.parameters(0, 0)["s"] == pytest.approx(values.mean().item())
    assert [nets.parameters(0, 0, 64 * at)["s"] for at in range(4)] == pytest.approx(values.tolist())
    assert all("their mean" in INSTRUMENTS[key].limits for key in ("inputs", "causes"))

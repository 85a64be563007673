"""Parameters of the op that learn: against torch's own optimisers, alone and in company, on and on."""

import dataclasses

import numpy as np
import pytest
import torch

from explorer.catalogue import RULES, Learned, Parameter, Rule
from explorer.gradient import bind
from explorer.study.chunk import Chunk
from explorer.study.plan import Plan
from explorer.training import Run, Settings
from explorer.training.numerics.losses import cross_entropy
from explorer.training.runs.summary import make_sentences
from tests.training.runs.learning_cases import OPTIMISERS, SPIKES, UNITS, WEIGHTS, train


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
def test_learned_parameters_move_as_with_torchs_optimiser(given, optimiser):
    """By another way: autograd of composed code; the learned group has its own rate."""
    rate = 0.3 if optimiser == "sgd" else 0.1
    run = train(25, **given | {"optimiser": optimiser, "lr": 0.01, "learn_rate": rate})
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
    nets = Run(Settings(**SPIKES), recorded=()).nets
    now = nets.ensemble.observe(*nets.batch, cross_entropy)
    (trace,) = [each.op for each in now.traces if each.x is not None]
    ((pull,),) = nets.ensemble.rows.view_learned(now.flat)
    pull = pull.item()
    assert abs(pull) > 1e-4
    assert pull == pytest.approx(-trace.gradient.sum().item(), rel=1e-4)


def test_a_rule_without_learning_is_unaffected_by_one_that_learns():
    """Beside one that does; and its parameter stays as it was."""
    with_lsq = WEIGHTS | {"rules": ("quantize_masked", "lsq"), "learn": ("lsq.s",)}
    beside = train(30, **with_lsq).snapshot()
    alone = train(30, **WEIGHTS | {"rules": ("quantize_masked",), "learn": ()}).snapshot()
    assert beside.losses["quantize_masked"].tolist() == alone.losses["quantize_masked"].tolist()
    assert beside.learned["quantize_masked"]["s"].tolist() == [[0.5, 0.5]]
    assert alone.learned == {"quantize_masked": {}}
    assert "parameters" in alone.unmeasured
    assert np.isnan(beside.measured["parameters"]["quantize_masked"]["gradient"]).all()


def test_the_series_of_a_learned_parameter_begins_with_its_initial_value():
    snapshot = train(400, **WEIGHTS, seeds=2).snapshot()
    record = snapshot.measured["parameters"]["lsq"]
    assert [series[0] for series in record["values"]] == [0.5, 0.5]
    now = snapshot.learned["lsq"]["s"]
    assert now.shape == (2, 2)
    assert record["value"].tolist() == pytest.approx(now.mean(0).tolist())
    assert len(record["gradients"]) == 2
    assert np.isfinite(record["gradients"]).all()


def test_a_parameter_that_leaves_its_domain_ends_only_its_rule():
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
    words = make_sentences(snapshot, {"down": "Down", "lsq": "LSQ"})
    assert words[0] == (
        f"Down diverged at step {step}: s of layer 1 fell to 0 or below, where its formulas are undefined."
    )
    again = Run(run.settings, recorded=())
    again.load_state_dict(run.state_dict())
    assert again.snapshot().fallen == snapshot.fallen


def test_a_parameter_that_becomes_nan_ends_only_its_rule():
    broken = dataclasses.replace(RULES["lsq"], key="broken", learned=(Learned("s", "g / 0"),))
    run = train(5, **WEIGHTS | {"rules": (broken, "lsq")})
    assert run.snapshot().diverged == {"broken": 1, "lsq": None}
    assert run.snapshot().fallen == {"broken": None, "lsq": None}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"learn": ("z",)}, "z cannot be trained: "),
        ({"learn": ("lsq.z",)}, "lsq.z cannot be trained: "),
        ({"learn": (3,)}, "learn must be a tuple of parameter names"),
        ({"op": "sign", "rules": ("clipped",), "learn": ("c",), "parameters": {}}, "c does not appear in y"),
        ({"learn_rate": 0}, "learn_rate must be above 0"),
    ],
)
def test_invalid_settings_of_learning_are_refused(given, words):
    with pytest.raises(ValueError, match=r"\w") as caught:
        Settings(**WEIGHTS | given)
    assert words in str(caught.value)


def test_learn_accepts_a_single_name():
    assert Settings(**WEIGHTS | {"learn": "s"}) == Settings(**WEIGHTS)


def test_a_parameter_of_one_rule_starts_from_its_own_value():
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


def test_a_unit_is_computed_with_the_learned_value_of_its_layer():
    run = train(20, **UNITS | {"learn_rate": 3.0})
    (hi,) = run.snapshot().learned["pact"]["hi"][0]
    assert abs(hi - 0.5) > 0.1
    answer = run.measure("unit", layer=0, cause=2)["pact"]
    assert answer["parameters"]["hi"] == pytest.approx(hi)
    assert answer["x"] < 0 or answer["x"] >= hi
    op = bind("clamp", "pact", {"hi": float(hi)})
    x, g = (torch.tensor([answer[name]]) for name in ("x", "g"))
    assert op.gradient(x, op.forward(x), g).item() == answer["gradient"] == 0


def test_learned_parameters_are_exported_with_the_weights():
    run = train(10, **WEIGHTS | {"seeds": 2, "seed": 4})
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


def test_a_branch_continues_with_the_learned_values():
    """Another rule from step 20 on that lets nothing learn: the value rests where it had come to."""
    run = train(
        40, **WEIGHTS | {"optimiser": "sgd", "learn": ("lsq.s",), "branch": ((20, "lsq", "quantize_masked"),)}
    )
    until = train(20, **WEIGHTS | {"optimiser": "sgd"}).snapshot().learned["lsq"]["s"]
    assert run.snapshot().learned["lsq"]["s"].tolist() == until.tolist()
    assert until.tolist() != [[0.5, 0.5]]


@pytest.mark.parametrize("each", ["layer", "channel"])
def test_a_study_trains_the_learned_parameters_of_its_plan(each):
    plan = Plan.create("ternary weights", "quantize", ["lsq", "quantize_masked"], lrs=[0.1], seeds=1,
                   steps=12,
                   parameters={"s": 0.3, "qmin": -1.0, "qmax": 1.0}, learn=("lsq.s",),
                   learn_each=each, optimiser="momentum", controls=False)  # fmt: skip
    chunk = Chunk(plan, plan.list_trials("choose"))
    while not chunk.finished:
        chunk.advance()
    for row in chunk.make_rows():
        alone = Run(plan.settings(row.trial), recorded=())
        alone.advance(12)
        assert row.loss == alone.snapshot().loss[row.trial.rule]
        assert alone.settings.learn == (("s",) if row.trial.rule == "lsq" else ())
        assert alone.settings.learn_each == each
    with pytest.raises(ValueError, match="z cannot be trained"):
        Plan.create("ternary weights", "quantize", ["lsq"], lrs=[0.1], seeds=1, learn=("z",))

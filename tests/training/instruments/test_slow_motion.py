from itertools import product

import numpy as np
import pytest
import torch

from explorer.catalogue import find_op, find_rule, resolve_values
from explorer.training import TASKS
from explorer.training.instruments.slow_motion.slow_motion import MAX_MAPS, MAX_VISIBLE
from explorer.training.instruments.slow_motion.stages import STAGES, Stage
from explorer.training.instruments.slow_motion.step import Step, is_linear
from explorer.training.numerics.optimisers import OPTIMISERS
from tests.catalogue.fixed import OPS, RULES
from tests.selection import loop_over, take_part
from tests.training.by_hand import read_layers
from tests.training.driving import build

SHOWN = ("default", "clipped")
TABLE = "\n".join(f"{a},{a * a % 7},{(a * 3) % 2}" for a in range(40))


def run_of(task="digits", steps=3, **settings):
    return build(steps, task=task, **{"table": TABLE} if task == "data" else {}, **settings)


def shown(record, name):
    """A tensor of a record as it is sent, (down, across)."""
    tensor = record["tensors"][name]
    assert tensor["values"].dtype == np.float32
    return torch.from_numpy(tensor["values"].reshape(tensor["shape"]))


def weights_of(run, layer=0):
    """The weights of all members going in a layer with the op, as the run itself has them now."""
    return Step(run.recorder.observe(run.settings), layer).weights.clone()


@pytest.mark.parametrize(("task", "optimiser"), take_part(product(TASKS, OPTIMISERS)))
def test_slow_motion_shows_the_exact_weights_after_the_step(task, optimiser):
    run = run_of(task, optimiser=optimiser, seeds=2)
    layers = next(iter(run.measure("slow_motion", layer=0).values()))["layers"]
    for layer in range(layers):
        records = run.measure("slow_motion", layer=layer)
        before = weights_of(run, layer)
        run.advance(1)
        after, going = weights_of(run, layer), run.nets.ensemble.find_firsts()
        for (rule, member), record in zip(going.items(), records.values(), strict=True):
            inputs = 9 * MAX_MAPS if TASKS[task].net.site.maps else MAX_VISIBLE
            part = after[member, :inputs, :MAX_VISIBLE]
            assert torch.equal(shown(record, "weights"), part), (task, rule)
            assert torch.equal(shown(record, "before"), before[member, :inputs, :MAX_VISIBLE])
        assert not torch.equal(before, after)


@pytest.mark.parametrize(("optimiser", "names"), [("sgd", ""), ("momentum", "m"), ("adam", "mv")])
@pytest.mark.parametrize("steps", [0, 3])
def test_the_step_follows_from_the_memory_of_the_optimiser(optimiser, names, steps):
    run = run_of(steps=steps, optimiser=optimiser, rules=("straight_through",), lr=0.01)
    (record,) = run.measure("slow_motion", layer=0).values()
    memory = {name: shown(record, name) for name in "mv" if name in record["tensors"]}
    assert "".join(memory) == names
    m = memory.get("m", shown(record, "slope"))
    step = m / (memory["v"].sqrt() + 1e-8) if "v" in memory else m
    moved = shown(record, "before") - 0.01 * step
    torch.testing.assert_close(moved, shown(record, "weights"), rtol=1e-5, atol=1e-7)
    stage = record["stages"][-1]
    assert stage["numbers"].endswith("".join(f", {name} = ${name}" for name in names) or "$slope")
    assert ("memory" in stage["words"]) == bool(names and steps)


@pytest.mark.parametrize("layer", [0, 1])
def test_rows_of_a_convolution_match_torchs_patches(layer):
    run = run_of("digits convolution", hidden=(4, 3), rules=("straight_through",))
    step = Step(run.recorder.observe(run.settings), layer)
    maps = run.nets.batch[0][0].view(-1, 1, 8, 8)
    if layer:
        maps = step.batch_pass.traces[step.op_layers[0]].op.y[0].unflatten(1, (4, 8, 8))
        maps = torch.nn.functional.avg_pool2d(maps, 2)
    rows = torch.nn.functional.unfold(maps, 3, padding=1, stride=1 + layer).mT.flatten(0, 1)
    torch.testing.assert_close(step.input[0], rows)
    weights, bias = run.nets.ensemble.parameter_views[step._weight_layer]
    torch.testing.assert_close(step.op.x[0], rows @ weights[0] + bias[0], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(step.op.y[0], step.op.x[0].sign())
    torch.testing.assert_close(step.slopes[0], rows.T @ step.op.gradient[0], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(("task", "layer", "notes"), [
    ("digits convolution", 0, {"input": "3 × 3 of 1 map", "x": "1 of 4 maps",
                               "weights": "1 of 4 kernels, 3 × 3 for 1 map"}),
    ("digits convolution", 1, {"input": "3 × 3 of 4 maps", "y": "1 of 20 maps",
                               "weights": "1 of 20 kernels, 3 × 3 for 4 maps"}),
    ("binary kernels", 2, dict.fromkeys(("input", "x", "y", "weights"),
                                        "1 of 3 kernels, 3 × 3 for the first 16 of 20 maps")),
])  # fmt: skip
def test_stages_describe_maps_and_kernels(task, layer, notes):
    run = run_of(task, hidden=(4, 20, 3) if task == "binary kernels" else (4, 20))
    for record in run.measure("slow_motion", layer=layer).values():
        stages = {stage["key"]: stage for stage in record["stages"]}
        assert {key: stages[key]["note"] for key in notes} == notes
        for key in notes:
            tensor = record["tensors"][stages[key]["tensor"]]
            over = "kernels" in notes[key] or "3 × 3" in notes[key]
            assert (tensor["side"], tensor["tiles"] > 0) == ((3, True) if over else (0, False))
            assert not over or 9 * tensor["tiles"] in tensor["shape"]


@pytest.mark.parametrize("layer", [0, 1])
def test_each_tensor_of_a_step_matches_autograd(layer):
    run = run_of(op="sign", rules=SHOWN, hidden=(8, 6), parameters={"c": 0.5})
    x, y = (each[0] for each in run.nets.batch)
    for member, (rule, record) in enumerate(run.measure("slow_motion", layer=layer).items()):
        assert record["parameters"] == ({"c": 0.5} if rule == "clipped" else {})
        leaves = [[each.clone().requires_grad_() for each in own] for own in read_layers(run, member)]
        seen, values = [], [x]
        for weights, bias in leaves:
            at = values[-1] @ weights + bias
            slope = (at.abs() <= 0.5) if rule == "clipped" else torch.zeros_like(at)
            seen.append(at)
            values.append(at if len(seen) == 3 else at.sign().detach() + slope * (at - at.detach()))
        loss = torch.nn.functional.cross_entropy(values[-1], y)
        at, value, weights = seen[layer], values[layer + 1], leaves[layer][0]
        pulls = torch.autograd.grad(loss, (value, at, weights))
        chances = values[-1].softmax(-1)
        expected = {"x": at, "y": value, "loss": chances, "own": -chances.gather(1, y[:, None]).log()}
        expected |= {"input": values[layer]} | dict(zip(("g", "gradient", "slope"), pulls, strict=True))
        for name, each in expected.items():
            close = {"rtol": 1e-3, "atol": 1e-6} if name == "own" else {"rtol": 1e-4, "atol": 1e-7}
            torch.testing.assert_close(shown(record, name), each.detach(), **close)
        assert shown(record, "target")[:, 0].tolist() == y.tolist()


def test_slow_motion_computes_what_the_documents_net_does_not_store():
    """Their first layer keeps neither weights nor gradients; both are worked out."""
    run = run_of("documents", rules=("default", "zero", "straight_through"))
    record = run.measure("slow_motion", layer=0)["straight_through"]
    x, gradient = run.nets.batch[0][0], Step(run.recorder._nets, 0).op.gradient[2]
    slope = (x.T @ gradient)[:MAX_VISIBLE, :MAX_VISIBLE]
    torch.testing.assert_close(shown(record, "slope"), slope, rtol=1e-4, atol=1e-3)
    torch.testing.assert_close(shown(record, "input"), x[:, :MAX_VISIBLE])
    titles = {stage["key"]: stage["note"] for stage in record["stages"]}
    assert titles["input"] == "64 examples × 64 of 1,000 inputs"
    assert titles["x"] == "64 examples × 64 of 100 units"


@pytest.mark.parametrize(("task", "said"), [("digits", "This"), ("data", "The marked row")])
def test_the_input_is_said_to_be_one_image_or_a_marked_row(task, said):
    stages = run_of(task).measure("slow_motion", layer=0)["default"]["stages"]
    assert stages[0]["words"].endswith(f"at once. {said} is one of them.")
    notes = {stage["key"]: stage["note"] for stage in stages}
    assert all(("8 × 8 inputs" in notes[key]) == (said == "This") for key in ("input", "weights")), notes


def test_rows_of_spikes_are_time_steps_of_the_first_examples():
    run = run_of("spikes", rules=("fast_sigmoid",))
    record = run.measure("slow_motion", layer=0)["fast_sigmoid"]
    x = Step(run.recorder._nets, 0).op.x[0].view(8, 64, 32)
    assert torch.equal(shown(record, "x").view(8, 8, 32), x[:, :8].transpose(0, 1))
    whole = shown(record, "left") + shown(record, "arrives") - 1
    torch.testing.assert_close(whole, shown(record, "x"), atol=1e-5, rtol=1e-4)
    assert shown(record, "left")[::8].eq(0).all()  # nothing is left before the first time
    assert shown(record, "loss").shape == (8, 10)
    assert record["times"] == 8


def test_slow_motion_of_weights_has_a_row_for_each_input():
    run = run_of("binary weights", rules=("clipped",))
    record = run.measure("slow_motion", layer=0)["clipped"]
    assert torch.equal(shown(record, "x"), shown(record, "input") * 8)
    torch.testing.assert_close(shown(record, "slope"), shown(record, "gradient") * 8)
    assert record["by_example"] is False
    assert run.measure("slow_motion", layer=1)["clipped"]["stages"][4]["title"] == "batch → loss"


@loop_over("rule", RULES)
def test_is_linear_matches_the_catalogue(rule):
    op, entry = find_op("sign"), RULES[rule]
    assert is_linear(op, entry, tuple(resolve_values(op, entry, {}).items())) is entry.linear


def test_is_linear_tries_a_custom_rule():
    op = find_op("sign")
    assert is_linear(op, find_rule("formula: g * x**2"), ())
    assert not is_linear(op, find_rule("formula: g * abs(g)"), ())


def test_a_formula_over_the_whole_batch_is_not_plain():
    facts = {}
    for op, rule in [("sign", "clipped"), ("sign", "magnitude_aware"), ("scaled_binarize", "default")]:
        record = run_of("circles", op=op, rules=(rule,)).measure("slow_motion", layer=0)[rule]
        facts[op, rule] = (record["plain_op"], record["plain"])
    assert list(facts.values()) == [(True, True), (True, False), (False, False)]


def test_a_net_that_diverges_in_the_step_is_noted_and_drops_out():
    run = run_of(op="relu", rules=("default", "zero"), steps=0, hidden=8)
    run.nets.ensemble.parameters[0] = torch.inf
    records = run.measure("slow_motion", layer=0)
    assert records["default"]["note"] == "This step makes the net infinite or NaN: it drops out."
    assert records["zero"]["note"] == ""
    run.advance(1)
    assert run.measure("slow_motion", layer=0)["default"] is None
    assert torch.equal(shown(records["zero"], "weights"), weights_of(run)[0])


def test_the_default_gradient_matches_torch_for_learned_bounds():
    """The numbers are those that the step takes, exactly at a bound too."""
    both = {"op": "clamp", "rules": ("default", "pact"), "parameters": {"hi": 0.5}}
    numbers, learned = (run_of("circles", **both, learn=learn) for learn in ((), ("hi",)))
    own, beside = (OPS["clamp"].parsed.derive_gradient(tensors) for tensors in ((), ("hi",)))
    records = learned.measure("slow_motion", layer=0)
    assert records["default"]["gradient"] == (None if own == beside else beside.data)
    assert records["pact"]["gradient"] is None
    assert numbers.measure("slow_motion", layer=0)["default"]["gradient"] is None
    x = torch.tensor([-1.0, 0.0, 0.25, 0.5, 2.0], requires_grad=True)
    torchs = torch.autograd.grad(torch.clamp(x, torch.tensor(0.0), torch.tensor(0.5)).sum(), x)[0]
    assert torch.equal(beside.bind({"lo": 0.0, "hi": 0.5})(x, None, torch.ones(5)), torchs)


def test_the_step_at_a_branch_point_uses_the_new_rule_and_rate():
    branch = ((3, "clipped", "approx_sign"), (3, "lr", 0.5))
    run = run_of(op="sign", rules=("clipped",), hidden=8, branch=branch)
    assert run.snapshot(("causes",)).step == 3
    record = run.measure("slow_motion", layer=0)["clipped"]
    assert (record["op"], record["rule"]) == ("sign", "approx_sign")
    x, g = shown(record, "x"), shown(record, "g")
    torch.testing.assert_close(shown(record, "gradient"), g * (2 - 2 * x.abs()).relu())
    assert run._course == run.settings.course_of(2)
    run.advance(1)
    assert torch.equal(shown(record, "weights"), weights_of(run)[0])


@pytest.mark.parametrize("site", STAGES)
def test_each_backward_stage_is_placed_under_a_forward_stage(site):
    stages = STAGES[site]
    keys = [stage.key for stage in stages]
    forward = [stage.key for stage in stages if not stage.under]
    under = [stage.under for stage in stages if stage.under]
    assert len(set(keys)) == len(keys)
    assert keys[: len(forward)] == forward
    assert under == [key for key in reversed(forward) if key in under]
    names = {name for stage in stages for name in (stage.key, *stage.also)}
    for stage in stages:
        assert isinstance(stage, Stage)
        assert stage.scale in {"", *keys}
        assert set(stage.otherwise) <= names
        assert stage.tensor in names if isinstance(stage.tensor, str) else True


@pytest.mark.parametrize(
    ("task", "op", "rule", "shown_too"),
    [
        ("digits", "bernoulli", "disarm", {"u()", "f()", "fa()"}),
        ("digits", "bernoulli", "sigmoid_st", {"u()"}),
        ("digits", "gumbel_sigmoid", "default", {"u()"}),
        ("digits convolution", "bernoulli", "reinforce", {"u()", "f()"}),
        ("ternary weights", "stochastic_round", "reinforce", {"u()", "f()"}),
        ("spikes", "bernoulli", "reinforce", {"u()", "f()"}),
        ("digits", "sign", "clipped", set()),
    ],
)
def test_formulas_reproduce_the_step_from_the_recorded_draws(task, op, rule, shown_too):
    run = run_of(task, op=op, rules=(rule, "zero"), steps=2)
    records = run.measure("slow_motion", layer=0)
    record, (entry, backward) = records[rule], (find_op(op), find_rule(rule))
    drawn = {name: shown(record, name) for name in record["tensors"] if name.endswith("()")}
    assert drawn.keys() == shown_too
    x, y, g = (shown(record, name).double() for name in "xyg")
    known = {name: each.double() for name, each in drawn.items()}
    forward = entry.parsed.bind(resolve_values(entry, None, {}))(x, tensors=known)
    torch.testing.assert_close(forward, y, rtol=1e-4, atol=1e-5)
    if "fa()" in known:
        twin = {"u()": 1 - known["u()"]}
        known["ya()"] = entry.parsed.bind(resolve_values(entry, None, {}))(x, tensors=twin)
    formula = backward.parsed or entry.parsed.gradient
    again = formula.bind(resolve_values(entry, backward, {}))(x, y, g, tensors=known)
    torch.testing.assert_close(again, shown(record, "gradient").double(), rtol=1e-3, atol=1e-6)
    assert not any(name.endswith("()") for name in records["zero"]["tensors"]) or entry.is_random
    words = {stage["key"]: stage["words"] for stage in record["stages"]}
    assert ("the curve is for this u" in words["op"]) is entry.is_random
    assert ("computes its gradient from losses" in words["rule"]) is backward.needs_loss
    assert ("this layer had drawn 1 − u" in words["rule"]) is ("fa()" in shown_too)
    assert ("at this x and u" in words["rule"]) is (op == "gumbel_sigmoid")

import dataclasses
import io
import itertools
import math
import threading

import numpy as np
import pytest
import torch

from explorer.training import TASKS, Data, Part, Run, Settings, Task, Tensors, tasks
from explorer.training.limits import MAX_POINTS
from explorer.training.runs import lockstep, run
from tests.benchmarks.bare_loop import MyReLU

DOCUMENTS = Settings(device="cpu")
SMALL = Settings(steps=40, hidden=8, batch=4, rules=("default", "straight_through"), device="cpu")
BREAKS = "formula: g / 0"


def documents_loop(tensors, steps, lr):
    """The documents' plain loop: backward, update, zero the gradients."""
    x, y, (w1, w2) = tensors
    w1.requires_grad_()
    w2.requires_grad_()
    losses = []
    for _ in range(steps):
        loss = (MyReLU.apply(x.mm(w1)).mm(w2) - y).pow(2).sum()
        losses.append(loss.item())
        loss.backward()
        with torch.no_grad():
            for weight in (w1, w2):
                weight -= lr * weight.grad
                weight.grad.zero_()
    return losses


def trained(asked, steps=None):
    result = Run(asked)
    result.advance(asked.steps if steps is None else steps)
    return result


def curves(finished):
    return {rule: losses.tolist() for rule, losses in finished.snapshot().losses.items()}


@pytest.fixture
def batches(monkeypatch):
    """A task with more rows than fit a batch."""
    task = Task(
        key="rows",
        label="Rows",
        purpose="Test.",
        widths=(3, 2),
        data=lambda draw: Data(Part(*(torch.randn(15, n, generator=draw.generator) for n in (3, 2))), 2),
        loss=TASKS["documents"].loss,
    )
    monkeypatch.setitem(tasks._BY_KEY, "rows", task)
    return Settings(task="rows", op="relu", rules=("default",), hidden=4, batch=5, steps=20, device="cpu")


def test_contract():
    begun = Run(DOCUMENTS)
    begun.advance(10)
    snapshot = begun.snapshot()
    assert snapshot.step == 10
    assert snapshot.losses["default"].shape == (10,)
    assert snapshot.loss["default"] == snapshot.losses["default"][-1]
    assert snapshot.loss_steps["default"].tolist() == list(range(10))


@pytest.mark.parametrize("rule", ["default", "seed_relu"])
def test_first_losses_are_those_of_the_documents_loop(rule):
    begun = Run(dataclasses.replace(DOCUMENTS, rules=(rule,)))
    expected = documents_loop(begun.tensors(), steps=10, lr=1e-6)
    begun.advance(10)
    np.testing.assert_allclose(begun.snapshot().losses[rule], expected, rtol=1e-5)


def test_starts_from_what_the_documents_would_draw():
    x, y, weights = Run(dataclasses.replace(DOCUMENTS, seed=3)).tensors()
    torch.manual_seed(3)
    for tensor, shape in zip((x, y, *weights), [(64, 1000), (64, 10), (1000, 100), (100, 10)], strict=True):
        assert torch.equal(tensor, torch.randn(shape))


def test_relu_learns_the_documents_task():
    snapshot = trained(DOCUMENTS).snapshot()
    assert 2e7 < snapshot.losses["default"][0] < 4e7
    assert snapshot.loss["default"] < 1e-4
    assert snapshot.finished


def test_round_by_default_never_moves_w1_and_straight_through_does():
    snapshot = trained(dataclasses.replace(DOCUMENTS, op="round", rules=SMALL.rules, steps=50)).snapshot()
    still, moving = snapshot.gradients["default"], snapshot.gradients["straight_through"]
    assert (still.w1, still.w1_moved, still.idle_units, still.blocked) == (0.0, 0.0, 1.0, 1.0)
    assert still.w2 > 0
    assert moving.w1_moved > 1
    assert moving.idle_units == 0.0
    assert snapshot.loss["straight_through"] < snapshot.loss["default"]


@pytest.mark.parametrize(("task", "op"), [("binary weights", "binarize"), ("binary kernels", "binarize")])
def test_weights_have_no_idle_units(task, op):
    run = Run(Settings(task=task, op=op, rules=("straight_through",), hidden=4, device="cpu"), recorded=())
    assert run.snapshot().gradients["straight_through"].idle_units is None


def test_same_settings_same_bits():
    assert curves(trained(SMALL)) == curves(trained(SMALL))


def test_another_seed_another_start():
    assert curves(trained(SMALL)) != curves(trained(dataclasses.replace(SMALL, seed=1)))


def test_in_pieces_same_bits():
    pieces = Run(SMALL)
    for size in (1, 7, 0, 30, 99):
        pieces.advance(size)
        pieces.snapshot()
    assert curves(pieces) == curves(trained(SMALL))


@pytest.mark.parametrize("hidden", [1, 8, 100])
@pytest.mark.parametrize("batch", [1, 4, 64])
def test_a_rule_alone_trains_as_in_a_race(hidden, batch):
    """Also beside one that diverges and leaves."""
    company = ("default", "formula: x * 1e20", "straight_through", "clipped", "toward_range")
    asked = dataclasses.replace(
        SMALL, steps=12, hidden=hidden, batch=batch, rules=company, op="sign", lr=1e-4
    )
    race = trained(asked).snapshot()
    assert race.diverged["formula: x * 1e20"] < asked.steps
    for rule in company:
        alone = trained(dataclasses.replace(asked, rules=(rule,))).snapshot()
        for series in ("losses", "w1_norms", "w2_norms"):
            np.testing.assert_array_equal(getattr(alone, series)[rule], getattr(race, series)[rule])


def test_a_first_layer_that_sees_the_same_x_trains_as_one_that_does_not(monkeypatch):
    """The same but for rounding: what is spared is spared in the arithmetic alone."""
    asked = dataclasses.replace(DOCUMENTS, rules=("default", "seed_relu"), steps=100)
    spared = trained(asked)
    monkeypatch.setitem(tasks._BY_KEY, "documents", dataclasses.replace(TASKS["documents"], same=False))
    full = trained(asked)
    for rule in asked.rules:
        for series in ("losses", "w1_norms", "w2_norms"):
            ours, theirs = (getattr(each.snapshot(), series)[rule] for each in (spared, full))
            np.testing.assert_allclose(ours, theirs, rtol=1e-3)
        moved = [each.snapshot().gradients[rule].w1_moved for each in (spared, full)]
        assert moved[0] == pytest.approx(moved[1], rel=1e-4)


def test_others_at_the_same_time_change_nothing():
    asked = dataclasses.replace(DOCUMENTS, steps=60)
    expected = curves(trained(asked))
    over = threading.Event()

    def disturb(seed):
        while not over.is_set():
            torch.manual_seed(seed)
            trained(dataclasses.replace(SMALL, seed=seed))
            torch.randn(100)

    others = [threading.Thread(target=disturb, args=(seed,)) for seed in (1, 2)]
    for other in others:
        other.start()
    try:
        assert curves(trained(asked)) == expected
    finally:
        over.set()
        for other in others:
            other.join()


def test_computes_on_one_thread_and_puts_the_number_back():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with run.one_thread():
            trained(SMALL)
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_resumed_through_a_file_is_uninterrupted_bit_for_bit():
    file = io.BytesIO()
    torch.save(trained(SMALL, steps=15).state_dict(), file)
    file.seek(0)
    resumed = Run(SMALL)
    resumed.load_state_dict(torch.load(file, weights_only=True))
    assert resumed.snapshot().step == 15
    resumed.advance(SMALL.steps)
    assert_equal_states(resumed, trained(SMALL))


def test_resumed_with_batches_is_uninterrupted_bit_for_bit(batches):
    resumed = Run(batches)
    resumed.load_state_dict(trained(batches, steps=7).state_dict())
    resumed.advance(batches.steps)
    assert_equal_states(resumed, trained(batches))


def assert_equal_states(one, other):
    one, other = one.state_dict(), other.state_dict()
    assert one["step"] == other["step"]
    assert one["nets"]["lanes"] == other["nets"]["lanes"]
    pairs = zip(
        [*one["generators"], *one["nets"]["tensors"], *one["series"].values()],
        [*other["generators"], *other["nets"]["tensors"], *other["series"].values()],
        strict=True,
    )
    for mine, theirs in pairs:
        torch.testing.assert_close(mine, theirs, rtol=0, atol=0, equal_nan=True)


def test_a_state_is_a_copy():
    begun = Run(SMALL)
    state = begun.state_dict()
    before = [tensor.clone() for tensor in state["nets"]["tensors"]]
    begun.advance(3)
    assert state["step"] == 0
    assert all(map(torch.equal, state["nets"]["tensors"], before))


def test_a_state_of_other_settings_is_refused():
    with pytest.raises(ValueError, match="other settings: steps, seed"):
        Run(SMALL).load_state_dict(Run(dataclasses.replace(SMALL, seed=1, steps=9)).state_dict())


def test_each_step_draws_its_own_batch(batches):
    begun = Run(batches)
    seen = []
    for _ in range(4):
        seen.append(begun._nets.batch[0])
        begun.advance()
    assert all(batch.shape == (1, 5, 3) for batch in seen)
    assert not any(torch.equal(one, other) for one, other in itertools.pairwise(seen))


def test_given_start_tensors():
    x, y, weights = Run(SMALL).tensors()
    given = Tensors(0.5 * x, 0.5 * y, tuple(0.5 * each for each in weights))
    begun = Run(SMALL, given)
    start = [tensor.clone() for tensor in (given.x, given.y, *given.parameters)]
    for tensor in (given.x, given.y, *given.parameters):
        tensor.zero_()
    begun.advance(5)
    x, y, weights = begun.tensors()
    assert all(map(torch.equal, (x, y, *weights), start))
    assert curves(begun) != curves(trained(SMALL, steps=5))


def test_given_start_tensors_stand_beside_the_seeds_that_share_their_data():
    """The first seed has data of its own then: whatever is measured has the data of each."""
    settings = Settings(task="moons", rules=("clipped",), seeds=3, device="cpu")
    x, y, weights = Run(settings).tensors()
    run = Run(settings, Tensors(-x, y, weights))
    run.advance(5)
    examples, answers = run._nets.examples()
    assert examples.shape[0] == answers.shape[0] == 3
    assert torch.equal(examples[1], examples[2])
    assert torch.equal(examples[1], -examples[0])
    alone = Run(dataclasses.replace(settings, seeds=1), Tensors(-x, y, weights))
    alone.advance(5)
    ours, own, drawn = (
        each.snapshot().seed_losses["clipped"].tolist() for each in (run, alone, trained(settings, steps=5))
    )
    assert ours == [*own, *drawn[1:]]
    assert np.isfinite(run.snapshot().measured["alignment"]["clipped"]["cosine"]).all()
    assert run.measure("line_search")["clipped"]


def test_start_tensors_of_another_shape_are_refused():
    x, y, (_, w2) = Run(SMALL).tensors()
    given = Tensors(x, y, (torch.zeros(2, 2), w2))
    with pytest.raises(ValueError, match=r"parameter 1 must have the shape \(1000, 8\), not \(2, 2\)"):
        Run(SMALL, given)


def test_before_the_first_step_there_is_a_gradient_but_no_loss():
    snapshot = Run(SMALL).snapshot()
    assert snapshot.loss == {"default": None, "straight_through": None}
    assert snapshot.losses["default"].shape == (0,)
    assert snapshot.gradients["default"].w1 > 0


def test_takes_the_accelerator_unless_told_otherwise(monkeypatch):
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda **_: torch.device("meta", 0))
    assert lockstep.device(None).type == "meta"
    assert lockstep.device("cpu").type == "cpu"
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda **_: None)
    assert lockstep.device(None).type == "cpu"


def test_never_beyond_the_last_step():
    done = trained(SMALL, steps=SMALL.steps + 5)
    assert done.snapshot().step == SMALL.steps
    with pytest.raises(ValueError, match="0 or more steps, not -1"):
        done.advance(-1)


def test_resumed_after_one_has_diverged():
    asked = dataclasses.replace(SMALL, rules=("default", BREAKS))
    resumed = Run(asked)
    resumed.load_state_dict(trained(asked, steps=9).state_dict())
    resumed.advance(asked.steps)
    assert curves(resumed) == curves(trained(asked))
    assert resumed.snapshot().diverged == {"default": None, BREAKS: 1}


def test_a_state_brings_what_is_live_along():
    slower = dataclasses.replace(SMALL, lr=1e-7, pace=2)
    resumed = Run(SMALL)
    resumed.load_state_dict(Run(slower).state_dict())
    assert resumed.settings == slower


def test_what_the_gradient_did_in_every_step():
    """The norms of a step are those at the weights it began with."""
    begun = trained(SMALL, steps=5)
    before = begun.snapshot().gradients
    begun.advance()
    after = begun.snapshot()
    for rule, facts in before.items():
        assert after.w1_norms[rule][-1] == pytest.approx(facts.w1, rel=1e-4)
        assert after.w2_norms[rule][-1] == pytest.approx(facts.w2, rel=1e-5)


def test_mean_factor_a_rule_passes_on():
    rules = ("zero", "straight_through", "scale", "formula: -3 * g")
    snapshot = trained(dataclasses.replace(SMALL, rules=rules, parameters={"s": 0.25}), steps=2).snapshot()
    assert [snapshot.gradients[rule].passed for rule in rules] == pytest.approx([0, 1, 0.25, 3])


def test_a_diverging_rule_stops_with_its_curve_and_the_others_go_on():
    snapshot = trained(dataclasses.replace(SMALL, rules=("default", BREAKS))).snapshot()
    assert snapshot.diverged == {"default": None, BREAKS: 1}
    assert len(snapshot.losses[BREAKS]) == 1
    assert snapshot.gradients[BREAKS] is None
    assert len(snapshot.losses["default"]) == snapshot.step == SMALL.steps


def test_divergence_keeps_the_finite_curve_and_ends_the_run():
    snapshot = trained(dataclasses.replace(SMALL, rules=("default",), lr=1.0)).snapshot()
    step = snapshot.diverged["default"]
    assert 0 < step < SMALL.steps
    assert snapshot.loss_steps["default"].tolist() == list(range(step))
    assert snapshot.step == step
    assert np.isfinite(snapshot.losses["default"]).all()
    assert snapshot.finished


def test_own_op_and_rule_are_named_as_they_were_given():
    asked = dataclasses.replace(SMALL, op="formula: x*2", rules=("formula: k*g",), parameters={"k": 0.5})
    snapshot = trained(asked).snapshot()
    assert list(snapshot.losses) == ["formula: k*g"]
    assert math.isfinite(snapshot.loss["formula: k*g"])


@pytest.mark.parametrize("steps", [1, MAX_POINTS, MAX_POINTS + 1, MAX_POINTS + 2, 1234, 1235])
def test_a_long_curve_is_thinned(steps):
    done = trained(dataclasses.replace(DOCUMENTS, steps=steps, hidden=1, batch=1))
    snapshot = done.snapshot()
    places = snapshot.loss_steps["default"].tolist()
    every = done.state_dict()["series"]["numbers"][0, :, 0, 0].tolist()
    assert (places[0], places[-1]) == (0, steps - 1)
    assert min(steps, MAX_POINTS // 2) <= len(set(places)) == len(places) <= MAX_POINTS
    assert snapshot.losses["default"].tolist() == [every[place] for place in places]


DIGITS = Settings(task="digits", seeds=3, steps=40, device="cpu")


def test_held_out_accuracy_of_every_seed():
    done = trained(DIGITS)
    snapshot = done.snapshot()
    assert snapshot.task == "digits"
    for rule in DIGITS.rules:
        accuracy = snapshot.accuracy[rule]
        assert (accuracy.shape, accuracy.dtype) == ((3,), np.float32)
        right = accuracy * 360  # examples
        np.testing.assert_allclose(right, right.round(), atol=1e-3)
        np.testing.assert_allclose(snapshot.scores[rule][-1], accuracy.mean(), rtol=1e-6)
        np.testing.assert_allclose(snapshot.score_sd[rule][-1], accuracy.std(ddof=1), rtol=1e-4)
        np.testing.assert_array_equal(snapshot.seed_scores[rule][:, -1], accuracy)
        np.testing.assert_allclose(snapshot.losses[rule], snapshot.seed_losses[rule].mean(0), rtol=1e-6)
    assert snapshot.accuracy["straight_through"].mean() > snapshot.accuracy["default"].mean() + 0.1
    assert Run(DOCUMENTS).snapshot().accuracy == {"default": None}


def test_the_score_is_that_of_the_net_by_hand():
    done = trained(dataclasses.replace(DIGITS, seeds=1, op="relu", rules=("default",)))
    (x, y), views = done._nets.data[0].held_out, done._nets.ensemble.parameter_views
    (w1, b1), (w2, b2) = (each for each in views if each)
    right = ((x @ w1[0] + b1[0]).relu() @ w2[0] + b2[0]).argmax(1) == y
    assert done.snapshot().accuracy["default"].tolist() == [right.float().mean().item()]


@pytest.mark.parametrize(("steps", "every"), [(40, 1), (200, 1), (201, 2), (500, 3)])
def test_it_is_judged_at_the_start_every_so_many_steps_and_at_the_end(steps, every):
    done = trained(Settings(task="circles", rules=("clipped",), steps=steps, device="cpu"))
    judged = done.snapshot().score_steps.tolist()
    assert judged == sorted({*range(0, steps, every), steps})
    assert np.isfinite(done.snapshot().scores["clipped"]).all()


def test_whoever_watches_changes_nothing():
    watched = Run(DIGITS)
    for _ in range(DIGITS.steps):
        watched.advance()
        watched.snapshot()
        watched.validation()
    assert_equal_states(watched, trained(DIGITS))


@pytest.mark.parametrize("optimiser", ["sgd", "momentum", "adam"])
@pytest.mark.parametrize(
    "task", ["digits", "binary weights", "spikes", "digits convolution", "binary kernels"]
)
def test_resumed_through_a_file_on_every_kind_of_net(task, optimiser):
    asked = Settings(task=task, seeds=2, steps=12, optimiser=optimiser, device="cpu")
    file = io.BytesIO()
    torch.save(trained(asked, steps=5).state_dict(), file)
    file.seek(0)
    resumed = Run(asked)
    resumed.advance(9)  # a run that was elsewhere goes back
    resumed.load_state_dict(torch.load(file, weights_only=True))
    resumed.advance(asked.steps)
    assert_equal_states(resumed, trained(asked))


def test_a_rule_with_nan_leaves_and_the_others_go_on():
    asked = dataclasses.replace(DIGITS, rules=("straight_through", BREAKS))
    snapshot = trained(asked).snapshot()
    assert snapshot.diverged == {"straight_through": None, BREAKS: 1}
    assert snapshot.going == {"straight_through": 3, BREAKS: 0}
    assert np.isnan(snapshot.accuracy[BREAKS]).all()
    assert len(snapshot.losses[BREAKS]) == 1
    assert snapshot.step == asked.steps
    np.testing.assert_array_equal(
        snapshot.losses["straight_through"],
        trained(dataclasses.replace(asked, rules=("straight_through",)))
        .snapshot()
        .losses["straight_through"],
    )


def test_a_seed_that_diverges_leaves_the_mean_and_the_rule_goes_on():
    asked = dataclasses.replace(DIGITS, rules=("straight_through",))
    begun = Run(asked)
    begun.advance(10)
    begun._nets.ensemble.parameters[1] = math.nan
    begun.advance(30)
    snapshot = begun.snapshot()
    assert snapshot.diverged == {"straight_through": None}
    assert snapshot.going == {"straight_through": 2}
    accuracy = snapshot.accuracy["straight_through"]
    assert np.isnan(accuracy).tolist() == [False, True, False]
    assert np.isnan(snapshot.seed_losses["straight_through"][1]).tolist() == [False] * 10 + [True] * 30
    whole = trained(asked).snapshot()
    np.testing.assert_array_equal(accuracy[[0, 2]], whole.accuracy["straight_through"][[0, 2]])
    np.testing.assert_allclose(
        snapshot.losses["straight_through"][-1],
        whole.seed_losses["straight_through"][[0, 2], -1].mean(),
        rtol=1e-6,
    )


@pytest.mark.parametrize("rules", [("default",), ("straight_through", "clipped")])
def test_a_learning_rate_of_ten_breaks_nothing_but_the_net(rules):
    snapshot = trained(dataclasses.replace(DIGITS, op="relu", rules=rules, lr=10, optimiser="sgd")).snapshot()
    for rule in rules:
        assert np.isfinite(snapshot.losses[rule]).all()
        assert (snapshot.diverged[rule] is None) == (snapshot.going[rule] > 0)


@pytest.mark.parametrize("task", [key for key in TASKS if key != "data"])
def test_every_task_trains_with_widths_and_batches_of_one(task):
    asked = Settings(task=task, hidden=(1, 1), batch=1, steps=2, seeds=2, device="cpu")
    snapshot = trained(asked).snapshot()
    assert snapshot.step == 2 or all(count == 0 for count in snapshot.going.values())


def test_validation_judges_other_examples():
    done = trained(DIGITS)
    validation, held_out = done.validation(), done.snapshot().accuracy
    for rule in DIGITS.rules:
        assert validation[rule].shape == (3,)
        assert abs(validation[rule].mean() - held_out[rule].mean()) < 0.1
    assert any(validation[rule].tolist() != held_out[rule].tolist() for rule in DIGITS.rules)
    with pytest.raises(ValueError, match='"documents" has no data to judge by'):
        Run(SMALL).validation()


def test_more_than_a_documents_net():
    """With biases, several layers, another optimiser or several seeds it is a net like the others."""
    plain = trained(dataclasses.replace(SMALL, lr=1e-6)).snapshot().losses["default"]
    assert plain[-1] < plain[0]
    for other in ({"bias": True}, {"optimiser": "adam", "lr": 1e-3}, {"hidden": (8, 8)}, {"seeds": 2}):
        losses = trained(dataclasses.replace(SMALL, **other)).snapshot().losses["default"]
        assert losses[-1] < losses[0]


def test_half_the_start_weights_are_half_as_large():
    usual, half = (Run(dataclasses.replace(DIGITS, init_scale=scale)).tensors() for scale in (1.0, 0.5))
    assert all(torch.equal(0.5 * one, other) for one, other in zip(usual[2], half[2], strict=True))
    w1 = usual.parameters[0]
    assert w1.std().item() == pytest.approx(64**-0.5, rel=0.1)


def test_old_spellings_are_read_as_before():
    """``shown`` for what is visible, ``kept`` for checkpoints; a saved state says lanes and readings."""
    run = Run(Settings(task="circles", hidden=4, steps=4, device="cpu"))
    run.advance(2)
    now = run.snapshot(("causes",))
    assert (
        run.snapshot(shown=("causes",)).measured.keys()
        == now.measured.keys()
        > run.snapshot().measured.keys()
    )
    assert run.kept is run.checkpoints
    assert now.kept == now.checkpoints == (0, 1)
    assert {"readings", "nets"} <= run.state_dict().keys()
    assert run.state_dict()["nets"]["lanes"][:2] == [[0, 0], [1, 0]]


def test_a_net_with_broken_weights_has_no_score_whatever_its_op_makes_of_them():
    """An op that maps NaN to a number hides broken weights from the output."""
    op = "formula: where(x > 0, 1, 0)"
    run = Run(Settings(task="circles", op=op, rules=("straight_through",), seeds=3))
    run.advance(1)
    run._nets.ensemble.parameters[1, 0] = math.nan
    held_out = run._nets.data[0].held_out
    assert np.isnan(run._nets.scores(held_out)).tolist() == [False, True, False]

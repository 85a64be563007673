from types import SimpleNamespace

import numpy as np
import pytest

from explorer.training import FIRST, Settings
from explorer.training.runs import summary
from explorer.training.runs.summary import make_conclusion
from tests.training.driving import build, train

LABELS = {"default": "Torch", "ste": "Straight"}


def race(default, ste, **more):
    """A race that is over, from the loss of each rule; None for one that diverged."""
    losses = {"default": default, "ste": ste} | more
    return SimpleNamespace(
        finished=True, metric=None, step=9, seeds=1, loss=losses, gradients=losses,
        seed_losses={rule: np.array([[np.nan if loss is None else loss]]) for rule, loss in losses.items()},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("over", "words"),
    [
        (race(5.0, 1.0), "Straight ended lower, at 1; Torch at 5."),
        (race(1.0, 1.00001), "Torch and Straight ended at the same loss, 1."),
        (race(None, 2.0), "Straight ended at 2. Torch diverged and cannot be compared."),
        (race(None, None), "No rule kept its values finite: try a smaller learning rate."),
        (race(5.0, 1.0, zero=3.0), "Straight ended lowest, at 1; Torch at 5."),
        (race(None, 2.0, zero=None), "Straight ended at 2. Torch and Zero diverged and cannot be compared."),
    ],
)
def test_a_race_is_summarised(over, words):
    labels = {rule: (LABELS | {"zero": "Zero"})[rule] for rule in over.loss}
    assert make_conclusion(over, labels) == words


def test_a_loss_is_called_lower_only_if_seeds_show_it():
    losses = np.array([1.0, 1.2, 5.0, 0.2])
    for more, words in (
        ((2.0, 2.2, 1.1, 0.6), "4 seeds do not show which is lower: Torch ended at 1.475; "),
        (losses + 0.5, "Torch ended lower, at 1.475; Straight at 1.85."),
    ):
        snapshot = race(1.475, 1.85)
        last = {"default": losses[:, None], "ste": np.array(more)[:, None]}
        snapshot.seeds, snapshot.seed_losses = 4, last
        assert make_conclusion(snapshot, LABELS).startswith(words)


def test_the_learning_rate_is_not_blamed_for_a_failure_at_the_start():
    snapshot = build(1, task="spikes", op="round").snapshot()
    said = "No rule kept its values finite, not even before the first step."
    assert make_conclusion(snapshot, dict.fromkeys(snapshot.losses, "Torch")) == said


def test_a_running_race_is_described_in_the_present_tense_and_a_finished_one_in_the_past():
    run = train(Settings(steps=9, rules=("default", "zero"), hidden=4, batch=4), 0)
    cases = ((0, "All 2 rules start from the same weights."), (4, " is lower, at "), (5, " ended lower, at "))
    for steps, words in cases:
        run.advance(steps)
        assert words in make_conclusion(run.snapshot(), {"default": "Torch", "zero": "Zero"})


def test_devices_are_named_in_plain_words():
    texts = {"cpu": "CPU", "cuda:0": "NVIDIA GPU", "mps": "Apple GPU", "vulkan": "VULKAN"}
    assert {name: summary.name_device(name) for name in texts} == texts


def judged(metric="accuracy", **scores):
    """A race that is over, from the scores of each rule's seeds."""
    arrays = {rule: np.array(values, np.float32) for rule, values in scores.items()}
    return SimpleNamespace(
        finished=True, step=9, metric=metric, held_out=360, losses=dict.fromkeys(arrays), measured={},
        task="digits", score=arrays, chance=0.12, seed_losses={rule: [n] for n, rule in enumerate(arrays)},
    )  # fmt: skip


NAN = float("nan")


@pytest.mark.parametrize(
    ("race", "words"),
    [
        (
            judged(default=[0.60, 0.62, 0.64], ste=[0.90, 0.92, 0.91]),
            "Straight is best on the 360 held-out examples, at 91.0 %; Torch (62.0 %) is lower by 24.7 to "
            "33.3 points (means of 3 seeds; 95 % interval).",
        ),
        (judged(metric="R²", default=[0.1, 0.2], ste=[0.81, 0.82]), "on held-out data, by R², at 0.8"),
        (judged(default=[0.11, 0.1]), "Always guessing the most frequent class scores 12.0 %."),
        (judged(default=[NAN] * 3, ste=[NAN] * 3), "No rule kept its values finite: try a smaller"),
    ],
)
def test_held_out_scores_are_summarised(race, words):
    labels = {rule: label for rule, label in LABELS.items() if rule in race.score}
    assert words in make_conclusion(race, labels)


def test_a_score_reads_the_same_in_the_table_and_the_conclusion():
    """94.64 beside 94.92: with digits of their own, the lower would read "95 ± 1" beside "94.9 ± 0.7"."""
    race = judged(default=[0.9332, 0.9464, 0.9596], ste=[0.9422, 0.9492, 0.9562])
    assert summary.format_rule_scores(race) == {"default": "94.6 ± 1.3 %", "ste": "94.9 ± 0.7 %"}
    said = make_conclusion(race, LABELS)
    assert "Straight (94.9 %) and Torch (94.6 %)" in said
    close = judged(default=[0.9460, 0.9464, 0.9468], ste=[0.9422, 0.9492, 0.9562])
    assert summary.format_rule_scores(close) == {"default": "94.64 ± 0.04 %", "ste": "94.92 ± 0.70 %"}
    assert "Straight (94.92 %) and Torch (94.64 %)" in make_conclusion(close, LABELS)


def test_the_first_race_ends_with_the_dead_rule_behind():
    """The first run of somebody who opens Train, in the words of the run itself."""
    snapshot = train(Settings(task=FIRST, seeds=3, device="cpu"), recorded=()).snapshot()
    words = make_conclusion(snapshot, {"default": "Torch", "straight_through": "Straight"})
    assert words.startswith("Straight is best on the 360 held-out examples, at 9")
    accuracy = {rule: values.mean() for rule, values in snapshot.accuracy.items()}
    assert accuracy["straight_through"] > accuracy["default"] + 0.1


CLOSE, FAR = [0.91, 0.93, 0.92], [0.93, 0.90, 0.91]  # the second scatters by more than it is lower
ONES = [1.0, 1.0, 1.0]
ALIKE = "These rules act alike here, with equal losses at each step: try another task or op."
FEW = "Each of 6 held-out examples is worth 16.7 points."
EASY = "it is too easy to tell these rules apart."
SEEK = "tell these apart: try a task or op where rules differ more."


def end(default, ste, *, finished=True, same=False, rows=360, metric="accuracy"):
    """The end of a run of two rules with these scores by seed."""
    over = judged(metric, default=default, ste=ste)
    over.finished, over.held_out = finished, rows
    over.seed_losses["ste"][0] = not same
    return over


@pytest.mark.parametrize(
    ("snapshot", "words"),
    [
        (end([0.9], [0.9], same=True), f"and Straight (90.0 %) on the 360 held-out examples. {ALIKE}"),
        (end(CLOSE, CLOSE), "these examples do not tell them apart: try another task or op."),
        (end(ONES, ONES, rows=6), f"This task is solved: {EASY} {FEW}"),
        (end(ONES, [1.0, 0.998, 1.0]), f"This task is solved: {EASY}"),
        (end([0.991, 0.995, 0.993], [0.993, 0.994, 0.994], metric="R²"), f"This task is solved: {EASY}"),
        (end([0.95, 0.93, 0.94], [0.93, 0.925, 0.92]), "about 4, if the means stay 1.5 points apart."),
        (end(CLOSE, FAR), f"10 seeds would hardly {SEEK}"),
        (end([0.8] * 5, [0.85, 0.78, 0.717, 0.65, 0.588]), "about 9, if the means stay 8.3 points apart."),
        (end([*CLOSE * 3, 1], [*FAR * 3, 1]), f"10 seeds do not {SEEK}"),
        (SimpleNamespace(**vars(end(CLOSE, FAR)) | {"task": "data"}), "tell these apart: get more rows."),
        (end(CLOSE, FAR, finished=False), "interval)."),
        (end(CLOSE, [0.5, 0.5, 0.51]), "interval)."),
        (end([0.9], [0.8]), "One seed proves little: run 5 seeds."),
    ],
)
def test_the_conclusion_of_a_tie_ends_with_advice_from_the_measured_facts(snapshot, words):
    assert make_conclusion(snapshot, LABELS).endswith(words)

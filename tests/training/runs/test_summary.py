import dataclasses
import re
from types import SimpleNamespace

import numpy as np
import pytest

from explorer.catalogue import find_rule
from explorer.training import FIRST, Run, Settings
from explorer.training.runs.summary import (
    compute_quantile,
    format_number,
    format_rule_scores,
    make_conclusion,
    make_sentences,
    name_device,
)
from explorer.ui.links.presets import PRESETS

LABELS = {"default": "Torch", "ste": "Straight"}


def ended(choice):
    settings = Settings(op=choice.op, rules=choice.rules, parameters=choice.parameters, device="cpu")
    run = Run(settings, recorded=())  # no sentence is made of what is recorded beside
    run.advance(settings.steps)
    return run.snapshot()


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_the_conclusion_of_every_preset_is_true(preset):
    """Read back from the sentence, and compared with what the run itself holds."""
    snapshot = ended(preset.choice)
    labels = {rule: find_rule(rule).label for rule in snapshot.losses}
    words = make_conclusion(snapshot, labels)
    assert make_sentences(snapshot, labels)[-1] == words
    losses = {labels[rule]: snapshot.loss[rule] for rule in labels if snapshot.diverged[rule] is None}
    for rule, label in labels.items():
        assert (f"{label} diverged" in words or f"and {label} diverged" in words) == (
            snapshot.diverged[rule] is not None
        )
    if result := re.match(r"(.+) ended lowe(?:r|st), at (.+?); (.+?) at (.+?)\. ", words):
        low, least, high, most = result.groups()
        assert (losses[low], losses[high]) == (min(losses.values()), max(losses.values()))
        assert (format_number(losses[low]), format_number(losses[high])) == (least, most)
        still = {labels[r] for r, g in snapshot.gradients.items() if g and g.w1_moved == 0}
        assert (f"With {high} w1 never moved" in words) == (high in still and low not in still)
        assert (f"With {low} w1 never moved" in words) == (low in still and high not in still)
        assert ("w1 moved with neither" in words) == ({low, high} <= still)
        assert ("w1 moved with both" in words) == (not {low, high} & still)
    else:
        assert len({format_number(loss) for loss in losses.values()}) <= 1


def facts(moved, passed=1.0):
    return SimpleNamespace(w1_moved=moved, passed=passed)


def race(default, ste):
    """A race that is over, from a loss and what w1 did for each rule; no loss for one that diverged."""
    both = {"default": default, "ste": ste}
    return SimpleNamespace(
        finished=True,
        metric=None,
        step=9,
        seeds=1,
        seed_losses={rule: np.array([[result[0] if result else np.nan]]) for rule, result in both.items()},
        loss={rule: result and result[0] for rule, result in both.items()},
        gradients={rule: result and facts(*result[1:]) for rule, result in both.items()},
    )


@pytest.mark.parametrize(
    ("default", "ste", "words"),
    [
        ((5.0, 0), (1.0, 3), "Straight ended lower, at 1; Torch at 5. With Torch w1 never moved: no"),
        ((1.3, 0), (1316.0, 3), "With Torch w1 never moved, so w2 learned from constant hidden values; with"),
        ((1.0, 0), (2.0, 0), "w1 moved with neither"),
        ((1.0, 2, 0.5), (2.0, 3, 1.5), "by 2 and 3. The rules passed on 50 % and 150 % of"),
        ((1.0, 2, None), (2.0, 3), "The rules passed on 0 % and 100 % of the incoming gradient."),
        ((1.0, 2), (1.00001, 3), "Torch and Straight ended at the same loss, 1."),
        (None, (2.0, 3), "Straight ended at 2. w1 moved by 3. Torch diverged and cannot be compared."),
        (None, (2.0, 0), "w1 never moved: no gradient reached it, so only w2 learned. Torch diverged"),
        (None, None, "No rule kept its values finite: try a smaller learning rate."),
    ],
)
def test_a_race_is_summarised(default, ste, words):
    assert words in make_conclusion(race(default, ste), LABELS)


def test_a_loss_is_called_lower_only_if_seeds_show_it():
    losses = np.array([1.0, 1.2, 5.0, 0.2])
    for more, words in (
        (
            (2.0, 2.2, 1.1, 0.6),
            "4 seeds do not show which is lower: Torch ended at 1.475; Straight at 1.85. w1",
        ),
        (losses + 0.5, "Torch ended lower, at 1.475; Straight at 1.85. w1"),
    ):
        snapshot = race((1.475, 1), (1.85, 1))
        last = {"default": losses[:, None], "ste": np.array(more)[:, None]}
        snapshot.seeds, snapshot.seed_losses = 4, last
        assert make_conclusion(snapshot, LABELS).startswith(words)


def test_the_learning_rate_is_not_blamed_for_a_failure_at_the_start():
    run = Run(Settings(task="spikes", op="round", device="cpu"))
    run.advance(1)
    snapshot = run.snapshot()
    assert make_conclusion(snapshot, dict.fromkeys(snapshot.losses, "Torch")) == (
        "No rule kept its values finite, not even before the first step."
    )


def test_a_running_race_is_described_in_the_present_tense_and_a_finished_one_in_the_past():
    run = Run(Settings(steps=9, rules=("default", "zero"), hidden=4, batch=4, device="cpu"))
    cases = ((0, "All 2 rules start from the same weights."), (4, " is lower, at "), (5, " ended lower, at "))
    for steps, words in cases:
        run.advance(steps)
        assert words in make_sentences(run.snapshot(), {"default": "Torch", "zero": "Zero"})[-1]


def test_shares_are_never_rounded_to_all_or_nothing():
    run = Run(Settings(steps=9, rules=("default",), hidden=4, batch=4, device="cpu"))
    run.advance()
    snapshot = run.snapshot()
    for share, words in ((0, "0 %"), (0.001, "less than 1 %"), (0.5, "50 %"), (0.999, "more than 99 %")):
        gradients = {"default": dataclasses.replace(snapshot.gradients["default"], blocked=share)}
        said = make_sentences(dataclasses.replace(snapshot, gradients=gradients), {"default": "Torch"})
        assert f"blocks {words} of the gradient" in said[0]


@pytest.mark.parametrize(
    ("value", "text"),
    [(46971.3, "46,970"), (1e3, "1,000"), (999.96, "1,000"), (0.0123456, "0.01235"), (0, "0")],
)
def test_a_measured_number_has_four_digits(value, text):
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("name", "text"), [("cpu", "CPU"), ("cuda:0", "NVIDIA GPU"), ("mps", "Apple GPU"), ("vulkan", "VULKAN")]
)
def test_devices_are_named_in_plain_words(name, text):
    assert name_device(name) == text


def judged(metric="accuracy", **scores):
    """A race that is over, from the scores of each rule's seeds."""
    arrays = {rule: np.array(values, np.float32) for rule, values in scores.items()}
    return SimpleNamespace(
        finished=True,
        step=9,
        metric=metric,
        held_out=360,
        losses=dict.fromkeys(arrays),
        measured={},
        score=arrays,
        gradients={rule: facts(0 if rule == "default" else 2) for rule in arrays},
    )


NAN = float("nan")


@pytest.mark.parametrize(
    ("race", "words"),
    [
        (
            judged(default=[0.60, 0.62, 0.64], ste=[0.90, 0.92, 0.91]),
            "Straight is best on the 360 held-out examples, at 91.0 %; Torch (62.0 %) lower by 24.7 to 33.3 "
            "points (means of 3 seeds; simultaneous 95 % intervals). "
            "With Torch no gradient reached the first layer, so it never moved.",
        ),
        (
            judged(default=[0.90, 0.94, 0.91], ste=[0.91, 0.92, 0.93]),
            "3 seeds do not show which is best on the 360 held-out examples: Straight (92.0 %) and Torch (91",
        ),
        (
            judged(default=[0.6], ste=[0.9]),
            "One seed: Straight (90.0 %) and Torch (60.0 %) on the 360 held-out examples. One seed proves",
        ),
        (
            judged(default=[0.9, 0.91], ste=[0.9, 0.91]),
            "Torch and Straight score the same on every seed, at 90.5 % on the 360 held-out examples.",
        ),
        (judged(ste=[0.951, 0.952, 0.953]), "Straight is at 95.2 % on the 360 held-out examples (mean of"),
        (
            judged(metric="R²", default=[0.1, 0.2, 0.1], ste=[0.81, 0.82, 0.83]),
            "Straight is best on held-out data, by R², at 0.82; Torch (0.13) lower by 0.54 to 0.83 (means",
        ),
        (
            judged(default=[NAN] * 3, ste=[0.9, 0.8, NAN]),
            "1 of 3 seeds of Straight diverged and are left out, which flatters the mean. Torch diverged and",
        ),
        (judged(default=[NAN] * 3, ste=[NAN] * 3), "No rule kept its values finite: try a smaller"),
    ],
)
def test_held_out_scores_are_summarised(race, words):
    labels = {rule: label for rule, label in LABELS.items() if rule in race.score}
    assert words in make_conclusion(race, labels)


@pytest.mark.parametrize(
    ("degrees", "expected"), [(1, 12.7062), (4, 2.7764), (9, 2.2622), (29, 2.0452), (10**6, 1.96)]
)
def test_quantiles_match_printed_tables_of_students_t(degrees, expected):
    assert compute_quantile(degrees) == pytest.approx(expected, abs=5e-5)


def test_six_equal_rules_are_hardly_ever_reported_as_different():
    """Each against the highest by itself claims a difference in 28 of 100 cases."""
    random, claims = np.random.default_rng(0), 0
    for _ in range(100):
        draws = 0.95 + 0.008 * random.standard_normal((6, 5))
        race = judged(**dict(zip("abcdef", draws, strict=True)))
        claims += "5 seeds do not show which is best" not in make_conclusion(
            race, {rule: rule for rule in "abcdef"}
        )
    assert claims <= 8


def test_a_score_reads_the_same_in_the_table_and_the_conclusion():
    """94.64 beside 94.92: with digits of their own, the lower would read "95 ± 1" beside "94.9 ± 0.7"."""
    race = judged(default=[0.9332, 0.9464, 0.9596], ste=[0.9422, 0.9492, 0.9562])
    assert format_rule_scores(race) == {"default": "94.6 ± 1.3 %", "ste": "94.9 ± 0.7 %"}
    said = make_conclusion(race, LABELS)
    assert "Straight (94.9 %) and Torch (94.6 %)" in said
    close = judged(default=[0.9460, 0.9464, 0.9468], ste=[0.9422, 0.9492, 0.9562])
    assert format_rule_scores(close) == {"default": "94.64 ± 0.04 %", "ste": "94.92 ± 0.70 %"}
    assert "Straight (94.92 %) and Torch (94.64 %)" in make_conclusion(close, LABELS)


@pytest.mark.parametrize("seeds", [1, 3])
def test_the_first_race_ends_with_the_dead_rule_behind(seeds):
    """The first run of somebody who opens Train, in the words of the run itself."""
    run = Run(Settings(task=FIRST, seeds=seeds, device="cpu"), recorded=())
    run.advance(run.settings.steps)
    snapshot = run.snapshot()
    words = make_sentences(snapshot, {"default": "Torch", "straight_through": "Straight"})[-1]
    assert words.startswith(
        "One seed: Straight (9" if seeds == 1 else "Straight is best on the 360 held-out examples, at 9"
    )
    assert words.endswith("With Torch no gradient reached the first layer, so it never moved.")
    accuracy = {rule: values.mean() for rule, values in snapshot.accuracy.items()}
    assert accuracy["straight_through"] > accuracy["default"] + 0.1

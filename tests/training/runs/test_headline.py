from types import SimpleNamespace

import numpy as np
import pytest

from explorer.training.runs.headline import make_headline


@pytest.mark.parametrize(
    ("scores", "metric", "said", "short"),
    [
        ([[0.9], [0.8]], "accuracy", "One seed: R0 90.0 % and R1 80.0 %.", "One seed: "),
        ([[0.04], [-0.11]], "R²", "One seed: R0 0.04 R² and R1 −0.11 R².", "One seed: "),
        ([[0.9], [0.9], [0.5], [0.4]], "accuracy", "One seed: R0 90.0 %, R1 90.0 %, R2 50.0 % and R3 40.0 %.",
         "One seed: 2 rules are level at 90.0 %."),
        ([[0.9, 0.91], [0.5, 0.51]], "accuracy", "R0 is best, at 90.5 %, means of 2 seeds.",
         "One of 2 rules is best, at 90.5 %, means of 2 seeds."),
        ([[0.9, 0.95], [0.9, 0.9]], "R²", "2 seeds do not show which is best: means 0.90 and 0.93 R².", ""),
        ([[0.9, 0.91, 0.95], [0.9, 0.92, 0.94], [0.1, 0.11, 0.1]], "accuracy",
         "R0 and R1 may each be best, by 3 seeds.",
         "All but Fake quantise (strict clamp) by R2 may be best, by 3 seeds."),
        ([[0.9] * 2, [0.9] * 2], "accuracy", "All end equal on each of 2 seeds: mean 90.0 %.", ""),
        ([[0.9, 0.91, 0.92], [0.5, np.nan, 0.52]], "accuracy",
         "R0 has the highest mean, 91.0 %, but some seeds diverged.",
         "The highest mean is 91.0 %, but some seeds diverged."),
        ([[np.nan, np.nan], [np.nan, np.nan]], "accuracy", "", ""),
    ],
)  # fmt: skip
def test_a_headline_fits_into_70_characters(scores, metric, said, short):
    score = {f"R{rule}": np.array(each) for rule, each in enumerate(scores)}
    run = SimpleNamespace(finished=True, metric=metric, held_out=360, losses=score, score=score)
    assert make_headline(run, {rule: rule for rule in score}) == said
    long = make_headline(run, {rule: f"Fake quantise (strict clamp) by {rule}" for rule in score})
    assert (long or said).startswith(short or said)
    assert len(long) <= 70

"""The trials of a study do what each run does alone: bit for bit, wherever it stands."""

import math
import random

import pytest
import torch

from explorer.study import Plan, Stepper
from explorer.study.chunk import Chunk
from tests.training.driving import train

CASES = {
    "activations": {"task": "digits", "op": "sign", "hidden": (16, 5), "parameters": {"c": 0.1},
                    "rules": ["default", "clipped", "formula: g * mean(abs(x))"]},
    "weights": {"task": "ternary weights", "op": "quantize", "rules": ["quantize_masked", "ewgs"],
                "parameters": {"s": 0.5, "qmin": -1, "qmax": 1}},
    "narrow": {"task": "circles", "op": "sign", "rules": ["clipped", "reste"], "hidden": 2, "batch": 2,
               "optimiser": "momentum"},
    "drawn": {"task": "digits", "op": "gumbel_sigmoid", "rules": ["default", "straight_through"],
              "parameters": {"tau": 0.5}, "hidden": 6},
    **{f"learned by {each}": {"task": "ternary weights", "rules": ["lsq", "quantize_masked"], "hidden": 6,
                              "parameters": {"s": 0.3, "qmin": -1, "qmax": 1}, "learn": ("lsq.s",),
                              "learn_each": each} for each in ("layer", "channel")},
    "own table": {"op": "tanh", "rules": ["default", "straight_through"], "optimiser": "sgd",
                  "table": "\n".join(f"{i / 7},{i % 5},{math.sin(i)}" for i in range(60))},
}  # fmt: skip


def compute_rows(plan, trials=None):
    chunk = Chunk(plan, trials or plan.list_trials("choose"))
    while not chunk.finished:
        chunk.advance()
    return chunk.make_rows()


def chunk_rows(plan, trials=None):
    return {row.trial: row for row in compute_rows(plan, trials)}


@pytest.mark.parametrize("case", CASES)
def test_each_run_is_what_it_is_alone(case):
    plan = Plan.create(**CASES[case], lrs=[0.003, 0.03], seeds=[3, 8], steps=7)
    rows = chunk_rows(plan)
    assert set(rows) == set(plan.list_trials("choose"))
    for trial in random.Random(0).sample(sorted(rows), 6):
        run, row = train(plan.settings(trial)), rows[trial]
        learns = CASES[case].get("learn") and trial.rule == "lsq"
        assert (run.settings.learn, run.settings.learn_each) == (
            ("s",) if learns else (), CASES[case].get("learn_each", "layer"),
        )  # fmt: skip
        snapshot = run.snapshot()
        alone = [snapshot.loss[trial.rule], run.validation()[trial.rule][0], snapshot.score[trial.rule][0]]
        assert [row.loss, row.validation, row.held_out] == [float(value) for value in alone]
        assert row.steps == plan.steps
        assert not row.diverged


def test_a_diverging_run_reports_its_step_and_leaves_others_unchanged():
    breaks = "formula: g / 0"
    plan = Plan.create("circles", "sign", [breaks, "clipped"], lrs=[0.01], seeds=2, steps=5, controls=False)
    rows = chunk_rows(plan)
    for trial, row in rows.items():
        assert row.diverged == (trial.rule == breaks)
        assert row.steps == (1 if row.diverged else 5)
        assert math.isfinite(row.loss)
        assert math.isnan(row.held_out) == math.isnan(row.validation) == row.diverged
    healthy = [trial for trial in rows if trial.rule == "clipped"]
    assert chunk_rows(plan, healthy) == {trial: rows[trial] for trial in healthy}


def test_the_passed_gradient_is_that_of_the_rule():
    plan = Plan.create(
        "circles", "sign", ["straight_through", "scale"], lrs=[0.01], seeds=1, steps=2, parameters={"s": -0.5}
    )
    passed = {trial.rule: row.passed for trial, row in chunk_rows(plan).items()}
    assert passed == {"straight_through": 1.0, "scale": 0.5, "zero": 0.0, "reversal": 1.0}


def test_the_threads_of_torch_are_as_before():
    before = torch.get_num_threads()
    Stepper(Plan.create("circles", seeds=1, steps=1)).advance()
    assert torch.get_num_threads() == before

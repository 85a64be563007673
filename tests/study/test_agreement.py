"""The share of quantised weights that end as straight-through's: against runs alone, and as it is said."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
import torch

import explorer
from explorer.catalogue import resolve_values
from explorer.study import Plan, Result, StudyFile
from explorer.study.trial import AGREEMENT
from tests.study.test_chunk import compute_rows
from tests.training.driving import train

SMALL = {"lrs": [0.003, 0.03], "seeds": 2, "steps": 12, "hidden": 8, "batch": 16, "controls": False}


def quantised(settings, steps):
    """The op on the latent weights of a run of its own: w · √inputs of every layer."""
    run = train(settings, steps)
    own = resolve_values(explorer.OPS[settings.op], None, settings.parameters)
    weights = (w for name, w in sorted(run.weights().items()) if name.endswith("weight"))
    quantise = partial(explorer.apply, settings.op, "default", **own)
    return torch.cat([quantise(w * w.shape[1] ** 0.5).flatten() for w in weights])


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("rules", [["dsq", "rdfs"], ["dsq", "straight_through", "masked"]])
def test_it_is_that_of_two_runs_alone(rules, equal):
    """Whether straight-through is among the rules or goes beside them; its rate is never divided."""
    optimiser = {"optimiser": "sgd", "lrs": [0.1, 1.0]} if equal else {}
    plan = Plan.create("ternary weights", None, rules, equal=equal, **{**SMALL, **optimiser})
    found = []
    for row in compute_rows(plan):
        settings = plan.settings(row.trial)
        beside = replace(settings, rules=("straight_through",), lr=row.trial.lr)
        own, other, start = (quantised(*each) for each in ((settings, 12), (beside, 12), (beside, 0)))
        assert row.agree == pytest.approx(float((own == other).double().mean()))
        changed = other != start
        assert 0.01 < changed.double().mean() < 1
        assert row.agree_changed == pytest.approx(float((own == other)[changed].double().mean()))
        found.append(row.agree)
    assert len(set(found)) > 3


def test_a_reference_run_does_not_change_the_other_runs():
    plan = Plan.create("ternary weights", None, ["dsq"], **SMALL)
    row = compute_rows(plan)[-1]
    assert train(plan.settings(row.trial), 12).snapshot().loss["dsq"] == row.loss


def test_it_is_unknown_where_the_op_is_on_units_and_where_something_learns():
    units = Plan.create("circles", "sign", ["clipped"], **SMALL)
    learns = Plan.create("ternary weights", "quantize", ["lsq"], learn=["s"], **SMALL)
    for plan in (units, learns):
        result = Result(plan, compute_rows(plan))
        assert {row.agree for row in result.rows} == {None}
        assert not set(AGREEMENT) & {*result.frame, *result.best, *result.cells}
        assert "quantised weights" not in result.describe()


def test_agreement_is_unknown_if_a_run_diverges():
    plan = Plan.create("ternary weights", None, ["formula: g / 0", "dsq"], **SMALL)
    assert {(row.agree is None) == row.diverged for row in compute_rows(plan)} == {True}


def test_tables_csv_file_and_sentences_have_it(tmp_path):
    plan = Plan.create("ternary weights", None, ["straight_through", "dsq"], **SMALL)
    chosen = compute_rows(plan)
    rows = chosen + compute_rows(plan, plan.list_trials("judge", chosen))
    result = Result(plan, rows)
    frame = result.frame[result.frame.stage == "choose"]
    means = frame.groupby(["rule", "lr"])[list(AGREEMENT)].mean()
    for cell in result.cells.itertuples():
        assert cell.agree == pytest.approx(means.loc[(cell.rule, cell.lr), "agree"])
    dsq = result.best.set_index("rule").loc["dsq"]
    assert dsq.agree_changed == pytest.approx(means.loc[("dsq", dsq.lr), "agree_changed"])
    assert ",agree,agree_changed" in result.csv().splitlines()[0]
    said = f"Differentiable soft quantisation {100 * dsq.agree:.0f} % ({100 * dsq.agree_changed:.0f} %)."
    assert f"as a share of all (and of those that it changed): {said}" in result.describe()
    path = tmp_path / "study.csv"
    StudyFile(path, plan).append(result.rows)
    read = {row.trial: row.agree for row in StudyFile(path, plan).rows}
    assert read == {row.trial: row.agree for row in result.rows}

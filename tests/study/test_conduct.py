import pandas as pd
import pytest

import explorer
from explorer.study import chunk, conduct

ARGUMENTS = {"task": "circles", "op": "sign", "rules": ["default", "clipped"], "lrs": [0.01, 0.1], "seeds": 2,
             "steps": 3, "hidden": 4}  # fmt: skip


def test_a_study_turns_its_arguments_into_tables(capsys):
    result = explorer.study(**ARGUMENTS)
    assert len(result.frame) == result.plan.runs == 4 * 2 * 2 + 4 * 2
    assert list(result.best["rule"]) == ["default", "clipped", "zero", "reversal"]
    assert "circles" in result.describe().lower()
    assert result.figure().data
    assert "100%" in capsys.readouterr().err


def test_the_settings_of_a_run_are_those_of_every_run_and_nothing_is_printed(capsys):
    result = explorer.study(**ARGUMENTS | {"batch": 3, "optimiser": "sgd", "bias": False}, progress=False)
    assert capsys.readouterr() == ("", "")
    settings = result.plan.settings(result.rows[0].trial)
    assert (settings.batch, settings.optimiser, settings.bias, settings.hidden) == (3, "sgd", False, 4)


def test_an_interrupted_study_continues(tmp_path, monkeypatch):
    whole = explorer.study(**ARGUMENTS, progress=False)
    path, made = tmp_path / "study.csv", []

    def interrupted(plan, rows, moved):
        for number, new in enumerate(_slowly(plan, rows)):
            if number == 3:
                raise KeyboardInterrupt
            yield new

    monkeypatch.setattr(conduct, "_compute_here", interrupted)
    with pytest.raises(KeyboardInterrupt):
        explorer.study(**ARGUMENTS, file=path, progress=False)
    monkeypatch.undo()
    before = pd.read_csv(path)
    assert 0 < len(before) < len(whole.frame)

    begun = chunk.Chunk.__init__
    monkeypatch.setattr(
        chunk.Chunk, "__init__", lambda self, plan, trials: made.extend(trials) or begun(self, plan, trials)
    )
    result = explorer.study(**ARGUMENTS, file=path, progress=False)
    assert len(made) == len(whole.frame) - len(before)
    pd.testing.assert_frame_equal(result.frame, whole.frame)
    made.clear()
    pd.testing.assert_frame_equal(explorer.study(**ARGUMENTS, file=path, progress=False).frame, whole.frame)
    assert made == []


def _slowly(plan, rows):
    stepper = conduct.Stepper(plan, rows, min_chunk=3)
    while not stepper.finished:
        if new := stepper.advance(0):
            yield new


def test_an_impossible_file_is_refused_before_anything_is_computed(tmp_path, monkeypatch):
    monkeypatch.setattr(conduct, "_compute_here", None)
    path = tmp_path / "study.csv"
    path.write_text("a,b\n")
    with pytest.raises(ValueError, match="is not a study file"):
        explorer.study(**ARGUMENTS, file=path, progress=False)

"""The routes of studies: what they cost, what is told of them, and what is refused."""

import csv
import io
import json
from statistics import fmean
from unittest.mock import Mock

import pytest

from explorer.study import write_script
from explorer.training import Engine, Limits, StudyStatus
from explorer.ui.server.admission import limits
from explorer.ui.server.runs import jobs, stream
from tests.training.driving import turn_until_idle
from tests.ui.server.runs.test_jobs import STUDY as QUERY
from tests.ui.server.runs.test_jobs import begun as begun_job
from tests.ui.server.runs.test_jobs import commanded as commanded_job
from tests.ui.server.runs.test_jobs import told
from tests.ui.server.runs.test_stream import told as told_by

RUNS = 3 * (2 + 1) * 2  # rules and controls, rates and the one they are judged at, seeds


@pytest.fixture
def engine(clock, monkeypatch):
    """One that takes a single step of a study in a turn, however fast the machine is."""
    by_hand = Engine(Limits(workers=0, study_slice_s=0.0), clock)
    monkeypatch.setattr(jobs, "shared_engine", lambda: by_hand)
    return by_hand


def begun(client, query=QUERY):
    return begun_job(client, query=query, kind="studies")


def commanded(client, study, name):
    return commanded_job(client, study, name, "studies").data


def last_event(study):
    return json.loads(stream.format_event(jobs.shared_engine().snapshot(study["id"])))


def test_a_study_is_what_the_link_says_and_fills_to_its_end(client, engine):
    study = begun(client)
    first = last_event(study)
    assert (first["state"], first["results"]["runs"], first["results"]["most"]) == ("running", 0, RUNS)
    turn_until_idle(engine)
    event = last_event(study)
    results = event["results"]
    assert (event["state"], results["runs"], results["seeds"]) == ("finished", RUNS, 2)
    assert (results["lrs"], results["controls"]) == ([0.003, 0.03], ["zero", "reversal"])
    assert (results["metric"], results["chance"]) == ("accuracy", 0.5)
    cells = {(cell["rule"], cell["lr"]): cell for cell in results["cells"]}
    shares = {"straight_through": 1, "zero": 0, "reversal": 1}
    assert set(cells) == {(rule, lr) for rule in shares for lr in (0.003, 0.03)}
    assert all(0 <= cell["mean"] <= 1 and cell["seeds"] == 2 for cell in cells.values())
    assert {each["lr"] for each in results["judged"]} <= {0.003, 0.03}
    assert {each["rule"]: each["share"] for each in results["judged"]} == shares
    assert "seeds 2 to 3, not used to choose rates" in results["words"][0]


def test_on_an_equal_footing_the_csv_has_the_divided_rates_and_the_script_repeats_them(client, engine):
    query = QUERY.replace("straight_through", "clipped&rule=approx_sign") + "&optimiser=sgd&equal=yes"
    study = begun(client, query=query)
    engine.turn()
    assert last_event(study)["results"]["standings"] == []
    turn_until_idle(engine)
    script = client.get(f"/studies/{study['id']}/study.py").text
    assert script == write_script(engine.snapshot(study["id"]).plan)
    assert "    equal=True,\n" in script
    results = last_event(study)["results"]
    shares = {each["rule"]: each["share"] for each in results["judged"]}
    rows = [*csv.DictReader(io.StringIO(client.get(f"/studies/{study['id']}/rows.csv").text))]
    assert len(rows) == results["runs"]
    assert {row["stage"] for row in rows} == {"choose", "judge"}
    for row in rows:
        assert float(row["trained_lr"]) == float(row["lr"]) / (shares[row["rule"]] or 1)
    (pair,) = results["standings"]
    assert (pair["first"], pair["second"]) == ("clipped", "approx_sign")
    first, second = (
        fmean(float(row["held_out"]) for row in rows if (row["stage"], row["rule"]) == ("judge", rule))
        for rule in ("clipped", "approx_sign")
    )
    assert pair["lower"] == first - second
    for name in ("rows.csv", "study.py"):
        assert "press Start" in told(client.get(f"/studies/nobody-knows/{name}"), 404)


def test_pause_resume_and_stop(client, engine):
    study = begun(client)
    engine.turn()
    assert commanded(client, study, "pause")["state"] == "paused"
    assert not engine.turn()
    assert commanded(client, study, "resume")["state"] == "running"
    turn_until_idle(engine)
    assert last_event(study)["results"]["runs"] == RUNS
    assert commanded(client, begun(client), "stop")["state"] == "stopped"


def test_a_rule_that_diverges_at_every_rate_is_reported(client, engine):
    study = begun(client, query=QUERY.replace("straight_through", "formula: g / 0") + "&controls=no")
    turn_until_idle(engine)
    results = last_event(study)["results"]
    assert [(cell["mean"], cell["diverged"]) for cell in results["cells"]] == [(None, 2)] * 2
    (judged,) = results["judged"]
    assert [judged[name] for name in ("lr", "share")] == [None] * 2
    assert any("diverged at every rate" in sentence for sentence in results["words"])


def test_an_invalid_study_gives_a_message_and_starts_nothing(client, engine):
    for query, said in (
        ("op=sign&rule=zero", "no held-out data"), (f"{QUERY}&rates=0", "rates = "),
        (f"{QUERY}&rates=-1,0.1", "rates = "), (f"{QUERY}&rates=", "rates = "),
        (f"{QUERY}&sweep=c&values=1,2", "a study no longer does: add one rule"),
        (f"{QUERY}&controls=perhaps", "yes or no"),
        (f"{QUERY}&optimiser=adam&equal=yes", "adam's steps do not depend on"),
    ):  # fmt: skip
        assert said in told(client.post("/studies", {"query": query, "owner": "me"}), 400)
    assert not engine.turn()


def test_the_cost_is_stated_before_anything_starts_and_too_many_runs_are_refused(client, engine, monkeypatch):
    weighed = client.post("/studies/cost", {"query": QUERY}).data
    assert weighed["sentence"].startswith(f"{RUNS} runs of 5 steps: about ")
    assert weighed["sentence"].endswith(" if nobody else is training.")
    assert not weighed["refused"]
    monkeypatch.setattr(limits, "MAX_STUDY_RUNS", 2)
    weighed = client.post("/studies/cost", {"query": QUERY}).data
    assert weighed["refused"]
    assert f"{RUNS} runs of 5 steps" in weighed["sentence"]
    assert "the limit is 2 runs" in weighed["sentence"]
    assert told(client.post("/studies", {"query": QUERY, "owner": "me"}), 400) == weighed["sentence"]
    assert not engine.turn()


def test_a_watcher_sees_a_study_fill(client, engine):
    study = begun(client)
    seen = told_by(engine, study["id"], 3, engine.turn)
    assert [event["state"] for event in seen][:1] == ["running"]
    assert [event["done"] for event in seen] == sorted({event["done"] for event in seen})
    commanded(client, study, "stop")
    (stopped,) = told_by(engine, study["id"], 9)
    assert (stopped["state"], stopped["sentence"]) == ("stopped", "Stopped.")


def test_the_number_of_concurrent_runs_is_limited(client, engine, monkeypatch):
    monkeypatch.setattr(limits, "STUDY_CHUNK", 2)
    study = begun(client)
    while not (runs := last_event(study)["results"]["runs"]):
        engine.turn()
    assert runs == 2


def test_a_silent_engine_is_reported_in_the_words_of_studies(client, engine):
    silent = Mock(snapshots=Mock(side_effect=RuntimeError("the training process does not answer")))
    (event,) = told_by(silent, begun(client)["id"], most=1)
    assert event["sentence"] == "The study is unavailable: the training process does not answer."
    assert json.loads(stream.format_event(StudyStatus("a", "gone", "This study is gone.")))["results"] is None

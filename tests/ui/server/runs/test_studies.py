"""The routes of studies: what they cost, who may do what, what is told, and what is refused."""

import asyncio
import csv
import io
import json

import pytest
from starlette.applications import Starlette

from explorer.study import script
from explorer.training import Engine, Limits
from explorer.training.scheduling.study import StudyStatus
from explorer.ui.server.admission import limits
from explorer.ui.server.admission.admission import Refused, refused
from explorer.ui.server.runs import stream, studies
from tests.training.driving import Clock, turn_until_idle
from tests.ui.asgi import messages_of
from tests.ui.server.runs.test_runs import Client, told

QUERY = "task=circles&op=sign&rule=straight_through&rates=0.003,0.03&seeds=2&steps=5&hidden=4&batch=8"
RUNS = 3 * (2 + 1) * 2  # rules and controls, rates and the one they are judged at, seeds


class Studies(Client):
    app = Starlette(routes=list(studies.ROUTES), exception_handlers={Refused: refused})

    def get(self, path):
        return asyncio.run(self._got(path))

    async def _got(self, path):
        scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": []}
        sent = await messages_of(self.app, scope)
        return sent[0]["status"], b"".join(part.get("body", b"") for part in sent[1:]).decode()


@pytest.fixture
def engine(clock, monkeypatch):
    """One that takes a single step of a study in a turn, however fast the machine is."""
    by_hand = Engine(Limits(workers=0, study_slice_s=0.0), clock)
    monkeypatch.setattr(studies, "shared_engine", lambda: by_hand)
    return by_hand


@pytest.fixture
def client():
    return Studies()


def begun(client, owner="me", query=QUERY):
    answer = client.post("/studies", json={"query": query, "owner": owner})
    assert answer.status_code == 200
    return answer.json()


def commanded(client, study, name):
    return client.post(f"/studies/{study['id']}/{name}", json={"key": study["key"]})


def last_event(study):
    (status,) = studies.shared_engine().studies([study["id"]])
    return json.loads(studies.event(status))


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
    assert set(cells) == {
        (rule, lr) for rule in ("straight_through", "zero", "reversal") for lr in (0.003, 0.03)
    }
    assert all(0 <= cell["mean"] <= 1 and cell["seeds"] == 2 for cell in cells.values())
    for judged in results["judged"]:
        assert judged["lr"] in (0.003, 0.03)
        assert judged["half"] is None or judged["half"] >= 0
    assert {each["rule"]: each["share"] for each in results["judged"]} == {
        "straight_through": 1, "zero": 0, "reversal": 1
    }  # fmt: skip
    assert "seeds 2 to 3 that chose nothing" in results["words"][0]


def test_all_runs_are_there_as_csv(client, engine):
    study = begun(client)
    turn_until_idle(engine)
    status, text = client.get(f"/studies/{study['id']}/rows.csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert (status, len(rows)) == (200, RUNS)
    assert {row["stage"] for row in rows} == {"choose", "judge"}
    status, text = client.get("/studies/nobody-knows/rows.csv")
    assert status == 404
    assert "press Start" in text


def test_a_study_is_there_as_a_script_that_repeats_it(client, engine):
    query = QUERY.replace("straight_through", "clipped&rule=approx_sign") + "&optimiser=sgd&equal=yes"
    study = begun(client, query=query)
    (status,) = engine.studies([study["id"]])
    code, text = client.get(f"/studies/{study['id']}/study.py")
    assert (code, text) == (200, script(status.plan))
    assert "    equal=True,\n" in text
    assert client.get("/studies/nobody-knows/study.py")[0] == 404


def test_on_an_equal_footing_the_csv_has_the_divided_rates_and_pairs_are_told_at_the_end(client, engine):
    query = QUERY.replace("straight_through", "clipped&rule=approx_sign") + "&optimiser=sgd&equal=yes"
    study = begun(client, query=query)
    engine.turn()
    assert last_event(study)["results"]["standings"] == []
    turn_until_idle(engine)
    results = last_event(study)["results"]
    shares = {each["rule"]: each["share"] for each in results["judged"]}
    _, text = client.get(f"/studies/{study['id']}/rows.csv")
    for row in csv.DictReader(io.StringIO(text)):
        share = shares[row["rule"]] or 1
        assert float(row["trained_lr"]) == float(row["lr"]) / share
    (pair,) = results["standings"]
    means = {each["rule"]: each["mean"] for each in results["judged"]}
    assert (pair["first"], pair["second"]) == ("clipped", "approx_sign")
    assert pair["lower"] == means["clipped"] - means["approx_sign"]


def test_stop_resume_and_drop(client, engine):
    study = begun(client)
    engine.turn()
    assert commanded(client, study, "stop").json()["state"] == "paused"
    assert not engine.turn()
    assert commanded(client, study, "resume").json()["state"] == "running"
    turn_until_idle(engine)
    assert last_event(study)["results"]["runs"] == RUNS
    assert commanded(client, study, "drop").json()["state"] == "gone"


def test_only_who_started_a_study_commands_it(client, engine):
    study, other = begun(client), begun(client, owner="another")
    for key in (other["key"], "", None, 7):
        answer = client.post(f"/studies/{study['id']}/drop", json={"key": key})
        assert "Only the visitor who started this study" in told(answer, 403)
    assert "stop, resume, drop" in told(commanded(client, study, "explode"), 404)
    assert client.post("/studies/nobody-knows/stop", json={"key": "x"}).json()["state"] == "gone"


def test_a_rule_that_diverges_at_every_rate_is_told_as_such(client, engine):
    study = begun(client, query=QUERY.replace("straight_through", "formula: g / 0") + "&controls=no")
    turn_until_idle(engine)
    results = last_event(study)["results"]
    assert [(cell["mean"], cell["diverged"]) for cell in results["cells"]] == [(None, 2)] * 2
    (judged,) = results["judged"]
    assert [judged[name] for name in ("lr", "mean", "half", "share")] == [None] * 4
    assert any("diverged at every rate" in sentence for sentence in results["words"])


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("op=sign&rule=zero", "nothing to judge by"),
        (f"{QUERY}&rates=0", "rates = "),
        (f"{QUERY}&rates=-1,0.1", "rates = "),
        (f"{QUERY}&rates=", "rates = "),
        (f"{QUERY}&sweep=c&values=1,2", "a study no longer does: add a rule of your own"),
        (f"{QUERY}&controls=perhaps", "yes or no"),
        (f"{QUERY}&optimiser=adam&equal=yes", "says nothing about adam"),
    ],
)
def test_what_cannot_be_studied_is_said_and_starts_nothing(client, engine, query, said):
    assert said in told(client.post("/studies", json={"query": query, "owner": "me"}), 400)
    assert not engine.turn()


def test_more_runs_than_are_taken_are_refused_with_their_cost(client, engine, monkeypatch):
    monkeypatch.setattr(limits, "LANES", 2)
    weighed = client.post("/studies/cost", json={"query": QUERY}).json()
    assert weighed["refused"]
    assert f"{RUNS} runs of 5 steps" in weighed["sentence"]
    assert "at most 2 runs are taken" in weighed["sentence"]
    refusal = told(client.post("/studies", json={"query": QUERY, "owner": "me"}), 400)
    assert refusal == weighed["sentence"]


def test_the_cost_is_measured_and_said_before_anything_starts(client, engine):
    weighed = client.post("/studies/cost", json={"query": QUERY}).json()
    assert weighed["sentence"].startswith(f"{RUNS} runs of 5 steps: about ")
    assert weighed["sentence"].endswith(" if nobody else is training.")
    assert not weighed["refused"]
    assert not engine.turn()


def test_a_visitor_has_one_study(client, engine):
    first, _, second = (begun(client, owner) for owner in ("me", "another", "me"))
    assert [last_event(each)["state"] for each in (first, second)] == ["gone", "running"]


def test_a_full_house_is_said(client, monkeypatch):
    full = Engine(Limits(workers=0, studying=0, studies_waiting=0), Clock())
    monkeypatch.setattr(studies, "shared_engine", lambda: full)
    answer = client.post("/studies", json={"query": QUERY, "owner": "me"})
    assert "try again in some minutes" in told(answer, 503)


def told_by(identity, most, meanwhile):
    """So many events, as data; ``meanwhile`` is called after each."""

    async def watched():
        texts = []
        async for text in studies._events(identity):
            texts.append(text)
            if len(texts) == most:
                break
            meanwhile()
        return texts

    return [json.loads(text.removeprefix("data: ")) for text in asyncio.run(watched())]


def test_a_watcher_sees_a_study_fill(client, engine, monkeypatch):
    monkeypatch.setattr(studies, "INTERVAL_S", 0.001)
    study = begun(client)
    monkeypatch.setattr(stream, "QUIET_S", 0.2)
    seen = told_by(study["id"], 3, engine.turn)
    assert [event["state"] for event in seen][:1] == ["running"]
    assert [event["done"] for event in seen] == sorted({event["done"] for event in seen})
    commanded(client, study, "drop")
    (gone,) = told_by(study["id"], 9, lambda: None)
    assert (gone["state"], gone["results"]) == ("gone", None)


def test_all_watchers_together_share_the_pictures_of_a_second(engine, client, monkeypatch):
    slept = []

    async def sleep(seconds):
        slept.append(seconds)
        engine.turn()

    async def looked(study, watchers):
        monkeypatch.setattr(studies, "_watching", range(watchers))
        every = studies._events(study["id"])
        await anext(every)
        await anext(every)
        await every.aclose()

    monkeypatch.setattr(limits, "STUDY_PICTURES", 2)
    monkeypatch.setattr(stream.asyncio, "sleep", sleep)
    asyncio.run(looked(begun(client), 0))
    assert set(slept) == {studies.INTERVAL_S}
    slept.clear()
    asyncio.run(looked(begun(client), 5))
    assert set(slept) == {2.5}


def test_so_many_runs_go_together(client, engine, monkeypatch):
    monkeypatch.setattr(limits, "STUDY_CHUNK", 2)
    study = begun(client)
    while not (runs := last_event(study)["results"]["runs"]):
        engine.turn()
    assert runs == 2


def test_an_engine_that_is_silent_is_said(monkeypatch):
    class Silent:
        def studies(self, _identities):
            raise RuntimeError("the training process does not answer")

    monkeypatch.setattr(studies, "shared_engine", Silent)
    _, text, lasts = studies._look("a study", None)
    assert "does not answer" in json.loads(text)["sentence"]
    assert lasts


def test_an_event_without_a_study_has_no_results():
    assert json.loads(studies.event(StudyStatus("a", "gone", "This study is gone.")))["results"] is None

"""The routes of runs and studies: who may do what, and what is said of everything else."""

from unittest.mock import Mock

import pytest

from explorer.instrument.limits import MAX_QUERY
from explorer.training import Engine, Limits
from explorer.ui.server.runs import jobs
from tests.training.driving import Clock

QUERY = "op=relu&rule=default&rule=zero&hidden=4&batch=8&steps=20&pace=full"
STUDY = "task=circles&op=sign&rule=straight_through&rates=0.003,0.03&seeds=2&steps=5&hidden=4&batch=8"


def begun(client, owner="me", query=QUERY, kind="runs", **more):
    answer = client.post(f"/{kind}", {"query": query, "owner": owner, **more})
    assert answer.status == 200
    return answer.data


def commanded(client, run, name, kind="runs", **more):
    return client.post(f"/{kind}/{run['id']}/{name}", {"key": run["key"], **more})


of_both = pytest.mark.parametrize(("kind", "query"), [("runs", QUERY), ("studies", STUDY)])


def told(answer, code):
    """The sentence of an answer that is none."""
    assert answer.status == code
    sentence = answer.data["message"]
    assert not sentence[0].islower()
    assert sentence.endswith(".")
    assert "Traceback" not in sentence
    return sentence


def test_a_run_is_what_the_link_says(client, engine):
    run = begun(client)
    (status,) = engine.list()
    assert (run["id"], status.state, status.steps) == (status.id, "running", 20)
    (entry,) = engine._runs
    assert entry.settings.rules == ("default", "zero")
    assert (entry.settings.hidden, entry.settings.pace) == (4, "full")
    assert len(run["key"]) == 64
    # A net has the loss of its task, and not the one set on Explore.
    begun(client, query="task=moons&op=gumbel_sigmoid&rule=reinforce_baseline&tau=0.5&b=0.1&target=0.3&g=2")
    assert [entry.settings.parameters for entry in engine._runs][-1] == {"tau": 0.5, "b": 0.1}


def test_the_faster_device_is_named_in_a_sentence(client, engine, monkeypatch):
    monkeypatch.setattr(engine, "compare_devices", lambda: "Small nets train faster on the CPU.")
    assert client.get("/devices").data == {"words": "Small nets train faster on the CPU."}


def test_commands_answer_with_the_status_as_an_event_has_it(client, engine):
    run = begun(client, paused=True)
    assert engine.list()[0].state == "ready"
    answer = commanded(client, run, "step").data
    assert (answer["state"], answer["step"], answer["device"]) == ("paused", 1, "CPU")
    assert set(answer["snapshot"]["losses"]) == {"default", "zero"}
    assert commanded(client, run, "resume").data["state"] == "running"
    assert commanded(client, run, "pause").data["state"] == "paused"
    assert commanded(client, run, "reset").data["step"] == 0
    assert commanded(client, run, "stop").data["state"] == "stopped"


def in_force(entry):
    return entry.pending.get("lr", entry.settings.course_of(entry.step).lr), entry.settings.pace


def test_lr_and_pace_change_and_nothing_else(client, engine):
    run = begun(client)
    assert commanded(client, run, "change", lr="1e-9", pace="7").status == 200
    (entry,) = engine._runs
    assert in_force(entry) == (1e-9, 7)
    commanded(client, run, "change", seed="4")
    assert entry.settings.seed == 0
    assert "lr must be" in told(commanded(client, run, "change", lr="1e9"), 400)
    assert in_force(entry) == (1e-9, 7)


def test_a_run_branches_more_often_than_a_link_has_room_for(client, engine):
    points = [f"{step},op:formula: x + {step}{' ' * 250}" for step in range(9)]
    assert len("".join(points)) > MAX_QUERY
    begun(client, branch=points)
    (entry,) = engine._runs
    assert [point[0] for point in entry.settings.branch] == list(range(9))
    begun(client, branch="3,lr:1")
    assert [entry.settings.branch for entry in engine._runs][-1] == ()
    many = [f"{step},{name}:zero" for step in range(20) for name in ("default", "zero", "rule")]
    many += [f"{step},lr:0.1" for step in range(20)]
    for branch, said in (
        (["3,lr"], "only lr, op, rule or one of the rules"),
        (many, "branches at most"),
        (["3,op:?"], "unknown op"),
    ):
        answer = client.post("/runs", {"query": QUERY, "owner": "me", "branch": branch})
        assert said in told(answer, 400)


@pytest.mark.parametrize("name", ["pause", "resume", "step", "reset"])
@pytest.mark.parametrize("paused", [True, False])
def test_every_command_brings_the_lr_and_pace_that_are_shown(client, engine, name, paused):
    run = begun(client, paused=paused)
    before = commanded(client, run, name).data["state"]
    assert commanded(client, run, name, lr="1e-9", pace="7").data["state"] == before
    (entry,) = engine._runs
    assert in_force(entry) == (1e-9, 7)
    assert "lr must be" in told(commanded(client, run, name, lr="1e9"), 400)


@of_both
def test_only_who_started_one_commands_it(client, engine, kind, query):
    mine, other = (begun(client, owner, query, kind) for owner in ("me", "another"))
    for key in (other["key"], "", None, 7, "ü", "\ud800", [mine["key"]]):
        answer = client.post(f"/{kind}/{mine['id']}/stop", {"key": key})
        what = {"runs": "run", "studies": "study"}[kind]
        assert f"Only the visitor who started this {what}" in told(answer, 403)
    for each in (mine, other):
        assert engine.snapshot(each["id"]).state == "running"
    assert "change, pause, resume" in told(commanded(client, mine, "explode", kind), 404)


@of_both
def test_one_that_nobody_knows_is_gone_whatever_the_key(client, engine, kind, query):
    answer = client.post(f"/{kind}/nobody-knows/pause", {"key": "x"})
    assert (answer.status, answer.data["state"]) == (200, "gone")
    assert "press Start" in answer.data["sentence"]


def test_a_visitor_may_have_one_run_and_one_study(client, engine):
    both = (QUERY, "runs"), (STUDY, "studies")
    asked = [(owner, *each) for owner in ("me", "another", "me") for each in both]
    started = [begun(client, *each)["id"] for each in asked]
    assert [engine.snapshot(each).state for each in started] == ["stopped"] * 2 + ["running"] * 4


def test_an_impossible_job_starts_nothing(client, engine):
    start = {"query": QUERY, "owner": "me"}
    for wrong, said in (
        ({"query": "op=rund"}, 'unknown op "rund"'), ({"query": "steps=1e999"}, "steps"),
        ({"query": "x" * MAX_QUERY + "yz"}, "longer than"), ({"query": "rule=formula:+g*"}, "cannot be read"),
        *(({"owner": owner}, "1 to 64 characters") for owner in (None, "", "x" * 65, 7, {})),
    ):  # fmt: skip
        assert said in told(client.post("/runs", start | wrong), 400)
    assert engine.list() == ()


@of_both
def test_a_full_queue_and_a_silent_engine_are_reported(client, monkeypatch, kind, query):
    full = Engine(Limits(workers=0, running=0, waiting=0, studying=0, studies_waiting=0), Clock())
    monkeypatch.setattr(jobs, "shared_engine", lambda: full)
    start = {"query": query, "owner": "me"}
    assert "Try again in " in told(client.post(f"/{kind}", start), 503)
    fail = Mock(side_effect=RuntimeError("it does not answer: Try again in a moment"))
    monkeypatch.setattr(jobs, "shared_engine", lambda: Mock(start=fail, start_study=fail))
    said = told(client.post(f"/{kind}", start), 503)
    assert said == "Training is unavailable: it does not answer: Try again in a moment."


def test_a_rate_that_comes_with_a_reset_holds_from_the_start(client, engine):
    run = begun(client, paused=True)
    commanded(client, run, "step")
    commanded(client, run, "reset", lr="1e-9")
    (entry,) = engine._runs
    assert (entry.settings.course_of(0).lr, entry.settings.branch) == (1e-9, ())

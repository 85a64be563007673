"""Two servers behind one name: who asks the wrong one is sent to the other, or told which it is."""

import json

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from explorer.training import Engine, Limits
from explorer.training.scheduling.ids import REPLICA, JobIds, make_home_prefix, parse_replica
from explorer.ui.server.admission import replicas
from explorer.ui.server.admission.visitors import SECRET
from explorer.ui.server.runs import jobs
from tests.training.driving import SMALL, Clock
from tests.ui.asgi import Client
from tests.ui.visitors import scope_of

pytestmark = pytest.mark.usefixtures("first")
THERE = "second~0a.1b-2c"
HERE = "first~0a.1b-2c"
NOBODYS = "0a.1b-2c"
SENTENCE = "it is on the server second, which cannot be reached"
CLIENT = Client(jobs.ROUTES)


def test_a_request_to_the_wrong_server_is_redirected():
    for answer, way in (
        (CLIENT.get(f"/runs/{THERE}/events?show=causes&show=norms"), "show=causes&show=norms&replica=second"),
        (CLIENT.post(f"/runs/{THERE}/pause"), "replica=second"),
        (CLIENT.get(f"/studies/{THERE}/rows.csv?replica=third"), "replica=second"),
    ):
        assert (answer.status, answer.headers["location"]) == (307, f"?{way}")


def test_a_run_that_continues_a_remote_run_starts_on_the_remote_server(engine: Engine):
    body = {"query": "op=relu", "owner": "me", "after": {"run": THERE, "key": "", "step": 3}}
    answer = CLIENT.post("/runs", body)
    assert (answer.status, answer.headers["location"]) == (307, "?replica=second")
    assert engine.list() == ()


@pytest.mark.parametrize("kind", ["runs", "studies"])
def test_a_redirected_request_that_returns_gets_the_servers_name(kind: str):
    answer = CLIENT.get(f"/{kind}/{THERE}/events?replica=second")
    seen = json.loads(answer.body.removeprefix(b"data: "))
    assert (answer.status, seen["id"], seen["state"]) == (200, THERE, "silent")
    assert SENTENCE in seen["sentence"]
    assert "unexpectedly" not in seen["sentence"]
    answer = CLIENT.post(f"/{kind}/{THERE}/stop?replica=second", {})
    assert answer.status == 503
    assert SENTENCE in answer.data["message"]


@pytest.mark.parametrize("identity", [HERE, NOBODYS, "~", "UP~0a", "nobody", THERE])
def test_a_request_that_no_other_server_can_answer_stays(identity: str, engine: Engine, monkeypatch):
    if identity == THERE:
        monkeypatch.delenv(REPLICA)  # the only server sends nobody anywhere
    answer = CLIENT.post(f"/runs/{identity}/pause", {})
    assert (answer.status, answer.data["state"]) == (200, "gone")


def test_a_run_is_named_after_its_server():
    engine = Engine(Limits(workers=0), Clock(), home=make_home_prefix())
    assert parse_replica(engine.start(SMALL)) == "first"
    engine.close()


def test_why_a_run_is_gone():
    names = JobIds("first~0a.")
    restarted = "The server was restarted, so this run is lost"
    for identity, words in {
        "first~0a.other-1": "The training process stopped unexpectedly, so this run is lost",
        "first~0b.other-1": restarted, "0b.other-1": restarted,
        names.create("run"): "This run no longer exists",
    }.items():  # fmt: skip
        assert names.explain_missing(identity, "run") == words


def test_a_browser_gets_the_cookie_of_this_server_once():
    fresh = replicas.set_replica_cookie(Request(scope_of()), PlainTextResponse(""))
    assert fresh.headers["set-cookie"].startswith("replica=first; HttpOnly; ")
    again = Request(scope_of() | {"headers": [(b"cookie", b"replica=first")]})
    assert "set-cookie" not in replicas.set_replica_cookie(again, PlainTextResponse("")).headers


def test_one_of_several_servers_needs_a_short_word_as_name_and_their_secret(monkeypatch):
    for word in ("First", "a~b", "x" * 17, "a b", "é"):
        monkeypatch.setenv(REPLICA, word)
        with pytest.raises(ValueError, match="1 to 16 lower-case letters and digits"):
            replicas.check_environment()
    monkeypatch.setenv(REPLICA, "first")
    replicas.check_environment()
    monkeypatch.delenv(SECRET)
    with pytest.raises(ValueError, match="EXPLORER_REPLICA needs EXPLORER_SECRET"):
        replicas.check_environment()

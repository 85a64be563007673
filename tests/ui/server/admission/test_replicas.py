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


@pytest.mark.parametrize(
    ("method", "target", "way"),
    [
        ("GET", f"/runs/{THERE}/events?show=causes&show=norms", "?show=causes&show=norms&replica=second"),
        ("POST", f"/runs/{THERE}/pause", "?replica=second"),
        ("GET", f"/studies/{THERE}/rows.csv?replica=third", "?replica=second"),
    ],
)
def test_a_request_to_the_wrong_server_is_redirected(method: str, target: str, way: str):
    answer = CLIENT.get(target) if method == "GET" else CLIENT.post(target)
    assert (answer.status, answer.headers["location"]) == (307, way)


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


@pytest.mark.parametrize(
    ("identity", "words"),
    [
        ("first~0a.other-1", "The training process stopped unexpectedly, so this run is lost"),
        ("first~0b.other-1", "The server was restarted, so this run is lost"),
        ("0b.other-1", "The server was restarted, so this run is lost"),
    ],
)
def test_why_a_run_is_gone(identity: str, words: str):
    names = JobIds("first~0a.")
    assert names.explain_missing(identity, "run") == words
    assert names.explain_missing(names.create("run"), "run") == "This run no longer exists"


def test_a_browser_gets_the_cookie_of_this_server_once():
    fresh = replicas.set_replica_cookie(Request(scope_of()), PlainTextResponse(""))
    assert fresh.headers["set-cookie"].startswith("replica=first; HttpOnly; ")
    again = Request(scope_of() | {"headers": [(b"cookie", b"replica=first")]})
    assert "set-cookie" not in replicas.set_replica_cookie(again, PlainTextResponse("")).headers


@pytest.mark.parametrize("word", ["First", "a~b", "x" * 17, "a b", "é"])
def test_the_name_of_a_server_is_a_short_word(word: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(REPLICA, word)
    with pytest.raises(ValueError, match="1 to 16 lower-case letters and digits"):
        replicas.check_environment()


def test_one_of_several_servers_needs_their_secret(monkeypatch: pytest.MonkeyPatch):
    replicas.check_environment()
    monkeypatch.delenv(SECRET)
    with pytest.raises(ValueError, match="EXPLORER_REPLICA needs EXPLORER_SECRET"):
        replicas.check_environment()

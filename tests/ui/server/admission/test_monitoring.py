"""Probes, metrics and the journal: what those who run the server see, and nobody else."""

import asyncio
import logging
from types import SimpleNamespace
from typing import Any, get_args
from unittest.mock import Mock

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette

from explorer.training import Engine, Limits, Settings, Status, StudyStatus
from explorer.training.scheduling.status import State
from explorer.ui.server.admission import monitoring, visitors
from explorer.ui.server.admission.security import SecurityMiddleware
from explorer.ui.server.runs import jobs, stream
from tests.training.driving import Clock
from tests.ui.asgi import ask
from tests.ui.visitors import scope_of


def _asked(path: str, host: str = "localhost", token: str = "") -> tuple[int, str]:
    """The status and the text a hosted server answers."""
    fields = [(b"host", host.encode()), (b"authorization", token.encode())][: 1 + bool(token)]
    scope = scope_of(path=path) | {"headers": fields, "server": ("10.0.0.7", 8501)}
    app = SecurityMiddleware(Starlette(routes=list(monitoring.ROUTES)), is_hosted=True)
    answer = asyncio.run(ask(app, scope))
    return answer.status, answer.text


def _metrics(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Any]]:
    """The samples of each metric, for who has the token."""
    monkeypatch.setenv(monitoring.TOKEN, "s3cret")
    status, text = _asked("/metrics", token="Bearer s3cret")
    assert status == 200
    return {family.name: family.samples for family in text_string_to_metric_families(text)}


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Engine:
    by_hand = Engine(Limits(workers=0), Clock())
    monkeypatch.setattr(monitoring, "shared_engine", lambda: by_hand)
    return by_hand


def test_a_probe_is_answered_by_whatever_name_it_asks(served):
    assert _asked("/healthz", host="10.1.2.3:8501") == (200, "alive")
    assert _asked("/readyz", host="10.1.2.3:8501") == (200, "ready")
    assert _asked("/metrics", host="10.1.2.3:8501")[0] == 400
    status, words = _asked("/_stcore/metrics")
    assert (status, "/metrics" in words) == (404, True)  # Streamlit's own


def test_a_server_whose_trainer_is_silent_lives_and_is_not_ready(monkeypatch):
    silent = Mock(side_effect=RuntimeError("the training process does not answer"))
    monkeypatch.setattr(monitoring, "shared_engine", lambda: SimpleNamespace(list=silent))
    assert _asked("/healthz")[0] == 200
    assert _asked("/readyz") == (503, "not ready: the training process does not answer")
    assert [sample.value for sample in _metrics(monkeypatch)["explorer_trainer_up"]] == [0]


def test_metrics_are_for_who_has_the_token(served, monkeypatch):
    monkeypatch.delenv(monitoring.TOKEN, raising=False)
    status, words = _asked("/metrics")
    assert (status, monitoring.TOKEN in words) == (404, True)
    assert _metrics(monkeypatch)
    for token in ("", "Bearer other", "s3cret"):
        status, words = _asked("/metrics", token=token)
        assert (status, "explorer_" in words) == (401, False)


def test_metrics_say_what_the_server_does(served, monkeypatch):
    monkeypatch.setattr(stream, "WATCH_LIMITERS", {Status: range(2), StudyStatus: range(3)})
    served.start(Settings(steps=3))
    served.start(Settings(steps=3), paused=True)
    for status in ("413", "429", "503"):
        monitoring.refusals.labels(status).inc()
    metrics = _metrics(monkeypatch)
    states = {sample.labels["state"]: sample.value for sample in metrics["explorer_runs"]}
    assert (sum(states.values()), states["ready"]) == (2, 1)
    assert states.keys() == set(get_args(State)) - {"gone", "silent", "crowded"}  # said of no run there is
    counts = [sample for sample in metrics["explorer_refusals"] if sample.name.endswith("_total")]
    assert {sample.labels["status"]: sample.value for sample in counts}["429"] >= 1
    assert {"explorer_pages", "explorer_computing", "explorer_trainer_up"} <= metrics.keys()
    watching = {each.labels["what"]: each.value for each in metrics["explorer_watchers"]}
    assert watching == {"training": 2, "study": 3}


def test_the_journal_says_an_event_once_a_minute_and_how_many_it_left_out(caplog):
    clock = Clock()
    journal = monitoring.EventLog(clock)
    with caplog.at_level(logging.INFO, logger="explorer"):
        for pages in range(3):
            journal.record("page refused", pages=pages)
        journal.record("run refused")
        clock.now += 60
        journal.record("page refused", pages=9)
    assert caplog.messages == ["page refused pages=0", "run refused", "page refused pages=9 unsaid=2"]


def test_servers_of_one_secret_know_each_others_keys(monkeypatch):
    def key_of_a_server() -> str:
        visitors._get_secret.cache_clear()
        return jobs.key_of("a run")

    monkeypatch.delenv(visitors.SECRET, raising=False)
    assert key_of_a_server() != key_of_a_server()
    monkeypatch.setenv(visitors.SECRET, "the same for both")
    assert key_of_a_server() == key_of_a_server()
    visitors._get_secret.cache_clear()

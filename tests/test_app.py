"""The server: what it does before the first visitor and after the last, and what it says when all fails."""

import asyncio
import gc
import importlib
import sys
from collections.abc import Iterator
from types import ModuleType
from unittest.mock import Mock

import pytest
import torch
from starlette.requests import Request
from starlette.routing import Match
from streamlit.testing.v1 import AppTest

from explorer import ui
from explorer.ui.server import answers, files
from explorer.ui.server.admission import admission, monitoring
from explorer.ui.server.admission.paths import PAGES
from tests.ui.visitors import scope_of


@pytest.fixture
def app() -> ModuleType:
    """The server's module, which takes a third of a second to load."""
    return importlib.import_module("app")


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mock]:
    stub = Mock()
    monkeypatch.setattr(ui, "shared_engine", lambda: stub)
    gc.unfreeze()
    threads = torch.get_num_threads()
    yield stub
    torch.set_num_threads(threads)
    gc.unfreeze()


def test_the_server_warms_up_freezes_and_closes(app, engine, monkeypatch):
    sampled = []
    files.compress_file.cache_clear()
    monkeypatch.setattr(ui, "sample", lambda *given: sampled.append((given, gc.get_freeze_count())))

    async def served() -> tuple[int, bool]:
        async with app.lifespan(app.app):
            assert torch.get_num_threads() == 1
            return gc.get_freeze_count(), engine.close.called

    frozen, closed = asyncio.run(served())
    assert [given for given, _ in sampled] == [("round", ["default", "straight_through"])]
    assert [before for _, before in sampled] == [0]  # what the warm-up leaves is frozen too
    assert frozen > 10_000
    assert files.compress_file.cache_info().currsize > 20  # what a first visit loads is compressed
    assert not closed
    assert engine.close.called


def test_the_server_runs_this_lifespan_and_shows_this_error(app: ModuleType) -> None:
    assert app.app._user_lifespan is app.lifespan
    assert app.app._on_script_error is app.show_error


def test_a_solution_is_judged_in_a_seat(app: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class that types waits in the line of those who compute."""
    seated = []

    async def compute(who: object, work: object, *given: object) -> dict[str, str]:
        seated.append((work, *given))
        return {}

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b'{"exercise": "clamp", "code": "x"}', "more_body": False}

    monkeypatch.setattr(app._compute_slots, "compute", compute)
    scope = scope_of(path="/ask/judge") | {"method": "POST", "path_params": {"question": "judge"}}
    scope["headers"] = [*scope["headers"], (b"content-type", b"application/json")]
    asyncio.run(app.ask(Request(scope, receive)))
    assert seated == [(answers.QUESTIONS["judge"].answer, {"exercise": "clamp", "code": "x"})]


def test_every_request_that_computes_is_rate_limited(app: ModuleType) -> None:
    of_operators = {route.path for route in monitoring.ROUTES}  # a probe is never told to come again
    known = {"/assets/{name:path}", *(page.path for page in PAGES), *of_operators}
    ours = [route for route in app.app._user_routes if route.path not in known]
    assert {"/ask/{question}", "/runs"} <= {route.path for route in ours}
    for route in ours:
        assert isinstance(route.app, admission.RateLimitMiddleware), route.path


def test_a_busy_server_leaves_a_page_to_streamlit(app: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: object) -> None:
        raise admission.RefusedError(429, "busy")

    monkeypatch.setattr(app._compute_slots, "compute", refuse)
    answer = asyncio.run(app.index(Request(scope_of(path="/"))))
    assert answer.status_code == 200
    assert b'id="root"' in answer.body


@pytest.mark.parametrize(("path", "is_ours"), [("/Trian", 1), ("/_stcore", 0), ("/favicon.png", 0)])
def test_an_address_that_is_no_page_has_the_style_of_one(app: ModuleType, path: str, is_ours: int) -> None:
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": []}
    routes = [route for route in app.app._user_routes if route.matches(scope)[0] is Match.FULL]
    assert bool(routes) == is_ours
    if is_ours:
        answer = asyncio.run(app.index(Request(scope)))
        assert b'rel="stylesheet"' in answer.body


@pytest.mark.parametrize(("path", "page"), [("/Train", "./train"), ("/explore", "./"), ("/STUDY", "./study")])
def test_an_address_in_other_letters_leads_to_its_page(app: ModuleType, path: str, page: str) -> None:
    answer = asyncio.run(app.index(Request(scope_of(path=path) | {"query_string": b"op=sign"})))
    assert answer.headers["location"] == f"{page}?op=sign"


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/runs", "GET"), ("/runs/", "GET"), ("/runs/one", "GET"), ("/runs/one/two/three", "GET"),
        ("/runs/one/two/three", "POST"), ("/studies", "GET"), ("/studies/one/rows.txt", "GET"),
        ("/settings", "GET"), ("/ask", "GET"), ("/ask/one", "GET"),
    ],
)  # fmt: skip
def test_an_unknown_address_is_refused_with_404(app: ModuleType, path: str, method: str) -> None:
    scope = scope_of(path=path) | {"method": method}
    matching = (route for route in app.app._user_routes if route.matches(scope)[0] is Match.FULL)
    assert next(matching).endpoint is app.refuse_path
    with pytest.raises(admission.RefusedError, match="nothing at this address") as refused:
        asyncio.run(app.refuse_path(Request(scope)))
    assert refused.value.status_code == 404


def _failing_page() -> None:
    import app

    assert app.show_error(ValueError("secret <b>detail</b>")) is True


def test_a_failure_is_a_sentence_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # AppTest replaces it
    test = AppTest.from_function(_failing_page).run()
    assert [error.value for error in test.error] == [
        "Something went wrong on our side. Your settings are kept in the address: reload the page."
    ]
    assert not test.exception
    assert "secret" not in str(test.main)

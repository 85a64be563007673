"""Headers that every answer carries, and requests that are refused."""

import asyncio
import base64
import hashlib
import socket

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Scope
from streamlit import net_util
from streamlit.web.server.starlette.starlette_websocket import _is_origin_allowed

from explorer.ui.server.admission.security import FRAMES, HOSTS, SecurityMiddleware
from tests.ui.asgi import Answer, ask, messages_of
from tests.ui.visitors import scope_of


def _scope(host: str, path: str = "/", kind: str = "http", **more) -> Scope:
    """A request; ``more``: parts of its scope and, with _ for -, headers."""
    parts = {"method": "GET", "query_string": b"", "server": ("10.0.0.7", 8501)}
    named = {"host": host} | {name: text for name, text in more.items() if name not in parts}
    fields = [(name.replace("_", "-").encode(), text.encode("latin-1")) for name, text in named.items()]
    given = {name: more[name] for name in parts.keys() & more.keys()}
    return scope_of(kind, path) | parts | given | {"headers": fields}


def _answer(app: SecurityMiddleware, host: str = "localhost", path: str = "/", **more) -> Answer:
    return asyncio.run(ask(app, _scope(host, path, **more)))


def _code(app: SecurityMiddleware, host: str, **more) -> int:
    return _answer(app, host, **more).status


_page = PlainTextResponse("here")


def test_the_machines_own_names_are_known_and_no_other_and_nothing_is_uploaded():
    app = SecurityMiddleware(_page, is_hosted=False)
    own = ["localhost", "localhost:8501", "LOCALHOST", "127.0.0.1:8501", "[::1]:8501", "10.0.0.7:8501"]
    assert [_code(app, host) for host in [*own, socket.gethostname()]] == [200] * 7
    assert _code(app, "10.0.0.7", server=("::ffff:10.0.0.7", 8501)) == 200
    foreign = ["evil.example", "localhost.evil.example", "10.0.0.8", "evil.example:localhost", "[", "", "a@b"]
    for host in foreign:
        answer = _answer(app, host)
        assert (answer.status, HOSTS in answer.text) == (400, True), host
    answer = _answer(app, path="/_stcore/upload_file/session/file")
    assert (answer.status, "Nothing can be uploaded" in answer.text) == (400, True)


def test_hosted_the_configured_names_are_known(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(HOSTS, "rules.example, www.rules.example")
    app = SecurityMiddleware(_page, is_hosted=True)
    known = ["rules.example", "www.rules.example:443", "Rules.Example", "127.0.0.1"]
    assert [_code(app, host) for host in known] == [200] * 4
    assert [_code(app, host) for host in ("10.0.0.7", "x.rules.example", socket.gethostname())] == [400] * 3


FOREIGN = "http://evil.example", "http://localhost:1", "null", "http://["


@pytest.mark.parametrize(
    ("host", "origin"), [("evil.example", {}), *(("localhost", {"origin": each}) for each in FOREIGN)]
)
def test_a_websocket_of_another_host_or_site_is_closed_before_streamlit_asks_who_that_is(host, origin):
    scope = _scope(host, kind="websocket", **origin)
    (closed,) = asyncio.run(messages_of(SecurityMiddleware(_page), scope))
    assert (closed["type"], closed["code"]) == ("websocket.close", 1008)


@pytest.mark.parametrize("origin", ["http://here.example", "https://here.example:8443", "http://inside:8501"])
def test_a_websocket_of_ours_is_one_of_its_own_host_to_streamlit(origin: str, monkeypatch):
    """Also where a proxy has put another host in the place of ours: without a question to the network."""
    monkeypatch.setenv(HOSTS, "here.example, inside")
    seen = []

    async def allowed(scope, _receive, _send):
        fields = dict(scope["headers"])
        seen.append(_is_origin_allowed(fields[b"origin"].decode(), fields[b"host"].decode()))

    monkeypatch.setattr(net_util, "get_external_ip", lambda: pytest.fail("the network was asked"))
    scope = _scope("inside:8501", kind="websocket", origin=origin)
    asyncio.run(messages_of(SecurityMiddleware(allowed), scope))
    assert seen == [True]


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"sec_fetch_site": "same-origin", "origin": "http://localhost:8501"}, 200),
        ({"sec_fetch_site": "same-site", "origin": "http://localhost:8501"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403), ({"sec_fetch_site": "none"}, 403),
        ({"origin": "http://localhost:8501"}, 200), ({"origin": "http://localhost:9999"}, 403),
        ({"origin": "https://LOCALHOST:8501"}, 200),  # a proxy speaks TLS for us
        ({"origin": "https://rules.example"}, 200),  # a proxy has put localhost in its place
        ({"origin": "http://evil.example"}, 403), ({"origin": "http://localhost:8501.evil.example"}, 403),
        ({"origin": "null"}, 403), ({"origin": ""}, 403), ({"origin": "http://["}, 403),
        ({}, 200),  # no browser
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_changes_are_accepted_from_our_own_pages_only(headers, code, method, monkeypatch):
    monkeypatch.setenv(HOSTS, "rules.example")
    app = SecurityMiddleware(_page)
    answer = _answer(app, "localhost:8501", method=method, **headers)
    assert (answer.status, "own pages" in answer.text) == (code, code == 403)
    assert _code(app, "localhost:8501", **headers) == 200


def test_every_answer_carries_the_headers():
    digest = base64.b64encode(hashlib.sha256(b"one()").digest()).decode()
    app = SecurityMiddleware(_page, "<p><script>one()</script><script src='x.js'></script>")
    for host, path in (("localhost", "/"), ("evil.example", "/"), ("localhost", "/_stcore/upload_file/a/b")):
        headers = _answer(app, host, path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        rules = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
        assert rules["default-src"] == "'self'"
        assert rules["script-src"].split() == ["'self'", "blob:", "'wasm-unsafe-eval'", f"'sha256-{digest}'"]
        assert rules["frame-ancestors"] == "'self'"


@pytest.mark.parametrize(
    ("named", "query", "framed_by"),
    [
        ("", b"embed=true", "*"), ("", b"op=relu&embed=True", "*"), ("", b"embed=false", "'self'"),
        ("", b"x=embed=true", "'self'"),
        ("https://a.example, https://b.example", b"", "'self' https://a.example https://b.example"),
    ],
)  # fmt: skip
def test_other_sites_may_frame_a_page_only_with_embed_in_the_query_or_if_they_are_named(
    named, query, framed_by, monkeypatch
):
    monkeypatch.setenv(FRAMES, named)
    headers = _answer(SecurityMiddleware(_page), query_string=query).headers
    assert headers["content-security-policy"].endswith(f"frame-ancestors {framed_by}")

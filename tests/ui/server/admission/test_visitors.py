"""Who asks: by a name that was signed here, or else by the address."""

import pickle

import pytest
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse
from starlette.types import Scope

from explorer.training import Engine, EngineFull, Limits
from explorer.ui.server.admission import visitors
from explorer.ui.server.admission.visitors import Visitor, VisitorQuota
from tests.training.driving import SMALL, Clock
from tests.ui.visitors import scope_of


def cookie_for(scope: Scope) -> str:
    """Return the cookie that comes with an answer, "" for none."""
    return visitors.set_visitor_cookie(Request(scope), PlainTextResponse("")).headers.get("set-cookie", "")


def test_a_visitor_gets_a_name_once():
    cookie, *flags = cookie_for(scope_of()).split("; ")
    assert {"HttpOnly", "SameSite=lax"} <= set(flags)
    assert "Secure" not in flags
    again = scope_of(cookie=cookie.removeprefix(f"{visitors.COOKIE}="))
    assert cookie_for(again) == ""
    assert visitors.visitor_from_request(HTTPConnection(again)).name
    assert "Secure" in cookie_for(scope_of() | {"scheme": "https"})


@pytest.mark.parametrize(
    "cookie", ["", "one", "one.", ".", "two.{of one}", "one.é", f"{'x' * 4_000}.0", "a.b.c"]
)
def test_a_name_that_was_not_signed_here_is_none(cookie: str):
    cookie = cookie.replace("{of one}", visitors.sign("visitor", "one"))
    scope = scope_of() | {"headers": [(b"cookie", f"{visitors.COOKIE}={cookie}".encode())]}
    assert visitors.visitor_from_request(HTTPConnection(scope)) == Visitor("", "10.0.0.1")
    assert cookie_for(scope)


def test_a_name_is_known_from_every_address():
    scopes = [scope_of(name="one"), scope_of(name="one", address="10.0.0.2"), scope_of()]
    one, other, nameless = (visitors.visitor_from_request(HTTPConnection(scope)).key for scope in scopes)
    assert one == other != nameless
    assert visitors.sign("visitor", "one") != visitors.sign("run", "one")  # for one purpose only


@pytest.mark.parametrize(
    ("name", "quota", "advice"),
    [
        ("one", (2, 2, 9), "stop one first"), ("one", (9, 9, 2), "try again in about a minute"),
        ("", (2, 2, 9), "let your browser keep cookies for this site, or try again in about a minute"),
        ("", (9, 9, 2), "try again in about a minute"),
    ],
)  # fmt: skip
def test_a_refusal_advises_what_each_kind_of_visitor_can_do(name: str, quota: tuple[int, ...], advice: str):
    engine = Engine(Limits(workers=0), Clock())
    shares = VisitorQuota(*quota).get_limits(Visitor(name, "here"))
    for _ in range(2):
        engine.start(SMALL, shares=shares)
    with pytest.raises(EngineFull) as full:
        engine.start(SMALL, shares=shares)
    words = f"Your network already has 2 runs running or waiting: {advice}."
    assert visitors.adapt_advice(str(full.value), full.value.share) == words
    assert pickle.loads(pickle.dumps(full.value)).share == full.value.share


def test_a_named_visitor_counts_alone_and_for_its_address():
    share = VisitorQuota(visitor=1, anonymous=2, address=3)
    assert list(share.get_limits(Visitor("one", "here")).values()) == [1, 3]
    assert list(share.get_limits(Visitor("", "here")).values()) == [2, 3]
    assert len({key for who in ("one", "two", "") for key in share.get_limits(Visitor(who, "here"))}) == 4

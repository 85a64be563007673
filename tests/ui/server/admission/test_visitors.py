"""Who asks: by a name that was signed here, or else by the address."""

import pickle

import pytest
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse

from explorer.training import Engine, EngineFull, Limits
from explorer.ui.server.admission import visitors
from explorer.ui.server.admission.visitors import (
    Visitor,
    VisitorQuota,
    adapt_advice,
    set_visitor_cookie,
    visitor_from_request,
)
from tests.training.driving import SMALL, Clock
from tests.ui.visitors import scope_of


def test_a_visitor_gets_a_name_once():
    fresh = set_visitor_cookie(Request(scope_of()), PlainTextResponse(""))
    cookie, *flags = fresh.headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=lax"} <= set(flags)
    assert "Secure" not in flags
    kept = cookie.removeprefix(f"{visitors.COOKIE}=")
    assert (
        "set-cookie" not in set_visitor_cookie(Request(scope_of(cookie=kept)), PlainTextResponse("")).headers
    )
    assert visitor_from_request(HTTPConnection(scope_of(cookie=kept))).name
    https = Request(scope_of() | {"scheme": "https"})
    assert "Secure" in set_visitor_cookie(https, PlainTextResponse("")).headers["set-cookie"]


@pytest.mark.parametrize(
    "cookie", ["", "one", "one.", ".", "two.{of one}", "one.é", f"{'x' * 4_000}.0", "a.b.c"]
)
def test_a_name_that_was_not_signed_here_is_none(cookie: str):
    cookie = cookie.replace("{of one}", visitors.sign("visitor", "one"))
    scope = scope_of() | {"headers": [(b"cookie", f"{visitors.COOKIE}={cookie}".encode())]}
    assert visitor_from_request(HTTPConnection(scope)) == Visitor("", "10.0.0.1")
    assert "set-cookie" in set_visitor_cookie(Request(scope), PlainTextResponse("")).headers


def test_a_name_is_known_from_every_address():
    one, other = (
        visitor_from_request(HTTPConnection(scope_of(name="one", address=each)))
        for each in ("10.0.0.1", "10.0.0.2")
    )
    assert one.key == other.key
    assert one.key != visitor_from_request(HTTPConnection(scope_of())).key


def test_a_signature_is_valid_for_one_purpose_only():
    assert visitors.sign("visitor", "one") != visitors.sign("run", "one")


@pytest.mark.parametrize(
    ("who", "says"),
    [
        (Visitor("one", "here"), "Your network already has 2 runs running or waiting: stop one first."),
        (
            Visitor("", "here"),
            "Your network already has 2 runs running or waiting: let your browser keep cookies for this "
            "site, or try again in about a minute.",
        ),
    ],
)
def test_a_refusal_advises_what_each_kind_of_visitor_can_do(who: Visitor, says: str):
    for share, words in (
        (VisitorQuota(visitor=2, anonymous=2, address=9), says),
        (
            VisitorQuota(visitor=9, anonymous=9, address=2),
            f"{says.partition(':')[0]}: try again in about a minute.",
        ),
    ):
        engine, shares = Engine(Limits(workers=0), Clock()), share.get_limits(who)
        for _ in range(2):
            engine.start(SMALL, shares=shares)
        with pytest.raises(EngineFull) as full:
            engine.start(SMALL, shares=shares)
        assert adapt_advice(str(full.value), full.value.share) == words
        assert pickle.loads(pickle.dumps(full.value)).share == full.value.share


def test_a_named_visitor_counts_alone_and_for_its_address():
    share = VisitorQuota(visitor=1, anonymous=2, address=3)
    assert list(share.get_limits(Visitor("one", "here")).values()) == [1, 3]
    assert list(share.get_limits(Visitor("", "here")).values()) == [2, 3]
    assert len({key for who in ("one", "two", "") for key in share.get_limits(Visitor(who, "here"))}) == 4

"""Visitors and their quotas: a visitor is known by a signed cookie, others by their address."""

from __future__ import annotations

import functools
import hmac
import os
import secrets
from collections.abc import Hashable
from dataclasses import dataclass, replace

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

SECRET = "EXPLORER_SECRET"  # environment variable: the signing key, shared by all servers behind one name
COOKIE = "visitor"
_MAX_COOKIE_LENGTH = 100
_ADVICE = {
    "nameless": "let your browser keep cookies for this site, or try again in about a minute",
    "address": "try again in about a minute",
}
_Key = tuple[str, str]


@dataclass(frozen=True)
class Visitor:
    """A visitor of the app. ``name`` is a random id from a cookie signed by us, or "" without one."""

    name: str
    address: str

    @property
    def key(self) -> _Key:
        """The visitor's key; anonymous visitors share the key of their address."""
        return ("visitor", self.name) if self.name else ("nameless", self.address)


@dataclass(frozen=True)
class VisitorQuota:
    """The maximum number of things, such as open pages, that visitors may have at the same time.

    Attributes:
        visitor: per visitor with a name.
        anonymous: for all anonymous visitors at one address.
        address: for all visitors at one address, so that collecting names does not pay.
    """

    visitor: int
    anonymous: int
    address: int

    def get_limits(self, visitor: Visitor) -> dict[Hashable, int]:
        """Return the limits that apply to a visitor, by the visitor's or address's key."""
        own_limit = self.visitor if visitor.name else self.anonymous
        return {visitor.key: own_limit, ("address", visitor.address): self.address}


def visitor_from_request(connection: HTTPConnection) -> Visitor:
    """Identify the visitor who sends a request."""
    address = connection.client.host if connection.client else ""
    return Visitor(_verify_cookie(connection.cookies.get(COOKIE, "")), address)


def adapt_advice(sentence: str, group: Hashable) -> str:
    """Adapt the advice after a refusal's colon to the group whose limit is reached.

    ``group`` is a key of ``VisitorQuota.get_limits``. For the visitor's own group the advice is unchanged;
    nobody can free what other visitors use.
    """
    kind = group[0] if isinstance(group, tuple) else ""
    return f"{sentence.rpartition(': ')[0]}: {_ADVICE[kind]}." if kind in _ADVICE else sentence


def visitor_from_page_request(connection: HTTPConnection) -> Visitor:
    """Identify the visitor who requests a page. Newcomers at one address share a name."""
    visitor = visitor_from_request(connection)
    return visitor if visitor.name else replace(visitor, name=f"new at {visitor.address}")


def set_visitor_cookie(request: Request, response: Response) -> Response:
    """Set a cookie with a new signed name if the visitor has none; return the response."""
    if not visitor_from_request(request).name:
        visitor_name = secrets.token_urlsafe(12)
        value, secure = f"{visitor_name}.{sign('visitor', visitor_name)}", request.url.scheme == "https"
        response.set_cookie(COOKIE, value, httponly=True, samesite="lax", secure=secure)
    return response


def sign(purpose: str, text: str) -> str:
    """Sign a text for a purpose with the server's secret."""
    return hmac.digest(_get_secret(), f"{purpose} {text}".encode(errors="replace"), "sha256").hex()


def _verify_cookie(cookie: str) -> str:
    """Return the name in a cookie signed by us, or ""."""
    visitor_name, _, cookie_signature = cookie.rpartition(".")
    if not visitor_name or len(cookie) > _MAX_COOKIE_LENGTH:
        return ""
    is_valid = hmac.compare_digest(
        cookie_signature.encode(errors="replace"), sign("visitor", visitor_name).encode()
    )
    return visitor_name if is_valid else ""


@functools.cache
def _get_secret() -> bytes:
    return os.environ.get(SECRET, "").encode() or secrets.token_bytes(32)

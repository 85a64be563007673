"""The source of a request: a visitor by a name signed here, or else all nameless ones at one address."""

from __future__ import annotations

import functools
import hmac
import os
import secrets
from collections.abc import Hashable
from dataclasses import dataclass, replace

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

SECRET = "EXPLORER_SECRET"  # the environment variable: the same text for all servers behind one name
COOKIE = "visitor"  # tells those apart who share an address
_LONGEST_COOKIE = 100
_INSTEAD = {
    "nameless": "let your browser keep cookies for this site, or try again in about a minute",
    "address": "try again in about a minute",
}
_Key = tuple[str, str]


@dataclass(frozen=True)
class Visitor:
    """A visitor: ``name`` is "" where the browser keeps no cookie, or one that was not signed here."""

    name: str
    address: str

    @property
    def key(self) -> _Key:
        """The visitor, or with all others at the address who have no name."""
        return ("visitor", self.name) if self.name else ("nameless", self.address)


@dataclass(frozen=True)
class Share:
    """The most there may be of something at the same time.

    Attributes:
        each: of one visitor with a name.
        nameless: of all at one address who have none.
        address: of all at one address, with names and without: nobody becomes a crowd by taking many names.
    """

    each: int
    nameless: int
    address: int

    def of(self, visitor: Visitor) -> dict[Hashable, int]:
        """The groups that a visitor counts in, each with its limit."""
        mine = self.each if visitor.name else self.nameless
        return {visitor.key: mine, ("address", visitor.address): self.address}


def asking(connection: HTTPConnection) -> Visitor:
    """The visitor of a request."""
    address = connection.client.host if connection.client else ""
    return Visitor(_signed(connection.cookies.get(COOKIE, "")), address)


def advised(sentence: str, share: Hashable) -> str:
    """A refusal with what to do after its colon: of what others hold, nobody can give anything back.

    ``share`` is what has as many as it may, a key of ``Share.of``; its visitor's own keeps the words.
    """
    kind = share[0] if isinstance(share, tuple) else ""
    return f"{sentence.rpartition(': ')[0]}: {_INSTEAD[kind]}." if kind in _INSTEAD else sentence


def arriving(connection: HTTPConnection) -> Visitor:
    """The visitor who asks for a page; without a name a newcomer at an address, named with the page."""
    visitor = asking(connection)
    return visitor if visitor.name else replace(visitor, name=f"new at {visitor.address}")


def named(request: Request, response: Response) -> Response:
    """The response, with a name for a visitor who has none yet."""
    if not asking(request).name:
        name = secrets.token_urlsafe(12)
        value, secure = f"{name}.{signature('visitor', name)}", request.url.scheme == "https"
        response.set_cookie(COOKIE, value, httponly=True, samesite="lax", secure=secure)
    return response


def signature(purpose: str, text: str) -> str:
    """The signature of a text for one purpose: only a server with our secret can make it."""
    return hmac.digest(_secret(), f"{purpose} {text}".encode(errors="replace"), "sha256").hex()


def _signed(cookie: str) -> str:
    """The name in a cookie that was signed here, or ""."""
    name, _, shown = cookie.rpartition(".")
    if not name or len(cookie) > _LONGEST_COOKIE:
        return ""
    fits = hmac.compare_digest(shown.encode(errors="replace"), signature("visitor", name).encode())
    return name if fits else ""


@functools.cache
def _secret() -> bytes:
    return os.environ.get(SECRET, "").encode() or secrets.token_bytes(32)

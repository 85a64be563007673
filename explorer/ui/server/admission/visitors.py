"""The identification of visitors by a signed cookie or IP address, and limits on what each may have."""

from __future__ import annotations

import functools
import hmac
import os
import secrets
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

SECRET = "EXPLORER_SECRET"  # environment variable: the signing key of all servers behind one name
COOKIE = "visitor"
_MAX_COOKIE_LENGTH = 100
_ADVICE = {
    "nameless": "let your browser keep cookies for this site, or try again in about a minute",
    "address": "try again in about a minute",
}
_Key = tuple[str, str]


@dataclass(frozen=True)
class Visitor:
    """A visitor of the app, identified by a signed cookie and an IP address.

    ``name`` is the random id in the cookie, or "" without a valid cookie.
    """

    name: str
    address: str

    @property
    def key(self) -> _Key:
        """A key that identifies the visitor; anonymous visitors at one IP address share a key."""
        return ("visitor", self.name) if self.name else ("nameless", self.address)


@dataclass(frozen=True)
class VisitorQuota:
    """The maximum numbers of items, such as open pages, that visitors may have at the same time.

    Attributes:
        visitor: the maximum for a visitor with a name.
        anonymous: the maximum for all anonymous visitors at one IP address together.
        address: the maximum for all visitors at one IP address, so that several cookies give no advantage.
    """

    visitor: int
    anonymous: int
    address: int

    def get_limits(self, visitor: Visitor) -> dict[Hashable, int]:
        """Return the limits that apply to a visitor.

        The result is a dict from the keys of the two groups that the visitor belongs to, a visitor and an
        address.
        """
        own_limit = self.visitor if visitor.name else self.anonymous
        return {visitor.key: own_limit, ("address", visitor.address): self.address}


class GroupCounter(Counter[Hashable]):
    """Counts items, such as open pages, in each of the groups that share a limit."""

    def explain_full(self, limits: Mapping[Hashable, int], message: str) -> str:
        """Return ``message`` with the limit of the first full group as its ``{count}``, or "" if none is."""
        full_groups = (group for group, limit in limits.items() if self[group] >= limit)
        return next((adapt_advice(message.format(count=limits[key]), key) for key in full_groups), "")

    @contextmanager
    def count(self, groups: Iterable[Hashable]) -> Iterator[None]:
        """Count one item in each group while the context is open."""
        groups = list(groups)
        self.update(groups)
        try:
            yield
        finally:
            self.release(groups)

    def release(self, groups: Iterable[Hashable]) -> None:
        """Remove one item from each group, and forget groups without any."""
        for group in groups:
            self[group] -= 1
            if not self[group]:
                del self[group]


def visitor_from_request(connection: HTTPConnection) -> Visitor:
    """Identify the visitor who sent a request by cookie and IP address."""
    address = connection.client.host if connection.client else ""
    return Visitor(_verify_cookie(connection.cookies.get(COOKIE, "")), address)


def adapt_advice(sentence: str, group: Hashable) -> str:
    """Return a refusal's message; its advice is replaced if visitors of this group cannot follow it.

    The advice is the text after the last colon.
    """
    kind = group[0] if isinstance(group, tuple) else ""
    return f"{sentence.rpartition(': ')[0]}: {_ADVICE[kind]}." if kind in _ADVICE else sentence


def visitor_from_page_request(connection: HTTPConnection) -> Visitor:
    """Identify the visitor who requests a page; those without a cookie at one IP address share a name."""
    visitor = visitor_from_request(connection)
    return visitor if visitor.name else replace(visitor, name=f"new at {visitor.address}")


def set_visitor_cookie(request: Request, response: Response) -> Response:
    """Give a visitor without a valid cookie a new signed one. Returns the response."""
    if not visitor_from_request(request).name:
        visitor_name = secrets.token_urlsafe(12)
        value, secure = f"{visitor_name}.{sign('visitor', visitor_name)}", request.url.scheme == "https"
        response.set_cookie(COOKIE, value, httponly=True, samesite="lax", secure=secure)
    return response


def sign(purpose: str, text: str) -> str:
    """Return a signature of text for one purpose, made with the server's secret key."""
    return hmac.digest(_get_secret(), f"{purpose} {text}".encode(errors="replace"), "sha256").hex()


def _verify_cookie(cookie: str) -> str:
    """Return the visitor's name in a cookie, or "" if this server has not signed the cookie."""
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

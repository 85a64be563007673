"""What every answer carries, and what no request may ask for."""

import base64
import hashlib
import os
import re
import socket
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.ui import limits

HOSTS = "EXPLORER_HOSTS"  # the environment variable: further names the server is reached by, with commas
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_UPLOADS = "/_stcore/upload_file"
_POLICY_VIOLATION = 1008  # of a websocket
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}


class Protection:
    """Puts protecting headers on every answer; refuses foreign hosts and uploads.

    Args:
        app: what answers.
        page: the HTML whose inline scripts may run, beside files of our own.
        hosted: whether only configured names are known, or the machine's own as well.
    """

    def __init__(self, app: ASGIApp, page: str = "", *, hosted: bool = limits.HOSTED) -> None:
        self.app = app
        self._policy = _policy(page)
        names = os.environ.get(HOSTS, "").lower().replace(",", " ").split()
        self._hosts = {*_LOOPBACK, *names} | (set() if hosted else {socket.gethostname().lower()})
        self._hosted = hosted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, unless it is refused, and add the headers to what comes back."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                framed_by = "*" if _is_embedded(scope) else "'self'"
                policy = f"{self._policy}; frame-ancestors {framed_by}"
                MutableHeaders(scope=message).update({**_HEADERS, "Content-Security-Policy": policy})
            await send(message)

        words = self._refusal(scope)
        if not words:
            await self.app(scope, receive, sending)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": words})
        else:
            await PlainTextResponse(words, 400)(scope, receive, sending)

    def _refusal(self, scope: Scope) -> str:
        """What is wrong with a request, in a sentence; empty where nothing is."""
        if not self._knows(scope):
            return f"This server is not known by that name: use its own, or add the name to {HOSTS}."
        if scope["path"].startswith(_UPLOADS):
            return "Nothing can be uploaded here: paste code as text."
        return ""

    def _knows(self, scope: Scope) -> bool:
        try:
            host: str = urlsplit(f"//{Headers(scope=scope).get('host', '')}").hostname or ""
        except ValueError:
            return False
        address: str = scope["server"][0]
        return host in self._hosts or (not self._hosted and host == address.removeprefix("::ffff:"))


def _is_embedded(scope: Scope) -> bool:
    query: str = scope["query_string"].decode("latin-1")
    return parse_qs(query).get("embed", [""])[-1].lower() == "true"


def _policy(page: str) -> str:
    """Files of our own, the inline scripts of a page, and what Streamlit's front end makes itself."""
    digests = (hashlib.sha256(script.encode()).digest() for script in _INLINE.findall(page))
    inline = "".join(f" 'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return "; ".join(
        [
            "default-src 'self'",
            # Components come as blobs. No text is ever made a script: 'unsafe-eval' is for nobody.
            f"script-src 'self' blob:{inline}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "worker-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
        ]
    )

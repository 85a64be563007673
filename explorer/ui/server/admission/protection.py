"""Headers of every answer, and requests that are refused."""

import os
import socket
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.instrument.policy import policy
from explorer.ui.links.link import is_embedded
from explorer.ui.server.admission import limits, operation
from explorer.ui.server.admission.admission import refusal
from explorer.ui.server.admission.paths import page_path

HOSTS = "EXPLORER_HOSTS"  # the environment variable: further names the server is reached by, with commas
FRAMES = "EXPLORER_FRAMES"  # the environment variable: sites that may show a page in a frame, with commas
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_UPLOADS = "/_stcore/upload_file"
_FRONT_ENDS_METRICS = "/_stcore/metrics"
_PROBES = (operation.LIVES, operation.READY)
_POLICY_VIOLATION = 1008  # of a websocket
_READING = ("GET", "HEAD", "OPTIONS")  # methods that change nothing, which any site may have a browser send
_UNKNOWN = f"This server is not known by that name: use its own, or add the name to {HOSTS}."
_NO_METRICS = "Metrics stand at /metrics, for who may read them."
_NO_UPLOADS = "Nothing can be uploaded here: paste code as text."
_FOREIGN = f"Only the explorer's own pages may ask for this: reload the page, or add its name to {HOSTS}."
# Files of our own, and what Streamlit's front end makes itself.
_ALLOWED = {
    "default-src": "'self'",
    # Components come as blobs. Streamlit's protobuf counts by WebAssembly where it may, else Firefox's
    # console tells of an error. No text is ever made a script: no 'unsafe-eval'.
    "script-src": "'self' blob: 'wasm-unsafe-eval'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "worker-src": "'self' blob:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
}
_HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}


class Protection:
    """Puts protecting headers on every answer; refuses foreign hosts, other sites' requests and uploads.

    Args:
        app: what answers.
        page: the HTML whose inline scripts may run, beside files of our own.
        hosted: whether only configured names are known, or the machine's own as well.
    """

    def __init__(self, app: ASGIApp, page: str = "", *, hosted: bool = limits.HOSTED) -> None:
        self.app = app
        self._policy = policy(page, _ALLOWED)
        self._names = frozenset(_listed(HOSTS))
        self._hosts = self._names | {*_LOOPBACK} | (set() if hosted else {socket.gethostname().lower()})
        self._hosted = hosted
        self._framed_by = " ".join(["'self'", *_listed(FRAMES)])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, unless it is refused, and add the headers to what comes back."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                framed_by = "*" if _is_embedded(scope) else self._framed_by
                policy = f"{self._policy}; frame-ancestors {framed_by}"
                MutableHeaders(scope=message).update({**_HEADERS, "Content-Security-Policy": policy})
            await send(message)

        refused = self._refusal(scope)
        if refused and scope["type"] == "websocket":
            reason = bytes(refused.body).decode()
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": reason})
        else:
            await (refused or self.app)(_vouched_for(scope), receive, sending)

    def _refusal(self, scope: Scope) -> Response | None:
        """The answer in the place of the app; None where nothing is wrong."""
        if not self._knows(scope) and page_path(scope["path"]) not in _PROBES:
            operation.journal.note("unknown host refused")
            return PlainTextResponse(_UNKNOWN, 400)
        if _UPLOADS in scope["path"]:
            return PlainTextResponse(_NO_UPLOADS, 400)
        if _FRONT_ENDS_METRICS in scope["path"]:
            return PlainTextResponse(_NO_METRICS, 404)
        is_reading = scope["type"] == "http" and scope["method"] in _READING
        if not is_reading and self._is_foreign(scope):
            return refusal(403, _FOREIGN)
        return None

    def _is_foreign(self, scope: Scope) -> bool:
        """Whether a browser says that another site has it ask. What is no browser says nothing."""
        headers = Headers(scope=scope)
        if scope["type"] == "http" and (site := headers.get("sec-fetch-site")):
            return site != "same-origin"
        try:
            origin = urlsplit(headers.get("origin", f"//{headers['host']}").lower())
            # A proxy may have put another host in the place of ours.
            return origin.netloc != headers["host"].lower() and origin.hostname not in self._names
        except ValueError:
            return True

    def _knows(self, scope: Scope) -> bool:
        try:
            host: str = urlsplit(f"//{Headers(scope=scope).get('host', '')}").hostname or ""
        except ValueError:
            return False
        address: str = scope["server"][0]
        return host in self._hosts or (not self._hosted and host == address.removeprefix("::ffff:"))


def _vouched_for(scope: Scope) -> Scope:
    """A websocket as one of our own pages opens it.

    To judge an origin that is not its host, Streamlit would ask the network for its own address, and hold
    up everybody meanwhile.
    """
    headers = Headers(scope=scope)
    if scope["type"] != "websocket" or "origin" not in headers:
        return scope
    others = [(name, value) for name, value in scope["headers"] if name != b"origin"]
    return {**scope, "headers": [*others, (b"origin", f"http://{headers['host']}".encode("latin-1"))]}


def _listed(variable: str) -> list[str]:
    """The words of an environment variable, which commas or spaces part."""
    return os.environ.get(variable, "").lower().replace(",", " ").split()


def _is_embedded(scope: Scope) -> bool:
    return is_embedded(scope["query_string"].decode("latin-1"))

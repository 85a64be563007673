"""Files that a browser keeps for ever, compressed once: ours, and those of Streamlit's front end."""

import gzip
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

import brotli
import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from explorer.instrument import Asset
from explorer.ui.server import answers

NOT_KEPT = {"Cache-Control": "no-store"}
_KEPT = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
_FRONT_END = Path(st.__file__).parent / "static"
INDEX = (_FRONT_END / "index.html").read_text(encoding="utf-8")
_TYPES = {".js": "text/javascript", ".css": "text/css"}  # fonts and pictures are packed as they are
_NAMES = frozenset(
    path.relative_to(_FRONT_END).as_posix()
    for path in (_FRONT_END / "static").rglob("*")
    if path.suffix in _TYPES
)
_QUALITY = 7  # of 11: all is done in half a second; the highest takes ten more, for a tenth less
_MOST_FILES = 1000  # more than there are
_WORTH_PACKING = 1000  # bytes


def begin() -> None:
    """Compress what a first visit loads, at no visitor's cost."""
    named = filter(None, map(front_end, re.findall(r'"\./(static/[^"]+)"', INDEX)))
    for file in (*answers.files().values(), *named):
        packed(file)


class FrontEnd:
    """Answers who asks for a script or style of Streamlit's front end, which Streamlit sends uncompressed."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send a file that is there; all else passes on."""
        is_asked = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        file = front_end("static/" + scope["path"].rpartition("/static/")[2]) if is_asked else None
        await (sent(Request(scope), file) if file else self.app)(scope, receive, send)


def front_end(name: str) -> Asset | None:
    """A script or style of the front end by its path, which holds a hash; None where there is none."""
    return _read(name) if name in _NAMES else None


@cache
def _read(name: str) -> Asset:
    path = _FRONT_END / name
    return Asset(path.read_bytes(), _TYPES[path.suffix])


@lru_cache(_MOST_FILES)
def packed(file: Asset) -> Mapping[str, bytes]:
    """The content by its encoding, the smallest first. Without TLS a browser takes Brotli from localhost."""
    if len(file.content) < _WORTH_PACKING:
        return {}
    return {
        "br": brotli.compress(file.content, quality=_QUALITY),
        "gzip": gzip.compress(file.content, mtime=0),
    }


def sent(request: Request, file: Asset | None) -> Response:
    """The answer to who asks for a file: it, that it is the same, or that there is none."""
    if file is None:
        return Response("There is no such file: reload the page.", status_code=404, headers=NOT_KEPT)
    headers = _KEPT | {"ETag": f'"{file.etag}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    taken = _taken(request.headers.get("accept-encoding", ""))
    for encoding, content in packed(file).items():
        if encoding in taken:
            headers |= {"Content-Encoding": encoding}
            return Response(content, headers=headers, media_type=file.media_type)
    return Response(file.content, headers=headers, media_type=file.media_type)


def _taken(accepted: str) -> set[str]:
    """The encodings that a header allows: ``gzip;q=0`` allows none."""
    parts = [part.replace(" ", "").partition(";q=") for part in accepted.lower().split(",")]
    return {name for name, _, weight in parts if not weight or weight.strip("0.")}

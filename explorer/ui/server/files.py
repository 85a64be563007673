"""Static files of the app and of Streamlit's front end, compressed once and cached by browsers forever."""

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

NO_STORE = {"Cache-Control": "no-store"}
_IMMUTABLE = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
_FRONT_END = Path(st.__file__).parent / "static"
INDEX = (_FRONT_END / "index.html").read_text(encoding="utf-8")
_TYPES = {".js": "text/javascript", ".css": "text/css"}  # compressed here; fonts and images already are
_NAMES = frozenset(
    path.relative_to(_FRONT_END).as_posix()
    for path in (_FRONT_END / "static").rglob("*")
    if path.suffix in _TYPES
)
_QUALITY = 7  # half a second for all files; the maximum, 11, takes ten seconds more and saves a tenth
_CACHE_SIZE = 1000  # larger than the number of files
_MIN_COMPRESSED_BYTES = 1000  # bytes


def compress_initial_files() -> None:
    """Compress the files that a first visit loads, so that no visitor waits for the compression."""
    front_end_files = filter(None, map(find_front_end_file, re.findall(r'"\./(static/[^"]+)"', INDEX)))
    for file in (*answers.get_files().values(), *front_end_files):
        compress_file(file)


class FrontEndMiddleware:
    """ASGI middleware that serves Streamlit's scripts and styles compressed, which Streamlit does not."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the requested file of Streamlit's front end, or pass the request on."""
        is_get = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        file = find_front_end_file("static/" + scope["path"].rpartition("/static/")[2]) if is_get else None
        await (make_file_response(Request(scope), file) if file else self.app)(scope, receive, send)


def find_front_end_file(name: str) -> Asset | None:
    """Return a script or style of the front end by its path, which contains a hash, or None."""
    return _read(name) if name in _NAMES else None


@cache
def _read(name: str) -> Asset:
    path = _FRONT_END / name
    return Asset(path.read_bytes(), _TYPES[path.suffix])


@lru_cache(_CACHE_SIZE)
def compress_file(file: Asset) -> Mapping[str, bytes]:
    """Return a file's compressed contents by encoding, the smallest first. Returns {} for a short file.

    Browsers accept Brotli only over TLS or from localhost.
    """
    if len(file.content) < _MIN_COMPRESSED_BYTES:
        return {}
    return {
        "br": brotli.compress(file.content, quality=_QUALITY),
        "gzip": gzip.compress(file.content, mtime=0),
    }


def make_file_response(request: Request, file: Asset | None) -> Response:
    """Create the response for a static file, with status 200 or 304, or 404 if it is None."""
    if file is None:
        return Response("There is no such file: reload the page.", status_code=404, headers=NO_STORE)
    headers = _IMMUTABLE | {"ETag": f'"{file.etag}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    encodings = parse_encodings(request.headers.get("accept-encoding", ""))
    for encoding, content in compress_file(file).items():
        if encoding in encodings:
            headers |= {"Content-Encoding": encoding}
            return Response(content, headers=headers, media_type=file.media_type)
    return Response(file.content, headers=headers, media_type=file.media_type)


def parse_encodings(header: str) -> set[str]:
    """Return the encodings that an ``Accept-Encoding`` header allows, without those with ``q=0``."""
    parts = [part.replace(" ", "").partition(";q=") for part in header.lower().split(",")]
    return {name for name, _, weight in parts if not weight or weight.strip("0.")}

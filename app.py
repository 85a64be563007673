"""The server: routes, start-up and limits. Run with ``streamlit run app.py``."""

from __future__ import annotations

import gc
import gzip
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import plotly
import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from explorer.ui import warm_up

_PLOTLY = (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_bytes()
_PLOTLY_GZIP = gzip.compress(_PLOTLY, mtime=0)
_ETAG = f'"{hashlib.sha256(_PLOTLY).hexdigest()[:16]}"'


async def plotly_js(request: Request) -> Response:
    """plotly.js from the plotly package, compressed; its address holds its version, so it may be kept."""
    headers = {
        "Cache-Control": "public, max-age=31536000, immutable",
        "ETag": _ETAG,
        "Vary": "Accept-Encoding",
        "X-Content-Type-Options": "nosniff",
    }
    if request.headers.get("if-none-match") == _ETAG:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(
            _PLOTLY_GZIP, headers=headers | {"Content-Encoding": "gzip"}, media_type="text/javascript"
        )
    return Response(_PLOTLY, headers=headers, media_type="text/javascript")


_INDEX = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
_SERVER_ADDRESS = "<script>window.__streamlit = {BACKEND_BASE_URL: new URL('.', location.href).href}</script>"
# Below a page's address the front end first looks for its server where there is none, and logs two errors.
_DEEP_INDEX = _INDEX.replace("<script", f"{_SERVER_ADDRESS}\n<script", 1)


async def deep_index(_request: Request) -> Response:
    """Streamlit's own front end for a page that is not at the root, told where its server is."""
    return HTMLResponse(_DEEP_INDEX, headers={"Cache-Control": "no-cache"})


def friendly_error(error: Exception) -> bool:
    """What the page shows when a script fails: a sentence, never a traceback (that goes to the log)."""
    st.error("Something went wrong on our side. Your settings are kept in the address: reload the page.")
    return True


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Warm up before the first visitor, and take what is loaded out of the garbage collector's rounds."""
    close = warm_up()
    gc.collect()
    gc.freeze()
    yield
    close()


app = st.App(
    "explorer/ui/main.py",
    lifespan=lifespan,
    routes=[
        Route(f"/assets/plotly-{plotly.__version__}.min.js", plotly_js),
        Route("/train", deep_index),
    ],
    on_script_error=friendly_error,
)

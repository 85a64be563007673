"""The server: routes, start-up and limits. Run with ``streamlit run app.py``, or ``python -m explorer``."""

import asyncio
import gc
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import streamlit as st
import torch
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from explorer.ui import MAIN, warm_up
from explorer.ui.links.preview import NAME, preview
from explorer.ui.server import answers, files
from explorer.ui.server.admission import admission, limits, monitoring, replicas
from explorer.ui.server.admission.compute_slots import ComputeSlots
from explorer.ui.server.admission.paths import PAGES, PREFIX, strip_prefix
from explorer.ui.server.admission.request_body import read_json
from explorer.ui.server.admission.response_limits import ResponseLimitMiddleware
from explorer.ui.server.admission.security import SecurityMiddleware
from explorer.ui.server.admission.turns import FairTurnMiddleware
from explorer.ui.server.admission.uvicorn_server import follow_server
from explorer.ui.server.admission.visitors import (
    set_visitor_cookie,
    visitor_from_page_request,
    visitor_from_request,
)
from explorer.ui.server.classes import routes as classes
from explorer.ui.server.runs import first, jobs, tables, takeaway

_seats = ComputeSlots(limits.COMPUTE_SLOTS, limits.MAX_WAITING)
_judging = ComputeSlots(limits.CHECK_SLOTS, limits.MAX_WAITING)  # apart: no curve waits for a check
_searching = ComputeSlots(limits.SEARCH_SLOTS, limits.MAX_WAITING)  # apart: no check waits for near rules
_SEATS = {"computing": _seats, "judging": _judging, "searching": _searching}


async def asset(request: Request) -> Response:
    """A file of the instrument; its address holds a hash of all of them, so it may be kept."""
    return files.sent(request, answers.files().get(request.path_params["name"]))


async def ask(request: Request) -> Response:
    """Return the answer to a question as JSON; the body of the request is its arguments."""
    question = answers.QUESTIONS.get(request.path_params["question"])
    if question is None:
        raise admission.RefusedError(404, "There is no such question.")
    arguments = await read_json(request, answers.LONGEST_BODY)
    answer = await _SEATS[question.seats].compute(visitor_from_request(request), question.answer, arguments)
    return JSONResponse(answer, headers=files.NOT_KEPT)


async def on_paper(_request: Request) -> Response:
    """Redirect an older address of the course on paper to where Learn shows it now."""
    return RedirectResponse("learn?print=course")


# Below a page's address the front end first looks for its server where there is none, and logs two errors.
_SERVER_ADDRESS = "<script>window.__streamlit = {BACKEND_BASE_URL: new URL('.', location.href).href}</script>"

_ROOT = '<div id="root">'
_PAGE = files.INDEX.replace("<script", f"{_SERVER_ADDRESS}\n<!-- head -->\n<script", 1)
_TITLE = "<title>Streamlit</title>"
_PAGES = {
    page.path: _PAGE.replace("<!-- head -->", answers.head(page.path)).replace(
        _TITLE, preview(f"{page.title} · {NAME}", page.purpose)
    )
    for page in PAGES
}
_NO_PAGE = _PAGE.replace("<!-- head -->", answers.head(""))  # Streamlit says so, and shows the first one
# Without the slash at the end of a proxy's prefix everything would be looked for beside it.
_SLASH = """<script>
    const {pathname, search, hash} = location
    if (!pathname.endsWith("/")) history.replaceState(null, "", `${pathname}/${search}${hash}`)
</script>"""
_PAGES["/"] = _PAGES["/"].replace(_SERVER_ADDRESS, f"{_SLASH}\n{_SERVER_ADDRESS}")
# Where the curves come with the page they are drawn first: the front end holds server and browser up for
# a second, and begins when they are drawn, or soon in any case.
_LATER = """<script>
    const frontEnd = document.createElement("script")
    Object.assign(frontEnd, {type: "module", crossOrigin: "", src: "\\1"})
    const begin = () => document.head.append(frontEnd)
    addEventListener("drawn", begin, {once: true})
    setTimeout(begin, 3000)
</script>"""
_EARLY = re.sub(r'<script type="module" crossorigin src="(.+?)"></script>', _LATER, _PAGES["/"])
_USUAL = preview(f"{PAGES[0].title} · {NAME}", PAGES[0].purpose)
_EARLY = re.sub(r'<link rel="modulepreload" crossorigin .+?>', "", _EARLY)


async def index(request: Request) -> Response:
    """Streamlit's own front end, told where its server is, with what the instrument needs at once."""
    path = strip_prefix(request.scope["path"])
    page = _PAGES.get(path, _NO_PAGE)
    if path == "/":
        with suppress(admission.RefusedError):  # a server that is busy leaves it to Streamlit
            about, body = await _seats.compute(
                visitor_from_page_request(request), answers.served, request.url.query
            )
            page = _EARLY.replace(_USUAL, about).replace(_ROOT, body + _ROOT)
    return replicas.set_replica_cookie(
        request, set_visitor_cookie(request, HTMLResponse(page, headers={"Cache-Control": "no-cache"}))
    )


async def slash(request: Request) -> Response:
    """From the prefix of the server to its first page; relative, as a proxy may have put more before it."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{PREFIX.rpartition('/')[2]}/{query}")


def friendly_error(error: Exception) -> bool:
    """Show on the page that a script failed: a sentence, never a traceback (that goes to the log)."""
    st.error("Something went wrong on our side. Your settings are kept in the address: reload the page.")
    return True


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Warm up before the first visitor, and take what is loaded out of the garbage collector's rounds."""
    monitoring.configure_logging()
    replicas.check_environment()
    admission.raise_file_limit()
    admission.throttle_file_errors(asyncio.get_running_loop())
    torch.set_num_threads(1)  # more of them wait for each other, and hold up everybody
    close = warm_up()
    files.begin()
    answers.course()
    gc.collect()
    gc.freeze()
    works = (admission.end_idle_threads(), classes.end_old_classes(), follow_server())
    meanwhile = [asyncio.create_task(work) for work in works]
    monitoring.event_log.record("server started", torch=torch.__version__, hosted=limits.HOSTED)
    yield
    monitoring.event_log.record("server stopped")
    for work in meanwhile:
        work.cancel()
    close()


def paced(route: Route) -> Route:
    """A route below the server's prefix that answers each visitor so often only."""
    middleware = [Middleware(admission.RateLimitMiddleware, _paces), Middleware(replicas.ReplicaMiddleware)]
    return Route(PREFIX + route.path, route.endpoint, methods=route.methods, middleware=middleware)


class _Name(StringConvertor):
    """The address of a page, or one that somebody takes for it: no file, and nothing of Streamlit's."""

    regex = "[A-Za-z0-9-]+"


register_url_convertor("name", _Name())
_paces = admission.VisitorRateLimiters()
_ANSWERS = [
    Route("/ask/{question}", ask, methods=["POST"]),
    Route("/sheet", on_paper),
]

_ROUTES = (
    *_ANSWERS,
    *takeaway.ROUTES,
    *jobs.ROUTES,
    *tables.ROUTES,
    *first.ROUTES,
    *classes.ROUTES,
)
_TAKEN = dict.fromkeys(route.path.split("/")[1] for route in _ROUTES)  # names that no page has


async def nothing(_request: Request) -> Response:
    """Where nothing is among the answers, the front end's page would stand, as if something were."""
    raise admission.RefusedError(404, "There is nothing at this address: go to the first page.")


app = st.App(
    MAIN,
    lifespan=lifespan,
    routes=[
        Route(f"{PREFIX}/assets/{{name:path}}", asset),
        *(paced(route) for route in _ROUTES),
        *(paced(Route(f"/{name}", nothing)) for name in _TAKEN),
        *(paced(Route(f"/{name}/{{rest:path}}", nothing, methods=["GET", "POST"])) for name in _TAKEN),
        *(Route(PREFIX + route.path, route.endpoint) for route in monitoring.ROUTES),
        *(paced(Route(page.path, index)) for page in PAGES),
        paced(Route("/{page:name}", index)),
        *([Route(PREFIX, slash)] if PREFIX else []),
    ],
    middleware=[
        Middleware(FairTurnMiddleware),
        Middleware(SecurityMiddleware, _EARLY),
        Middleware(ResponseLimitMiddleware),
        Middleware(admission.PageLimitMiddleware),
        Middleware(files.FrontEnd),
    ],
    exception_handlers={
        admission.RefusedError: admission.handle_refused,
        replicas.WrongReplicaError: replicas.handle_wrong_replica,
    },
    on_script_error=friendly_error,
)

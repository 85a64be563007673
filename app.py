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
from explorer.ui.links.preview import NAME, make_head_elements
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
from explorer.ui.server.runs import initial_state, jobs, tables, takeaway

_compute_slots = ComputeSlots(limits.COMPUTE_SLOTS, limits.MAX_WAITING)
_check_slots = ComputeSlots(limits.CHECK_SLOTS, limits.MAX_WAITING)  # separate, so no curve waits for a check
_search_slots = ComputeSlots(
    limits.SEARCH_SLOTS, limits.MAX_WAITING
)  # separate, so no check waits for near rules
_SLOTS = {"computing": _compute_slots, "judging": _check_slots, "searching": _search_slots}


async def get_asset(request: Request) -> Response:
    """Return a static file, to be cached forever: its address contains a hash of all files."""
    return files.make_file_response(request, answers.get_files().get(request.path_params["name"]))


async def ask(request: Request) -> Response:
    """Return the answer to a question as JSON. The request's body holds the arguments."""
    question = answers.QUESTIONS.get(request.path_params["question"])
    if question is None:
        raise admission.RefusedError(404, "There is no such question.")
    arguments = await read_json(request, answers.MAX_BODY_BYTES)
    answer = await _SLOTS[question.seats].compute(visitor_from_request(request), question.answer, arguments)
    return JSONResponse(answer, headers=files.NO_STORE)


async def redirect_sheet(_request: Request) -> Response:
    """Redirect an old address of the printed course to the current one."""
    return RedirectResponse("learn?print=course")


# Without this script, the front end first looks for its server below the page and logs two errors.
_SERVER_ADDRESS = "<script>window.__streamlit = {BACKEND_BASE_URL: new URL('.', location.href).href}</script>"

_ROOT = '<div id="root">'
_PAGE = files.INDEX.replace("<script", f"{_SERVER_ADDRESS}\n<!-- head -->\n<script", 1)
_TITLE = "<title>Streamlit</title>"
_PAGES = {
    page.path: _PAGE.replace("<!-- head -->", answers.make_head(page.path)).replace(
        _TITLE, make_head_elements(f"{page.title} · {NAME}", page.purpose)
    )
    for page in PAGES
}
_ADDRESSES = {page.name: f".{page.path}" for page in PAGES}  # relative to each other
_UNKNOWN_PAGE = _PAGE.replace(
    "<!-- head -->", answers.make_head("")
)  # Streamlit then shows an error and the first page
# If a proxy's prefix had no slash at its end, relative addresses would lose it.
_SLASH = """<script>
    const {pathname, search, hash} = location
    if (!pathname.endsWith("/")) history.replaceState(null, "", `${pathname}/${search}${hash}`)
</script>"""
_PAGES["/"] = _PAGES["/"].replace(_SERVER_ADDRESS, f"{_SLASH}\n{_SERVER_ADDRESS}")
# A page that contains its curves draws them first, since the front end keeps server and browser busy for a
# second. It starts when the curves are drawn, or after three seconds.
_DEFERRED_SCRIPT = """<script>
    const frontEnd = document.createElement("script")
    Object.assign(frontEnd, {type: "module", crossOrigin: "", src: "\\1"})
    const begin = () => document.head.append(frontEnd)
    addEventListener("drawn", begin, {once: true})
    setTimeout(begin, 3000)
</script>"""
_EXPLORE_PAGE = re.sub(
    r'<script type="module" crossorigin src="(.+?)"></script>', _DEFERRED_SCRIPT, _PAGES["/"]
)
_DEFAULT_HEAD = make_head_elements(f"{PAGES[0].title} · {NAME}", PAGES[0].purpose)
_EXPLORE_PAGE = re.sub(r'<link rel="modulepreload" crossorigin .+?>', "", _EXPLORE_PAGE)


async def index(request: Request) -> Response:
    """Return Streamlit's page with its server's address, the data of the choice and a visitor cookie."""
    path = strip_prefix(request.scope["path"])
    if (name := path[1:].lower()) in _ADDRESSES and path not in _PAGES:
        return RedirectResponse(f"{_ADDRESSES[name]}?{request.url.query}")
    page = _PAGES.get(path, _UNKNOWN_PAGE)
    if path == "/":
        with suppress(admission.RefusedError):  # on a busy server, Streamlit renders the page
            head, body = await _compute_slots.compute(
                visitor_from_page_request(request), answers.render_explore, request.url.query
            )
            page = _EXPLORE_PAGE.replace(_DEFAULT_HEAD, head).replace(_ROOT, body + _ROOT)
    return replicas.set_replica_cookie(
        request, set_visitor_cookie(request, HTMLResponse(page, headers={"Cache-Control": "no-cache"}))
    )


async def redirect_prefix(request: Request) -> Response:
    """Redirect from the server's prefix to its first page, relatively, because a proxy may add a prefix."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{PREFIX.rpartition('/')[2]}/{query}")


def show_error(error: Exception) -> bool:
    """Show a sentence on the page when a script fails. The traceback goes to the log only."""
    st.error("Something went wrong on our side. Your settings are kept in the address: reload the page.")
    return True


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Warm up before the first visitor, and exempt all loaded objects from garbage collection."""
    monitoring.configure_logging()
    replicas.check_environment()
    admission.raise_file_limit()
    admission.throttle_file_errors(asyncio.get_running_loop())
    torch.set_num_threads(1)  # more threads wait for each other and slow down all requests
    close = warm_up()
    files.compress_initial_files()
    answers.get_course()
    gc.collect()
    gc.freeze()
    coroutines = (admission.end_idle_threads(), classes.end_expired_classes(), follow_server())
    tasks = [asyncio.create_task(work) for work in coroutines]
    monitoring.event_log.record("server started", torch=torch.__version__, hosted=limits.HOSTED)
    yield
    monitoring.event_log.record("server stopped")
    for task in tasks:
        task.cancel()
    close()


def limit_route(route: Route) -> Route:
    """Return a route below the server's prefix, with rate limits and redirects between replicas."""
    middleware = [
        Middleware(admission.RateLimitMiddleware, _limiters),
        Middleware(replicas.ReplicaMiddleware),
    ]
    return Route(PREFIX + route.path, route.endpoint, methods=route.methods, middleware=middleware)


class _PageNameConvertor(StringConvertor):
    """A route convertor for addresses of pages, existing or not, but not of files or Streamlit's paths."""

    regex = "[A-Za-z0-9-]+"


register_url_convertor("name", _PageNameConvertor())
_limiters = admission.VisitorRateLimiters()
_ANSWERS = [Route("/ask/{question}", ask, methods=["POST"]), Route("/sheet", redirect_sheet)]

_ROUTES = (*_ANSWERS, *takeaway.ROUTES, *jobs.ROUTES, *tables.ROUTES, *initial_state.ROUTES, *classes.ROUTES)
_RESERVED_NAMES = dict.fromkeys(route.path.split("/")[1] for route in _ROUTES)  # not available as page names


async def refuse_path(_request: Request) -> Response:
    """Refuse an unknown path below a reserved name; otherwise the front end would serve a page there."""
    raise admission.RefusedError(404, "There is nothing at this address: go to the first page.")


app = st.App(
    MAIN,
    lifespan=lifespan,
    routes=[
        Route(f"{PREFIX}/assets/{{name:path}}", get_asset),
        *(limit_route(route) for route in _ROUTES),
        *(limit_route(Route(f"/{name}", refuse_path)) for name in _RESERVED_NAMES),
        *(
            limit_route(Route(f"/{name}/{{rest:path}}", refuse_path, methods=["GET", "POST"]))
            for name in _RESERVED_NAMES
        ),
        *(Route(PREFIX + route.path, route.endpoint) for route in monitoring.ROUTES),
        *(limit_route(Route(page.path, index)) for page in PAGES),
        limit_route(Route("/{page:name}", index)),
        *([Route(PREFIX, redirect_prefix)] if PREFIX else []),
    ],
    middleware=[
        Middleware(FairTurnMiddleware),
        Middleware(SecurityMiddleware, _EXPLORE_PAGE),
        Middleware(ResponseLimitMiddleware),
        Middleware(admission.PageLimitMiddleware),
        Middleware(files.FrontEndMiddleware),
    ],
    exception_handlers={
        admission.RefusedError: admission.handle_refused,
        replicas.WrongReplicaError: replicas.handle_wrong_replica,
    },
    on_script_error=show_error,
)

"""The page where students type the code of a class, and the redirect from a code to its class."""

import html

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from explorer.ui.server.admission import monitoring
from explorer.ui.server.admission.admission import RefusedError, make_html_refusal
from explorer.ui.server.admission.replicas import (
    describe_unreachable,
    is_unreachable,
    require_local,
    set_replica_cookie,
)
from explorer.ui.server.admission.visitors import set_visitor_cookie, visitor_from_request
from explorer.ui.server.classes.classes import UNKNOWN_CODE_MESSAGE, Classes
from explorer.ui.server.classes.codes import identity_of
from explorer.ui.server.classes.invitation import ENTRY_PATH

_NO_STORE = {"Cache-Control": "no-store"}
_LEARN = "learn"
_PAGE_HTML = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Join a class: Gradient explorer</title>
<style>
    body {{ font: 1.1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 12vh auto; padding: 0 1.5rem }}
    form {{ display: flex; flex-wrap: wrap; gap: .6rem; align-items: end }}
    label {{ flex: 1 1 12rem }}
    input {{ box-sizing: border-box; width: 100%; padding: 0 .4rem }}
    input {{ font: 1.4rem/1.6 ui-monospace, monospace }}
    button {{ font: inherit; min-height: 2.5rem; padding: 0 1.2rem }}
</style>
<main>
    <h1>Join a class</h1>
    <p role="status">{words}</p>
    <form action="{action}" method="get">
        <label>Code <input name="code" autocomplete="off" autocapitalize="none" spellcheck="false"
            maxlength="64" required autofocus value="{code}"></label>
        <button>Join</button>
    </form>
</main>
</html>
"""
_PROMPT = "Type the code that your teacher shows. You need no name."


def make_entry_response(request: Request, classes: Classes) -> Response:
    """Redirect to the class whose code is in the address, or return the page for typing a code.

    Redirects are relative, because a proxy may have added a prefix to our paths.
    """
    below = "../" if "code" in request.path_params else ""
    text = request.path_params.get("code", request.query_params.get("code", ""))
    action = f"{below}{ENTRY_PATH}"
    if not text.strip():
        return set_visitor_cookie(request, _render_page(200, _PROMPT, action))
    identity = identity_of(text)
    if is_unreachable(request, identity):
        return make_html_refusal(
            503, f"This class cannot be joined just now: {describe_unreachable(identity)}."
        )
    require_local(identity)
    try:
        classes.find_by_code(visitor_from_request(request), identity)
    except RefusedError as refused:
        monitoring.refusals.labels(str(refused.status_code)).inc()
        message = refused.detail if refused.status_code != 404 else UNKNOWN_CODE_MESSAGE
        return set_visitor_cookie(request, _render_page(refused.status_code, message, action, text))
    return set_replica_cookie(
        request,
        set_visitor_cookie(request, RedirectResponse(f"{below}{_LEARN}?class={identity}", 303, _NO_STORE)),
    )


def _render_page(status: int, message: str, action: str, code: str = "") -> HTMLResponse:
    escaped = {"words": html.escape(message), "code": html.escape(code[:64])}
    return HTMLResponse(_PAGE_HTML.format(action=action, **escaped), status, _NO_STORE)

"""The page where students type the code of a class, and the redirect from a code to its class."""

import html
import re
from functools import cache

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from explorer.instrument.assets import STYLE, read_skeleton_css
from explorer.ui.server.admission import monitoring, replicas
from explorer.ui.server.admission.admission import RefusedError, make_html_refusal
from explorer.ui.server.admission.visitors import set_visitor_cookie, visitor_from_request
from explorer.ui.server.answers import get_folder
from explorer.ui.server.classes.classes import UNKNOWN_CODE_MESSAGE, Classes
from explorer.ui.server.classes.codes import identity_of
from explorer.ui.server.classes.invitation import ENTRY_PATH
from explorer.ui.server.files import INDEX

_NO_STORE = {"Cache-Control": "no-store"}
_PAGE_HTML = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<base href="{base}">
<title>Join a class: Gradient explorer</title>
{style}
<body class="served">
<main class="lesson"><div class="ways">
    <h1 class="title">Join a class</h1>
    <p role="status">{words}</p>
    <form class="flex-wrap" action="{path}" method="get">
        <label class="flex-row">Code <input name="code" autocomplete="off" autocapitalize="none"
            spellcheck="false" maxlength="64" required autofocus value="{code}"></label>
        <button class="primary">Join</button>
    </form>
</div></main>
</html>
"""
_PROMPT = "Type the code that your teacher shows. You need no name."


def make_entry_response(request: Request, classes: Classes) -> Response:
    """Redirect to the class whose code is in the address, or return the page for typing a code.

    Redirects are relative, because a proxy may have added a prefix to our paths.
    """
    below = "../" if "code" in request.path_params else ""
    text = request.path_params.get("code", request.query_params.get("code", ""))
    if not text.strip():
        return set_visitor_cookie(request, _render_page(200, _PROMPT, below))
    identity = identity_of(text)
    if replicas.is_unreachable(request, identity):
        return make_html_refusal(
            503, f"This class cannot be joined just now: {replicas.describe_unreachable(identity)}."
        )
    replicas.require_local(identity)
    try:
        classes.find_by_code(visitor_from_request(request), identity)
    except RefusedError as refused:
        monitoring.refusals.labels(str(refused.status_code)).inc()
        message = refused.detail if refused.status_code != 404 else UNKNOWN_CODE_MESSAGE
        return set_visitor_cookie(request, _render_page(refused.status_code, message, below, text))
    return replicas.set_replica_cookie(
        request,
        set_visitor_cookie(request, RedirectResponse(f"{below}learn?class={identity}", 303, _NO_STORE)),
    )


def _render_page(status: int, message: str, below: str, code: str = "") -> HTMLResponse:
    values = {"words": html.escape(message), "code": html.escape(code[:64]), "style": _make_style()}
    return HTMLResponse(_PAGE_HTML.format(base=below or "./", path=ENTRY_PATH, **values), status, _NO_STORE)


@cache
def _make_style() -> str:
    """Return HTML elements that load Streamlit's fonts and the style of the app's pages."""
    fonts = re.findall(r'<link rel="stylesheet".*?>', INDEX)
    sheet = f'<link href="assets/{get_folder()}/{STYLE}" rel="stylesheet">'
    return "\n".join([*fonts, f"<style>{read_skeleton_css()}</style>", sheet])

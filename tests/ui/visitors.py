"""Requests of visitors, with and without a name."""

from starlette.types import Scope

from explorer.ui.server.admission import visitors


def scope_of(
    kind: str = "http", path: str = "/sheet", *, name: str = "", cookie: str = "", address: str = "10.0.0.1"
) -> Scope:
    """A request of who has a name, or shows a cookie that may not be ours."""
    shown = f"{name}.{visitors.sign('visitor', name)}" if name else cookie
    return {
        "type": kind, "method": "GET", "path": path, "query_string": b"", "scheme": "http",
        "headers": [(b"cookie", f"{visitors.COOKIE}={shown}".encode())] if shown else [],
        "client": (address, 1), "server": ("127.0.0.1", 80),
    }  # fmt: skip

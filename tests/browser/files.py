"""A folder as a plain web host serves it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class Quiet(SimpleHTTPRequestHandler):
    """A web host that says nothing of who asks."""

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serve_files(folder: Path, handler: type[Quiet] = Quiet) -> Iterator[str]:
    """Serve what is in a folder, and give the address; what is asked for without an ending is no page."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()

"""The Dash page of the same curves, served from an environment of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.browser.server import free_port, run_server

_HERE = Path(__file__).parent
_PACKAGES = Path(sys.prefix) / "peer"


@contextmanager
def serve(log: Path) -> Iterator[str]:
    """Serve the page; what it needs beside the app's packages is installed at the first call."""
    if not _PACKAGES.exists():
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(_PACKAGES)]
        subprocess.run([*install, "-r", str(_HERE / "requirements.txt")], check=True)
    port = free_port()
    command = [sys.executable, str(_HERE / "dash_page.py"), str(port)]
    with run_server(command, port, "/_dash-layout", log, also=[_PACKAGES]) as address:
        yield address

"""Try the app where the package is installed: ``python -W error tests/started.py``, in an empty folder.

Prints how long it took to start. Nothing of the project's own folder is used.
"""

import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect
from websockets.typing import Subprotocol

STARTS_WITHIN_S = 300.0  # on a busy machine, where all of it is compiled as well
ENDS_WITHIN_S = 5.0
LOG = Path("log.txt")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answer(path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=STARTS_WITHIN_S) as response:
        return str(response.read().decode())


def wait_until_ready() -> None:
    """Until the server has warmed up and its trainer answers."""
    deadline = time.monotonic() + STARTS_WITHIN_S
    while server.poll() is None and time.monotonic() < deadline:
        try:
            assert answer("/readyz") == "ready"
            return
        except urllib.error.URLError:
            time.sleep(0.2)
    raise AssertionError(f"it did not start:\n{LOG.read_text('utf-8')}")


def messages() -> dict[str, ForwardMsg]:
    """The last message of each kind that a browser gets until the script of its page has run once."""
    by_type: dict[str, ForwardMsg] = {}
    with connect(f"ws://127.0.0.1:{port}/_stcore/stream", subprotocols=[Subprotocol("streamlit")]) as page:
        page.send(BackMsg(rerun_script={"query_string": "op=sign&rule=clipped"}).SerializeToString())
        while "script_finished" not in by_type:
            message = ForwardMsg.FromString(page.recv(timeout=STARTS_WITHIN_S, decode=False))
            by_type[str(message.WhichOneof("type"))] = message
    return by_type


port, begun = free_port(), time.perf_counter()
options = ["--server.headless=true", "--server.address=127.0.0.1", f"--server.port={port}"]
with LOG.open("wb") as log:
    server = subprocess.Popen([sys.executable, "-m", "explorer", *options], stdout=log, stderr=log)
try:
    wait_until_ready()
    started = time.perf_counter()
    assert '<div class="served">' in answer("/?op=sign&rule=clipped")
    by_type = messages()
    assert by_type["script_finished"].script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
    page = by_type["new_session"].new_session
    assert page.custom_theme.light.primary_color == "#1769aa", "the settings of .streamlit/config.toml"
    assert not page.config.gather_usage_stats
    server.send_signal(signal.SIGTERM)
    assert server.wait(ENDS_WITHIN_S) in (0, -signal.SIGTERM)
    assert "Traceback" not in LOG.read_text("utf-8")
finally:
    server.kill()
    server.wait()
print(f"python -m explorer: ready after {started - begun:.1f} s")

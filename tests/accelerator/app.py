"""The app on the device: a training from start to end, memory after Stop and without enough of it."""

import gc
import json
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

from explorer.training import Engine, Limits, Settings, Status
from explorer.training.runs.summary import name_device as name_device
from explorer.training.scheduling.status import SENTENCES
from explorer.training.system import memory
from tests.accelerator.absent import is_there
from tests.accelerator.runs import train
from tests.accelerator.table import Seen, Table
from tests.browser.server import free_port, run_server

_SMALL = {"task": "digits", "steps": 40, "hidden": 8, "pace": "full", "seeds": 2}
_LARGE = {"task": "digits", "steps": 5000, "hidden": 256, "batch": 1024, "seeds": 10, "pace": "full"}
_LEFT_BYTES = 60_000_000  # of the device's memory for the runs of the test: a small one needs few of them
_SITE = Path(__file__).parent / "site"  # what every Python of the app imports first


def add_rows(table: Table, name: str) -> None:
    table.attempt("memory after Stop", partial(_free_memory, name))
    table.attempt("a run without enough memory", partial(_run_out_of_memory, name))
    with ExitStack() as stack:
        address = cache(lambda: stack.enter_context(serve_app(name)))
        table.attempt("the app over HTTP", lambda: _train_over_http(name, address()))
        table.attempt("the app in a browser", lambda: _train_in_browser(name, address))


def _free_memory(name: str) -> Seen:
    with closing(Engine(Limits(workers=1))) as engine:
        _end(engine, engine.start(Settings(**_SMALL, device=name)))  # what the device keeps for good is there
        before = count_bytes(name)
        identity = engine.start(Settings(**_LARGE, device=name))
        while engine.snapshot(identity).step < 2:
            pass
        during = count_bytes(name)
        engine.command(identity, "stop")
        after = count_bytes(name)
    if during is None:
        return None, "torch counts no memory of this device"
    return after <= before < during, f"{during - before:,} bytes while it ran, {after - before:,} after Stop"


def count_bytes(name: str) -> int | None:
    if name == "cuda":
        torch.cuda.synchronize()
        return torch.cuda.memory_allocated()
    if name == "mps":
        return torch.mps.current_allocated_memory()
    if name == "pretended":
        from tests.accelerator.pretend import count_pretended_bytes

        return count_pretended_bytes()
    return None


def _run_out_of_memory(name: str) -> Seen:
    alone = train(Settings(**_SMALL, device=name))
    with closing(Engine(Limits(workers=1))) as engine, little_memory(name) as is_little:
        if not is_little:
            return None, "the memory of this device cannot be bounded"
        small, large = (engine.start(Settings(**each, device=name)) for each in (_SMALL, _LARGE))
        failed, well = (_end(engine, identity) for identity in (large, small))
    pairs = zip(well.snapshot.losses.values(), alone.snapshot().losses.values(), strict=True)
    same = all((a == b).all() for a, b in pairs)
    said = failed.sentence == SENTENCES["failed"].format(note=memory.USED_UP)
    return said and same and well.state == "finished", f"{failed.sentence} The other one: {well.sentence}"


def _end(engine: Engine, identity: str) -> Status:
    while (status := engine.snapshot(identity)).state in ("waiting", "running"):
        pass
    return status


@contextmanager
def little_memory(name: str) -> Iterator[bool]:
    """Leave little of the device's memory; False where that cannot be done."""
    gc.collect()
    if name == "cuda":
        torch.cuda.empty_cache()
        _, total = torch.cuda.mem_get_info()
        torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + _LEFT_BYTES) / total)
        try:
            yield True
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0)
    elif name == "pretended":
        from tests.accelerator.pretend import limits

        with patch.dict(limits, bytes=_LEFT_BYTES // 20):
            yield True
    else:
        yield False


@contextmanager
def serve_app(name: str) -> Iterator[str]:
    if not is_there("streamlit"):
        raise ImportError("streamlit is not installed here")
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true"]
    command += ["--server.address=127.0.0.1", f"--server.port={port}"]
    also = [_SITE] if name == "pretended" else []
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "app.txt"
        with run_server(command, port, "/_stcore/health", log, also=also) as address:
            yield address


def _train_over_http(name: str, address: str) -> Seen:
    query = "&".join(f"{key}={value}" for key, value in {**_SMALL, "device": name}.items())
    words = json.loads(_fetch(f"{address}/devices"))["words"]
    run = json.loads(_fetch(f"{address}/runs", {"query": query, "owner": "script"}))
    event: dict[str, Any] = {}
    with urllib.request.urlopen(f"{address}/runs/{run['id']}/events", timeout=60) as lines:
        for line in lines:
            if line.startswith(b"data: "):
                event = json.loads(line[6:])
    well = event.get("state") == "finished" and event.get("device") == name_device(name)
    said = f"{event.get('sentence')} on {event.get('device')}. {words}"
    return well and bool(words) == (name != "cpu"), said


def _fetch(address: str, data: object = None) -> bytes:
    body = None if data is None else json.dumps(data).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read()


def _train_in_browser(name: str, address: Callable[[], str]) -> Seen:
    from playwright.sync_api import expect, sync_playwright

    from tests.browser.chromium import find, launch

    with sync_playwright() as playwright:
        if find(playwright) is None:
            return None, "no Chromium here"
        with launch(playwright) as browser:
            page = browser.new_page(viewport={"width": 1366, "height": 768})
            page.goto(f"{address()}/train?task=digits&steps=40&pace=full&device={name}")
            page.get_by_role("button", name="Start", exact=True).click(timeout=60_000)
            metric = page.locator(".metric", has_text="Device")
            expect(metric).to_contain_text(name_device(name), timeout=60_000)
            expect(page.locator(".status")).to_contain_text("Finished after 40 steps.", timeout=60_000)
            return True, metric.inner_text().replace("\n", " ")

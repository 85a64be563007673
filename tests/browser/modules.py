"""The instrument's modules in a page of a real browser, without a server."""

from __future__ import annotations

import base64
import inspect
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Error, Page, Route

from explorer.instrument.document import entry

_MODULES = Path(inspect.getfile(entry)).parent / "js"
_ADDRESS = "http://instrument.test/"
_KINDS = {"js": "text/javascript", "css": "text/css", "html": "text/html"}


def _answer(route: Route) -> None:
    name = route.request.url.removeprefix(_ADDRESS)
    text = (_MODULES / name).read_text(encoding="utf-8") if name else "<!doctype html><title>modules</title>"
    route.fulfill(body=text, content_type=_KINDS[name.rpartition(".")[2] or "html"])


@contextmanager
def modules_page(browser: Browser) -> Iterator[Page]:
    """A page in which ``import("./formula/curves.js")`` gives that module; errors in it are raised."""
    page = browser.new_page()
    errors: list[Error] = []
    page.on("pageerror", lambda error: errors.append(error))
    page.route(f"{_ADDRESS}**", _answer)
    page.goto(_ADDRESS)
    yield page
    page.close()
    assert not errors


def run(page: Page, body: str, argument: Any) -> Any:
    """What an async function of one argument, ``given``, returns in the page.

    Float64Array and Int8Array come back as NumPy arrays, and with them NaN and infinities.
    """
    script = """async (text) => {
        const given = JSON.parse(text);
        const packed = (_, value) => {
            if (!ArrayBuffer.isView(value)) return value;
            const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
            let text = "";
            for (const byte of bytes) text += String.fromCharCode(byte);
            return { dtype: value.constructor.name, base64: btoa(text) };
        };
        return JSON.stringify(await (async () => { BODY })(), packed);
    }"""
    return json.loads(
        page.evaluate(script.replace("BODY", body), json.dumps(argument)), object_hook=_unpacked
    )


def _unpacked(value: dict[str, Any]) -> Any:
    if set(value) != {"dtype", "base64"}:
        return value
    dtype = {"Float64Array": np.float64, "Int8Array": np.int8}[value["dtype"]]
    return np.frombuffer(base64.b64decode(value["base64"]), dtype)

"""The Python that the site brings along, in node: the worker, in what a browser has and node has not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

from explorer.site import python
from tests.frontend import modules

Ask = Callable[[list[Any]], list[Any]]
"""Gives the answers to questions, each with what is given and with modules that are needed from then on."""

# Pyodide must not know that it is in node.
_START = """
    class WorkerGlobalScope { static [Symbol.hasInstance]() { return true; } }
    class FileReader {
      async readAsDataURL(blob) {
        const content = Buffer.from(await blob.arrayBuffer()).toString("base64");
        this.result = `data:${blob.type};base64,${content}`;
        this.onload();
      }
    }
    Object.assign(process, { browser: true, type: "renderer" });
    process.stdin.once("end", () => process.exit()); // a worker lives on
    const location = new URL(given.runtime.worker);
    Object.assign(globalThis, { WorkerGlobalScope, FileReader, location, self: globalThis });
    await import(given.runtime.worker);
    globalThis.ask = (data) =>
      new Promise((resolve) => {
        globalThis.postMessage = resolve;
        globalThis.onmessage({ data });
      });
    return ask({ ...given.runtime, ...given.program });
"""
_ASK = """
    const said = [];
    for (const [question, asked, modules] of given) said.push(await ask({ question, input: asked, modules }));
    return said;
"""
runtime = cache(python.runtime)  # it is packed for most of a second
needs_pyodide = pytest.mark.skipif(not python.version(), reason="npm install brings Pyodide")


@contextmanager
def started(program: dict[str, Any]) -> Iterator[Ask]:
    """The function that asks a program, once Python has started for it."""
    with modules.node() as node:
        assert node.run(_START, {"runtime": runtime(), "program": program}) == {}
        yield lambda questions: list(node.run(_ASK, questions))

"""The instrument's modules that need no page, in the node that Playwright brings."""

import base64
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from playwright._impl._driver import compute_driver_executable

from explorer.instrument.document import list_sampling
from explorer.instrument.modules import MODULES

_ANSWERER = Path(__file__).with_name("answerer.mjs")


class Node:
    """A process that runs JavaScript, one piece after the other."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, body: str, argument: Any = None) -> Any:
        """The value that an async function of one argument, ``given``, returns; its errors are raised.

        ``import("./formula/curves.js")`` in it gives that module. NumPy arrays go there as Float64Array and
        the like and come back as such, with NaN and infinities. The ``document`` of the argument is the
        modules' own.
        """
        assert self._process.stdin
        assert self._process.stdout
        if isinstance(argument, dict) and "document" in argument:
            body = f'(await import("./choice/entries.js")).setDocument(given.document); {body}'
        there = body.replace('import("./', f'import("{MODULES.as_uri()}/')
        asked = json.dumps({"body": there, "given": argument}, default=_packed)
        print(asked, file=self._process.stdin, flush=True)
        answer = json.loads(self._process.stdout.readline(), object_hook=_unpacked)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer.get("value")

    def call(self, function: str, *given: Any) -> Any:
        """Return what a function such as ``learn/shape.js describeShape`` returns."""
        module, name = function.split()
        return self.run(f'return (await import("./{module}")).{name}(...given);', given)


@contextmanager
def node() -> Iterator[Node]:
    """A process of node that samples as Python does, and ends with this."""
    executable, _ = compute_driver_executable()
    command = [executable, str(_ANSWERER)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, encoding="utf-8") as process:
        node = Node(process)
        node.run('(await import("./formula/sampling.js")).setSampling(given)', list_sampling())
        yield node


def _packed(values: Any) -> dict[str, str]:
    return {"dtype": f"{values.dtype.name.title()}Array", "base64": base64.b64encode(values).decode()}


def _unpacked(value: dict[str, Any]) -> Any:
    if set(value) != {"dtype", "base64"}:
        return value
    dtype = value["dtype"].removesuffix("Array").lower()
    return np.frombuffer(base64.b64decode(value["base64"]), dtype)

"""One JAX for all tests that ask it."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

RunJax = Callable[[str, bool, list[dict[str, Any]]], list[list[Any]]]
_RUNNER = Path(__file__).with_name("jax_runner.py")  # not imported: JAX takes each worker a second


@pytest.fixture(scope="package")
def run_jax() -> Iterator[RunJax]:
    """Yield the function that has ``jax_runner`` run the jobs of a line."""
    command, pipe = [sys.executable, "-I", str(_RUNNER)], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:

        def run(*given: Any) -> list[list[Any]]:
            assert process.stdin
            assert process.stdout
            print(json.dumps(given), file=process.stdin, flush=True)
            return list(json.loads(process.stdout.readline()))

        yield run
        assert process.stdin
        process.stdin.close()

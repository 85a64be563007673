"""Executes generated JAX code that learns: ``python -I jax_learned_runner.py jobs.json gradients.json``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp


def defined(code: str, name: str, learned: list[str], numbers: dict[str, float]) -> Callable[..., Any]:
    """The function that a piece of code defines under a name, as a function of x and what learns."""
    names: dict[str, Any] = {"__name__": "generated"}
    exec(compile(code, "<snippet>", "exec"), names)
    return lambda x, *values: names[name](x, **dict(zip(learned, values, strict=True)), **numbers)


def gradients(function: Callable[..., Any], given: list[Any], g: Any) -> list[Any]:
    """y, and the gradients of x and of what learns, in their own shapes."""
    y, pull = jax.vjp(function, *given)
    return [y, *pull(g)]


def main(jobs: str, found: str) -> None:
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_disable_most_optimizations", True)
    with open(jobs) as file:
        work = json.load(file)
    functions = [defined(code, name, [*given][1:], numbers) for code, name, given, numbers, _ in work]

    def every(arrays: list[tuple[list[Any], Any]]) -> list[list[Any]]:
        return [gradients(function, *each) for function, each in zip(functions, arrays, strict=True)]

    arrays = [([jnp.array(each) for each in given.values()], jnp.array(g)) for *_, given, _, g in work]
    results = jax.jit(every)(arrays)  # compiling is nearly all of the time: at once it takes less
    with open(found, "w") as file:
        json.dump([[value.tolist() for value in each] for each in results], file)


if __name__ == "__main__":
    main(*sys.argv[1:])

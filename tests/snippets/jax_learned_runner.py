"""Executes generated JAX code that learns: ``python -I jax_learned_runner.py jobs.json gradients.json``."""

from __future__ import annotations

import json
import sys
from typing import Any

import jax
import jax.numpy as jnp


def gradients(code: str, name: str, given: dict[str, Any], numbers: dict[str, float], g: Any) -> list[Any]:
    """y, and the gradients of x and of what learns, in their own shapes."""
    names: dict[str, Any] = {"__name__": "generated"}
    exec(compile(code, "<snippet>", "exec"), names)
    learned = [key for key in given if key != "x"]

    def call(x: Any, *values: Any) -> Any:
        return names[name](x, **dict(zip(learned, values, strict=True)), **numbers)

    y, pull = jax.vjp(call, *(jnp.array(given[key]) for key in ("x", *learned)))
    return [value.tolist() for value in (y, *pull(jnp.array(g)))]


def main(jobs: str, found: str) -> None:
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_disable_most_optimizations", True)
    with open(jobs) as file:
        work = json.load(file)
    with open(found, "w") as file:
        json.dump([gradients(*job) for job in work], file)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Executes generated JAX code and keeps the curves: ``python -I jax_runner.py jobs.json curves.json``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp


def curve(function: Callable[..., Any], points: list[float], g: float, dtype: str) -> list[list[str]]:
    """y and the gradient at the points, each number in hexadecimal."""
    x = jnp.array(points, dtype=dtype)
    y, backward = jax.vjp(function, x)
    (gradient,) = backward(jnp.full_like(y, g))
    for values in (y, gradient):
        if (values.dtype, values.shape) != (x.dtype, x.shape):
            raise SystemExit(f"{function} gave {values.dtype} {values.shape} for {x.dtype} {x.shape}")
    return [[float(value).hex() for value in values] for values in (y, gradient)]


def main(jobs: str, curves: str) -> None:
    with open(jobs) as file:
        work = json.load(file)
    found = []
    jax.config.update("jax_disable_most_optimizations", True)  # compiling is nearly all of the time
    for code, name, parameters, points, g, dtype in work:
        jax.config.update("jax_enable_x64", dtype == "float64")
        names: dict[str, Any] = {"__name__": "generated"}
        exec(compile(code, "<snippet>", "exec"), names)
        found.append(curve(lambda x, f=names[name], p=parameters: f(x, **p), points, g, dtype))
    with open(curves, "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main(*sys.argv[1:])

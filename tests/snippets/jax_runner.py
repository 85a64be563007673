"""Executes generated JAX code and keeps the curves: ``python -I jax_runner.py jobs.json curves.json``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import groupby
from typing import Any

import jax
import jax.numpy as jnp

Function = Callable[..., Any]


def curve(function: Function, x: Any, g: float) -> tuple[Any, Any]:
    """y and the gradient at x."""
    y, backward = jax.vjp(function, x)
    (gradient,) = backward(jnp.full_like(y, g))
    for values in (y, gradient):
        if (values.dtype, values.shape) != (x.dtype, x.shape):
            raise SystemExit(f"{function} gave {values.dtype} {values.shape} for {x.dtype} {x.shape}")
    return y, gradient


def defined(code: str, name: str, parameters: dict[str, float]) -> Function:
    """The function that a piece of code defines under a name, with its parameters."""
    names: dict[str, Any] = {"__name__": "generated"}
    exec(compile(code, "<snippet>", "exec"), names)
    return lambda x: names[name](x, **parameters)


def main(jobs: str, curves: str) -> None:
    with open(jobs) as file:
        work = json.load(file)
    result: list[list[list[str]]] = []
    jax.config.update("jax_disable_most_optimizations", True)  # compiling is nearly all of the time
    for (dtype, together), group in groupby(work, key=lambda job: job[5:]):
        jax.config.update("jax_enable_x64", dtype == "float64")
        each = [(defined(*code), jnp.array(points, dtype=dtype), g) for *code, points, g, _, _ in group]

        def every(xs: list[Any], each: list[Any] = each) -> list[tuple[Any, Any]]:
            return [curve(function, x, g) for (function, _, g), x in zip(each, xs, strict=True)]

        computed = (jax.jit(every) if together else every)([x for _, x, _ in each])
        result += [[[value.hex() for value in values.tolist()] for values in pair] for pair in computed]
    with open(curves, "w") as file:
        json.dump(result, file)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Executes generated JAX code of pairs that draw: ``python -I drawing_jax_runner.py jobs results``."""

from __future__ import annotations

import json
import sys
from typing import Any

import jax
import jax.numpy as jnp


def passed(names: dict[str, Any], name: str, job: dict[str, Any]) -> list[Any]:
    """y and the gradients of x and of what learns, at a given u."""
    x, u, g, *learned = (jnp.array(values, dtype=job["dtype"]) for values in job["arrays"])
    loss = {"f": eval(job["loss"])} if job["loss"] else {}

    def function(*leaves: Any) -> Any:
        return names[f"_{name}"](*leaves, u, **loss, **job["numbers"])

    y, backward = jax.vjp(function, x, *learned)
    _require_drawn(names[name], names[f"_{name}"], [x, *learned], {**loss, **job["numbers"]})
    return [y, *backward(g)]


def _require_drawn(public: Any, inner: Any, leaves: list[Any], given: dict[str, Any]) -> None:
    """The function itself draws u by its key, strictly between 0 and 1, compiled or not."""
    x, key = leaves[0], jax.random.key(3)
    u = jax.random.uniform(key, x.shape, x.dtype, minval=jnp.finfo(x.dtype).tiny)
    expected = inner(*leaves, u, **given)
    compiled = jax.jit(lambda k: public(*leaves, key=k, **given))
    for y in (public(*leaves, key=key, **given), compiled(key)):
        if (y.shape, y.dtype) != (x.shape, x.dtype) or not bool(jnp.allclose(y, expected, rtol=1e-5)):
            raise SystemExit(f"{public} draws another u")


def main(jobs: str, results: str) -> None:
    with open(jobs) as file:
        work = json.load(file)
    computed = []
    for code, name, job in work:
        jax.config.update("jax_enable_x64", job["dtype"] == "float64")
        names: dict[str, Any] = {"__name__": "generated"}
        exec(compile(code, "<snippet>", "exec"), names)
        computed.append([values.tolist() for values in passed(names, name, job)])
    with open(results, "w") as file:
        json.dump(computed, file)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Executes generated JAX code: ``python -I jax_runner.py`` answers lines of jobs.

A line is the name of a dtype, whether its jobs are compiled together, and the jobs. A job is code, the name
of its function, the values of x and of what learns by their names, the numbers that it takes, the upstream
gradient, and for a function that draws its u and its loss. A result is y and the gradients of x and of what
learns.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

Function = Callable[..., Any]


def function_of(job: dict[str, Any], leaves: list[Any]) -> Function:
    """Return the function that a job's code defines, as a function of x and what learns."""
    names: dict[str, Any] = {"__name__": "generated"}
    exec(compile(job["code"], "<snippet>", "exec"), names)
    name, learned, numbers = job["name"], [*job["leaves"]][1:], job["numbers"]
    if "u" not in job:
        return lambda x, *values: names[name](x, **dict(zip(learned, values, strict=True)), **numbers)
    given = ({"f": eval(job["loss"])} if job["loss"] else {}) | numbers
    require_drawn(names[name], names[f"_{name}"], leaves, given)
    u = jnp.array(job["u"], dtype=leaves[0].dtype)
    return lambda *each: names[f"_{name}"](*each, u, **given)


def require_drawn(public: Function, inner: Function, leaves: list[Any], given: dict[str, Any]) -> None:
    """Raise SystemExit unless the function draws u by its key, strictly between 0 and 1, compiled or not."""
    x, key = leaves[0], jax.random.key(3)
    u = jax.random.uniform(key, x.shape, x.dtype, minval=jnp.finfo(x.dtype).tiny)
    expected = inner(*leaves, u, **given)
    compiled = jax.jit(lambda k: public(*leaves, key=k, **given))
    for y in (public(*leaves, key=key, **given), compiled(key)):
        if (y.shape, y.dtype) != (x.shape, x.dtype) or not bool(jnp.allclose(y, expected, rtol=1e-5)):
            raise SystemExit(f"{public} draws another u")


def run(dtype: str, is_together: bool, jobs: list[dict[str, Any]]) -> list[list[Any]]:
    jax.config.update("jax_enable_x64", dtype == "float64")
    every = [[jnp.array(values, dtype=dtype) for values in job["leaves"].values()] for job in jobs]
    functions = [function_of(*each) for each in zip(jobs, every, strict=True)]

    def pull(every: list[list[Any]]) -> list[list[Any]]:
        results = []
        for function, leaves, job in zip(functions, every, jobs, strict=True):
            y, backward = jax.vjp(function, *leaves)
            results.append([y, *backward(jnp.broadcast_to(jnp.array(job["g"], dtype=dtype), y.shape))])
            for value, leaf in zip(results[-1], [leaves[0], *leaves], strict=True):
                if (value.dtype, value.shape) != (leaf.dtype, leaf.shape):
                    raise SystemExit(
                        f"{job['name']} gave {value.dtype} {value.shape} for {leaf.dtype} {leaf.shape}"
                    )
        return results

    computed = (jax.jit(pull) if is_together else pull)(every)  # compiling is nearly all of the time
    return [[value.tolist() for value in result] for result in computed]


if __name__ == "__main__":
    jax.config.update("jax_disable_most_optimizations", True)
    for line in sys.stdin:
        print(json.dumps(run(*json.loads(line))), flush=True)

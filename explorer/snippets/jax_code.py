"""JAX source of an op with a rule: a ``custom_vjp``, or the plain op for the default rule."""

from __future__ import annotations

from explorer.formula import Formula
from explorer.formula.tree import is_constant
from explorer.snippets.layout import STEP, docstring, listing, names_in, statement
from explorer.snippets.pair import Pair, has_elements


def jax_code(pair: Pair) -> str:
    """The module's text; it needs jax alone and defines ``pair.name``."""
    rule = pair.rule.parsed
    lines = [
        *([] if rule is None else _decorator(pair)),
        *listing("", f"def {pair.name}(", ["x", *pair.keywords], "):"),
        *docstring(STEP, pair.described("array")),
        *statement(STEP, "return ", _shaped(pair.op.parsed, "x")),
        *([] if rule is None else ["", "", *_custom_gradient(pair, _shaped(rule, "g"))]),
    ]
    return _module("\n".join(lines))


def _module(code: str) -> str:
    used = names_in(code)
    groups = (
        {"math": "import math", "partial": "from functools import partial"},
        {"jax": "import jax", "jnp": "import jax.numpy as jnp"},
    )
    imports = ["\n".join(line for name, line in group.items() if name in used) for group in groups]
    head = "\n\n".join(filter(None, imports))
    return f"{head}\n\n\n{code}\n" if head else f"{code}\n"


def _decorator(pair: Pair) -> list[str]:
    if not pair.parameters:
        return ["@jax.custom_vjp"]
    places = [str(place) for place in range(1, len(pair.parameters) + 1)]
    numbers = f"({places[0]},)" if len(places) == 1 else f"({', '.join(places)})"
    return listing("", "@partial(", ["jax.custom_vjp", f"nondiff_argnums={numbers}"], ")")


def _custom_gradient(pair: Pair, gradient: str) -> list[str]:
    """The two halves of a custom derivative, and their registration."""
    kept = [name for name in ("x", "y") if name in names_in(gradient)]
    saved = {0: "None", 1: "".join(kept)}.get(len(kept), "(x, y)")
    forward, backward = f"_{pair.name}_forward", f"_{pair.name}_backward"
    received = "".join(kept) if len(kept) == 1 else "saved"
    return [
        *listing("", f"def {forward}(", ["x", *pair.parameters], "):"),
        # Not a call of the function: a parameter of an own formula may have its name.
        *statement(STEP, "y = ", _shaped(pair.op.parsed, "x")),
        f"{STEP}return y, {saved}",
        "",
        "",
        *listing("", f"def {backward}(", [*pair.parameters, received, "g"], "):"),
        *([f"{STEP}x, y = saved"] if len(kept) == 2 else []),
        *_returned(gradient),
        "",
        "",
        *listing("", f"{pair.name}.defvjp(", [forward, backward], ")"),
    ]


def _returned(gradient: str) -> list[str]:
    lines = statement(STEP, "return (", gradient, ",)")
    if len(lines) == 1:
        return lines
    return [*statement(STEP, "gradient = ", gradient), f"{STEP}return (gradient,)"]


def _shaped(formula: Formula, like: str) -> str:
    """The formula's expression with the shape and dtype of ``like``."""
    if is_constant(formula.tree):
        return f"jnp.full_like({like}, {formula.jax_source})"
    if not has_elements(formula.tree):
        return f"jnp.broadcast_to({formula.jax_source}, {like}.shape).astype({like}.dtype)"
    return formula.jax_source if formula.carries_gradient else f"({formula.jax_source}).astype({like}.dtype)"

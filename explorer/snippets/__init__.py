"""An op with a rule as code to take away: PyTorch, the detach trick, JAX, a notebook.

All of it is generated from the formulas' trees and checked by being executed; nothing is copied from
what a user wrote.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from explorer.catalogue import Op, Rule, checked, find_op, find_rule
from explorer.snippets.detach import detach_code
from explorer.snippets.jax_code import jax_code
from explorer.snippets.notebooks import notebook_code
from explorer.snippets.pair import pair
from explorer.snippets.torch_code import torch_code

__all__ = ["detach_snippet", "jax_snippet", "notebook", "snippet"]

Values = Mapping[str, float] | None


def snippet(op: str | Op, rule: str | Rule, parameters: Values = None, **named: float) -> str:
    """PyTorch source that defines ``round_straight_through(x, **parameters)`` and its layer.

    Executed on its own, with torch alone, it reproduces ``explorer.apply`` bit for bit, kinks
    included, and works under double backward and torch.func where the rule is differentiable. For
    the default rule it is the plain op. Where torch or Python refuses a constant, such as a negative
    width of softshrink or ``log(a)`` at a = 0, the code raises their error and ``explorer.apply`` gives
    NaN or what IEEE arithmetic gives.

    Args:
        op: key of ``OPS``, or ``"formula: …"`` in x.
        rule: key of ``RULES``, or ``"formula: …"`` in x, y, g.
        parameters: values by name, which become the defaults of the signature; other names are
            passed over.
        **named: the same as keywords.

    Raises:
        ValueError: an unknown key or keyword, or a value that is not finite; FormulaError is one too.
    """
    op, rule = find_op(op), find_rule(rule)
    return torch_code(pair(op, rule, {**(parameters or {}), **checked(op, [rule], named)}))


def detach_snippet(op: str | Op, rule: str | Rule, parameters: Values = None) -> str | None:
    """The same function without a class, by ``detach``; None where that cannot express the rule.

    It can for rules that are g times a factor free of g. Forward values are the op's bit for bit, the
    gradient is the rule's up to rounding, kinks included; there is no second derivative. Arguments as
    for ``snippet``.
    """
    return detach_code(pair(op, rule, parameters or {}))


def jax_snippet(op: str | Op, rule: str | Rule, parameters: Values = None) -> str:
    """JAX source of the same function with a ``custom_vjp``; for the default rule the plain op.

    Values and gradients agree with torch's up to rounding, except that the default rule shows what
    JAX, not torch, does at a kink. Arguments as for ``snippet``.
    """
    return jax_code(pair(op, rule, parameters or {}))


def notebook(
    op: str | Op,
    rule: str | Rule,
    parameters: Values = None,
    *,
    start: float = -3.0,
    stop: float = 3.0,
    points: int = 601,
    g: float = 1.0,
    kinks: Sequence[float] = (),
) -> str:
    """A notebook (nbformat 4, as JSON text) that defines the function and draws its curve.

    Args:
        op, rule, parameters: as for ``snippet``.
        start, stop: ends of the range of x, start below stop.
        points: number of evenly spaced x.
        g: the upstream gradient.
        kinks: x to be sampled exactly, where the line breaks; ``sample_curves(...).kinks[rule]``.
    """
    chosen = pair(op, rule, parameters or {})
    return notebook_code(chosen, torch_code(chosen), start=start, stop=stop, points=points, g=g, kinks=kinks)

"""``apply``: an op on a tensor, whose ``backward`` follows a rule."""

from collections.abc import Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor  # torch has no public name for it

from explorer.catalogue import (
    Contribution,
    Op,
    Rule,
    beside,
    checked,
    contribution,
    find_loss,
    find_op,
    find_rule,
    in_formulas,
)
from explorer.formula import Formula, FormulaError
from explorer.formula.tree import UNIFORM
from explorer.gradient.bound import RULE_FUNCTIONS, Bound, bind
from explorer.gradient.draws import Draw, drawn
from explorer.gradient.varying import LEARNING_FUNCTIONS, Learning, learning_by


def apply(
    op: str | Op,
    rule: str | Rule,
    x: Tensor,
    *,
    draw: Draw = None,
    f: str | float | Tensor | None = None,
    **parameters: float | Tensor,
) -> Tensor:
    """Compute an op on a tensor so that ``backward`` follows a rule.

    Args:
        op: key of ``OPS``, or ``"formula: …"`` in x, and in ``u()`` and ``normal()`` if it draws.
        rule: key of ``RULES``, or ``"formula: …"`` in x, y, g, and in what is drawn.
        x: floating tensor of any shape and device.
        draw: what a pair that draws takes its u from, one for each element, the same in op and rule: a
            generator, or the numbers themselves, a tensor in (0, 1) that broadcasts to x's shape; without it
            torch's default generator, as in dropout. Other pairs pass it over.
        f: the loss of one element as a formula of y, for rules that name ``f()`` or ``fa()``; its parameters
            are given by name. A number is a parameter of that name.
        **parameters: by name; an op and a rule share a name that means the same in both. Where it does not,
            such as ``alpha`` of elu and of dsq, it is the op's, and ``{"dsq.alpha": 0.4}`` or ``alpha_rule``
            the rule's. Numbers, or tensors, which are given one value, or one for each channel: any shape
            that broadcasts to x's. A tensor that requires grad learns, and gets its gradient in its own
            shape: what each element contributes by ``catalogue.contribution``, summed over all that share a
            value, and scaled. One of a single value that does not learn counts as its number. Torch's
            functions that take numbers only, such as ``elu``, are then written out, equal up to rounding.

    Returns:
        y with x's shape and dtype. Only what the rule's formula names, of x and y, is kept for
        backward; the rest may be changed in place. Double backward and torch.func's ``grad`` and
        ``vmap`` work where the rule's formula is differentiable. Forward mode (``jvp``, ``jacfwd``,
        ``hessian``) gives what the rule returns for the tangent as upstream gradient, so also where
        a rule is not linear in g. ``torch.compile`` makes one graph of it, without forward mode; there a
        tensor of one value that does not learn stays a tensor. At a kink the gradient is what the
        rule's formula says there; for "default", what torch does.

    Raises:
        ValueError: an unknown key or parameter, a number that is not finite or outside the domain of its
            entry, a tensor whose shape does not fit or that requires grad and cannot learn; FormulaError,
            with a caret under the column, for a formula that cannot be read.
        TypeError: x is not a floating tensor.
    """
    if f is not None and not isinstance(f, str):
        parameters, f = {"f": f, **parameters}, None
    numbers: list[Exact] = []
    tensors: dict[str, Tensor] = {}
    for name, value in parameters.items():
        if isinstance(value, Tensor) and _varies(value):
            tensors[name] = value
        else:
            numbers.append(_exact(name, value.detach().item() if isinstance(value, Tensor) else value))
    learns = tuple([(name, _learns(value)) for name, value in tensors.items()]) if tensors else ()
    signature = op, rule, tuple(numbers), learns, f
    if torch.compiler.is_compiling():
        bound: Bound | Learning = getattr(_TRACED, _traced(*signature))
    else:
        bound = _bound(*signature)
    if not isinstance(x, Tensor) or not x.is_floating_point():
        kind = str(x.dtype) if isinstance(x, Tensor) else type(x).__name__
        raise TypeError(f"{_title(op, rule)}: x must be a floating tensor, not {kind}: use x.float()")
    if isinstance(bound, Bound):
        return bound(x)
    title = _title(op, rule)
    fitting = [_fitting(title, name, value, x) for name, value in tensors.items()]
    given = dict(zip(bound.given, fitting, strict=True))
    return bound(x, {**given, UNIFORM: drawn(title, draw, x)} if bound.draws else given)


BOUNDARY = RULE_FUNCTIONS + LEARNING_FUNCTIONS
"""The Functions that ``apply`` calls: which one depends on whether torch.compile reads, and what learns."""

Learns = tuple[tuple[str, bool], ...]  # parameters that are tensors, each with whether it learns
Exact = tuple[str, Any, bool]  # a parameter: its name, its value, and whether that is a float in hexadecimal


def _exact(name: str, value: Any) -> Exact:
    """A parameter's value where 0 and −0 are two, and torch.compile knows it."""
    return (name, value.hex(), True) if type(value) is float else (name, value, False)


# By name, one for each that torch.compile has met: it reads attributes one by one, and a mapping as a whole.
_TRACED = SimpleNamespace()


def _traced(op: str | Op, rule: str | Rule, numbers: tuple[Exact, ...], learns: Learns, f: str | None) -> str:
    """The name under which torch.compile finds an op bound to a rule."""
    bound, known = _bound(op, rule, numbers, learns, f), vars(_TRACED)
    name = next((name for name, other in known.items() if other is bound), f"bound_{len(known)}")
    known[name] = bound
    return name


# As torch.compiler.assume_constant_result marks a function; to call that would load all of the compiler.
_traced._dynamo_marked_constant = True  # type: ignore[attr-defined]


def _bound(
    op: str | Op, rule: str | Rule, numbers: tuple[Exact, ...], learns: Learns, f: str | None
) -> Bound | Learning:
    """An op bound to a rule for one way of calling ``apply``; kept for the next call of the same kind."""
    if not numbers or all(is_float or type(value) is int for _, value, is_float in numbers):
        try:
            return _kept(op, rule, numbers, learns, f)
        except TypeError:  # an entry that has no hash
            pass
    return _newly_bound(op, rule, numbers, learns, f)


def _newly_bound(
    op: str | Op, rule: str | Rule, numbers: tuple[Exact, ...], learns: Learns, f: str | None
) -> Bound | Learning:
    title = _title(op, rule)
    settings = {name: float.fromhex(value) if is_float else value for name, value, is_float in numbers}
    try:
        op, rule = find_op(op), find_rule(rule)
        loss = None if f is None else find_loss(f)
        chosen = checked(op, (rule,), settings, [name for name, _ in learns], loss)
        given = tuple(in_formulas(op, rule, name) for name, _ in learns)
        contributions = _contributions(op, rule, given, [needed for _, needed in learns])
        if learns or op.draws or rule.draws:
            if loss is None:
                _require_no_loss(beside(op, rule).parsed, *(each.formula for each in contributions.values()))
            return learning_by(op, rule, chosen, given, contributions, loss)
        return bind(op, rule, chosen)
    except FormulaError as error:
        raise FormulaError(f"{title}: {error.message}", error.column, error.text) from None
    except ValueError as error:
        raise ValueError(f"{title}: {error}") from None


_kept = lru_cache(maxsize=1024)(_newly_bound)


def _require_no_loss(*formulas: Formula | None) -> None:
    """Raise ValueError where a formula names a loss."""
    if any(formula and formula.names_loss for formula in formulas):
        raise ValueError(
            "the rule needs the loss of each element: give f, a formula of y such as (y - 0.45)**2"
        )


def _contributions(
    op: Op, rule: Rule, names: tuple[str, ...], needed: Sequence[bool]
) -> dict[str, Contribution]:
    """Contributions for the tensors that can learn; ValueError where a needed gradient would be lost."""
    contributions = {}
    for name, must in zip(names, needed, strict=True):
        try:
            contributions[name] = contribution(op, rule, name, names)
        except ValueError as error:
            if must:
                raise ValueError(f"{error}; pass it detached") from None
    return contributions


def _learns(value: Tensor) -> bool:
    return value.requires_grad and torch.is_grad_enabled()


def _varies(value: Tensor) -> bool:
    """Whether a parameter's value must stay a tensor: it learns, or is more than one number."""
    if _learns(value) or value.numel() != 1 or torch.compiler.is_compiling():
        return True  # torch.compile does not know the number
    wrapped: bool = is_functorch_wrapped_tensor(value)
    return wrapped


def _fitting(title: str, name: str, value: Tensor, x: Tensor) -> Tensor:
    """A parameter as x's dtype; ValueError for a shape that x's does not take in."""
    try:
        fits = value.expand(x.shape).shape == x.shape
    except RuntimeError:
        fits = False
    if not fits or not value.numel():
        shapes = f"{tuple(value.shape)} does not broadcast to x's shape {tuple(x.shape)}"
        raise ValueError(f"{title}: parameter {name} of shape {shapes}")
    if not value.is_floating_point():
        raise ValueError(f"{title}: parameter {name} must be a floating tensor, not {value.dtype}")
    return value.to(x.dtype)


def _title(op: object, rule: object) -> str:
    op, rule = (repr(entry.key if isinstance(entry, Op | Rule) else entry) for entry in (op, rule))
    return f"apply({op}, {rule})"

"""Apply an op to a tensor, with a backward rule for its backward pass."""

from collections.abc import Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor  # private; torch has no public name for it

from explorer import catalogue
from explorer.catalogue import Contribution, Op, Rule, adapt_rule, check_values, find_contribution, find_loss
from explorer.formula import FormulaError
from explorer.formula.tree import UNIFORM
from explorer.gradient.bound import BoundOp, bind_contributions
from explorer.gradient.draws import Draw, draw_uniform


def apply(
    op: str | Op,
    rule: str | Rule,
    x: Tensor,
    *,
    draw: Draw = None,
    f: str | float | Tensor | None = None,
    **parameters: float | Tensor,
) -> Tensor:
    """Compute an op on a tensor so that its backward pass follows a backward rule.

    Args:
        op: key of ``OPS``, or ``"formula: …"`` in x; a random op also uses ``u()`` and ``normal()``.
        rule: key of ``RULES``, or ``"formula: …"`` in x, y, g and these random numbers.
        x: floating tensor of any shape and device.
        draw: the source of u, one random number for each element, shared by a random op and its rule. Either
            a generator, or a tensor of numbers in (0, 1) that broadcasts to x's shape. If None, torch's
            default generator, as in dropout. Deterministic ops and rules ignore it.
        f: the loss of one element as a formula of y, for rules that use ``f()`` or ``fa()``. Its parameters
            are given by name. If a number, it is the parameter named f.
        **parameters: parameters by name. A name that means the same in op and rule sets both. If the meanings
            differ, as for ``alpha`` of elu and of dsq, the name sets the op's parameter, and ``{"dsq.alpha":
            0.4}`` or ``alpha_rule`` sets the rule's. Values are numbers or tensors. A tensor has one value,
            or one per channel, in any shape that broadcasts to x's. A tensor that requires grad learns: its
            gradient, in its own shape, is the scaled sum of the contributions of all elements that share a
            value (see ``catalogue.find_contribution``). A tensor with a single value that does not learn is
            treated as a number. With tensors, functions of torch that accept only numbers, such as ``elu``,
            are written out; results are equal up to rounding.

    Returns:
        y with x's shape and dtype. For backward, only x and y are saved, and only if the rule's formula uses
        them; all other tensors may be changed in place. Double backward and torch.func's ``grad`` and
        ``vmap`` work if the rule's formula is differentiable. Forward mode (``jvp``, ``jacfwd``, ``hessian``)
        returns the rule's value with the tangent as upstream gradient, even if the rule is not linear in g.
        ``torch.compile`` makes a single graph, without forward mode; it keeps a tensor with one value that
        does not learn as a tensor. At a kink the gradient is that of the rule's formula, or torch's for the
        rule "default".

    Raises:
        ValueError: for an unknown key or parameter; for a number that is not finite or not in its parameter's
            domain; for a tensor whose shape does not fit, or that requires grad but cannot learn. A formula
            that cannot be parsed raises FormulaError, with a caret under the column.
        TypeError: if x is not a floating tensor.
    """
    if f is not None and not isinstance(f, str):
        parameters, f = {"f": f, **parameters}, None
    numbers: list[EncodedNumber] = []
    tensors: dict[str, Tensor] = {}
    for name, value in parameters.items():
        if isinstance(value, Tensor) and _must_stay_tensor(value):
            tensors[name] = value
        else:
            number: Any = value.detach().item() if isinstance(value, Tensor) else value
            is_float = type(number) is float  # in hexadecimal, 0 differs from −0 when torch.compile compares
            numbers.append((name, number.hex() if is_float else number, is_float))
    learns = tuple([(name, _is_learning(value)) for name, value in tensors.items()]) if tensors else ()
    signature = op, rule, tuple(numbers), learns, f
    if torch.compiler.is_compiling():
        bound: BoundOp = getattr(_TRACEABLE, _name_traceable(*signature))
    else:
        bound = _get_bound(*signature)
    if not isinstance(x, Tensor) or not x.is_floating_point():
        kind = str(x.dtype) if isinstance(x, Tensor) else type(x).__name__
        raise TypeError(f"{_make_title(op, rule)}: x must be a floating tensor, got {kind}: use x.float()")
    if not (tensors or bound.random_names):
        return bound(x)
    title = _make_title(op, rule)
    fitted = [_fit_parameter(title, name, value, x) for name, value in tensors.items()]
    arguments = dict(zip(bound.tensor_names, fitted, strict=True))
    return bound(x, {**arguments, UNIFORM: draw_uniform(title, draw, x)} if bound.random_names else arguments)


LearningFlags = tuple[tuple[str, bool], ...]  # names of tensor parameters, and whether they learn
EncodedNumber = tuple[str, Any, bool]  # name, value, and whether the value is a hexadecimal float


# Ops traced by torch.compile are attributes of this object. In a dict, each new one would recompile all.
_TRACEABLE = SimpleNamespace()


def _name_traceable(
    op: str | Op, rule: str | Rule, numbers: tuple[EncodedNumber, ...], learns: LearningFlags, f: str | None
) -> str:
    """Make an op with its rule an attribute of ``_TRACEABLE``, for torch.compile, and return its name."""
    bound, cached = _get_bound(op, rule, numbers, learns, f), vars(_TRACEABLE)
    name = next((name for name, other in cached.items() if other is bound), f"bound_{len(cached)}")
    cached[name] = bound
    return name


# torch.compiler.assume_constant_result sets this attribute, but calling it would load the whole compiler.
_name_traceable._dynamo_marked_constant = True  # type: ignore[attr-defined]


def _get_bound(
    op: str | Op, rule: str | Rule, numbers: tuple[EncodedNumber, ...], learns: LearningFlags, f: str | None
) -> BoundOp:
    if not numbers or all(is_float or type(value) is int for _, value, is_float in numbers):
        try:
            return _bind_cached(op, rule, numbers, learns, f)
        except TypeError:  # an unhashable op or rule
            pass
    return _bind_call(op, rule, numbers, learns, f)


def _bind_call(
    op: str | Op, rule: str | Rule, numbers: tuple[EncodedNumber, ...], learns: LearningFlags, f: str | None
) -> BoundOp:
    """Return a new ``BoundOp``. Error messages begin with the call."""
    title = _make_title(op, rule)
    settings = {name: float.fromhex(value) if is_float else value for name, value, is_float in numbers}
    try:
        op, rule = catalogue.find_op(op), catalogue.find_rule(rule)
        loss = None if f is None else find_loss(f)
        values = check_values(op, (rule,), settings, [name for name, _ in learns], loss)
        names = tuple(catalogue.find_formula_name(op, rule, name) for name, _ in learns)
        contributions = _find_contributions(op, rule, names, [needed for _, needed in learns])
        formulas = (adapt_rule(op, rule).parsed, *(item.formula for item in contributions.values()))
        if loss is None and any(formula and formula.uses_loss for formula in formulas):
            raise ValueError(
                "the rule uses the loss of each element: pass f, a formula of y such as (y - 0.45)**2"
            )
        return bind_contributions(op, rule, values, contributions, names, loss)
    except FormulaError as error:
        raise FormulaError(f"{title}: {error.message}", error.column, error.text) from None
    except ValueError as error:
        raise ValueError(f"{title}: {error}") from None


_bind_cached = lru_cache(maxsize=1024)(_bind_call)


def _find_contributions(
    op: Op, rule: Rule, names: tuple[str, ...], needed: Sequence[bool]
) -> dict[str, Contribution]:
    """Return each trainable parameter's ``Contribution``. Raises ValueError if one in ``needed`` has none."""
    contributions = {}
    for name, is_needed in zip(names, needed, strict=True):
        try:
            contributions[name] = find_contribution(op, rule, name, names)
        except ValueError as error:
            if is_needed:
                raise ValueError(f"{error}; pass {name}.detach(), so that it does not learn") from None
    return contributions


def _is_learning(value: Tensor) -> bool:
    return value.requires_grad and torch.is_grad_enabled()


def _must_stay_tensor(value: Tensor) -> bool:
    if _is_learning(value) or value.numel() != 1:
        return True
    if torch.compiler.is_compiling():
        return True  # its value is unknown while torch.compile traces
    is_wrapped: bool = is_functorch_wrapped_tensor(value)
    return is_wrapped


def _fit_parameter(title: str, name: str, value: Tensor, x: Tensor) -> Tensor:
    """Return a parameter in x's dtype. Raises ValueError unless it is floating and broadcasts to x."""
    try:
        is_fitting = value.expand(x.shape).shape == x.shape
    except RuntimeError:
        is_fitting = False
    if not is_fitting or not value.numel():
        shape, target = tuple(value.shape), tuple(x.shape)
        raise ValueError(
            f"{title}: parameter {name} of shape {shape} does not broadcast to x's shape {target}: give it "
            "one value, or one for each channel"
        )
    if not value.is_floating_point():
        raise ValueError(f"{title}: parameter {name} must be a floating tensor, got {value.dtype}")
    return value.to(x.dtype)


def _make_title(op: object, rule: object) -> str:
    op, rule = (repr(entry.key if isinstance(entry, Op | Rule) else entry) for entry in (op, rule))
    return f"apply({op}, {rule})"

"""Functions that are no formula as ops and rules: they stand wherever a key does, their parameters fixed."""

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule, find_op, find_rule
from explorer.curves.foreign.elementwise import (
    NEAR,
    is_same,
    require_elementwise,
    require_same_in_any_company,
    spread_points,
)
from explorer.curves.foreign.subject import Subject, UntriedError, make_own_subject
from explorer.curves.foreign.timed import TIME_LIMIT_S, Answer, HungError, run_within
from explorer.formula import Formula, quoted
from explorer.formula.derivative import ZERO
from explorer.formula.tree import Foreign, Name, Node
from explorer.gradient import Backward, BoundOp

SAMPLED = "sampled: "  # what the key of such an entry begins with
_LONGEST_NAME = 40

Callables = Callable[..., Any]  # a Function class, a module, a function of torch, a lambda
GivenOp = str | Op | Callables
GivenRule = str | Rule | Callables


@dataclass(frozen=True, repr=False)
class ForeignOp(Op):
    """An op whose y is no formula: ``tree`` has a ``Foreign`` node."""

    tree: Node = ZERO

    @functools.cached_property
    def parsed(self) -> Formula:
        """The tree as a formula, which can be evaluated but not written out."""
        return Formula(self.tree)


@dataclass(frozen=True, repr=False)
class ForeignRule(Rule):
    """A rule whose gradient is no formula: ``tree`` has a ``Foreign`` node."""

    tree: Node = ZERO

    @functools.cached_property
    def parsed(self) -> Formula:
        """The tree as a formula, which can be evaluated but not written out."""
        return Formula(self.tree)


def entry_op(op: GivenOp) -> Op:
    """The op of a key as of ``find_op``; of anybody's own function, by its forward.

    The default rule is then the function's own backward. Raises ValueError as ``find_op``, and for a function
    that is not elementwise, raises, draws at random or does not come back, with the reason.
    """
    if isinstance(op, str | Op) or not callable(op):
        return find_op(op)
    own = _tried(op)
    return ForeignOp(**own.fields, purpose="Your own function, forward.", tree=own.forward)


def entry_rule(rule: GivenRule) -> Rule:
    """The rule of a key as of ``find_rule``; of anybody's own function, by its backward.

    Raises as ``entry_op``.
    """
    if isinstance(rule, str | Rule) or not callable(rule):
        return find_rule(rule)
    own = _tried(rule)
    return ForeignRule(**own.fields, purpose="Your own function, backward.", group="own", tree=own.backward)


@dataclass(frozen=True, eq=False)
class _Called:
    """A function of tensors with its name; see ``formula.tree.ForeignFunction``."""

    name: str
    call: Callable[..., Tensor]
    passed: Node = ZERO
    points: None = None

    def __call__(self, *values: Tensor) -> Tensor:
        return self.call(*values)


@dataclass(frozen=True, eq=False)
class _Own:
    """Somebody's function of x with all else fixed. Each call may raise a ValueError with the reason."""

    label: str
    subject: Subject

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of an entry."""
        return {"key": SAMPLED + self.label, "label": self.label, "formula": f"sampled from {self.label}"}

    @property
    def forward(self) -> Node:
        """y as a tree in x; autograd gets the function's own gradient through it."""
        backward = _Called(self.label, self.gradient)
        bound = BoundOp(self.y, Backward(lambda x, _y, g: self.gradient(x, g), needs_x=True, needs_y=False))
        passed = Foreign(backward, (Name("a"), Name("g")))
        return Foreign(_Called(self.label, bound, passed), (Name("x"),))

    @property
    def backward(self) -> Node:
        """The gradient as a tree in x and g."""
        return Foreign(_Called(self.label, self.gradient), (Name("x"), Name("g")))

    def y(self, x: Tensor) -> Tensor:
        """The forward at x of any shape; of its shape and dtype."""
        return self._timed(lambda: self.subject.y(self._flat(x)), x)

    def gradient(self, x: Tensor, g: Tensor) -> Tensor:
        """The gradient at x for g of its shape; of its shape and dtype."""
        return self._timed(lambda: self.subject.gradient(self._flat(x), self._flat(g)), x)

    def _flat(self, x: Tensor) -> Tensor:
        """The elements of x, in a dtype that the function accepts."""
        accepted = self.subject.trial.dtype
        narrow = accepted == torch.float32 and x.dtype == torch.float64
        return x.detach().reshape(-1).to(accepted if narrow else x.dtype)

    def _timed(self, work: Callable[[], Tensor], like: Tensor) -> Tensor:
        values = _answered(self.label, work)
        return values.to(like.dtype).reshape(like.shape)


def _tried(function: Callables) -> _Own:
    """A function after its trial."""
    subject = make_own_subject(function, (), {})
    fixed = tuple(_held(argument) for argument in subject.arguments)
    own = _Own(_label(function, subject), replace(subject, arguments=fixed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _answered(own.label, lambda: _require(own.subject))
    return own


def _held(argument: Any) -> Any:
    """An argument as it is now, whatever is trained on."""
    return argument.detach().clone() if isinstance(argument, Tensor) else argument


def _require(subject: Subject) -> None:
    """Raise UntriedError where forward or backward is not elementwise, raises or differs between calls."""
    require_elementwise(subject)
    x = spread_points(NEAR, 64, 8, subject.trial.dtype)
    if subject.y(x).is_complex():
        raise UntriedError("it returns complex numbers")
    if not is_same(subject.gradient(x), subject.gradient(x), 0.0):
        raise UntriedError("two backwards of the same x and g differ")
    varied = 2 * torch.sin(1.7 * torch.arange(len(x), dtype=x.dtype))
    for g in (torch.ones_like(x), varied, varied + 2 * x.sign()):  # the last has another mean on each side
        require_same_in_any_company(subject.gradient, x, g, what="the gradient")


def _answered(label: str, work: Callable[[], Answer]) -> Answer:
    try:
        return run_within(TIME_LIMIT_S, work)
    except HungError as hung:
        raise ValueError(_refusal(label, f"it {hung}")) from None
    except UntriedError as error:
        raise ValueError(_refusal(label, str(error))) from error


def _refusal(label: str, reason: str) -> str:
    return f"{quoted(label)} cannot be sampled: {reason}"


def _label(function: Callables, subject: Subject) -> str:
    """A name for a legend: of a layer with its settings, if they are few."""
    if isinstance(function, torch.nn.Module):
        text = repr(function)
        return text if len(text) <= _LONGEST_NAME and text.isprintable() else subject.name
    if isinstance(function, functools.partial):
        return _label(function.func, make_own_subject(function.func, (), {}))
    return subject.name.strip("<>")

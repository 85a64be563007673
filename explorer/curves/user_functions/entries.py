"""Turn user-defined functions into ops and backward rules that work like those of the catalogue."""

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from explorer.catalogue import Op, Rule, find_op, find_rule
from explorer.curves.user_functions import elementwise
from explorer.curves.user_functions.subject import Subject, UntriedError, prepare_function
from explorer.curves.user_functions.timeouts import TIME_LIMIT_S, Answer, HungError, run_within
from explorer.formula import Formula, quote
from explorer.formula.derivative import ZERO
from explorer.formula.tree import Name, Node, UserCall
from explorer.gradient import BoundOp

SAMPLED = "sampled: "  # prefix of the catalogue keys of user-defined functions
_MAX_NAME_LENGTH = 40

Callables = Callable[..., Any]  # a Function class, a module, a torch function, a lambda
OpLike = str | Op | Callables
RuleLike = str | Rule | Callables


@dataclass(frozen=True, repr=False)
class UserOp(Op):
    """An op whose ``tree`` calls a user-defined function instead of evaluating a formula."""

    tree: Node = ZERO

    @functools.cached_property
    def parsed(self) -> Formula:
        """The op as a Formula that calls the function; it can be evaluated but not written as text."""
        return Formula(self.tree)


@dataclass(frozen=True, repr=False)
class UserRule(Rule):
    """A backward rule whose ``tree`` calls a user-defined function instead of evaluating a formula."""

    tree: Node = ZERO

    @functools.cached_property
    def parsed(self) -> Formula:
        """The rule as a Formula that calls the function; it can be evaluated but not written as text."""
        return Formula(self.tree)


def resolve_op(op: OpLike) -> Op:
    """Return the op with a given key, or wrap the forward of a user-defined function as an op.

    The default rule is then the function's own backward. Raises ValueError for an unknown key, and for a
    function that is not elementwise, raises, is random or exceeds the time limit.
    """
    if isinstance(op, str | Op) or not callable(op):
        return find_op(op)
    function = _make_user_function(op)
    return UserOp(**function.fields, purpose="Your own function, forward.", tree=function.forward)


def resolve_rule(rule: RuleLike) -> Rule:
    """Return the backward rule with a given key, or wrap the backward of a user-defined function as one.

    Raises ValueError for the same reasons as ``resolve_op``.
    """
    if isinstance(rule, str | Rule) or not callable(rule):
        return find_rule(rule)
    function = _make_user_function(rule)
    return UserRule(
        **function.fields,
        brief="your own function's backward",
        purpose="Your own function, backward.",
        group="own",
        tree=function.backward,
    )


@dataclass(frozen=True, eq=False)
class _NamedFunction:
    """A function of tensors together with its name, used as a node of an expression tree."""

    name: str
    call: Callable[..., Tensor]
    gradient_tree: Node = ZERO
    points: None = None

    def __call__(self, *values: Tensor) -> Tensor:
        return self.call(*values)


@dataclass(frozen=True, eq=False)
class _UserFunction:
    """A user-defined function of x with all other arguments fixed. Calls that fail raise ValueError."""

    label: str
    subject: Subject

    @property
    def fields(self) -> dict[str, Any]:
        return {"key": SAMPLED + self.label, "label": self.label, "formula": f"sampled from {self.label}"}

    @property
    def forward(self) -> Node:
        backward = _NamedFunction(self.label, self.gradient)
        bound = BoundOp(lambda x, *_: self.y(x), lambda x, _y, g, *_: self.gradient(x, g), saves_y=False)
        gradient_tree = UserCall(backward, (Name("a"), Name("g")))
        return UserCall(_NamedFunction(self.label, bound, gradient_tree), (Name("x"),))

    @property
    def backward(self) -> Node:
        return UserCall(_NamedFunction(self.label, self.gradient), (Name("x"), Name("g")))

    def y(self, x: Tensor) -> Tensor:
        """Call the user's function for each element of x, and return its output in x's shape and dtype."""
        return self._run(lambda: self.subject.y(self._flatten(x)), x)

    def gradient(self, x: Tensor, g: Tensor) -> Tensor:
        return self._run(lambda: self.subject.gradient(self._flatten(x), self._flatten(g)), x)

    def _flatten(self, x: Tensor) -> Tensor:
        accepted = self.subject.trial.dtype
        is_narrower = accepted == torch.float32 and x.dtype == torch.float64
        return x.detach().reshape(-1).to(accepted if is_narrower else x.dtype)

    def _run(self, work: Callable[[], Tensor], like: Tensor) -> Tensor:
        """Return the result of ``work``, run with a time limit, in the shape and dtype of ``like``."""
        return _run_within_limit(self.label, work).to(like.dtype).reshape(like.shape)


def _make_user_function(function: Callables) -> _UserFunction:
    subject = prepare_function(function, (), {})
    arguments = tuple(  # copies, so that training does not change them
        each.detach().clone() if isinstance(each, Tensor) else each for each in subject.arguments
    )
    user_function = _UserFunction(_make_label(function, subject), replace(subject, arguments=arguments))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _run_within_limit(user_function.label, lambda: _require_sampleable(user_function.subject))
    return user_function


def _require_sampleable(subject: Subject) -> None:
    """Raise UntriedError if a function or its backward fails, is random or is not elementwise."""
    if elementwise.has_random_output(subject):
        raise UntriedError("it is random: two calls with the same x give different y")
    if reason := elementwise.find_dependence(subject):
        raise UntriedError(reason)
    x = elementwise.make_test_points(elementwise.NEAR, 64, 8, subject.trial.dtype)
    elementwise.require_independence(subject.y, x, name="y")
    if subject.y(x).is_complex():
        raise UntriedError("it returns complex numbers")
    if not elementwise.is_same(subject.gradient(x), subject.gradient(x), 0.0):
        raise UntriedError("its backward is random: it returns two different gradients for the same x and g")
    varied = 2 * torch.sin(1.7 * torch.arange(len(x), dtype=x.dtype))
    # In the last g, the mean depends on the sign of x.
    for g in (torch.ones_like(x), varied, varied + 2 * x.sign()):
        elementwise.require_independence(subject.gradient, x, g, name="the gradient")


def _run_within_limit(label: str, work: Callable[[], Answer]) -> Answer:
    """Return the result of ``work``. Raises a ValueError with the reason if it fails or takes too long."""
    try:
        return run_within(TIME_LIMIT_S, work)
    except HungError as hung:
        raise ValueError(f"{quote(label)} cannot be sampled: it {hung}") from None
    except UntriedError as error:
        raise ValueError(f"{quote(label)} cannot be sampled: {error}") from error


def _make_label(function: Callables, subject: Subject) -> str:
    if isinstance(function, torch.nn.Module):
        text = repr(function)
        return text if len(text) <= _MAX_NAME_LENGTH and text.isprintable() else subject.name
    if isinstance(function, functools.partial):
        return _make_label(function.func, prepare_function(function.func, (), {}))
    return subject.name.strip("<>")

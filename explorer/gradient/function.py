"""The single autograd boundary: where an op meets a backward rule."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor  # torch has no public name for it

from explorer.catalogue import (
    COUNT,
    Contribution,
    Loss,
    Op,
    Rule,
    beside,
    checked,
    contribution,
    find_loss,
    find_op,
    find_rule,
    in_formulas,
    require_fixed,
    settled,
    values,
)
from explorer.formula import Formula, FormulaError
from explorer.gradient.draws import Draw, U, drawing, drawn

Forward = Callable[[Tensor], Tensor]
Pair = tuple[Forward, Callable[[Tensor, Tensor, Tensor], Tensor]]

_ENGINE = torch.autograd.Variable._execution_engine  # torch has no public name for it


def pulled_back(y: Tensor, leaf: Tensor, g: Tensor) -> Tensor:
    """The gradient for a leaf of an upstream gradient of y, of its shape and dtype; y's graph is used up.

    It calls the engine as ``torch.autograd.grad`` does, without the comparison of shapes, which takes 30 µs
    and loads sympy at first: half a second of every process. Raises RuntimeError where y does not depend on
    the leaf.
    """
    (gradient,) = _ENGINE.run_backward(
        (y,), (g,), False, False, (leaf,), allow_unreachable=False, accumulate_grad=False
    )
    return gradient


@dataclass(frozen=True)
class Backward:
    """A bound rule ``(x, y, g) -> gradient``, and whether it needs x and y."""

    rule: Callable[..., Tensor]
    needs_x: bool
    needs_y: bool

    def kept(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """The ones of x and y that are kept for backward."""
        return ((x,) if self.needs_x else ()) + ((y,) if self.needs_y else ())

    def __call__(self, saved: tuple[Tensor, ...], g: Tensor) -> Tensor:
        """The gradient; g stands in for x or y where it was not saved."""
        return self.rule(saved[0] if self.needs_x else g, saved[-1] if self.needs_y else g, g)


class _Positional(inspect.Signature):
    """A signature for arguments that are all positional and all given: torch binds them at every call."""

    def bind(self, *args: Any, **kwargs: Any) -> Any:
        return _Arguments(args, kwargs)


class _Arguments(NamedTuple):
    """Bound arguments without defaults."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def apply_defaults(self) -> None:
        """Nothing is left to fill in."""


class _RuleFunction(torch.autograd.Function):
    """Forward by the op, backward by the rule: one Function for all of them, which torch.compile reads."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, forward: Forward, backward: Backward) -> Tensor:
        return forward(x)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Forward, Backward], output: Tensor) -> None:
        x, _, ctx.rule = inputs
        ctx.save_for_backward(*ctx.rule.kept(x, output))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None, None]:
        return ctx.rule(ctx.saved_tensors, g), None, None


class _RuleFunctionWithForwardMode(_RuleFunction):
    """The same with forward mode, which torch.compile does not read."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Forward, Backward], output: Tensor) -> None:
        x, _, ctx.rule = inputs
        if kept := ctx.rule.kept(x, output):
            ctx.save_for_backward(*kept)
            ctx.save_for_forward(*kept)

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, *_: None) -> Tensor:
        gradient: Tensor = ctx.rule(ctx.saved_tensors, tangent)
        return gradient


# torch inspects forward's signature at every call; ready at hand it saves 10 µs of a training step's 400.
_RuleFunction.forward.__signature__ = _Positional()  # type: ignore[attr-defined]

_ZERO = Backward(lambda _x, _y, g: torch.zeros_like(g), needs_x=False, needs_y=False)


@dataclass(frozen=True)
class Bound:
    """An op bound to a rule: called on x it gives a y whose autograd follows the rule.

    ``forward`` is the op alone, ``x -> y``; ``rule`` is None for torch's own autograd of it, if there is any.
    """

    forward: Forward
    rule: Backward | None

    def __call__(self, x: Tensor) -> Tensor:
        """y with x's shape and dtype."""
        if self.rule is not None:
            return _applied(x, self.forward, self.rule)
        return self.forward(x)

    def gradient(self, x: Tensor, y: Tensor, g: Tensor) -> Tensor:
        """The rule's gradient for an upstream gradient at x and y, outside any graph; all of one shape."""
        if self.rule is not None:
            return self.rule((x, y), g)
        leaf = x.detach().requires_grad_()
        with torch.enable_grad():
            return pulled_back(self.forward(leaf), leaf, g)


def bind(op: str | Op, rule: str | Rule, settings: Mapping[str, float]) -> Bound:
    """An op bound to a rule; ``settings`` holds parameter values as for ``catalogue.values``.

    Raises ValueError for a pair that draws: it is no function of x alone.
    """
    op, rule = find_op(op), find_rule(rule)
    require_fixed("this", op, rule)
    return joined(op.parsed, beside(op, rule).parsed, values(op, rule, settings))


def joined(op: Formula, rule: Formula | None, parameters: Mapping[str, float]) -> Bound:
    """The formula of an op bound to that of a rule; to torch's own autograd where there is none.

    Where torch sees no path from y to x, its own gradient is 0.
    """
    forward = _fresh(op, parameters)
    if rule is None:
        return Bound(forward, None if op.carries_gradient else _ZERO)
    backward = Backward(_fresh(rule, parameters), "x" in rule.variables, "y" in rule.variables)
    return Bound(forward, backward)


def _fresh(formula: Formula, parameters: Mapping[str, float]) -> Callable[..., Tensor]:
    """The function that evaluates a formula into memory of its own: changes of the result reach no input."""
    evaluate = formula.bind(parameters)
    return (lambda *inputs: evaluate(*inputs).clone()) if formula.alias in ("x", "y", "u()") else evaluate


def pair(op: str | Op, rule: str | Rule, settings: Mapping[str, float]) -> Pair:
    """The two functions that ``bind`` joins: ``x -> y`` and ``(x, y, g) -> gradient``.

    They serve a training that multiplies by its weights itself, without autograd between the layers.
    """
    bound = bind(op, rule, settings)
    return bound.forward, bound.gradient


def _applied(x: Tensor, forward: Forward, backward: Backward) -> Tensor:
    function = _RuleFunction if torch.compiler.is_compiling() else _RuleFunctionWithForwardMode
    y: Tensor = function.apply(x, forward, backward)  # type: ignore[no-untyped-call]  # torch's own
    return y


@dataclass(frozen=True)
class Learning:
    """An op with a rule where some parameters are tensors, which get gradients of their own.

    ``tensors`` holds these parameters by name, each of x's dtype and of a shape that broadcasts to x's: one
    value, or one for each channel; ``given`` are their names in the order of a call. x, y and g are of one
    shape. ``autograd`` says whether torch's own autograd gives every gradient that is wanted. What the pair
    ``draws`` is given among the tensors: ``"u()"`` where there is anything, ``"f()"`` and ``"fa()"`` where
    they are among it.
    """

    op: Callable[..., Tensor]
    rule: Callable[..., Tensor] | None
    parts: Mapping[str, Callable[..., Tensor]]
    contributions: Mapping[str, Contribution]
    numbers: Mapping[str, float]
    given: tuple[str, ...]
    autograd: bool = False
    draws: frozenset[str] = frozenset()

    def __call__(self, x: Tensor, tensors: Mapping[str, Tensor]) -> Tensor:
        """y with x's shape and dtype, with gradients for x and for the tensors; only ``apply`` calls it."""
        if self.autograd:
            return self.forward(x, tensors)
        function = _LearningFunction if torch.compiler.is_compiling() else _LearningFunctionWithForwardMode
        y: Tensor = function.apply(x, self, tuple(tensors), *tensors.values())  # type: ignore[no-untyped-call]
        return y

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that learn."""
        return tuple(self.contributions)

    def forward(self, x: Tensor, tensors: Mapping[str, Tensor]) -> Tensor:
        """The op: y, of x's shape and dtype, in memory of its own."""
        return self.op(x, None, None, tensors)

    def gradient(self, x: Tensor, y: Tensor, g: Tensor, tensors: Mapping[str, Tensor]) -> Tensor:
        """The rule's gradient for x, outside any graph."""
        if self.rule is not None:
            return self.rule(x, y, g, tensors)
        leaf, fixed = x.detach().requires_grad_(), {name: value.detach() for name, value in tensors.items()}
        with torch.enable_grad():
            y = self.forward(leaf, fixed)
            return pulled_back(y, leaf, g) if y.requires_grad else torch.zeros_like(g)

    def part(self, name: str, x: Tensor, y: Tensor, g: Tensor, tensors: Mapping[str, Tensor]) -> Tensor:
        """The contribution of each element to a parameter's gradient, of x's shape, unscaled."""
        return self.parts[name](x, y, g, tensors)

    def factor(self, name: str, elements: float, tensors: Mapping[str, Tensor]) -> float | Tensor:
        """The factor on the sum for ``elements`` that share a value of the parameter."""
        contributed = self.contributions[name]
        if contributed.scale is None or not set(contributed.scale.parameters) & set(tensors):
            return contributed.factor(self.numbers, elements)
        like = tensors[name]
        scale = contributed.scale.varying(tensors).bind({**self.numbers, COUNT: float(elements)})
        return scale(like, None, None, tensors)

    def total(self, name: str, x: Tensor, y: Tensor, g: Tensor, tensors: Mapping[str, Tensor]) -> Tensor:
        """A parameter's gradient, in the parameter's shape: the contributions, summed and scaled."""
        part = self.part(name, x, y, g, tensors).sum_to_size(tensors[name].shape)
        factor = self.factor(name, x.numel() / max(1, tensors[name].numel()), tensors)
        return part if isinstance(factor, float) and factor == 1 else factor * part


def learning(op: str | Op, rule: str | Rule, settings: Mapping[str, float], names: Sequence[str]) -> Learning:
    """An op bound to a rule with ``names`` as tensors; the other parameters are numbers, as for ``bind``.

    It may draw, and may name the loss of an element and of its twin, which are then tensors as well.

    Raises ValueError for a name that cannot learn, see ``catalogue.contribution``.
    """
    op, rule = find_op(op), find_rule(rule)
    contributions = {name: contribution(op, rule, name, tuple(names)) for name in names}
    return _learning(op, rule, settings, names, contributions)


def _learning(
    op: Op,
    rule: Rule,
    settings: Mapping[str, float],
    names: Sequence[str],
    contributions: Mapping[str, Contribution],
    loss: Loss | None = None,
) -> Learning:
    numbers, rule = values(op, rule, settings), beside(op, rule)
    if loss:
        numbers = {p.name: settings.get(p.name, p.default) for p in loss.parameters} | numbers

    def bound(formula: Formula) -> Callable[..., Tensor]:
        return drawing(formula, op.parsed, loss, lambda each: _fresh(each.varying(names), numbers))

    formulas = [op.parsed, *([rule.parsed] if rule.parsed else [])]
    formulas += [each.formula for each in contributions.values()]
    parts = {name: bound(each.formula) for name, each in contributions.items()}
    return Learning(
        op=bound(op.parsed),
        rule=bound(rule.parsed) if rule.parsed else None,
        parts=parts,
        contributions=contributions,
        numbers=numbers,
        given=tuple(names),
        autograd=rule.parsed is None
        and op.parsed.carries_gradient
        and all(each.origin == "torch" for each in contributions.values()),
        draws=frozenset(name for each in formulas for name in settled(each, op.parsed, loss).draws),
    )


class _LearningFunction(torch.autograd.Function):
    """Forward by the op; backward by the rule for x, and by what elements contribute for the tensors.

    torch.compile reads it.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, learning: Learning, names: tuple[str, ...], *tensors: Tensor) -> Tensor:
        return learning.forward(x, dict(zip(names, tensors, strict=True)))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        x, ctx.learning, ctx.names, *tensors = inputs
        ctx.save_for_backward(x, output, *tensors)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        x, y, *saved = ctx.saved_tensors
        tensors, needed = dict(zip(ctx.names, saved, strict=True)), ctx.needs_input_grad
        learning: Learning = ctx.learning
        own = learning.gradient(x, y, g, tensors) if needed[0] else None
        wanted = zip(ctx.names, needed[3:], strict=True)
        totals = [learning.total(name, x, y, g, tensors) if need else None for name, need in wanted]
        return own, None, None, *totals


class _LearningFunctionWithForwardMode(_LearningFunction):
    """The same with forward mode, which torch.compile does not read."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _LearningFunction.setup_context(ctx, inputs, output)
        x, _, _, *tensors = inputs
        ctx.save_for_forward(x, output, *tensors)

    @staticmethod
    def jvp(
        ctx: Any, tangent: Tensor | None, _learning: None, _names: None, *tangents: Tensor | None
    ) -> Tensor:
        x, y, *saved = ctx.saved_tensors
        tensors = dict(zip(ctx.names, saved, strict=True))
        learning: Learning = ctx.learning
        moved = torch.zeros_like(y) if tangent is None else learning.gradient(x, y, tangent, tensors)
        for name, change in zip(ctx.names, tangents, strict=True):
            if change is not None and name in learning.contributions:
                elements = x.numel() / max(1, change.numel())
                scaled = (learning.factor(name, elements, tensors) * change).expand_as(x)
                moved = moved + learning.part(name, x, y, scaled, tensors)
        return moved


_LearningFunction.forward.__signature__ = _Positional()  # type: ignore[attr-defined]


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
    return bound(x, {**given, U: drawn(title, draw, x)} if bound.draws else given)


BOUNDARY = (_RuleFunction, _RuleFunctionWithForwardMode, _LearningFunction, _LearningFunctionWithForwardMode)
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
            return _learning(op, rule, chosen, given, contributions, loss)
        return bind(op, rule, chosen)
    except FormulaError as error:
        raise FormulaError(f"{title}: {error.message}", error.column, error.text) from None
    except ValueError as error:
        raise ValueError(f"{title}: {error}") from None


_kept = lru_cache(maxsize=1024)(_newly_bound)


def _require_no_loss(*formulas: Formula | None) -> None:
    """Raise ValueError where a formula names a loss."""
    if any(formula and {"f()", "fa()"} & {*formula.draws} for formula in formulas):
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

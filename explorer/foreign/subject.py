"""The subject of a check: an op with a rule, or somebody's own Function, behind one interface."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from explorer.catalogue import RULES, Op, Rule, beside, values
from explorer.formula import FUNCTIONS, names
from explorer.formula.reference import fixed_pair
from explorer.formula.tree import Call, walk
from explorer.gradient import joined

SPAN = (-3.0, 3.0)  # that a mean in a formula is over
_MISCALLED = ("positional argument", "keyword argument", "not callable")
_TRIED = 7  # elements of the first trial; a prime, so that no shape fits it by chance


class UntriedError(Exception):
    """Something could not be tried; the message is the reason in words."""


class ForwardError(UntriedError):
    """The forward raised, of its own accord."""


class NoGradientError(UntriedError):
    """The backward itself went wrong, although the forward did not."""


@dataclass(frozen=True)
class Subject:
    """A function of x and further arguments whose backward is checked.

    Attributes:
        name: the name in sentences.
        call: ``(x, *arguments) -> y``.
        arguments: the arguments after x; tensors of floats are cast to x's dtype.
        function: the Function class, where it is one.
        op, rule, parameters: of a pair; None and {} for somebody's own function.
        plain: the forward as code that autograd follows, where it is known without a Function.
        names: of the arguments, where they have some.
        shape: the dimensions of x after the first, where an example told them.
        is_module: whether it is one, so that it may need x of a shape.
    """

    name: str
    call: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    function: type[Function] | None = None
    op: Op | None = None
    rule: Rule | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    plain: Callable[..., Any] | None = None
    names: tuple[str, ...] = ()
    shape: tuple[int, ...] | None = None
    is_module: bool = False

    @property
    def declared(self) -> Rule | None:
        """The rule with the declarations that apply; None where nothing is declared."""
        rule = self.rule
        return (
            rule
            if rule and (rule.key in RULES or not rule.linear or rule.area or rule.antiderivative)
            else None
        )

    @cached_property
    def rounds_gradient(self) -> bool:
        """Whether backward rounds g to a number format, as that of torch's own casts does."""
        if self.op is None or self.rule is None:
            return False
        backward = self.rule.parsed or self.op.parsed.gradient
        parts = walk(backward.tree) if backward else []
        calls = [part for part in parts if isinstance(part, Call) and FUNCTIONS[part.function].own]
        return any("g" in names(call) for call in calls)

    @property
    def numbers(self) -> list[float]:
        """The plain numbers among arguments and parameters: thresholds, bounds, steps."""
        arguments = [*self.arguments, *self.parameters.values()]
        first = [a.flatten()[0].item() if isinstance(a, Tensor) and a.numel() else a for a in arguments]
        plain = [float(a) for a in first if isinstance(a, int | float) and not isinstance(a, bool)]
        return [number for number in plain if abs(number) < 1e6]

    def prepared(self, dtype: torch.dtype, learned: bool = False, device: str = "cpu") -> tuple[Any, ...]:
        """The arguments, tensors as copies of a dtype that require grad only if they are to be learned."""
        return tuple(_copied(argument, dtype, learned, device) for argument in self.arguments)

    def run(self, x: Tensor, arguments: tuple[Any, ...] | None = None) -> Tensor:
        """y; raises UntriedError where it is no tensor or the function raises."""
        prepared = self.prepared(x.dtype) if arguments is None else arguments
        try:
            y = self.call(x, *prepared)
        except Exception as error:
            kind = UntriedError if _is_no_fault(error) else ForwardError
            raise kind(f"it raises {said(error)}") from error
        if not isinstance(y, Tensor):
            raise UntriedError(f"it returns {_kind(y)}, not a tensor")
        return y

    def both(self, x: Tensor, g: Tensor | float = 1.0) -> tuple[Tensor, Tensor]:
        """y and the gradient for an upstream gradient g, of any shape; outside any graph."""
        leaf = x.detach().clone().requires_grad_()
        with torch.enable_grad():
            y = self.run(leaf.clone())  # what works in place must not meet a leaf
        return y.detach(), pulled(y, leaf, g).detach()

    @cached_property
    def trial(self) -> "Trial":
        """The first dtype and shape that the function accepts; raises UntriedError where there is none."""
        reasons: list[UntriedError] = []
        accepted: list[tuple[int, Trial]] = []
        for dtype in (torch.float64, torch.float32):
            for suffix in self._suffixes():
                try:
                    accepted.append((self._fit(Trial(dtype, suffix)), Trial(dtype, suffix)))
                except UntriedError as error:
                    reasons.append(error)
            if accepted:
                return min(accepted, key=lambda ranked: ranked[0])[1]
        if self.is_module and self.shape is None:
            hint = "if it needs x of a shape, give check an example, such as input=torch.randn(8, 3, 32, 32)"
            raise UntriedError(f"{reasons[0]}; {hint}")
        raise reasons[0]

    def _fit(self, trial: "Trial") -> int:
        """The rank of a shape: 0 where y has x's shape and backward runs; raises UntriedError without y."""
        x = _spread(torch.linspace(-1.3, 1.7, _TRIED, dtype=trial.dtype), trial.suffix)
        y = self.run(x.clone())
        try:
            self.both(x)
        except NoGradientError:
            return 2
        return int(y.shape != x.shape)

    def _suffixes(self) -> list[tuple[int, ...]]:
        """Shapes that may follow the first dimension of x: the example's, or (), and tensor arguments'."""
        if self.shape is not None:
            return [self.shape]
        tensors = [argument for argument in self.arguments if isinstance(argument, Tensor)]
        shapes = [tuple(tensor.shape) for tensor in tensors if tensor.numel() > 1]
        ends = [shape[-1:] for shape in shapes] + [shape[:1] for shape in shapes]
        return list(dict.fromkeys([(), *shapes, *ends]))

    def lifted(self, x: Tensor) -> Tensor:
        """x (n,) in the shape it takes, the same along every further dimension."""
        return _spread(x, self.trial.suffix)

    def lowered(self, values: Tensor) -> Tensor:
        """The first value of each row; (n,)."""
        return values[(slice(None), *[0] * len(self.trial.suffix))]  # type: ignore[index]  # a tuple of ints

    def y(self, x: Tensor) -> Tensor:
        """The forward values at x (n,); (n,)."""
        with torch.no_grad():
            return self.lowered(self.run(self.lifted(x).clone()))

    def gradient(self, x: Tensor, g: Tensor | float = 1.0) -> Tensor:
        """The gradients at x (n,) for an upstream gradient, one number or (n,); (n,)."""
        upstream = self.lifted(g) if isinstance(g, Tensor) else g
        return self.lowered(self.both(self.lifted(x), upstream)[1])


@dataclass(frozen=True)
class Trial:
    """An input that a function accepts: the dtype of x, and the dimensions after the first."""

    dtype: torch.dtype
    suffix: tuple[int, ...]


def _spread(x: Tensor, suffix: tuple[int, ...]) -> Tensor:
    return x.reshape(-1, *[1] * len(suffix)).expand(-1, *suffix).contiguous() if suffix else x


def pulled(y: Tensor, leaf: Tensor, g: Tensor | float = 1.0) -> Tensor:
    """The gradient of a leaf for an upstream gradient of y; 0 where there is no path."""
    upstream = g if isinstance(g, Tensor) else torch.full_like(y, g)
    if not y.requires_grad:
        return torch.zeros_like(leaf)
    try:
        gradient = torch.autograd.grad(y, leaf, upstream, allow_unused=True)[0]
    except Exception as error:
        raise NoGradientError(f"its backward raises {said(error)}") from error
    if gradient is None:
        raise NoGradientError("its backward returns None for x, so x gets no gradient")
    return gradient


def said(error: BaseException) -> str:
    """An exception in a few words: its kind and the first line of what it says."""
    words = str(error).strip().splitlines()
    return f"{type(error).__name__}: {words[0][:160].rstrip('.!: ')}" if words else type(error).__name__


def _is_no_fault(error: Exception) -> bool:
    """Whether a call raised because of how it was called, or for want of a device."""
    words = str(error)
    if not torch.cuda.is_available() and ("CUDA" in words or "NVIDIA" in words):
        return True
    return isinstance(error, TypeError) and any(part in words for part in _MISCALLED)


def _kind(value: object) -> str:
    if value is None:
        return "None"
    return (
        f"a class or an object of {type(value).__name__}" if callable(value) else f"a {type(value).__name__}"
    )


def _copied(argument: Any, dtype: torch.dtype, learned: bool, device: str) -> Any:
    if not isinstance(argument, Tensor):
        return argument
    copy = argument.detach().clone().to(device)
    if not argument.is_floating_point():
        return copy
    return copy.to(dtype).requires_grad_(learned and argument.requires_grad)


def pair_subject(op: Op, rule: Rule, settings: Mapping[str, float]) -> Subject:
    """An op with a rule; each mean in them is a number, that over 2,001 even points from −3 to 3."""
    parameters, rule = values(op, rule, settings), beside(op, rule)
    call = joined(*fixed_pair(op.parsed, rule.parsed, parameters, *SPAN, 1.0))
    return Subject(f"{op.label} with {rule.label}", call, op=op, rule=rule, parameters=parameters)


def own_subject(
    function: Any, arguments: tuple[Any, ...], named: Mapping[str, Any], example: Tensor | None = None
) -> Subject:
    """Somebody's own: a Function class, its ``apply``, a module, or anything that is called with x.

    ``example``: an x, whose first dimension counts elements.
    """
    subject = _own_subject(function, arguments, named)
    return subject if example is None else replace(subject, shape=tuple(example.shape[1:]))


def _own_subject(function: Any, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> Subject:
    owner = getattr(function, "__self__", None)
    if getattr(function, "__name__", "") == "apply" and _is_function(owner):
        function = owner
    if _is_function(function):
        return Subject(function.__name__, function.apply, arguments, function)
    name = getattr(function, "__name__", type(function).__name__)
    if isinstance(function, torch.nn.Module):
        return _module_subject(name, function, arguments, named)
    return Subject(name, partial(function, **named) if named else function, arguments)


def _is_function(value: object) -> bool:
    return inspect.isclass(value) and issubclass(value, Function)


def _module_subject(
    name: str, module: torch.nn.Module, arguments: tuple[Any, ...], named: Mapping[str, Any]
) -> Subject:
    """A module, whose weights are arguments like any others: so they can be cast and left alone."""
    weights = dict(module.named_parameters())

    def call(x: Tensor, *values: Any) -> Any:
        chosen = dict(zip(weights, values[len(arguments) :], strict=True))
        return torch.func.functional_call(module, chosen, (x, *values[: len(arguments)]), dict(named))

    return Subject(name, call, (*arguments, *weights.values()), is_module=True)

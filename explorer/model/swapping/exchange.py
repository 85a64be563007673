"""What a swap puts in the place of a model's own backward: a rule, and optionally another op."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import BuiltinFunctionType
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function

from explorer import catalogue
from explorer.catalogue import OPS, Op, Rule, adapt_rule, find_op, find_rule
from explorer.gradient import apply, bind
from explorer.model.tape.private import is_functorch_wrapped_tensor

Parameters = Mapping[str, float | Tensor]
Gradient = Callable[[Tensor, Tensor, Tensor], Tensor]
ANY_OP = Op("own", "Own", "x", parameters=())  # used if only the rule's formula matters


@dataclass(frozen=True)
class Exchange:
    """What a swap puts in the place of a model's own backward: a rule, and optionally another op.

    Attributes:
        op: the op that replaces the model's own call; None to keep that call.
        rule: a key, a formula or a ``Rule``; or a Function class, a module, or a callable of ``x``,
            ``(x, g)`` or ``(x, y, g)``.
        parameters: values by name, as for ``explorer.apply``.
        learns: the names of parameters that learn; None for all with a gradient in the rule.
    """

    op: str | Op | None
    rule: Any
    parameters: Mapping[str, float | Tensor]
    learns: tuple[str, ...] | None = None
    _gradients: dict[Any, Gradient | None] = field(default_factory=dict, compare=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Exchange, (self.op, self.rule, self.parameters, self.learns)

    @cached_property
    def learned(self) -> tuple[str, ...]:
        """The names of the learned parameters: ``learns``, or those with a gradient in the rule and no value.

        Raises ValueError for a parameter that cannot learn with this rule.
        """
        if self.op is None or self.entry is None:
            if self.learns:
                raise ValueError(f"{self.key} learns {self.learns[0]} with an op that takes it: give op=…")
            return ()
        op = find_op(self.op)
        if self.learns is None:
            entry = adapt_rule(op, self.entry)
            return tuple(each.name for each in entry.learned if each.name not in self.parameters)
        for name in self.learns:
            catalogue.find_contribution(op, self.entry, name)
        return self.learns

    @cached_property
    def entry(self) -> Rule | None:
        """The rule as a record of the catalogue. None if the rule is user code."""
        return None if self.is_code else find_rule(self.rule)

    @property
    def needs_x(self) -> bool:
        """Whether the rule is torch's own, a formula of x or y rather than g alone, or one of another op."""
        parsed = self.entry and self.entry.parsed
        return self.op is not None or bool(self.entry and (not parsed or {"x", "y"} & {*parsed.variables}))

    @property
    def is_code(self) -> bool:
        """Whether the rule is a user's class, module or function, rather than a key or formula."""
        return not isinstance(self.rule, str | Rule)

    @property
    def key(self) -> str:
        """The name of the rule."""
        entry = self.entry
        return entry.key if entry else str(getattr(self.rule, "__name__", type(self.rule).__name__))

    def require_possible(self) -> None:
        """Raise ValueError for an invalid rule, or for user code that is given an op or parameters."""
        if self.entry is not None:  # raises its own errors
            return
        if not callable(self.rule) or (isinstance(self.rule, type) and not issubclass(self.rule, Function)):
            raise ValueError(
                f"rule must be a key of RULES, a formula, a Function class, a module or a function, not "
                f"{self.rule!r}"
            )
        if self.op is not None or self.parameters:
            raise ValueError("a rule given as your own code takes neither op nor parameters")
        _count_arguments(self.rule)

    def require_suitable(self, op: str | Op) -> None:
        """Raise ValueError if the rule does not suit an op, or if a given parameter belongs to neither."""
        entry = self.entry
        if entry is None:
            return
        found = find_op(op)
        if found.key in OPS and not self.is_suitable(found.key):
            reason = entry.otherwise or f"it is one for {', '.join(entry.suits)}"
            raise ValueError(f"the rule {entry.key} does not suit {found.key}: {reason}")
        selected = self.select_parameters(found)
        numbers: Any = {name: value for name, value in selected.items() if not isinstance(value, Tensor)}
        catalogue.check_values(found, (entry,), numbers, [name for name in selected if name not in numbers])

    def is_suitable(self, op: str) -> bool:
        """Return whether the rule is meant for an op of the catalogue; True for user code."""
        return self.entry is None or not self.entry.suits or find_op(op).family in self.entry.suits

    def select_parameters(self, op: Op) -> Mapping[str, float | Tensor]:
        """Return a dict of the parameters for an op. If the call keeps its own op, all belong to the rule."""
        if self.op is not None or self.entry is None:
            return self.parameters
        entry = self.entry
        full_names = {
            p.plain: catalogue.qualify_name(entry, p) for p in adapt_rule(op, entry).parameters if p.plain
        }
        return {full_names.get(name, name): value for name, value in self.parameters.items()}

    def make_gradient(
        self, op: str, parameters: Parameters, site: object = "own", in_trick: bool = False
    ) -> Gradient | None:
        """Return ``(x, y, g) -> gradient`` for a call of an op, or None if the call keeps its own gradient.

        A detach trick around the call, ``in_trick``, does not keep its own: it gets that of the op. The
        gradient for numeric parameters is cached for later calls. ``site`` is the call's, for messages.

        Raises ValueError if the rule does not suit the op, or needs a parameter that the call does not
        provide. The function raises it for a gradient that is no floating-point tensor of x's shape.
        """
        gradient = self._find_gradient(op, parameters, in_trick)
        return gradient and partial(_compute_gradient, gradient, f"{site} ({op}): the rule {self.key}")

    def _find_gradient(self, op: str, parameters: Parameters, in_trick: bool) -> Gradient | None:
        if self.is_code:
            rule = self.rule
            if isinstance(rule, type) and issubclass(rule, Function):
                rule = rule.apply
            arity = _count_arguments(rule)
            if arity == 1:
                return lambda x, _, g: _pull_back(rule, x, g)
            return rule if arity == 3 else lambda x, _, g: rule(x, g)
        if any(isinstance(value, Tensor) for value in parameters.values()):
            return self._bind_gradient(op, parameters, in_trick)
        key = op, in_trick, *sorted(parameters.items())
        if key not in self._gradients:
            self._gradients[key] = self._bind_gradient(op, parameters, in_trick)
        return self._gradients[key]

    def _bind_gradient(self, op: str, parameters: Parameters, in_trick: bool) -> Gradient | None:
        assert self.entry is not None
        if op in OPS:
            self.require_suitable(op)
        if self.entry.parsed is None:
            if op not in OPS or (in_trick and OPS[op].parameters):
                raise ValueError(
                    f"{self.key} is torch's own gradient of an op, and that of {op} is not known here: say "
                    "which op it computes, op='step' for a comparison, or give another rule, such as zero"
                )
            return bind(op, self.entry, {}).gradient if in_trick else None
        entry: Op = OPS.get(op, ANY_OP)
        catalogue.require_deterministic("a swap that keeps the op of the model", self.entry)
        used = {*self.entry.parsed.parameters, *(item.name for item in self.entry.parameters)}
        names = {*catalogue.resolve_values(entry, self.entry, {})} & used
        settings: Any = {}
        for name, value in parameters.items():
            if name in names and isinstance(value, Tensor):
                if value.numel() != 1 or is_functorch_wrapped_tensor(value):
                    raise ValueError(
                        f"the rule {self.key} needs {name} as one number, and the model's call gives it as a "
                        f"tensor: say {name}=… in the swap"
                    )
                value = float(value.detach())
            settings |= {name: value} if name in names else {}
        settings |= self.select_parameters(entry)
        return bind(ANY_OP if entry.is_random else entry, self.entry, settings).gradient

    def replace_call(
        self, op: str, parameters: Parameters, learned: Parameters, others_learn: bool, x: Tensor
    ) -> Tensor:
        """Return the swap's op applied to x, with the rule as its backward.

        ``op`` and ``parameters`` are those of the model's own call, and ``others_learn`` tells whether it has
        further inputs that need a gradient.
        """
        assert self.op is not None
        self.require_suitable(self.op)
        if others_learn:
            raise ValueError(
                f"{op} gets a second tensor that learns, which the op {find_op(self.op).key} would leave "
                "without gradient: leave op out to keep its own"
            )
        if self.entry is not None and self.entry.needs_loss:
            raise ValueError(f"{self.key} asks for the loss of each element, which a swap does not know")
        is_same_op = isinstance(self.op, str) and self.op == op
        given = {k: float(v) for k, v in parameters.items() if is_same_op and not isinstance(v, Tensor)}
        settings: Any = {**given, **self.parameters, **learned}
        return apply(self.op, self.rule, x, draw=None, f=None, **settings)


def _count_arguments(rule: Any) -> int:
    """Return how many tensors a rule takes; ``*args`` counts as one. Raises ValueError if not 1, 2 or 3."""
    if isinstance(rule, nn.Module | BuiltinFunctionType | type) or getattr(rule, "__name__", "") == "apply":
        return 1
    given = inspect.signature(rule).parameters.values()
    needed = [p for p in given if p.default is p.empty and p.kind != p.VAR_KEYWORD]
    count = len([p for p in needed if p.kind != p.VAR_POSITIONAL])
    if not 1 <= count <= 3 or needed[-1].kind == inspect.Parameter.KEYWORD_ONLY:
        raise ValueError("a rule given as a function must take x, (x, g) or (x, y, g)")
    return min(len(needed), 3)


def _compute_gradient(rule: Gradient, rule_name: str, x: Tensor, y: Tensor, g: Tensor) -> Tensor:
    gradient: Any = rule(x, y, g)
    is_tensor = isinstance(gradient, Tensor)
    if is_tensor and gradient.shape == x.shape and gradient.is_floating_point():
        return gradient  # type: ignore[no-any-return]
    kind = f"a {gradient.dtype} tensor of shape {tuple(gradient.shape)}" if is_tensor else repr(gradient)
    raise ValueError(
        f"{rule_name} returned {kind}: it must return a floating-point tensor of x's shape {tuple(x.shape)}"
    )


def _pull_back(function: Callable[[Tensor], Tensor], x: Tensor, g: Tensor) -> Tensor:
    """Return the gradient for x that autograd computes for a function of x, given the upstream gradient g."""
    with torch.enable_grad():
        leaf = x.detach().requires_grad_()
        y = function(leaf)
        if not isinstance(y, Tensor) or y.shape != g.shape or not y.requires_grad:
            raise ValueError(
                "a rule given as a function of x must return a tensor of the shape of y, differentiable in x"
            )
        (gradient,) = torch.autograd.grad(y, leaf, g, allow_unused=True)
    return torch.zeros_like(x) if gradient is None else gradient

"""The steps of comparisons in a swapped model, and masks as numbers through which their gradients pass.

A step gets its gradient through its margin, and passes it on by the chain rule where its mask is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from explorer.model.swapping.bridge import UnreachedError, build_bridge
from explorer.model.swapping.exchange import Exchange, Gradient
from explorer.model.swapping.target import Target
from explorer.model.tape import Call, Tape, Value, names, private
from explorer.model.tape.ledger import SWAPPED_CALL
from explorer.model.tape.names import STEP_SIGNS, find_tensors, may_write, replace_tensor
from explorer.model.tape.values import find_ancestors, is_chosen, origin_of

_AS_NUMBERS: dict[str, Callable[..., Any]] = {
    "and": lambda a, b: a * b,
    "or": lambda a, b: a + b - a * b,
    "xor": lambda a, b: a + b - 2 * a * b,
    "not": lambda a: 1 - a,
    "where": lambda mask, a, b: mask * a + (1 - mask) * b,
    "masked_fill": lambda mask, x, value: mask * value + (1 - mask) * x,
    "any": lambda mask, *dimension: 1 - torch.prod(1 - mask, *dimension),
    "all": torch.prod,
}
_AS_NUMBERS |= {
    f"{kind}_{name}": rule for name, rule in _AS_NUMBERS.items() for kind in ("logical", "bitwise")
}
_AS_NUMBERS["invert"] = _AS_NUMBERS["not"]
_NEGATIONS = {"invert", "logical_not", "bitwise_not"}


class Step(NamedTuple):
    """A comparison of the target with a threshold other than 0.

    Attributes:
        margin: x − threshold, or threshold − x for "lt" and "le", through which both get their gradient.
        rule: the rule as ``(margin, y, g) -> gradient``, for which your own code gets x; None with ``op``.
        note: that the rule gets the margin; "" for your own code.
    """

    margin: Tensor
    rule: Gradient | None
    note: str


class SwappedSteps(Tape):
    """A tape that knows the steps of a target's comparisons, and which values the target's parameter made.

    Attributes:
        mask: the result of the running call as a number with a gradient, if it is computed from the result of
            a swapped comparison; None for other calls.
        mask_end: why a mask of a swapped comparison passes no gradient; "" if none has lost it.
    """

    def __init__(self, model: nn.Module, target: Target, exchange: Exchange) -> None:
        self.target, self.exchange = target, exchange
        self._parameter = model.get_parameter(target.parameter) if target.parameter else None
        self._steps: dict[Call, Step] = {}
        # Results of steps, which also pass a gradient to the threshold, with the call of each.
        self._settled: dict[Value, Call] = {}
        self._masks: dict[Value, Tensor] = {}  # masks made of swapped comparisons, as numbers
        self.mask: Any = None
        self.mask_end = ""
        super().__init__(model)

    def _is_of_parameter(self, value: Value) -> bool:
        """Return whether a value is computed elementwise from the target's parameter or a view of it."""

        def can_follow(call: Call, item: Value) -> bool:
            is_kept = names.is_pointwise(call.name) or call.name in names.VIEWS
            return item.live and (is_kept or call.kind in ("function", "bridge"))

        return self.leaves.get(id(self._parameter)) in find_ancestors([value], can_follow)

    def _add_margin(self, call: Call, y: Value, margin: Tensor) -> Tensor:
        """Make a comparison's margin the live value from which its result y is computed, and return it."""
        sign = STEP_SIGNS[call.name]
        if not y.live and y.cuts:
            x = None if margin.requires_grad else origin_of(y)[0]
            source = None if x is None else x.ref()
            if source is not None:  # compared without gradient, such as x.detach()
                with torch.enable_grad():
                    margin = margin + sign * (source - source.detach())
            if margin.requires_grad:
                made_call = Call("sub", None, call.place, call.inputs + ([] if x is None else [x]))
                value = Value(made_call, margin, (margin.grad_fn, margin.output_nr))
                value.number, y.number = y.number, value.number  # y comes after its margin
                y.cuts = (self.put(margin, value),)
                call.inputs.append(value)
        rule = None if self.exchange.op is not None else self.exchange.make_gradient(call.op, {}, call.site)
        x_compared, note = call.inputs[0].ref(), ""
        if not self.exchange.is_code:
            note = "the rule gets " + ("x − threshold" if sign > 0 else "threshold − x")
        elif rule is not None and x_compared is not None:  # your own code gets x, and gives its gradient
            rule = partial(_apply_at, rule, x_compared.detach().clone().expand_as(margin), sign)
        self._steps[call] = Step(margin, rule, note)
        return margin

    def _step_of(self, call: Call, x: Tensor) -> Step | None:
        """Return the step of a comparison if x is its margin, otherwise None."""
        step = self._steps.get(call)
        return step if step is not None and step.margin is x else None

    def find_only_step(self, values: Iterable[Value], shape: torch.Size) -> Step | None:
        """Return the only step that made one of ``values``, if its margin has the shape, otherwise None."""
        steps = [self._steps[v.call] for v in values if v.call in self._steps]
        return steps[0] if len(steps) == 1 and steps[0].margin.shape == shape else None

    def require_threshold(self, call: Call, source: Value, x: Tensor, values: Iterable[Value]) -> None:
        """Raise UnreachedError if ``values`` combine comparisons, so that a rule has no threshold of its own.

        Raises it too if the target is a parameter that would get no gradient. ``call`` is the target's call
        among the values, ``source`` is the value that gets the gradient, and x is what the rule gets.
        """
        if self._parameter is not None and not self._is_of_parameter(source):
            raise UnreachedError(
                f"{call.site}: the x of the rule does not depend on {self.target.told}, which would get no "
                "gradient: name the site instead"
            )
        ordered = [v for v in sorted(values, key=lambda v: v.number) if v.call.kind == "call"]
        single = names.LINEAR - names.LOGICAL | names.VIEWS | names.INTEGERS
        steps = [v.call for v in ordered if v.call.name not in single and is_chosen(v)]
        is_centred = call not in self._steps or self._step_of(call, x) is not None
        is_alone = steps == [call] and call.name in STEP_SIGNS and is_centred
        is_turned = any(step.name in _NEGATIONS for step in steps) and not self.exchange.is_code
        is_asked = self.target.op and call.name in names.COMPARISONS | {"where"}
        if is_asked and steps and not is_alone and (self.exchange.needs_x or is_turned):
            mask = " → ".join(dict.fromkeys(step.op for step in steps))
            raise UnreachedError(
                f"{call.site}: the mask {mask} is no single step, at whose threshold a rule for {call.op} "
                f"could be centred: swap {steps[0].site.names[-1]!r}, whose rule gets the x of the mask"
            )

    def compute_mask(self, name: str, function: Any, args: Any, kwargs: Any) -> None:
        """Set ``mask`` for a call that will run. Raises UnreachedError for a gradient without bound."""
        self.mask = None
        if not self._masks:
            return
        given = [(a, self._masks.get(self.value_of(a))) for a in find_tensors((args, kwargs))]
        if all(number is None for _, number in given):
            return
        if name == "setitem":
            raise UnreachedError(f"{self.target.told}: x[mask] = … has no gradient for mask: use torch.where")
        if name == "masked_fill" and math.inf in map(abs, [a for a in args if isinstance(a, float)]):
            raise UnreachedError(
                f"{self.target.told}: its mask fills in an infinite number, so that its gradient "
                "would be infinite: swap masked_fill, or fill in a finite number"
            )
        is_method = name == "where" and isinstance(args[0], Tensor) and args[0].dtype != torch.bool
        is_writing = may_write(function, args, kwargs)
        if name == "masked_fill" or is_method:  # x.where(mask, other)
            args = (args[1], args[0], *args[2:])
        for item, number in given:
            if number is not None:
                args, kwargs = replace_tensor((args, kwargs), item, number)
        with torch.enable_grad():
            if is_writing:
                args = [item.clone() if isinstance(item, Tensor) else item for item in args]
            self.mask = _compute_with_numbers(name, function, args, kwargs)
        self.mask_end = self.mask_end if self.mask is not None else f"no gradient is known through {name}"

    def keep_mask(self, call: Call, number: Tensor, y: Tensor) -> Tensor | None:
        """Keep the number for a result y that is a mask, or return what replaces y with its gradient."""
        if not y.is_floating_point():
            self._masks[call.outputs[0]] = number
            return None
        if number.shape != y.shape:
            return None
        new = number.to(y.dtype)
        is_same = torch.equal(new, y) and torch.equal(new.signbit(), y.signbit())
        if self.exchange.op is None and not is_same:
            new = build_bridge(number, y.detach(), lambda _, y, g: g)
            self.note_origin(call, new)
        new = write_over(call, new, y)
        self.put_bridge(call.name, call, [*call.inputs, self.value_of(number)], new)
        return new

    def note_origin(self, call: Call, new: Tensor) -> None:
        """Note on the node of a tensor that replaces a call's result which call it is, for other tapes.

        Raises UnreachedError if backward will repeat the call, since the new node would then be missing.
        """
        if private.is_in_checkpoint():
            raise UnreachedError(
                f"{call.site}: a checkpoint repeats {call.op} in backward without the swap: pass it "
                "use_reentrant=True, or swap without the checkpoint"
            )
        if isinstance(new.grad_fn, private.BackwardCFunction):
            module = next((mark for mark, at in self._paths.items() if at == call.place[:2]), 0)
            setattr(new.grad_fn, SWAPPED_CALL, (call.op, module, call.lines))

    def put_bridge(self, name: str, call: Call, inputs: list[Value], new: Tensor) -> Value:
        """Record the tensor that replaces the result of ``call``, and return its value."""
        made_call = Call(name, None, call.place, inputs, "bridge")
        self.calls.append(made_call)
        self.bridges = True
        return self.put(new, Value(made_call, new, (new.grad_fn, 0)))


def write_over(call: Call, new: Tensor, y: Tensor) -> Tensor:
    """Return ``new``, after a call in place written into its result y."""
    return y.copy_(new) if any(y is item.ref() for item in call.inputs) else new


def _apply_at(rule: Gradient, x: Tensor, sign: int, _: Tensor, y: Tensor, g: Tensor) -> Tensor:
    return sign * rule(x, y, g)


def _compute_with_numbers(name: str, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Return a call's result, a tensor, with numbers in place of masks. None if the result is unknown.

    A mask comes first: ``a & b`` is a · b, and ``where(m, a, b)`` is m · a + (1 − m) · b.
    """
    if name in names.INTEGERS:
        return args[0]
    if name in _AS_NUMBERS:
        items = [*args, *kwargs.values()]
        has_dimensions = any(isinstance(item, tuple | list) for item in items)
        is_known = len(items) == 3 if name == "where" else not has_dimensions
        return _AS_NUMBERS[name](*items) if is_known else None
    is_index = name == "getitem" and find_tensors(args[1:])
    if name not in names.LINEAR | names.UNMEASURED or name in ("detach", ".data") or is_index:
        return None
    result = function(*args, **kwargs)
    if isinstance(result, Tensor) and result.is_floating_point():
        return result
    return args[0] if name in names.CARRIERS else None

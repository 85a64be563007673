"""The steps of comparisons in a swapped model, and the margins through which they get their gradient."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from explorer.model.swapping.bridge import UnreachedError
from explorer.model.swapping.exchange import Exchange, Gradient
from explorer.model.swapping.target import Target
from explorer.model.tape import Call, Tape, Value, names
from explorer.model.tape.names import COMPARISONS, STEP_SIGNS
from explorer.model.tape.values import find_ancestors, origin_of

_VIEWS = {"view", "reshape", "flatten", "permute", "transpose", "unsqueeze", "squeeze", "expand", "t", ".T"}
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
    """A tape that knows the steps of a target's comparisons, and which values the target's parameter made."""

    def __init__(self, model: nn.Module, target: Target, exchange: Exchange) -> None:
        self.target, self.exchange = target, exchange
        self._parameter = model.get_parameter(target.parameter) if target.parameter else None
        self._steps: dict[Call, Step] = {}
        # Results of steps, which also pass a gradient to the threshold, with the call of each.
        self._settled: dict[Value, Call] = {}
        super().__init__(model)

    def _is_of_parameter(self, value: Value) -> bool:
        """Return whether a value is computed elementwise from the target's parameter or a view of it."""

        def can_follow(call: Call, item: Value) -> bool:
            is_kept = names.is_pointwise(call.name) or call.name in _VIEWS
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
                made_call = Call("sub", None, call.place, [*call.inputs])
                value = Value(made_call, margin, (margin.grad_fn, margin.output_nr))
                value.number, y.number = y.number, value.number  # y comes after its margin
                y.cuts = (self.put(margin, value),)
                call.inputs.append(value)
        rule = None if self.exchange.op is not None else self.exchange.make_gradient(call.op, {})
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
        ordered = [v.call for v in sorted(values, key=lambda v: v.number) if v.call.kind == "call"]
        steps = [item for item in ordered if item.name in COMPARISONS | names.LOGICAL]
        is_centred = call not in self._steps or self._step_of(call, x) is not None
        is_alone = steps == [call] and call.name in STEP_SIGNS and is_centred
        is_turned = any(step.name in _NEGATIONS for step in steps) and not self.exchange.is_code
        is_asked = self.target.op and call.name in COMPARISONS | {"where"}
        if is_asked and steps and not is_alone and (self.exchange.needs_x or is_turned):
            mask = " → ".join(dict.fromkeys(step.op for step in steps))
            raise UnreachedError(
                f"{call.site}: the mask {mask} is no single step, at whose threshold a rule for {call.op} "
                f"could be centred: swap {steps[0].site.names[-1]!r}, whose rule gets the x of the mask"
            )


def _apply_at(rule: Gradient, x: Tensor, sign: int, _: Tensor, y: Tensor, g: Tensor) -> Tensor:
    return sign * rule(x, y, g)

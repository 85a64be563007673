"""One forward pass of a swapped model, in which the target's calls and submodules get another backward."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from explorer.catalogue import OPS
from explorer.model.swapping.bridge import UnreachedError, build_bridge, exchange_backward
from explorer.model.swapping.exchange import Exchange, Gradient, Parameters
from explorer.model.swapping.learning import Learning
from explorer.model.swapping.masks import Masks
from explorer.model.swapping.target import Target
from explorer.model.tape import CALLS, Call, CallInput, Join, Tape, Value, read_input
from explorer.model.tape.names import (
    COMPARISONS,
    LINEAR,
    LOGICAL,
    STEP_SIGNS,
    STEPS,
    UNMEASURED,
    find_tensors,
    is_pointwise,
    replace_tensor,
)
from explorer.model.tape.private import (
    BackwardCFunction,
    DisableTorchFunction,
    EnableTorchFunction,
    forward_class,
    is_functorch_wrapped_tensor,
    is_in_checkpoint,
)
from explorer.model.tape.sites import Origin
from explorer.model.tape.tricks import (
    classify_join,
    find_applied_keys,
    is_restoring,
    name_join,
)
from explorer.model.tape.values import UNLIMITED, find_ancestors, find_elementwise_ancestors, origin_of

_VIEWS = {"view", "reshape", "flatten", "permute", "transpose", "unsqueeze", "squeeze", "expand", "t", ".T"}
_NEGATIONS = {"invert", "logical_not", "bitwise_not"}


class Hit(NamedTuple):
    """A call in the model whose backward a swap exchanges.

    Attributes:
        y: the live value of the call's result; None if it is unknown.
        reason: why the rule has no effect on the call; "" if it has.
        change: the largest change of y by another op.
        note: what the rule gets as x, if this is not the call's x, or which parameter gets no gradient.
    """

    call: Call
    y: Value | None
    reason: str = ""
    change: float = 0.0
    note: str = ""


class Entry(NamedTuple):
    """The call of a submodule of the target, which has not returned yet.

    Attributes:
        x, tensor: the first tensor that the submodule is called with.
        kept: a copy of the tensor.
        hits: the number of hits before the call.
        revoked: filled if the submodule is exchanged as a whole, instead of the calls inside it.
    """

    x: Value
    tensor: Tensor
    kept: Tensor
    hits: int
    revoked: list[bool]


class Margin(CallInput):
    """The input of a comparison as a step: its x is x − threshold, or threshold − x for "lt" and "le"."""

    __slots__ = ()


class Step(NamedTuple):
    """A comparison of the target with a threshold other than 0.

    Attributes:
        margin: x − threshold, or threshold − x for "lt" and "le", through which both get their gradient.
        rule: the rule as ``(margin, y, g) -> gradient``, for which your own code gets x; None with ``op``.
        sign: 1 if the margin is x − threshold, otherwise -1.
    """

    margin: Tensor
    rule: Gradient | None
    sign: int


class Pass(Tape):
    """A forward pass in which the backward of a swap's calls is exchanged as they run.

    A submodule of the target is exchanged as a whole if y has x's shape, otherwise the ops inside it.

    Attributes:
        hits: the calls of the target.
        is_entered: whether a submodule of the target has been called.
        unseen: the names of autograd nodes whose calls were not recorded.
    """

    follows = True

    def __init__(self, model: nn.Module, target: Target, exchange: Exchange, learning: Learning) -> None:
        self.target, self.exchange, self.learning = target, exchange, learning
        self.hits: list[Hit] = []
        self.is_entered = False
        self.unseen: set[str] = set()
        self._parameter = model.get_parameter(target.parameter) if target.parameter else None
        self._steps: dict[Call, Step] = {}
        self._settled: set[Value] = set()  # results of steps, which also pass a gradient to the threshold
        self._masks = Masks(self)
        self._deferred: list[tuple[Call, Value, Callable[[], None]]] = []  # calls inside target modules
        self._entered: list[Entry] = []
        super().__init__(model)

    def run(self, call: Callable[[], Any], path: str | None) -> Any:
        """Call a function as a forward pass, with another backward at the target, and return its result.

        ``path`` is the submodule if the function is a method of one, None for the model itself.
        """
        with self, nullcontext() if path is None else self.run_at(path):
            result = call()
        with DisableTorchFunction():
            result = self.with_substitutes(result) if self.bridges else result
            self.roots = [self.value_of(item) for item in find_tensors(result)]
        return result

    def prepare(self, name: str, function: Any, args: Any, kwargs: Any) -> CallInput | None:
        """Return a call's x, op and parameters before it runs, or None if it has no floating-point input."""
        x, kind = next(iter(find_tensors(args[:1]) or find_tensors(args)), None), CallInput
        self._masks.compute(name, function, args, kwargs)
        if name in STEP_SIGNS:
            left, right = (*args, *kwargs.values())[:2]
            has_difference = all(item.dtype != torch.bool for item in find_tensors((args, kwargs)))
            if has_difference and (isinstance(right, Tensor) or right or STEP_SIGNS[name] < 0):
                with torch.enable_grad(), EnableTorchFunction():  # an observation sees the margin
                    x, kind = (left - right if STEP_SIGNS[name] > 0 else right - left), Margin
            elif has_difference:
                kind = Margin
        if x is None or not x.is_floating_point():
            return None
        return kind(*read_input(function, args, kwargs, x))

    def run_call(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Return the result of a call, hidden from outer tapes if a mask as a number replaces it."""
        if self._masks.number is None:
            return function(*args, **kwargs)
        with DisableTorchFunction():
            return function(*args, **kwargs)

    def on_call(self, call: Call, x_before: CallInput | None, y: Tensor) -> Tensor | None:
        """Exchange the backward of the target's calls. Returns the tensor that replaces y, or None."""
        if call.merged or not call.outputs:
            return None
        value, number = call.outputs[0], self._masks.number
        if isinstance(x_before, Margin) and self._is_meant(call, ""):
            margin = x_before.x
            if margin is not call.inputs[0].ref():
                margin = self._add_margin(call, value, margin)
            is_mask = not self.target.modules and not self.target.site and call.graded
            if is_mask and margin.requires_grad and not value.live:
                number = self._add_bridge(call, margin, y.to(margin.dtype), [*call.inputs])
        if number is not None and call.graded:
            return self._masks.keep(call, number, y)
        if call.graded and not value.live and value.cuts:
            return self._build_bridge(value, y)
        if x_before is None:
            return None
        call.op = x_before.key or call.name
        if not self._is_meant(call, x_before.key):
            return None
        x = next(iter(call.list_live_inputs()), None)
        is_first = bool(call.inputs) and (call.graded or not any(v.cuts for v in call.outputs))
        if self.exchange.op is not None and is_first:
            learns_more = any(v.live for v in call.inputs[1:] if v is not call.inputs[0])
            new = self._replace_call(call, x_before.x, y, x_before.parameters, learns_more)
            return self._put_in_place_of(call, new, y)
        if not call.graded:  # it gets the rule at the first use of its result, if at all
            return None
        if x is None or not value.live:
            if not value.cuts:
                self.hits.append(Hit(call, None, "its x requires no gradient"))
        elif value.edge != x.edge:
            x_kept = x_before.x if x is call.inputs[0] else x.ref()
            if x_kept is not None:
                self.exchange_call(call, x, value, x_kept, y, x_before.parameters)
        return None

    def _add_bridge(
        self, call: Call, x: Tensor, y: Tensor, inputs: list[Value], at: Call | None = None,
        others_learn: bool = False,
    ) -> Tensor | None:  # fmt: skip
        """Return y, or the swap's op on x, with a new node for the rule, and record that a call is reached.

        ``inputs`` are the values from which y is computed, at the place of ``at``, by default the call. None
        if the call keeps its own gradient.
        """
        step = self._steps.get(call)
        is_step = step is not None and step.margin is x
        if self.exchange.op is not None:
            new = self._replace_call(call, x, y, {}, others_learn)
        else:
            rule = step.rule if is_step and step else self.exchange.make_gradient(call.op, {})
            if rule is None:
                return None
            new = build_bridge(x, y, self._make_revocable(rule))
            self.note_origin(call, new)
            self.hits.append(Hit(call, None, note=self._describe_x(call, x)))
        value = self.put_bridge(call.op, at or call, inputs, new)
        self.hits[-1] = self.hits[-1]._replace(y=value)
        if is_step:
            self._settled.add(value)
        return new

    def _make_revocable(self, rule: Gradient) -> Gradient:
        """Return a rule that gives zeros once a submodule of the target around its call is exchanged."""
        if not self._entered:
            return rule
        revoked = self._entered[0].revoked
        return lambda x, y, g: torch.zeros_like(x) if revoked else rule(x, y, g)

    def _add_margin(self, call: Call, y: Value, margin: Tensor) -> Tensor:
        """Make a comparison's margin the live value from which its result y is computed, and return it."""
        if not y.live and y.cuts:
            x = None if margin.requires_grad else origin_of(y)[0]
            source = None if x is None else x.ref()
            if source is not None:  # compared without gradient, such as x.detach()
                with torch.enable_grad():
                    margin = margin + STEP_SIGNS[call.name] * (source - source.detach())
            if margin.requires_grad:
                made_call = Call("sub", None, call.place, [*call.inputs])
                value = Value(made_call, margin, (margin.grad_fn, margin.output_nr))
                value.number, y.number = y.number, value.number  # y comes after its margin
                y.cuts = (self.put(margin, value),)
                call.inputs.append(value)
        self._steps[call] = Step(margin, self._make_step_rule(call, margin), STEP_SIGNS[call.name])
        return margin

    def _make_step_rule(self, call: Call, margin: Tensor) -> Gradient | None:
        """Return the rule of a comparison for its margin. Your own code gets x, and gives its gradient."""
        rule = None if self.exchange.op is not None else self.exchange.make_gradient(call.op, {})
        x = call.inputs[0].ref()
        if rule is None or x is None or not self.exchange.is_code:
            return rule
        own_rule, kept, sign = rule, x.detach().clone().expand_as(margin), STEP_SIGNS[call.name]
        return lambda _, y, g: sign * own_rule(kept, y, g)

    def _put_in_place_of(self, call: Call, new: Tensor, y: Tensor) -> Tensor:
        """Return the tensor that replaces a call's result y: ``new``, or y itself after a call in place."""
        if any(y is item for item in (v.ref() for v in call.inputs)):
            new = y.copy_(new)
        if new.requires_grad:
            self.put(new, Value(call, new, (new.grad_fn, new.output_nr)))
        return new

    def _replace_call(
        self, call: Call, x: Tensor, y: Tensor, parameters: Parameters, others_learn: bool = False
    ) -> Tensor:
        """Return the swap's op on x, with the learned parameters of the call's site, and record the hit."""
        learned = self.learning.select(self.model, self.exchange, call.site, x)
        new = self.exchange.replace_call(call.op, parameters, learned, others_learn, x)
        self.note_origin(call, new)
        change = 0.0
        if y.shape == new.shape and y.numel() and not is_functorch_wrapped_tensor(y):
            change = float((y.detach() - new.detach()).abs().max())
        self.hits.append(Hit(call, None, "", change, self._describe_x(call, x)))
        return new

    def on_function(self, call: Call, value: Value, tensor: Tensor | None) -> None:
        """Exchange the backward of an autograd Function's call, if the call belongs to the target."""
        keys = find_applied_keys(value.edge)
        call.op = keys[0] or call.name
        inputs = call.list_live_inputs()
        if not inputs or not self._is_meant(call, keys[0]):
            return
        x = inputs[0].ref()
        if x is None:
            raise UnreachedError(f"{call.site}: the x of {call.op} is not kept: no rule can be put there")
        if self.exchange.op is not None:
            y = x if tensor is None else tensor
            value.substitute = self._add_bridge(call, x, y, [*call.inputs], others_learn=len(inputs) > 1)
            return
        self.exchange_call(call, inputs[0], value, x, x if tensor is None else tensor)

    def note_origin(self, call: Call, new: Tensor) -> None:
        """Note on the node of a tensor that replaces a call's result which call it is, for other tapes.

        Raises UnreachedError if backward will repeat the call, since the new node would then be missing.
        """
        if is_in_checkpoint():
            raise UnreachedError(
                f"{call.site}: a checkpoint repeats {call.op} in backward without the swap: pass it "
                "use_reentrant=True, or swap without the checkpoint"
            )
        if isinstance(new.grad_fn, BackwardCFunction):
            module = next((mark for mark, at in self._paths.items() if at == call.place[:2]), 0)
            new.grad_fn.origin = Origin(call.op, module, call.lines)

    def put_bridge(self, name: str, call: Call, inputs: list[Value], new: Tensor) -> Value:
        """Record the tensor that replaces the result of ``call``, and return its value."""
        made_call = Call(name, None, call.place, inputs, "bridge")
        self.calls.append(made_call)
        self.bridges = True
        return self.put(new, Value(made_call, new, (new.grad_fn, 0)))

    def on_checkpoint(self, node: Any) -> None:
        """Record a checkpoint, whose calls run again in backward, as a hit."""
        self.hits.append(Hit(self.by_node.get(node) or Call("", None, self.place(), []), None))
        super().on_checkpoint(node)

    def _is_meant(self, call: Call, key: str) -> bool:
        is_plain = call.kind == "call" and call.name not in STEPS and call.function not in CALLS
        is_no_site = is_plain and (call.name in LINEAR or not is_pointwise(call.name))
        if is_no_site and self.target.modules and not key:
            return False
        if self.target.parameter:
            is_op = bool(key) or call.kind == "function" or call.name in STEP_SIGNS
            return is_op and any(map(self._is_of_parameter, call.list_live_inputs()))
        if is_no_site and self.target.site and (call.name in LINEAR or not (key or call.is_cut)):
            return self.target.site == call.site.names[-1] and self.target.is_meant(call)
        return self.target.is_meant(call)

    def on_join(self, call: Call, join: Join, y: Tensor) -> Tensor | None:
        """Exchange the backward of a detach trick that is the target or contains one of its calls."""
        if self._masks.number is not None:
            return None
        meant_call = self._find_meant(join.side)
        kind, own_names, x = classify_join(call, join, y), call.site.names, join.x.ref()
        chain = name_join(call, join, kind == "mask")
        named = self.target.site and self.target.site in (*own_names, *call.site.names)
        is_whole = meant_call is not None and kind != "gate"
        if meant_call is not None and kind == "mask" and self.target.op:
            # A clamp that is compared has its own backward, and a comparison made a float the rule already.
            is_bridged = any(v.call.kind == "bridge" for v in join.side)
            is_whole = meant_call.name in COMPARISONS and not is_bridged
        if x is None or not (named or is_whole):
            return None
        call.merged = True
        detached = {v.call for v in join.side}
        self.hits = [hit for hit in self.hits if hit.call not in detached]
        first = meant_call if meant_call is not None else next(iter(chain), call)
        steps = [self._steps[v.call] for v in join.side if v.call in self._steps]
        is_step = len(steps) == 1 and steps[0].margin.shape == x.shape and kind == "trick"
        if is_step:
            self._steps[call] = steps[0]
        given = steps[0].margin if is_step else x
        self._require_threshold(first, self.value_of(given) if is_step else join.x, given, join.side)
        if self.exchange.op is not None:
            return self._replace_call(call, given, y, {})
        is_restored = any(is_restoring(v, y) for v in first.outputs)
        is_of_x, rule = _is_of_x(first, join.x, x), steps[0].rule if is_step else None
        inner = first.inputs[0] if first.inputs else join.x
        if rule is None and kind == "trick" and is_restored and inner.live and not is_of_x:
            # The call has an x of its own, such as h - threshold.
            rule = self.exchange.make_gradient(first.op, {}, True)
            given = y if (tensor := inner.ref()) is None else tensor
        if rule is not None and given is not y and given.shape == y.shape:
            new = self._put_in_place_of(
                call, build_bridge(given, y.detach().clone(), self._make_revocable(rule)), y
            )
            self.hits.append(Hit(call, self.value_of(new), note=self._describe_x(call, given)))
            self._settled.add(self.value_of(new))
            return new
        if not is_of_x and self.exchange.needs_x and self.target.op:
            raise UnreachedError(
                f"the trick at {call.site} restores {call.op} at a different scale: give op=…, a rule of g, "
                "or your own rule for the site"
            )
        lost = self._find_detached_parameters(join)
        if lost and self.target.op and (first.op in OPS or first.name in STEP_SIGNS):
            raise UnreachedError(
                f"{call.site}: the detach trick around {first.op} also detaches {lost}, which would get no "
                "gradient: name the site instead, whose rule is for the trick as a whole"
            )
        note = f"{lost} gets no gradient: the trick detaches it" if lost else ""
        op = first.op if is_restored else "a trick"
        self.exchange_call(call, join.x, call.outputs[0], x, y, op=op, note=note)
        return None

    def _find_detached_parameters(self, join: Join) -> str:
        """Return the names of the parameters that only the detached part of a trick is computed from."""
        inner = find_ancestors(join.side, lambda _, v: v is not join.x and v not in join.way)
        leaves = {v for v in inner if v.call.kind == "leaf"}
        if leaves:
            leaves -= find_ancestors([join.x, *join.way], lambda *_: True, UNLIMITED).keys()
        named = self.model.named_parameters() if leaves else ()
        return " and ".join(name for name, item in named if self.leaves.get(id(item)) in leaves)

    def _is_margin(self, call: Call, x: Tensor) -> bool:
        return call in self._steps and self._steps[call].margin is x

    def _describe_x(self, call: Call, x: Tensor) -> str:
        """Return a clause about the x that a rule gets if it is a comparison's margin, otherwise ""."""
        if self.exchange.is_code or not self._is_margin(call, x):
            return ""
        return "the rule gets " + ("x − threshold" if self._steps[call].sign > 0 else "threshold − x")

    def _require_threshold(self, call: Call, source: Value, x: Tensor, values: Iterable[Value]) -> None:
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
        steps = [item for item in ordered if item.name in COMPARISONS | LOGICAL]
        is_centred = call not in self._steps or self._is_margin(call, x)
        is_alone = steps == [call] and call.name in STEP_SIGNS and is_centred
        is_turned = any(step.name in _NEGATIONS for step in steps) and not self.exchange.is_code
        is_asked = self.target.op and call.name in COMPARISONS | {"where"}
        if is_asked and steps and not is_alone and (self.exchange.needs_x or is_turned):
            mask = " → ".join(dict.fromkeys(step.op for step in steps))
            raise UnreachedError(
                f"{call.site}: the mask {mask} is no single step, at whose threshold a rule for {call.op} "
                f"could be centred: swap {steps[0].site.names[-1]!r}, whose rule gets the x of the mask"
            )

    def _is_of_parameter(self, value: Value) -> bool:
        """Return whether a value is computed elementwise from the target's parameter or a view of it."""

        def can_follow(call: Call, item: Value) -> bool:
            is_kept = is_pointwise(call.name) or call.name in _VIEWS
            return item.live and (is_kept or call.kind in ("function", "bridge"))

        return self.leaves.get(id(self._parameter)) in find_ancestors([value], can_follow)

    def _find_meant(self, values: Iterable[Value]) -> Call | None:
        ordered = sorted(values, key=lambda v: (v.call.name in LINEAR, v.number))
        calls, others = [v.call for v in ordered], UNMEASURED if self.target.site else ()  # they are no sites
        return next((c for c in calls if self._is_meant(c, "" if c.name in others else c.op)), None)

    def find_substitute(self, value: Value, tensor: Tensor) -> Tensor | None:
        """Return the tensor that replaces an argument because a swap has given it a gradient, or None."""
        if value.substitute is not None:
            return None if value.substitute is tensor else value.substitute
        outside = not value.call.graded or value.call.function is None  # value of no_grad or NumPy
        return self._build_bridge(value, tensor) if value.cuts and outside else None

    def _build_bridge(self, dead: Value, tensor: Tensor) -> Tensor | None:
        """Return a tensor like a detached one, with the rule's gradient. None if no target's call made it."""
        plain = dead.call.name in ("detach", ".data") and self.target.op != dead.call.name
        if not dead.floating or (plain and not self.target.site.endswith(dead.call.name)):
            return None
        x, made_values = origin_of(dead)
        made_values = made_values or {*find_ancestors([dead], lambda _, v: not v.live)}
        meant_call = self._find_meant(v for v in made_values if not v.live)
        source = None if x is None else x.ref()
        if meant_call is None or x is None or source is None or not torch.is_grad_enabled():
            return None
        steps = [self._steps[v.call] for v in made_values if v.call in self._steps]
        if len(steps) == 1 and steps[0].margin.shape == tensor.shape and steps[0].margin.requires_grad:
            source = steps[0].margin
            x = self.value_of(source)
        self._require_threshold(meant_call, x, source, made_values)
        dead.substitute = self._add_bridge(meant_call, source, tensor, [x, dead], dead.call)
        return dead.substitute

    def exchange_call(
        self, call: Call, x: Value, y: Value, x_tensor: Tensor, y_tensor: Tensor,
        parameters: Parameters | None = None, op: str = "", at_once: bool = False, note: str = "",
    ) -> None:  # fmt: skip
        """Replace the gradient between y and x of a call by the rule's.

        In a submodule of the target, this waits until the submodule has returned, unless ``at_once``.
        """

        def exchange() -> None:
            rule = self.exchange.make_gradient(op or call.op, parameters or {}, bool(op))
            self.hits.append(Hit(call, y, note=note))
            if rule is not None:
                exchange_backward(y, x, rule, x_tensor, y_tensor, f"{call.site} ({call.op})")

        if self.target.modules and not at_once:
            self._deferred.append((call, y, exchange))
        else:
            exchange()

    def on_module_call(self, module: nn.Module, path: str, args: Any) -> None:
        """Keep the first tensor that a submodule of the target is called with, as its x."""
        self.is_entered = self.is_entered or path in self.target.modules
        x = next(iter(find_tensors(args)), None) if path in self.target.modules else None
        if x is not None:
            self._entered.append(Entry(self.value_of(x), x, x.detach().clone(), len(self.hits), []))

    def on_module_return(self, module: nn.Module, path: str, result: Any) -> Any:
        """Exchange the backward of a submodule of the target, or of the calls inside it, when it returns."""
        super().on_module_return(module, path, result)
        if path not in self.target.modules or not self._entered or not torch.is_grad_enabled():
            return None
        x, source, x_kept, first_hit, revoked = self._entered.pop()
        tensor = next(iter(find_tensors(result)), None)
        # A gradient must come from y alone, not from a state that the submodule returns or keeps.
        passing = {id(item) for item in [*find_tensors(result), *_find_state(module)] if item.requires_grad}
        is_only = len(passing) < 2
        if tensor is not None and x.live and self.exchange.op is None and tensor.shape == x.shape and is_only:
            y, call = self.value_of(tensor), Call(type(module).__name__, None, self.place(), [x])
            if y in self._settled:
                return None  # all that the submodule does is compare: its rule is in place
            if y.live and y is not x and x in find_elementwise_ancestors(y):
                call.op = next((item.op for item, value, _ in self._deferred if value is y), call.name)
                self._deferred.clear()
                del self.hits[first_hit:]
                revoked.append(True)
                return self.exchange_call(call, x, y, x_kept, tensor, at_once=True)
            is_cut = not y.live and y.cuts and y.floating
            new = self._add_bridge(call, source, tensor, [x]) if is_cut else None
            if new is not None:
                return replace_tensor(result, tensor, new)
        if not self._entered:
            for *_, exchange in self._deferred:
                exchange()
            self._deferred.clear()
        return None

    def on_hidden_call(self, node: Any, call: Call) -> None:
        """Note an autograd node without a recorded call, or one of the target's Function from before."""
        owner = self.target.owner
        is_old = call.kind == "source" and owner is not None and forward_class(call.function) is owner
        if call.kind == "hidden" or is_old:
            self.unseen.add(node.name())


def _find_state(module: nn.Module) -> list[Tensor]:
    """Return the computed tensors that a module and its submodules keep, such as a membrane potential."""
    kept = [{k: v for k, v in vars(item).items() if k != "_parameters"} for item in module.modules()]
    return [tensor for tensor in find_tensors(kept) if tensor.grad_fn is not None]


def _is_of_x(call: Call, x: Value, tensor: Tensor) -> bool:
    """Return whether a detached call in a trick has the trick's x itself as input, rather than a scaled x."""
    if not call.inputs:
        return False
    other = call.inputs[0].ref()
    if call.inputs[0] is x or other is None or other.shape != tensor.shape:
        return call.inputs[0] is x
    return is_functorch_wrapped_tensor(tensor) or torch.equal(other.detach(), tensor.detach())

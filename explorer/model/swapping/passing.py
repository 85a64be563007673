"""One forward pass of a swapped model: the calls that are meant get another backward."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from explorer.model.swapping.bridge import UnreachedError, bridge, exchange_backward
from explorer.model.swapping.exchange import Exchange
from explorer.model.swapping.target import Target
from explorer.model.tape import CALLS, Call, Join, Tape, Value, op_key_of, parameters_of
from explorer.model.tape.names import LINEAR, STEPS, is_pointwise, may_write, replace_tensor, tensors_in
from explorer.model.tape.private import DisableTorchFunction, forward_class, is_functorch_wrapped_tensor
from explorer.model.tape.tricks import applied_keys, chain_of, restores, site_of_chain
from explorer.model.tape.values import elementwise_before, origin_of


class Hit(NamedTuple):
    """A call that was meant.

    Attributes:
        y: its live value; None where nothing can be told of it.
        reason: why a rule has no effect there; "" where it has.
        change: by how much another op changed y at most.
    """

    call: Call
    y: Value | None
    reason: str = ""
    change: float | None = None


class Given(NamedTuple):
    """The x of a call before it, with the catalogue's key of its op and the parameters it is given."""

    x: Tensor
    parameters: dict[str, Any]
    key: str


class Pass(Tape):
    """A tape that exchanges the backward of a target's calls.

    Attributes:
        hits: the calls that were meant.
        unseen: names of autograd's nodes whose call was not seen.
    """

    def __init__(self, model: nn.Module, target: Target, exchange: Exchange) -> None:
        self.target, self.exchange = target, exchange
        self.hits: list[Hit] = []
        self.unseen: set[str] = set()
        self._deferred: list[tuple[Call, Value, Callable[[], None]]] = []  # of calls inside a meant submodule
        self._entered: list[tuple[Value, Tensor, Tensor]] = []
        self._parameter = dict(model.named_parameters()).get(target.parameter)
        super().__init__(model)

    def run(self, call: Callable[[], Any], path: str | None) -> Any:
        """Return the result of a call; ``path``: of the submodule whose method it is, if it is one."""
        self.attach()
        try:
            with self:
                if path is None:
                    result = call()
                else:
                    with self.running(path):
                        result = call()
            return self._with_substitutes(result)
        finally:
            self.detach()

    def _with_substitutes(self, result: Any) -> Any:
        with DisableTorchFunction():
            self.roots = [self.value_of(each) for each in tensors_in(result)]
            if self.bridges:
                for tensor, value in zip([*tensors_in(result)], [*self.roots], strict=True):
                    if (new := self.stand_in(value, tensor)) is not None:
                        result = replace_tensor(result, tensor, new)
                self.roots = [self.value_of(each) for each in tensors_in(result)]
        return result

    def prepare(self, name: str, function: Any, args: Any, kwargs: Any) -> Given | None:
        """Return what is kept of x before a call."""
        x = next(tensors_in(args), None)
        if x is None or not x.is_floating_point():
            return None
        listed = CALLS.get(function)
        key = (op_key_of(listed, args, kwargs) or "") if listed else ""
        if may_write(function, args, kwargs):
            x = x.clone()
        return Given(x, parameters_of(listed, args, kwargs) if listed and key else {}, key)

    def called(self, call: Call, x_before: Given | None, y: Tensor) -> Tensor | None:
        """Take notice of a call."""
        if call.merged or not call.outputs:
            return None
        value = call.outputs[0]
        if call.graded and not value.live and value.cuts:
            return self._bridge(value, y)
        if x_before is None:
            return None
        call.op = x_before.key or call.name
        if not self._means(call, x_before.key):
            return None
        x = next(iter(call.live_inputs()), None)
        if self.exchange.op is not None and self._is_first(call, x_before):
            return self._replace(call, x_before, y)
        if not call.graded:
            self.hits.append(Hit(call, None))
        elif x is None or not value.live:
            if not value.cuts:
                self._hit(call, None, "its x requires no gradient")
        elif value.edge != x.edge:
            kept = x_before.x if x is call.inputs[0] else x.ref()
            if kept is not None:
                self._exchange(call, x, value, kept, y, call.op, x_before.parameters)
        return None

    def _is_first(self, call: Call, given: Given) -> bool:
        return bool(call.inputs) and (call.graded or not any(v.cuts for v in call.outputs))

    def _replace(self, call: Call, given: Given, y: Tensor) -> Tensor:
        """Return y of another op in place of a call's, written into x where the call wrote there."""
        others = any(v.live for v in call.inputs[1:] if v is not call.inputs[0])
        new = self.exchange.replaced(call.op, given.parameters, others, given.x)
        self.hits.append(Hit(call, None, "", _difference(y, new)))
        if any(y is each for each in (v.ref() for v in call.inputs)):
            y.copy_(new)
            return y
        if new.requires_grad:
            self.put(new, Value(call, new, next(self.numbers), (new.grad_fn, new.output_nr)))
        return new

    def function(self, call: Call, value: Value, tensor: Tensor | None) -> None:
        """Take notice of the y of a Function."""
        keys = applied_keys(value.edge)
        call.op = keys[0] or call.name
        inputs = call.live_inputs()
        if not inputs or not self._means(call, keys[0]):
            return
        x = inputs[0].ref()
        if x is None:
            raise UnreachedError(
                f"{call.site}: the x of {call.op} is not kept, so that no rule can be put there"
            )
        if self.exchange.op is not None:
            value.substitute = self.exchange.replaced(call.op, {}, len(inputs) > 1, x)
            self._stands_for(call, value, value.substitute)
            change = None if tensor is None else _difference(tensor, value.substitute)
            self.hits.append(Hit(call, None, "", change))
            return
        self._exchange(call, inputs[0], value, x, x if tensor is None else tensor, call.op, {})

    def _stands_for(self, call: Call, value: Value, new: Tensor) -> Value:
        made = Call(call.op, None, call.place, [*call.inputs], "bridge")
        self.calls.append(made)
        self.bridges = True
        return self.put(new, Value(made, new, next(self.numbers), (new.grad_fn, 0)))

    def calls_again(self, node: Any) -> None:
        """Listen while a checkpoint calls its function again."""
        self.hits.append(Hit(self._by_node.get(node) or Call("", None, self.place(), []), None))
        super().calls_again(node)

    def resume(self) -> None:
        """Follow the modules again."""
        self.attach()

    def pause(self) -> None:
        """Stop following the modules."""
        self.flush()
        self.detach()

    def _means(self, call: Call, key: str) -> bool:
        if self.target.modules and not (key or call.kind != "call" or _is_step(call.name)):
            return False
        if self.target.parameter:
            return self._is_of_parameter(call, key)
        if self.target.site and call.name in LINEAR and self.target.site != call.names[-1]:
            return False
        return self.target.means(call)

    def _is_of_parameter(self, call: Call, key: str) -> bool:
        leaf = None if self._parameter is None else self.leaves.get(id(self._parameter))
        inputs = call.live_inputs()
        if leaf is None or not inputs or not (key or call.kind == "function"):
            return False
        return any(leaf in elementwise_before(each) for each in inputs)

    def joined(self, call: Call, join: Join, y: Tensor) -> Tensor | None:
        """Exchange a trick where it is named, or where a call is meant whose value it restores."""
        side = join.made - join.way
        meant = self._meant(side)
        chain = chain_of(side, join.way)
        call.op = " → ".join(each.op for each in chain) or call.name
        named = self.target.site and self.target.site in (*call.names, *site_of_chain(call, chain).names)
        x = join.x.ref()
        if x is None or not (named or (meant is not None and any(restores(v, y) for v in side))):
            return None
        call.merged = True
        inner = {v.call for v in side}
        self.hits = [hit for hit in self.hits if hit.call not in inner]
        first = meant if meant is not None else next(iter(chain), call)
        op = first.op if any(restores(v, y) for v in first.outputs) else "a trick"
        if self.exchange.op is not None:
            new = self.exchange.replaced(first.op, {}, False, x)
            self.hits.append(Hit(first, None, "", _difference(y, new)))
            return new
        if not _is_of_x(first, join.x, x):
            self._require_scale_free(call)
        self._exchange(first, join.x, call.outputs[0], x, y, op, {})
        return None

    def _require_scale_free(self, call: Call) -> None:
        """Raise UnreachedError where a rule needs x, and the ops of a trick see another one."""
        entry = self.exchange.entry
        needs = entry is not None and entry.parsed is not None and {"x", "y"} & {*entry.parsed.variables}
        if needs and self.target.op:
            raise UnreachedError(
                f"the trick at {call.site} restores {call.op} of another scale: give op=…, a rule of g, "
                f"or the site with a rule of your own"
            )

    def _meant(self, values: Iterable[Value]) -> Call | None:
        ordered = sorted(values, key=lambda v: v.number)
        return next((v.call for v in ordered if self._means(v.call, v.call.op)), None)

    def stand_in(self, value: Value, tensor: Tensor) -> Tensor | None:
        """Return the tensor that takes the place of an argument, or None."""
        if value.substitute is not None:
            return None if value.substitute is tensor else value.substitute
        outside = not value.call.graded or value.call.function is None  # from no_grad, or from NumPy
        return self._bridge(value, tensor) if value.cuts and outside else None

    def _bridge(self, dead: Value, tensor: Tensor) -> Tensor | None:
        """Return the live tensor that stands for a dead one, where a call between x and it is meant."""
        plain = dead.call.name in ("detach", ".data") and self.target.op != dead.call.name
        if not dead.floating or (plain and not self.target.site.endswith(dead.call.name)):
            return None
        x, made = origin_of(dead)
        meant = self._meant(v for v in made if not v.live)
        source = None if x is None else x.ref()
        if meant is None or source is None or not torch.is_grad_enabled():
            return None
        if self.exchange.op is not None:
            dead.substitute = self.exchange.replaced(meant.op, {}, False, source)
        else:
            rule = self.exchange.gradient_for(meant.op, {})
            if rule is None:
                return None
            dead.substitute = bridge(source, tensor, rule)
        made_call = Call(meant.name, None, dead.call.place, [x, dead] if x is not None else [dead], "bridge")
        self.calls.append(made_call)
        self.bridges = True
        value = self.put(
            dead.substitute,
            Value(made_call, dead.substitute, next(self.numbers), (dead.substitute.grad_fn, 0)),
        )
        self.hits.append(Hit(meant, value, "", _difference(tensor, dead.substitute)))
        return dead.substitute

    def _hit(self, call: Call, y: Value | None, reason: str = "") -> None:
        self.hits.append(Hit(call, y, reason))

    def _exchange(
        self, call: Call, x: Value, y: Value, x_tensor: Tensor, y_tensor: Tensor, op: str, given: Any
    ) -> None:
        def exchange() -> None:
            rule = self.exchange.gradient_for(op, given)
            self._hit(call, y)
            if rule is not None:
                exchange_backward(y, x, rule, x_tensor, y_tensor, f"{call.site} ({call.op})")

        if self.target.modules:
            self._deferred.append((call, y, exchange))
        else:
            exchange()

    def module_called(self, module: nn.Module, path: str, args: Any) -> None:
        """Take notice of the x of a submodule."""
        if path in self.target.modules:
            x = next(tensors_in(args), None)
            if x is not None:
                self._entered.append((self.value_of(x), x, x.detach().clone()))

    def module_returned(self, module: nn.Module, path: str, args: Any, result: Any) -> Any:
        """Take notice of what a submodule returns."""
        if path not in self.target.modules or not self._entered or not torch.is_grad_enabled():
            return None
        x, source, kept = self._entered.pop()
        tensor = next(tensors_in(result), None)
        if tensor is None or not x.live or self.exchange.op is not None:
            return self._run_deferred()
        y = self.value_of(tensor)
        call = Call(type(module).__name__, None, self.place(), [x])
        if y.live and y.shape == x.shape and x in elementwise_before(y) and y is not x:
            call.op = next((each.op for each, own, _ in self._deferred if own is y), call.name)
            self._deferred.clear()
            self._whole(call, x, y, kept, tensor)
            return None
        if not y.live and y.cuts and y.shape == x.shape and tensor.is_floating_point():
            return self._bridge_module(call, x, y, source, tensor, result)
        return self._run_deferred()

    def _whole(self, call: Call, x: Value, y: Value, kept: Tensor, tensor: Tensor) -> None:
        rule = self.exchange.gradient_for(call.op, {})
        self._hit(call, y)
        if rule is not None:
            exchange_backward(y, x, rule, kept, tensor, f"{call.site} ({call.op})")

    def _bridge_module(
        self, call: Call, x: Value, y: Value, source: Tensor, tensor: Tensor, result: Any
    ) -> Any:
        rule = self.exchange.gradient_for(call.op, {})
        if rule is None:
            return self._run_deferred()
        new = bridge(source, tensor, rule)
        self.hits.append(Hit(call, self._stands_for(call, y, new)))
        return replace_tensor(result, tensor, new)

    def _run_deferred(self) -> None:
        if not self._entered:
            for *_, exchange in self._deferred:
                exchange()
            self._deferred.clear()

    def _hidden_call(self, *arguments: Any) -> Call:
        call = super()._hidden_call(*arguments)
        owner = self.target.owner
        if call.kind == "hidden" or (
            owner is not None and forward_class(call.function) is owner and call.kind == "source"
        ):
            self.unseen.add(arguments[0].name())
        return call


def _is_step(name: str) -> bool:
    return name in STEPS or (name not in LINEAR and is_pointwise(name))


def _is_of_x(call: Call, x: Value, tensor: Tensor) -> bool:
    """Return whether a call on the side is made on the very x of its trick, up to scale-free steps."""
    if not call.inputs:
        return False
    value = call.inputs[0]
    if value is x:
        return True
    other = value.ref()
    if other is None or other.shape != tensor.shape:
        return False
    if is_functorch_wrapped_tensor(tensor):
        return True
    return torch.equal(other.detach(), tensor.detach())


def _difference(y: Tensor, new: Tensor) -> float:
    with torch.no_grad():
        if y.shape != new.shape or not y.numel() or is_functorch_wrapped_tensor(y):
            return 0.0
        return float((y - new).abs().max())

"""One forward pass of a swapped model, in which the target's calls and submodules get another backward."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from explorer.catalogue import OPS
from explorer.model.swapping.bridge import UnreachedError
from explorer.model.swapping.calls import SwappedCalls
from explorer.model.tape import Call, Join, Value
from explorer.model.tape.names import COMPARISONS, LINEAR, STEP_SIGNS, find_tensors, replace_tensor
from explorer.model.tape.private import DisableTorchFunction, is_functorch_wrapped_tensor
from explorer.model.tape.tricks import classify_join, find_restored, is_restoring, name_join
from explorer.model.tape.values import UNLIMITED, find_ancestors, find_elementwise_ancestors


class Entry(NamedTuple):
    """The call of a submodule of the target, which has not returned yet.

    Attributes:
        x, tensor: the first tensor that the submodule is called with.
        kept: a copy of the tensor.
        hits: the number of hits before the call.
    """

    x: Value
    tensor: Tensor
    kept: Tensor
    hits: int


class Pass(SwappedCalls):
    """A forward pass in which the backward of a swap's calls is exchanged as they run.

    A submodule of the target is exchanged as a whole if y has x's shape, otherwise the ops inside it. So is
    a detach trick around one of the target's calls.

    Attributes:
        is_entered: whether a submodule of the target has been called.
    """

    is_entered = False

    def run(self, call: Callable[[], Any], path: str | None) -> Any:
        """Call a function as a forward pass, with another backward at the target, and return its result.

        ``path`` is the submodule if the function is a method of one, None for the model itself.
        """
        self._entered: list[Entry] = []
        with self, nullcontext() if path is None else self.run_at(path):
            result = call()
        with DisableTorchFunction():
            result = self.with_substitutes(result) if self.bridges else result
            self.roots = [self.value_of(item) for item in find_tensors(result)]
        return result

    def on_module_call(self, module: nn.Module, path: str, args: Any) -> None:
        """Keep the first tensor that a submodule of the target is called with, as its x."""
        self.is_entered = self.is_entered or path in self.target.modules
        x = next(iter(find_tensors(args)), None) if path in self.target.modules else None
        if x is not None:
            self._revoked = self._revoked if self._entered else []
            self._entered.append(Entry(self.value_of(x), x, x.detach().clone(), len(self.hits)))

    def on_module_return(self, module: nn.Module, path: str, result: Any) -> Any:
        """Exchange the backward of a submodule of the target, or of the calls inside it, when it returns."""
        super().on_module_return(module, path, result)
        if path not in self.target.modules or not self._entered or not torch.is_grad_enabled():
            return None
        entry, tensor = self._entered.pop(), next(iter(find_tensors(result)), None)
        revoked, self._revoked = self._revoked, self._revoked if self._entered else None
        # A gradient must come from y alone, not from a state that the submodule returns or keeps.
        passing = {id(item) for item in [*find_tensors(result), *_find_state(module)] if item.requires_grad}
        is_whole = entry.x.live and self.exchange.op is None and len(passing) < 2
        if tensor is not None and is_whole and tensor.shape == entry.x.shape:
            y, call = self.value_of(tensor), Call(type(module).__name__, None, self.place(), [entry.x])
            if y in self._settled and _is_compared(entry.x, self._settled[y]):
                return None  # all that the submodule does is compare: its rule is in place
            if y.live and y is not entry.x and entry.x in find_elementwise_ancestors(y):
                made = (
                    item.op
                    for item, x, value, _ in self._deferred
                    if value is y and (x is entry.x or not item.merged)
                )
                call.op = next(made, call.name)
                self._deferred.clear()
                del self.hits[entry.hits :]
                if revoked is not None and not self._entered:
                    revoked.append(True)
                return self.exchange_call(call, entry.x, y, entry.kept, tensor, at_once=True)
            is_cut = not y.live and y.cuts and y.floating
            new = self.add_bridge(call, entry.tensor, tensor, [entry.x]) if is_cut else None
            if new is not None:
                return replace_tensor(result, tensor, new)
        if not self._entered:
            for *_, exchange in self._deferred:
                exchange()
            self._deferred.clear()
        return None

    def on_join(self, call: Call, join: Join, y: Tensor) -> Tensor | None:
        """Exchange the backward of a detach trick that is the target or contains one of its calls."""
        if self.mask is not None:
            return None
        kind, x, own_site = classify_join(call, join, y), join.tensor, call.site
        hard = _find_hard_values(join, y)
        changed = {hit.call for hit in self.hits if self.exchange.op is not None}
        if kind != "mask" and len(changed & {v.call for v in join.made}) > 1:
            # The op has also replaced the ops of a surrogate, whose values then tell little.
            restored = find_restored(call.outputs[0])
            if restored and kind == "gate":
                hard = {*find_ancestors(restored, lambda _, v: v in join.side, UNLIMITED)}
            kind = "trick" if restored else "gate"
        meant_call = self.find_meant(hard, kind == "trick")
        chain = name_join(call, join, kind == "mask")
        # A call of the surrogate may begin at the same column as the join.
        others = [v.call.site for v in join.way if v.call.kind == "call" and v.call.name not in LINEAR]
        is_bridged = any(v.call.kind == "bridge" for v in join.side)  # the mask has its rule already
        named = call.site is not own_site and self.target.site in call.site.names
        if self.target.site in own_site.names:
            named = named or not any(self.target.site in site.names for site in others)
        is_whole = meant_call is not None and not self.target.site
        if meant_call is not None and kind == "mask" and self.target.op:
            # A clamp that is compared has its own backward, and a comparison made a float the rule already.
            is_whole = meant_call.name in COMPARISONS and not is_bridged
        if kind == "gate":  # its value that is outside the graph gets the rule at its first use
            return None
        detached = {v.call for v in join.side}
        self.discarded |= detached
        if x is None or not (named or is_whole):
            return None
        call.merged = True
        replaced = detached if self.exchange.op is None else {v.call for v in join.made}
        self.hits = [hit for hit in self.hits if hit.call not in replaced]
        first = meant_call if meant_call is not None else next(iter(chain), call)
        step = self.find_only_step(hard, x.shape) if kind == "trick" else None
        if step is not None:
            self._steps[call] = step
        given = step.margin if step else x
        self.require_threshold(first, self.value_of(given) if step else join.x, given, hard)
        if self.exchange.op is not None:
            return self.put_in_place_of(call, self.replace_call(call, given, y, {}), y)
        is_restored = any(is_restoring(v, y) for v in first.outputs)
        is_of_x, rule = _is_of_x(first, join.x, x), step.rule if step else None
        source = first.inputs[0] if first.inputs else join.x
        if rule is None and call.outputs[0].edge == join.x.edge:  # by .data, which adds no node
            rule = self.exchange.make_gradient(first.op, {}, call.site, True)
        elif rule is None and kind == "trick" and is_restored and source.live and not is_of_x:
            # The call has an x of its own, such as h - threshold.
            rule = self.exchange.make_gradient(first.op, {}, call.site, True)
            given = y if (tensor := source.ref()) is None else tensor
        if rule is not None and given is not y and given.shape == y.shape:
            new = self.put_in_place_of(call, self.build_node(call, given, y.detach().clone(), rule), y)
            value = self.value_of(new)
            self.hits[-1] = self.hits[-1]._replace(y=value)
            self._settled[value] = first
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


def _find_hard_values(join: Join, y: Tensor) -> set[Value]:
    """Return the detached values of a join without those that the live way uses, as masks in a surrogate.

    These are included if the join restores one of them, and no other value.
    """
    used = find_ancestors(join.way, lambda _, v: v in join.made, UNLIMITED).keys() & join.side
    carried = {v.call.name for v in join.way if v.call.kind == "call"} - LINEAR
    foreign = used | {v for v in join.side if v.call.name in carried}
    hard, restored = join.side - foreign, [v for v in foreign if is_restoring(v, y)]
    if any(is_restoring(v, y) for v in hard if restored):
        return hard
    return hard | find_ancestors(restored, lambda _, v: v in foreign, UNLIMITED).keys()


def _is_of_x(call: Call, x: Value, tensor: Tensor) -> bool:
    """Return whether a detached call in a trick has the trick's x itself as input, rather than a scaled x."""
    other = call.inputs[0].ref() if call.inputs else None
    if not call.inputs or call.inputs[0] is x or other is None or other.shape != tensor.shape:
        return bool(call.inputs) and call.inputs[0] is x
    return is_functorch_wrapped_tensor(tensor) or torch.equal(other.detach(), tensor.detach())


def _is_compared(x: Value, call: Call) -> bool:
    """Return whether a call takes x itself, or its sum or difference with something else."""
    sums = [v.call for v in call.inputs if v.call.name in ("add", "sub", "rsub")]
    return any(x in item.inputs for item in [call, *sums])


def _find_state(module: nn.Module) -> list[Tensor]:
    """Return the computed tensors that a module and its submodules keep, such as a membrane potential."""
    kept = [{k: v for k, v in vars(item).items() if k != "_parameters"} for item in module.modules()]
    return [tensor for tensor in find_tensors(kept) if tensor.grad_fn is not None]

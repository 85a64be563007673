"""The exchange of the backward of detach tricks, and of masks computed from their own x."""

from __future__ import annotations

import torch
from torch import Tensor

from explorer.catalogue import OPS
from explorer.model.swapping.bridge import UnreachedError
from explorer.model.swapping.calls import SwappedCalls
from explorer.model.tape import Call, Join, Value
from explorer.model.tape.names import COMPARISONS, LINEAR, STEP_SIGNS
from explorer.model.tape.private import is_functorch_wrapped_tensor
from explorer.model.tape.tricks import classify_join, is_restoring, name_join
from explorer.model.tape.values import UNLIMITED, find_ancestors


class SwappedJoins(SwappedCalls):
    """A tape that also exchanges the backward of detach tricks around a target's calls."""

    def on_join(self, call: Call, join: Join, y: Tensor) -> Tensor | None:
        """Exchange the backward of a detach trick that is the target or contains one of its calls."""
        if self._masks.number is not None:
            return None
        hard, own_site = _find_hard_values(join, y), call.site
        meant_call = self.find_meant(hard)
        kind, x = classify_join(call, join, y), join.x.ref()
        chain = name_join(call, join, kind == "mask")
        # A call of the surrogate may begin at the same column as the join.
        others = [v.call.site for v in join.way if v.call.kind == "call" and v.call.name not in LINEAR]
        is_bridged = any(v.call.kind == "bridge" for v in join.side)  # the mask has its rule already
        is_named_by_side = call.site is not own_site and not (kind == "mask" and is_bridged)
        named = is_named_by_side and self.target.site in call.site.names
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
        if rule is None and kind == "trick" and is_restored and source.live and not is_of_x:
            # The call has an x of its own, such as h - threshold.
            rule = self.exchange.make_gradient(first.op, {}, True)
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
    """Return the detached values of a join without what the live way uses, such as a mask in a surrogate.

    A value that the join restores is among them in any case.
    """
    used = find_ancestors(join.way, lambda _, v: v in join.made, UNLIMITED).keys() & join.side
    carried = {v.call.name for v in join.way if v.call.kind == "call"} - LINEAR
    foreign = used | {v for v in join.side if v.call.name in carried}
    restored = [v for v in foreign if is_restoring(v, y)]
    return join.side - foreign | find_ancestors(restored, lambda _, v: v in foreign, UNLIMITED).keys()


def _is_of_x(call: Call, x: Value, tensor: Tensor) -> bool:
    """Return whether a detached call in a trick has the trick's x itself as input, rather than a scaled x."""
    other = call.inputs[0].ref() if call.inputs else None
    if not call.inputs or call.inputs[0] is x or other is None or other.shape != tensor.shape:
        return bool(call.inputs) and call.inputs[0] is x
    return is_functorch_wrapped_tensor(tensor) or torch.equal(other.detach(), tensor.detach())

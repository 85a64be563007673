"""The exchange of the backward of a model's calls, as they run during a forward pass of a swapped model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from explorer.catalogue import OPS
from explorer.model.swapping.bridge import UnreachedError, build_bridge, exchange_backward
from explorer.model.swapping.exchange import Exchange, Gradient, Parameters
from explorer.model.swapping.learning import Learning
from explorer.model.swapping.steps import SwappedSteps, write_over
from explorer.model.swapping.target import Target
from explorer.model.tape import CALLS, Call, CallInput, Value, names, private, read_input
from explorer.model.tape.names import STEP_SIGNS, find_tensors
from explorer.model.tape.tricks import find_applied_keys
from explorer.model.tape.values import find_ancestors, is_detached, origin_of

_DETACHED = "the model detaches its x: swap the site to give x a gradient anyway"
_NO_GRAD = "called under no_grad: the rule gives x a gradient anyway"


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


class SwappedCalls(SwappedSteps):
    """A tape that exchanges the backward of a target's calls, and of values that left the graph by them.

    Attributes:
        hits: the calls of the target.
        discarded: the calls in the detached parts of tricks and masks, whose gradient nobody expects.
        unseen: the names of autograd nodes whose calls were not recorded.
        unsuited: an op on the target's parameter that the rule does not suit, and which is left as it is.
    """

    follows = True

    def __init__(self, model: nn.Module, target: Target, exchange: Exchange, learning: Learning) -> None:
        self.learning = learning
        self.hits: list[Hit] = []
        self.discarded: set[Call] = set()
        self.unseen: set[str] = set()
        self.unsuited = ""
        # Calls inside target modules: the call, its x and y, and what exchanges its backward.
        self._deferred: list[tuple[Call, Value, Value, Callable[[], None]]] = []
        self._revoked: list[bool] | None = None  # filled if an outermost target module is exchanged whole
        super().__init__(model, target, exchange)

    def prepare(self, name: str, function: Any, args: Any, kwargs: Any) -> CallInput | None:
        """Return a call's x, op and parameters before it runs, or None if it has no floating-point input.

        The x of a comparison is its margin: x − threshold, or threshold − x for "lt" and "le".
        """
        x, has_margin = next(iter(find_tensors(args)), None), False
        self.compute_mask(name, function, args, kwargs)
        if name in STEP_SIGNS and all(item.dtype != torch.bool for item in find_tensors((args, kwargs))):
            left, right = (*args, *kwargs.values())[:2]
            has_margin, sign = True, STEP_SIGNS[name]
            if isinstance(right, Tensor) or right or sign < 0:
                with torch.enable_grad(), private.EnableTorchFunction():  # an observation sees the margin
                    x = left - right if sign > 0 else right - left
        if x is None or not x.is_floating_point():
            return None
        before = read_input(function, args, kwargs, x)
        return before._replace(is_margin=True) if has_margin else before

    def run_call(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Return the result of a call, hidden from outer tapes if a bridge may replace it."""
        if self.mask is None and names.name_of(function) != "heaviside":
            return function(*args, **kwargs)
        with private.DisableTorchFunction():
            return function(*args, **kwargs)

    def on_call(self, call: Call, x_before: CallInput | None, y: Tensor) -> Tensor | None:
        """Exchange the backward of the target's calls. Returns the tensor that replaces y, or None."""
        if call.merged or not call.outputs:
            return None
        value, number = call.outputs[0], self.mask
        if x_before and x_before.is_margin and self._is_meant(call, "") and not self._is_spared(call):
            margin = x_before.x
            if margin is not call.inputs[0].ref():
                margin = self._add_margin(call, value, margin)
            is_mask = not self.target.modules and not self.target.site and call.graded
            if is_mask and margin.requires_grad and not value.live:
                number = self.add_bridge(call, margin, y.to(margin.dtype), [*call.inputs])
        if number is not None and call.graded:
            return self.keep_mask(call, number, y)
        if call.graded and not value.live and value.cuts and not self._is_spared(call):
            return self._build_bridge(value, y)
        if x_before is None:
            return None
        if call.name in names.FORMATS.values() and (rounded := call.inputs[0].ref()) is not None:
            x_before = CallInput(rounded, call.name if call.name in OPS else "", {})
        call.op = x_before.key or call.name
        if not self._is_meant(call, x_before.key):
            return None
        x = next(iter(call.list_live_inputs()), None)
        is_first = bool(call.inputs) and (call.graded or not any(v.cuts for v in call.outputs))
        if self.exchange.op is not None and is_first:
            learns_more = any(v.live for v in call.inputs[1:] if v is not call.inputs[0])
            new = self.replace_call(call, x_before.x, y, x_before.parameters, learns_more)
            return self.put_in_place_of(call, new, y)
        if not call.graded:  # it gets the rule at the first use of its result, if at all
            return None
        if x is None or not value.live:
            is_spared = self._is_spared(call)
            if is_spared or not value.cuts:
                self.hits.append(Hit(call, None, _DETACHED if is_spared else "its x requires no gradient"))
        elif value.has_no_derivative:
            return self.add_bridge(call, x_before.x, y.detach(), [*call.inputs])
        elif value.edge != x.edge:
            x_kept = x_before.x if x is call.inputs[0] else x.ref()
            if x_kept is not None:
                self.exchange_call(call, x, value, x_kept, y, x_before.parameters)
        return None

    def _is_meant(self, call: Call, key: str) -> bool:
        is_plain = call.kind == "call" and call.name not in names.STEPS and call.function not in CALLS
        is_no_site = is_plain and (call.name in names.LINEAR or not names.is_pointwise(call.name))
        if is_no_site and self.target.modules and not key:
            return False
        if self.target.parameter:
            is_op = bool(key) or call.kind == "function" or call.name in STEP_SIGNS
            if not is_op or not any(map(self._is_of_parameter, call.list_live_inputs())):
                return False
            is_suitable = not key or self.exchange.is_suitable(key)
            self.unsuited = self.unsuited if is_suitable else key
            return is_suitable
        if is_no_site and self.target.site and (call.name in names.LINEAR or not (key or call.is_cut)):
            return self.target.site == call.site.names[-1] and self.target.is_meant(call)
        return self.target.is_meant(call)

    def _is_spared(self, call: Call) -> bool:
        """Return whether a swap by op skips a call because the model itself detaches its inputs."""
        given = [v for v in call.inputs if v.live or v.cuts]
        return bool(self.target.op and given and not self.exchange.op) and all(map(is_detached, given))

    def find_meant(self, values: Iterable[Value], in_trick: bool = False) -> Call | None:
        """Return the first of the target's calls that made ``values``, nonlinear calls foremost, or None.

        ``in_trick``: whether calls whose x the model detaches count too, as in a detach trick.
        """
        spared = {v for v in values if not in_trick and self._is_spared(v.call)}
        ordered = sorted({*values} - spared, key=lambda v: (v.call.name in names.LINEAR, v.number))
        # Names of calls that are no sites.
        others = names.LINEAR if self.target.modules else names.UNMEASURED if self.target.site else ()
        calls = (v.call for v in ordered)
        return next((c for c in calls if self._is_meant(c, "" if c.name in others else c.op)), None)

    def exchange_call(
        self, call: Call, x: Value, y: Value, x_tensor: Tensor, y_tensor: Tensor,
        parameters: Parameters | None = None, op: str = "", at_once: bool = False, note: str = "",
    ) -> None:  # fmt: skip
        """Replace the gradient between y and x of a call by the rule's.

        In a submodule of the target, this waits until the submodule has returned, unless ``at_once``.
        """

        def exchange() -> None:
            rule = self.exchange.make_gradient(op or call.op, parameters or {}, call.site, bool(op))
            self.hits.append(Hit(call, y, note=note))
            if rule is not None:
                exchange_backward(y, x, rule, x_tensor, y_tensor, f"{call.site} ({call.op})")

        if self.target.modules and not at_once:
            self._deferred.append((call, x, y, exchange))
        else:
            exchange()

    def on_function(self, call: Call, value: Value, tensor: Tensor | None) -> None:
        """Exchange the backward of an autograd Function's call, if the call belongs to the target."""
        key = find_applied_keys(value.edge)[0]
        call.op = key or call.name
        inputs = call.list_live_inputs()
        if not inputs or not self._is_meant(call, key):
            return
        x = inputs[0].ref()
        if x is None:
            raise UnreachedError(f"{call.site}: the x of {call.op} is not kept: no rule can be put there")
        y = x if tensor is None else tensor
        if self.exchange.op is not None:
            value.substitute = self.add_bridge(call, x, y, [*call.inputs], others_learn=len(inputs) > 1)
        else:
            self.exchange_call(call, inputs[0], value, x, y)

    def add_bridge(
        self, call: Call, x: Tensor, y: Tensor, inputs: list[Value], at: Call | None = None,
        others_learn: bool = False,
    ) -> Tensor | None:  # fmt: skip
        """Return y, or the swap's op on x, with a new node for the rule, and record that a call is reached.

        ``inputs`` are the values from which y is computed, at the place of ``at``, by default the call. None
        if the call keeps its own gradient.
        """
        step = self._step_of(call, x)
        if self.exchange.op is not None:
            new = self.replace_call(call, x, y, {}, others_learn)
        else:
            rule = step.rule if step else self.exchange.make_gradient(call.op, {}, call.site)
            if rule is None:
                return None
            new = self.build_node(call, x, y, rule)
        value = self.put_bridge(call.op, at or call, inputs, new)
        self.hits[-1] = self.hits[-1]._replace(y=value)
        if step:
            self._settled[value] = call
        return new

    def build_node(self, call: Call, x: Tensor, y: Tensor, rule: Gradient) -> Tensor:
        """Return y with a node for the rule, and record that a call is reached.

        The rule gives zeros once a submodule of the target around the call is exchanged as a whole.
        """
        y = y.clone() if y.is_inference() else y  # which autograd cannot save
        rule = rule if self._revoked is None else partial(_revoke, self._revoked, rule)
        new = build_bridge(_copy(x), y, rule)
        self.note_origin(call, new)
        step = self._step_of(call, x)
        self.hits.append(Hit(call, None, note=step.note if step else ""))
        return new

    def replace_call(
        self, call: Call, x: Tensor, y: Tensor, parameters: Parameters, others_learn: bool = False
    ) -> Tensor:
        """Return the swap's op on x, with the learned parameters of the call's site, and record the hit."""
        learned = self.learning.select(self.model, self.exchange, call.site, x)
        new = self.exchange.replace_call(call.op, parameters, learned, others_learn, _copy(x))
        self.note_origin(call, new)
        change, step = 0.0, self._step_of(call, x)
        if y.shape == new.shape and y.numel() and not private.is_functorch_wrapped_tensor(y):
            change = float((y.detach() - new.detach()).abs().max())
        self.hits.append(Hit(call, None, "", change, step.note if step else ""))
        return new

    def put_in_place_of(self, call: Call, new: Tensor, y: Tensor) -> Tensor:
        """Return the tensor that replaces a call's result y: ``new``, or y itself after a call in place."""
        new = write_over(call, new, y)
        if new.requires_grad:
            self.put(new, Value(call, new, (new.grad_fn, new.output_nr)))
        return new

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
        (x, made_values), inner = origin_of(dead), find_ancestors([dead], lambda _, v: not v.live).keys()
        made_values = made_values & inner or {*inner}
        meant_call = self.find_meant(made_values)
        source = None if x is None else x.ref()
        if meant_call is None or x is None or source is None or not torch.is_grad_enabled():
            return None
        step = self.find_only_step(made_values, tensor.shape)
        if step is not None and step.margin.requires_grad:
            source = step.margin
            x = self.value_of(source)
        self.require_threshold(meant_call, x, source, made_values)
        dead.substitute = self.add_bridge(meant_call, source, tensor, [x, dead], dead.call)
        if not meant_call.graded and dead.substitute is not None:
            self.hits[-1] = self.hits[-1]._replace(note=self.hits[-1].note or _NO_GRAD)
        return dead.substitute

    def on_checkpoint(self, node: Any) -> None:
        """Record a checkpoint, whose calls run again in backward, as a hit."""
        self.hits.append(Hit(self.by_node.get(node) or Call("", None, self.place(), []), None))
        super().on_checkpoint(node)

    def on_hidden_call(self, node: Any, call: Call) -> None:
        """Note an autograd node without a recorded call, or one of the target's Function from before."""
        owner = self.target.owner
        is_old = call.kind == "source" and owner is not None and private.forward_class(call.function) is owner
        if call.kind == "hidden" or is_old:
            self.unseen.add(node.name())


def _copy(x: Tensor) -> Tensor:
    """Return a copy of x, which does not change if the model writes into x. Outer tapes record the call."""
    with private.EnableTorchFunction():
        return x.clone()


def _revoke(revoked: list[bool], rule: Gradient, x: Tensor, y: Tensor, g: Tensor) -> Tensor:
    return torch.zeros_like(x) if revoked else rule(x, y, g)

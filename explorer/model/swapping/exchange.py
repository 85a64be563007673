"""The exchange of a backward at one call: the same y, or that of another op, and the gradient of a rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor  # torch has no public name for it

from explorer import catalogue
from explorer.catalogue import OPS, Op, Rule, checked, find_op, find_rule, qualified, require_fixed, values
from explorer.gradient import Backward, Bound, apply, bind
from explorer.model.watching import Asked, Run, explain

Parameters = Mapping[str, float | Tensor]
_ANY_OP = Op("own", "Own", "x", parameters=())  # for a Function whose op is not known: only rules matter


class _Beside(torch.autograd.Function):
    """y as it is; backward a rule for x, and the upstream gradient itself for y."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, y: Tensor, rule: Backward) -> Tensor:
        return y.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Backward], output: Tensor) -> None:
        x, _, ctx.rule = inputs
        ctx.save_for_backward(*ctx.rule.kept(x, output))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor, None]:
        return ctx.rule(ctx.saved_tensors, g), g, None


def beside(x: Tensor, y: Tensor, rule: Backward) -> Tensor:
    """y with the gradient of a rule for x; what else y depends on keeps its own gradient."""
    joined: Tensor = _Beside.apply(x, y, rule)  # type: ignore[no-untyped-call]  # torch's own
    return joined


@dataclass(frozen=True)
class Exchange:
    """The rule, and the op if there is one, that a swap puts at its sites.

    Attributes:
        op: in place of the model's own call; None keeps that.
        rule: the rule.
        parameters: values by name, as for ``explorer.apply``.
    """

    op: str | Op | None
    rule: str | Rule
    parameters: Mapping[str, float]

    @cached_property
    def entry(self) -> Rule:
        """The rule as a record."""
        return find_rule(self.rule)

    @property
    def key(self) -> str:
        """The key of the rule."""
        return self.entry.key

    def require_suitable(self, op: str | Op) -> None:
        """Raise ValueError unless the rule suits an op and the parameters are those of the two."""
        known = find_op(op)
        if self.entry.suits and known.family not in self.entry.suits and known.key in OPS:
            why = self.entry.otherwise or f"it is one for {', '.join(self.entry.suits)}"
            raise ValueError(f"the rule {self.key} does not suit {known.key}: {why}")
        checked(known, (self.entry,), self.parameters_for(known))

    def parameters_for(self, op: Op) -> Mapping[str, float]:
        """The parameters beside an op. Where the call keeps its own op, they are all the rule's."""
        if self.op is not None:
            return self.parameters
        own = {
            p.plain: qualified(self.entry, p) for p in catalogue.beside(op, self.entry).parameters if p.plain
        }
        return {own.get(name, name): value for name, value in self.parameters.items()}

    def run_of(self, asked: Asked) -> Run:
        """The function that computes y of a call with the exchanged backward.

        Raises ValueError where the rule does not suit, or needs what the call does not tell.
        """
        if self.op is not None:
            self.require_suitable(self.op)
            return self._replaced(asked, self.op)
        if asked.op in OPS:
            self.require_suitable(asked.op)
        if self.entry.parsed is None:
            if asked.op not in OPS:
                raise ValueError(
                    f"{self.key} is torch's own gradient of an op, and {asked.op} is a Function: say which "
                    "op it computes, op=…"
                )
            return _explained(asked.run)
        return self._kept(asked, self.backward_for(asked.op, asked.parameters))

    def backward_for(self, op: str, given: Parameters) -> Backward:
        """The rule of an op whose call gives these parameters."""
        entry = OPS.get(op, _ANY_OP)
        require_fixed("a swap that keeps the op of the model", self.entry)
        named = {*values(entry, self.entry, {})}
        known = {name: _number(self.key, name, value) for name, value in given.items() if name in named}
        bound = bind(entry, self.entry, {**known, **self.parameters_for(entry)}).rule
        assert bound is not None
        return bound

    def _kept(self, asked: Asked, rule: Backward) -> Run:
        run = asked.run
        if not any(each.requires_grad for each in asked.others):
            return Bound(run, rule)

        def beside_others(x: Tensor) -> Any:
            y = run(x.detach())
            explain(y, None)
            return beside(x, y, rule)

        return beside_others

    def _replaced(self, asked: Asked, op: str | Op) -> Run:
        if any(each.requires_grad for each in asked.others):
            raise ValueError(
                f"{asked.op} gets a tensor that learns beside x, which the op {find_op(op).key} would leave "
                "without gradient: leave op out, and it keeps its own"
            )
        same = isinstance(op, str) and op == asked.op
        own = {k: float(v) for k, v in asked.parameters.items() if not isinstance(v, Tensor)} if same else {}
        parameters = {**own, **self.parameters}
        if not (find_op(op).draws or self.entry.draws):
            return bind(op, self.rule, parameters)
        if self.entry.hangs_on_loss:
            raise ValueError(f"{self.key} asks for the loss of each element, which a swap does not know")
        return lambda x: apply(op, self.rule, x, draw=None, f=None, **parameters)


def _explained(run: Run) -> Run:
    def explained(x: Tensor) -> Any:
        y = run(x)
        explain(y, x.grad_fn)
        return y

    return explained


def _number(rule: str, name: str, value: float | Tensor) -> float:
    if not isinstance(value, Tensor):
        return value
    if value.numel() == 1 and not is_functorch_wrapped_tensor(value):
        return float(value.detach())
    raise ValueError(
        f"the rule {rule} needs {name} as one number, and the model's call gives it as a tensor: say "
        f"{name}=… in the swap"
    )

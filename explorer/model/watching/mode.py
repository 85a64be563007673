"""The one mode of torch that sees the calls of a forward pass, of a thread, and who handles them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from torch import Tensor
from torch.autograd import Function
from torch.overrides import TorchFunctionMode

from explorer.model.watching.calls import CALLS, op_key_of, parameters_of
from explorer.model.watching.cuts import FOLLOWED

Run = Callable[[Tensor], Any]


class Handler(Protocol):
    """Who watches a forward pass."""

    @property
    def functions(self) -> Sequence[type[Function]]:
        """The Function classes that are watched."""

    def handle(self, asked: Asked) -> Run:
        """The run of a call from here on, given the one so far."""

    def follow(self, function: Any, args: Sequence[Any], result: Any) -> Any:
        """The result of a plain call that may carry a value out of the graph, or back into it."""

    def meet(self, other: object) -> None:
        """Take notice that an op is called on what is no tensor, as while torch.fx traces."""


class Asked:
    """A call of an op, or of a Function, on x.

    Attributes:
        op: the op's key, or the Function's name.
        owner: the Function class; None for an op.
        x: what it is called on.
        run: what computes y from x and leaves x alone.
        parameters: those of the op in this call.
        others: further arguments that are tensors.
        in_place: whether the model's call writes into x.
        rule: the key of the rule that a swap put there; "" for the model's own.
    """

    __slots__ = ("in_place", "op", "others", "owner", "parameters", "rule", "run", "x")

    def __init__(
        self,
        op: str,
        x: Tensor,
        run: Run,
        parameters: Mapping[str, float | Tensor],
        others: Sequence[Tensor],
        owner: type[Function] | None = None,
        in_place: bool = False,
    ) -> None:
        self.op, self.x, self.run, self.parameters = op, x, run, parameters
        self.others, self.owner, self.in_place, self.rule = others, owner, in_place, ""


class _Thread(threading.local):
    def __init__(self) -> None:
        self.handlers: list[Handler] = []
        self.busy = False  # inside a call that is handled


THREAD = _Thread()


def handlers() -> Sequence[Handler]:
    """Those who watch this thread."""
    return THREAD.handlers


class Mode(TorchFunctionMode):
    """The mode: each call of an op on a tensor goes to the handlers, and what carries values on."""

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        call = CALLS.get(func)
        if call is not None and not THREAD.busy and args:
            op = op_key_of(call, args, kwargs)
            x = args[0]
            if op is not None and not isinstance(x, Tensor):
                for handler in THREAD.handlers:
                    handler.meet(x)
            elif op is not None and x.is_floating_point() and kwargs.get("out") is None:
                rest = args[1:]
                asked = Asked(
                    op,
                    x,
                    lambda z: func(z, *rest, **kwargs),
                    parameters_of(call, args, kwargs),
                    [each for each in (*rest, *kwargs.values()) if isinstance(each, Tensor)],
                    in_place=call.in_place
                    or kwargs.get("inplace", False)
                    or any(each is True for each in rest),
                )
                return answered(asked)
        result = func(*args, **kwargs)
        if func in FOLLOWED and not THREAD.busy:
            for handler in reversed(THREAD.handlers):
                result = handler.follow(func, args, result)
        return result


def answered(asked: Asked) -> Any:
    """y of a call, by all handlers; a call in place leaves its y in x."""
    THREAD.busy = True
    try:
        x, own = asked.x, asked.run
        if asked.in_place:
            asked.run = lambda z: own(z.clone())
        for handler in reversed(THREAD.handlers):
            asked.run = handler.handle(asked)
        if not asked.in_place:
            return asked.run(x)
        return x.copy_(asked.run(x.clone()))
    finally:
        THREAD.busy = False
        del asked.run  # which holds what is asked: the circle would keep the graph until it is collected

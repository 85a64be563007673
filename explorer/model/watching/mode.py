"""The one mode of torch that sees the calls of a forward pass, and who handles them.

It is of a thread. A Function's ``apply`` is no torch function: while somebody watches a class, its ``apply``
is put aside; other threads, who do not, get the class's own.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.autograd import Function
from torch.overrides import TorchFunctionMode
from torch.utils import checkpoint

from explorer.gradient import BOUNDARY, apply
from explorer.model.watching.calls import CALLS, op_key_of, parameters_of
from explorer.model.watching.cuts import FOLLOWED
from explorer.model.watching.places import resumed, running_modules

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


_THREAD = _Thread()


class _Mode(TorchFunctionMode):
    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        call = CALLS.get(func)
        if call is not None and not _THREAD.busy and args:
            op = op_key_of(call, args, kwargs)
            x = args[0]
            if op is not None and not isinstance(x, Tensor):
                for handler in _THREAD.handlers:
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
                return _answered(asked)
        result = func(*args, **kwargs)
        if func in FOLLOWED and not _THREAD.busy:
            for handler in reversed(_THREAD.handlers):
                result = handler.follow(func, args, result)
        return result


def _answered(asked: Asked) -> Any:
    """y of a call, by all handlers; a call in place leaves its y in x."""
    _THREAD.busy = True
    try:
        x, own = asked.x, asked.run
        if asked.in_place:
            asked.run = lambda z: own(z.clone())
        for handler in reversed(_THREAD.handlers):
            asked.run = handler.handle(asked)
        if not asked.in_place:
            return asked.run(x)
        return x.copy_(asked.run(x.clone()))
    finally:
        _THREAD.busy = False
        del asked.run  # which holds what is asked: the circle would keep the graph until it is collected


Again = Callable[..., Any]


def _resuming(run: Again) -> Again:
    """A function that a checkpoint calls again in a backward, where torch has put every mode aside."""
    handlers, origin = [*_THREAD.handlers], running_modules()

    def again(*args: Any, **kwargs: Any) -> Any:
        if torch._C._current_graph_task_id() == -1:  # outside a backward
            return run(*args, **kwargs)
        before, _THREAD.handlers = _THREAD.handlers, [*handlers]
        try:
            with _Mode():
                return resumed(origin, run, *args, **kwargs)
        finally:
            _THREAD.handlers = before

    return again if handlers else run


class _Frame(checkpoint._CheckpointFrame):  # torch has no public name for it
    """The function that a checkpoint keeps, and calls again in backward."""

    def __init__(self, recompute_fn: Again, *args: Any, **kwargs: Any) -> None:
        super().__init__(_resuming(recompute_fn), *args, **kwargs)


class _Checkpoints:
    """torch's checkpoints, put aside while anybody watches: what they call again is watched as well."""

    def __init__(self) -> None:
        self._lock, self._count = threading.Lock(), 0
        self._frame, self._apply = checkpoint._CheckpointFrame, checkpoint.CheckpointFunction.apply

    def __enter__(self) -> None:
        with self._lock:
            self._count += 1
            if self._count == 1:
                checkpoint._CheckpointFrame = _Frame  # type: ignore[misc]
                checkpoint.CheckpointFunction.apply = self._reentrant  # type: ignore[method-assign]

    def __exit__(self, *_error: object) -> None:
        with self._lock:
            self._count -= 1
            if not self._count:
                checkpoint._CheckpointFrame = self._frame  # type: ignore[misc]
                del checkpoint.CheckpointFunction.apply

    def _reentrant(self, run: Again, *args: Any) -> Any:
        return self._apply(_resuming(run), *args)  # type: ignore[no-untyped-call]  # torch's own


_CHECKPOINTS = _Checkpoints()


class _Applies:
    """The classes whose ``apply`` is put aside, with how many watch each."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watched: dict[type[Function], tuple[int, Any]] = {}

    def watch(self, owner: type[Function]) -> None:
        with self._lock:
            count, own = self._watched.get(owner, (0, owner.__dict__.get("apply")))
            if not count:
                owner.apply = staticmethod(_applied(owner, self._apply_of(owner)))  # type: ignore[method-assign]
            self._watched[owner] = count + 1, own

    def leave(self, owner: type[Function]) -> None:
        with self._lock:
            count, own = self._watched.pop(owner)
            if count > 1:
                self._watched[owner] = count - 1, own
            elif own is None:
                del owner.apply
            else:
                owner.apply = own  # type: ignore[method-assign]

    def _apply_of(self, owner: type[Function]) -> Callable[..., Any]:
        """The ``apply`` of a class, bound to it, past those of its bases that are put aside."""
        for base in owner.__mro__:
            found = self._watched[base][1] if base in self._watched else base.__dict__.get("apply")
            if found is not None:
                bound: Callable[..., Any] = found.__get__(None, owner)
                return bound
        raise AssertionError


_APPLIES = _Applies()


def _applied(owner: type[Function], own: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*args: Any) -> Any:
        wanted = any(owner in handler.functions for handler in _THREAD.handlers)
        if not wanted or _THREAD.busy or not args or not isinstance(args[0], Tensor):
            return own(*args)
        x, *rest = args
        others = [each for each in rest if isinstance(each, Tensor)]
        asked = Asked(owner.__name__, x, lambda z: own(z, *rest), {}, others, owner)
        if owner in BOUNDARY:
            asked.op, asked.rule = _applied_pair()
        return _answered(asked)

    return apply


def _applied_pair() -> tuple[str, str]:
    """The keys of op and rule with which ``explorer.apply`` is being called."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code is not apply.__code__:
        frame = frame.f_back
    pair = [frame.f_locals.get(name, "") for name in ("op", "rule")]
    op, rule = (each if isinstance(each, str) else each.key for each in pair)
    return op, rule


@contextmanager
def watched(handler: Handler) -> Iterator[None]:
    """The block in which a handler watches the forward passes of this thread."""
    with ExitStack() as stack, _CHECKPOINTS:
        for owner in handler.functions:
            _APPLIES.watch(owner)
            stack.callback(_APPLIES.leave, owner)
        _THREAD.handlers.append(handler)
        stack.callback(_THREAD.handlers.remove, handler)
        if len(_THREAD.handlers) == 1:
            stack.enter_context(_Mode())
        yield

"""The parts of torch that are put aside while anybody watches: no mode sees what they do.

A Function's ``apply`` is no torch function, a checkpoint calls the model again in a backward, and compiled
code calls no function of torch. All are the whole process's; a thread that watches nothing gets torch's own.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache, partial
from types import CodeType, FrameType
from typing import Any, Literal

import torch
from torch import Tensor
from torch._functorch.autograd_function import custom_function_call  # torch has no public name for it
from torch.autograd import Function
from torch.autograd.function import _SingleLevelFunction  # nor for this
from torch.utils import checkpoint

from explorer.gradient import BOUNDARY, apply
from explorer.model.watching.mode import THREAD, Asked, Handler, Mode, answered
from explorer.model.watching.places import resumed, running_modules

Again = Callable[..., Any]
_CHECKPOINT = checkpoint.CheckpointFunction.forward.__code__
# Function.apply, where it is Python's: from torch 2.14 on it is not, and forward is the first frame of ours.
_APPLY = getattr(getattr(Function.apply, "__func__", None), "__code__", None)


def _resuming(run: Again) -> Again:
    """A function that a checkpoint calls again in a backward, where torch has put every mode aside."""
    handlers, origin = [*THREAD.handlers], running_modules()

    def again(*args: Any, **kwargs: Any) -> Any:
        if torch._C._current_graph_task_id() == -1:  # outside a backward
            return run(*args, **kwargs)
        before, THREAD.handlers = THREAD.handlers, [*handlers]
        try:
            with Mode():
                return resumed(origin, run, *args, **kwargs)
        finally:
            THREAD.handlers = before

    return again if handlers else run


class _Frame(checkpoint._CheckpointFrame):  # torch has no public name for it
    """The function that a checkpoint keeps, and calls again in backward."""

    def __init__(self, recompute_fn: Again, *args: Any, **kwargs: Any) -> None:
        super().__init__(_resuming(recompute_fn), *args, **kwargs)


class _Counted:
    """A patch that the first who watches makes, and the last one takes back."""

    def __init__(self) -> None:
        self._lock, self._count = threading.Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._count:
                self.make()
            self._count += 1

    def __exit__(self, *_error: object) -> None:
        with self._lock:
            self._count -= 1
            if not self._count:
                self.take_back()

    def make(self) -> None:
        raise NotImplementedError

    def take_back(self) -> None:
        raise NotImplementedError


class _Checkpoints(_Counted):
    """torch's checkpoints: what they call again is watched as well."""

    def __init__(self) -> None:
        super().__init__()
        self._frame, self._apply = checkpoint._CheckpointFrame, checkpoint.CheckpointFunction.apply

    def make(self) -> None:
        checkpoint._CheckpointFrame = _Frame  # type: ignore[misc]
        checkpoint.CheckpointFunction.apply = self._reentrant  # type: ignore[method-assign]

    def take_back(self) -> None:
        checkpoint._CheckpointFrame = self._frame  # type: ignore[misc]
        del checkpoint.CheckpointFunction.apply

    def _reentrant(self, run: Again, *args: Any) -> Any:
        return self._apply(_resuming(run), *args)  # type: ignore[no-untyped-call]  # torch's own


class _Eager(_Counted):
    """Compiled parts of a model run as they are written, once anybody has compiled."""

    _stance: Any = None

    def make(self) -> None:
        if "torch._dynamo" in sys.modules:
            self._stance = torch.compiler.set_stance("force_eager")

    def take_back(self) -> None:
        if self._stance is not None:
            self._stance.__exit__(None, None, None)
            self._stance = None


class _EarlierApplies(_Counted):
    """An ``apply`` that was taken from its class earlier: below all of them stand two calls of torch's."""

    def make(self) -> None:
        _SingleLevelFunction.apply = classmethod(_applied_below)  # type: ignore[attr-defined]
        vars(torch.autograd.function)["custom_function_call"] = _applied_transformed

    def take_back(self) -> None:
        del _SingleLevelFunction.apply  # type: ignore[attr-defined]
        vars(torch.autograd.function)["custom_function_call"] = custom_function_call


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
            apply = self._watched[base][1] if base in self._watched else base.__dict__.get("apply")
            if apply is not None:
                bound: Callable[..., Any] = apply.__get__(None, owner)
                return bound
        raise AssertionError


_EVERYWHERE = (_Checkpoints(), _EarlierApplies(), _Eager())
_APPLIES = _Applies()


def _applied(owner: type[Function], own: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*args: Any, **kwargs: Any) -> Any:
        return _called(owner, own, args, kwargs)

    return apply


def _applied_below(owner: type[Function], *args: Any, **kwargs: Any) -> Any:
    return _called(owner, super(_SingleLevelFunction, owner).apply, args, kwargs)  # type: ignore[misc]


def _applied_transformed(owner: type[Function], *args: Any, **kwargs: Any) -> Any:
    """The call of a Function under torch.func."""
    return _called(owner, partial(custom_function_call, owner), args, kwargs)


def _called(owner: type[Function], own: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The call of a Function, by the handlers where one watches its class; x is the first tensor."""
    at = next((at for at, each in enumerate(args) if isinstance(each, Tensor)), None)
    wanted = any(owner in handler.functions for handler in THREAD.handlers)
    if not wanted or THREAD.busy or at is None:
        return own(*args, **kwargs)
    before, x, rest = args[:at], args[at], args[at + 1 :]
    others = [each for each in rest if isinstance(each, Tensor)]
    asked = Asked(owner.__name__, x, lambda z: own(*before, z, *rest, **kwargs), {}, others, owner)
    if owner in BOUNDARY:
        asked.op, asked.rule = _applied_pair()
    return answered(asked)


def _applied_pair() -> tuple[str, str]:
    """The keys of op and rule with which ``explorer.apply`` is being called."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code is not apply.__code__:
        frame = frame.f_back
    pair = [frame.f_locals.get(name, "") for name in ("op", "rule")]
    op, rule = (each if isinstance(each, str) else each.key for each in pair)
    return op, rule


_ASKING = tuple(  # the frames of a call of which no forward runs yet
    (answered.__code__, _called.__code__, below.__code__) for below in (_applied_below, _applied_transformed)
)


def _is_forward(code: CodeType) -> bool:
    """Whether it is the code of a Function's forward."""
    return code.co_name == "forward" and _is_of_function(code)


@lru_cache(maxsize=4096)
def _is_of_function(code: CodeType) -> bool:
    classes: list[type[Function]] = [Function]
    for each in classes:
        classes += each.__subclasses__()
    return any(getattr(each.forward, "__code__", None) is code for each in classes)


def enclosing() -> Literal["function", "checkpoint", ""]:
    """The innermost forward of a Function that is running: somebody's own, whose calls are no sites; or a
    checkpoint's, which calls the model once without gradient and again in backward."""
    frame: FrameType | None = sys._getframe(1)
    inner: tuple[CodeType, ...] = ()
    while frame is not None:
        if frame.f_code is _CHECKPOINT:
            return "checkpoint"
        code = frame.f_code
        if _is_forward(code) if _APPLY is None else code is _APPLY and inner not in _ASKING:
            return "function"
        inner = (*inner[-2:], frame.f_code)
        frame = frame.f_back
    return ""


@contextmanager
def watched(handler: Handler) -> Iterator[None]:
    """The block in which a handler watches the forward passes of this thread."""
    with ExitStack() as stack:
        for patch in _EVERYWHERE:
            stack.enter_context(patch)
        for owner in handler.functions:
            _APPLIES.watch(owner)
            stack.callback(_APPLIES.leave, owner)
        THREAD.handlers.append(handler)
        stack.callback(THREAD.handlers.remove, handler)
        if len(THREAD.handlers) == 1:
            stack.enter_context(Mode())
        yield

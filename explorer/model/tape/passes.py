"""Forward passes of a model: which submodule runs, and when a pass begins and ends."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import CodeType, FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from explorer.model.tape.names import tensors_in
from explorer.model.tape.private import DisableTorchFunction
from explorer.model.tape.sites import OTHERS, Place, mark_of, paths_of

_FORWARD_LINES = (
    4  # under no_grad, where the forward of a Function may run: its own lines and those that call it
)


class Passes:
    """The submodules of a model that run in this thread, told by torch's hooks for all modules."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.path: list[tuple[str, bool]] = []
        self._stack = ExitStack()
        self._paths: dict[int, tuple[str, bool]] = {}
        self._thread, self._outer = 0, None  # type: tuple[int, FrameType | None]

    def attach(self) -> None:
        """Begin to follow the modules. Compiled code runs as it is written meanwhile."""
        self._paths, self._thread = paths_of(self.model), threading.get_ident()
        if "torch._dynamo" in sys.modules:
            stance: Any = torch.compiler.set_stance("force_eager")
            self._stack.enter_context(stance)
            self._stack.enter_context(warnings.catch_warnings())
            warnings.filterwarnings(
                "ignore", "Using `torch.compile"
            )  # on hooks for all modules, which run eagerly
        hooks = (
            register_module_forward_pre_hook(self._before),
            register_module_forward_hook(self._after, always_call=True),
        )
        for hook in hooks:
            self._stack.callback(hook.remove)

    def detach(self) -> None:
        """Stop following the modules; no hook is left."""
        self._stack.close()
        self.path.clear()
        self._outer = None

    def begins(self) -> None:
        """Take notice that a forward pass begins."""

    def ends(self, path: str, result: Any) -> Any:
        """Return what a forward pass returns instead of its result, or None."""

    def returned(self, tensor: Tensor) -> None:
        """Take notice of a tensor that a submodule returns."""

    def module_called(self, module: nn.Module, path: str, args: Any) -> None:
        """Take notice that a submodule is called."""

    def module_returned(self, module: nn.Module, path: str, args: Any, result: Any) -> Any:
        """Return what a submodule returns instead of its result; None for the result itself."""

    @contextmanager
    def running(self, path: str) -> Iterator[None]:
        """Return a context in which a method of the submodule at ``path`` runs."""
        self._begin()
        self.path.append((path, False))
        try:
            yield
        finally:
            if self.path:
                self.path.pop()
            if not self.path:
                self._outer = None

    def place(self) -> Place:
        """Return the running submodule and the model's lines that call."""
        frame: FrameType | None = sys._getframe(2)
        lines: list[tuple[CodeType, int]] = []
        most = 1 if torch.is_grad_enabled() else _FORWARD_LINES
        path = self.path[-1] if self.path else None
        while frame is not None and frame is not self._outer and (len(lines) < most or path is None):
            code = frame.f_code
            if not code.co_filename.startswith(OTHERS):
                lines.append((code, frame.f_lasti))
                if path is None and code.co_varnames[:1] == ("self",):
                    path = self._paths.get(mark_of(frame.f_locals.get("self")))
            frame = frame.f_back
        if path is None:
            return Place(None, False, tuple(lines[:most]))
        return Place(path[0], path[1], tuple(lines[:most]))

    def _begin(self) -> None:
        if not self.path:
            self._outer = _caller(sys._getframe(2))
            self.begins()

    def _before(self, module: nn.Module, args: Any) -> None:
        where = self._paths.get(mark_of(module))
        if where is None or threading.get_ident() != self._thread:
            return
        self._begin()
        self.path.append(where)
        with DisableTorchFunction():
            self.module_called(module, where[0], args)

    def _after(self, module: nn.Module, args: Any, result: Any) -> Any:
        where = self._paths.get(mark_of(module))
        if where is None or threading.get_ident() != self._thread or not self.path:
            return None
        with DisableTorchFunction():
            for each in tensors_in(result):
                self.returned(each)
            changed = None if result is None else self.module_returned(module, where[0], args, result)
            self.path.pop()
            if not self.path:
                self._outer = None
                ended = self.ends(where[0], result if changed is None else changed)
                changed = changed if ended is None else ended
        return changed


def _caller(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame that is neither torch's nor ours: it calls the model."""
    while frame is not None and frame.f_code.co_filename.startswith(OTHERS):
        frame = frame.f_back
    return frame

"""Forward passes of a model: the running submodule, and the begin and end of each pass."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import CodeType, FrameType
from typing import Any, Self

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.overrides import TorchFunctionMode

from explorer.model.tape.private import DisableTorchFunction
from explorer.model.tape.sites import Place, is_foreign, mark_of, paths_of

# Number of frames that count when a Function's forward runs under no_grad: its own and its callers'.
_FORWARD_LINES = 4
# The stance of torch.compile is one for all threads: passes that overlap share it, and the last one ends it.
_EAGER: list[Any] = []
_EAGER_LOCK = threading.Lock()


def do_nothing(*_: Any) -> Any:
    """Return None, as the hooks of a tape do that its class does not override."""


@contextmanager
def run_eagerly() -> Iterator[None]:
    """Return a context in which compiled code runs eagerly, until the last such context of all threads."""
    with _EAGER_LOCK:
        _EAGER.append(_EAGER[0] if _EAGER else torch.compiler.set_stance("force_eager"))
    try:
        yield
    finally:
        with _EAGER_LOCK:
            stance = _EAGER.pop()
            if not _EAGER:
                stance.__exit__(None, None, None)


class Passes(TorchFunctionMode):
    """A torch function mode that knows which submodule of a model runs, by torch's global module hooks.

    Subclasses override hooks: ``on_pass_begin()``, ``on_pass_end(result)``, ``on_arguments(args)`` before a
    submodule is entered, ``on_module_call(module, path, args)`` after that, and ``on_module_return(module,
    path, result)``, which returns what replaces the result, or None.
    """

    on_pass_begin: Callable[..., Any] = do_nothing
    on_pass_end = on_arguments = on_module_call = on_module_return = do_nothing

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.path: list[tuple[str, bool]] = []
        self._stack = ExitStack()
        self._paths: dict[int, tuple[str, bool]] = {}
        self._thread, self._outer = 0, None  # type: tuple[int, FrameType | None]

    def __enter__(self) -> Self:
        self.attach()
        return super().__enter__()  # type: ignore[no-any-return,no-untyped-call]  # torch's own

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)  # type: ignore[no-untyped-call]  # torch's own
        self.detach()

    def attach(self) -> None:
        """Start following the model's modules with hooks. Compiled code runs eagerly until ``detach``."""
        self._paths, self._thread = paths_of(self.model), threading.get_ident()
        if "torch._dynamo" in sys.modules:
            self._stack.enter_context(run_eagerly())
            self._stack.enter_context(warnings.catch_warnings())
            # The warning is about global module hooks, which run eagerly.
            warnings.filterwarnings("ignore", "Using `torch.compile")
        self._stack.callback(register_module_forward_pre_hook(self.handle_call).remove)
        self._stack.callback(register_module_forward_hook(self._handle_return, always_call=True).remove)

    def detach(self) -> None:
        """Stop following the modules, and remove all hooks."""
        self._stack.close()
        self.path.clear()
        self._outer = None

    @contextmanager
    def run_at(self, path: str) -> Iterator[None]:
        """Return a context in which a method of the submodule at ``path`` counts as running."""
        self._enter(path, False)
        try:
            yield
        finally:
            self._leave()

    def place(self) -> Place:
        """Return the submodule that runs now, and the lines of the model that are calling torch."""
        frame: FrameType | None = sys._getframe(3)  # the frames in between are ours
        lines: list[tuple[CodeType, int]] = []
        frame_limit = 1 if torch.is_grad_enabled() else _FORWARD_LINES
        path = self.path[-1] if self.path else None
        while frame is not None and frame is not self._outer and (len(lines) < frame_limit or path is None):
            code = frame.f_code
            if not is_foreign(code.co_filename):
                lines.append((code, frame.f_lasti))
                if path is None and code.co_varnames[:1] == ("self",):
                    path = self._paths.get(mark_of(frame.f_locals.get("self")))
            frame = frame.f_back
        name, own = path or (None, False)
        return Place(name, own, tuple(lines[:frame_limit]))

    def _enter(self, path: str, own: bool) -> None:
        if not self.path:
            frame: FrameType | None = sys._getframe(2)
            while frame is not None and is_foreign(frame.f_code.co_filename):
                frame = frame.f_back  # to the innermost frame that is neither torch's nor the explorer's
            self._outer = frame
            self.on_pass_begin()
        self.path.append((path, own))

    def _leave(self) -> None:
        if self.path:
            self.path.pop()
        if not self.path:
            self._outer = None

    def _find_path(self, module: nn.Module) -> tuple[str, bool] | None:
        return self._paths.get(mark_of(module)) if threading.get_ident() == self._thread else None

    def handle_call(self, module: nn.Module, args: Any) -> None:
        """Note that a module is called. Torch calls this hook before each module."""
        if (location := self._find_path(module)) is not None:
            if self.path:
                with DisableTorchFunction():
                    self.on_arguments(args)
            self._enter(*location)
            with DisableTorchFunction():
                self.on_module_call(module, location[0], args)

    def _handle_return(self, module: nn.Module, args: Any, result: Any) -> Any:
        location = self._find_path(module)
        if location is None or not self.path:
            return None
        with DisableTorchFunction():
            changed = self.on_module_return(module, location[0], result)
            self._leave()
            if not self.path:
                self.on_pass_end(result if changed is None else changed)
        return changed

"""Logging of an observation's measures during training: for TensorBoard, W&B, Lightning and Hugging Face."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.utils.hooks import RemovableHandle

from explorer.model.observing.observation import Observation
from explorer.model.tape.private import DisableTorchFunction
from explorer.model.tape.sites import mark_of, require_model

if TYPE_CHECKING:
    import pandas as pd

Scalars = Mapping[str, float]
Write = Callable[[Scalars, int], Any]


class GradientLog:
    """A log of the scalars of every nth training step; see ``log_gradients``.

    Attributes:
        step: the number of steps that have begun.
    """

    def __init__(self, model: nn.Module, every: int, write: Any, prefix: str) -> None:
        require_model("log_gradients", model)
        self.model, self.step = model, 0
        self._every, self._write, self._prefix = require_every(every), find_write(write), prefix
        self._rows: list[tuple[int, Scalars]] = []
        self._pending: tuple[int, Observation] | None = None
        self._hooks: list[RemovableHandle] = []
        self._end: RemovableHandle | None = None
        self._depth = 0  # nesting depth, since a swapped model calls the original one

    def start(self) -> Self:
        """Start counting the model's forward passes, each of which is a step, and return the log itself."""
        self._hooks = [
            register_module_forward_pre_hook(self._begin_pass),
            register_module_forward_hook(self._leave_pass, always_call=True),
        ]
        return self

    def close(self) -> None:
        """Log the last step, and remove all hooks."""
        self.flush()
        while self._hooks:
            self._hooks.pop().remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    @property
    def frame(self) -> pd.DataFrame:
        """A table with one row per logged number: step, name, value."""
        import pandas as pd

        self.flush()
        records = [(step, name, value) for step, scalars in self._rows for name, value in scalars.items()]
        return pd.DataFrame(records, columns=["step", "name", "value"])

    def begin_step(self, step: int) -> None:
        """Start observing if this step is to be logged. By default ``step`` is counted from 0."""
        self.flush()
        self.step = step + 1
        if step % self._every == 0:
            self._pending = step, Observation(self.model)
            self._pending[1].__enter__()

    def end_step(self) -> None:
        """Stop observing. Gradients that arrive before the next step are still recorded."""
        if self._pending is not None:
            self._pending[1].listener.__exit__(None, None, None)

    def flush(self) -> None:
        """Write the scalars of the observed step. Called when the next step begins."""
        if self._pending is None:
            return
        (step, observation), self._pending = self._pending, None
        observation.listener.leave()
        stuck = float(observation.parameters.gradient.isin(["none", "zero", "not finite"]).sum())
        scalars = {f"{self._prefix}/stuck_parameters": stuck, **observation.scalars(self._prefix)}
        self._rows.append((step, scalars))
        if self._write is not None:
            self._write(dict(scalars), step)

    def _begin_pass(self, module: nn.Module, args: Any) -> None:
        if mark_of(module) != mark_of(self.model):
            return
        self._depth += 1
        if self._depth > 1 or not torch.is_grad_enabled():
            return
        with DisableTorchFunction():  # measurements are not calls of the model
            self.begin_step(self.step)
        if self._pending is not None:
            # Torch collected the hooks of this call before the observation added its own.
            self._pending[1].listener.handle_call(module, args)
            self._end = register_module_forward_hook(self._end_pass, always_call=True)

    def _leave_pass(self, module: nn.Module, args: Any, result: Any) -> None:
        self._depth -= mark_of(module) == mark_of(self.model)

    def _end_pass(self, module: nn.Module, args: Any, result: Any) -> None:
        if self._depth == 0 and self._end is not None:
            self._end.remove()
            self._end = None
            self.end_step()


def require_every(every: int) -> int:
    """Return ``every``, the interval between logged steps. Raises ValueError unless it is 1, 2, 3, …."""
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise ValueError(f"every must be a whole number of steps from 1, not {every!r}")
    return every


def find_write(write: Any) -> Write | None:
    """Return a function ``(scalars, step)`` that writes to a TensorBoard writer, a function or a W&B run.

    Raises ValueError for any other writer.
    """
    if write is None:
        return None
    if callable(add := getattr(write, "add_scalar", None)):
        return lambda scalars, step: [add(name, value, step) for name, value in scalars.items()]
    if callable(log := getattr(write, "log", write)):
        return lambda scalars, step: log(scalars, step)
    raise ValueError(
        "write must be a SummaryWriter, a W&B run or a function of scalars and step, not a "
        f"{type(write).__name__}"
    )


def log_gradients(
    model: nn.Module, every: int = 50, write: Any = None, prefix: str = "explorer"
) -> GradientLog:
    """Observe every nth training step of a model, and log the measures of each site as scalars.

        with explorer.log_gradients(model, every=50, write=SummaryWriter()) as log:
            train(model)  # your own loop
        log.frame

    Each forward pass with gradients enabled is one step, also if several add up before the optimizer's step.

    Args:
        model: any nn.Module, which is not changed, or a model returned by ``explorer.swap``.
        every: the interval between observed steps; the first step is observed.
        write: a TensorBoard ``SummaryWriter``, a W&B run, or a function of scalars and step. With None, the
            scalars are only kept in ``frame``. Each step is written when the next forward pass begins, or on
            ``close``.
        prefix: the first part of each scalar's name, as in "explorer/act1/share_grad". The scalar
            "explorer/stuck_parameters" is the number of parameters without gradient.

    Returns:
        A ``GradientLog``, which is a context manager: ``.frame``, ``.close()``.

    Raises:
        ValueError: if ``model`` is not a model, ``every`` is less than 1, or ``write`` is not supported.
    """
    return GradientLog(model, every, write, prefix).start()


class _Callback:
    """A callback for the Trainers of Lightning and of Hugging Face, with the names of methods that they call.

    Attributes:
        log: the ``GradientLog`` of the current or latest training; None before the first one.
    """

    def __init__(self, every: int, write: Any, prefix: str) -> None:
        self._every, self._write, self._prefix = require_every(every), find_write(write), prefix
        self.log: Any = None

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Start a log that writes to the loggers of Lightning's Trainer."""

        def write(scalars: Scalars, step: int) -> None:
            for logger in trainer.loggers:
                logger.log_metrics(dict(scalars), step)

        self.log = GradientLog(pl_module, self._every, write, self._prefix)

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        """Start a log that writes to the history of Hugging Face's Trainer."""

        def write(scalars: Scalars, step: int) -> None:
            state.log_history.append({**scalars, "step": step})
            if self._write is not None:
                self._write(scalars, step)

        self.log = GradientLog(model, self._every, write, self._prefix)

    def on_step_begin(self, *_arguments: Any, **_keywords: Any) -> None:
        """Start to observe the training step that begins, if it is one to log."""
        self.log.begin_step(self.log.step)

    def on_step_end(self, *_arguments: Any, **_keywords: Any) -> None:
        """Stop observing at the end of a training step, and write its scalars."""
        self.log.end_step()
        self.log.flush()

    on_train_batch_start, on_train_batch_end = on_step_begin, on_step_end


def lightning_callback(every: int = 50, prefix: str = "explorer") -> Any:
    """Return a callback for Lightning's Trainer that logs as ``explorer.log_gradients`` does.

        Trainer(callbacks=[explorer.lightning_callback(every=50)])

    Each batch is one step. The scalars go to the Trainer's loggers and to ``callback.log.frame``.

    Raises:
        ValueError: if ``every`` is less than 1.
        ImportError: if Lightning has not been imported.
    """
    base = _find_class("Lightning", "Callback", "lightning.pytorch", "pytorch_lightning")
    return type("GradientCallback", (_Callback, base), {})(every, None, prefix)


def trainer_callback(every: int = 50, write: Any = None, prefix: str = "explorer") -> Any:
    """Return a callback for Hugging Face's Trainer that logs as ``explorer.log_gradients`` does.

        Trainer(..., callbacks=[explorer.trainer_callback(every=50, write=wandb.run)])

    A step is an optimizer step, with all the batches that it accumulates. The scalars go to ``write``, to the
    Trainer's history, and to ``callback.log.frame``.

    Raises:
        ValueError: if ``every`` is less than 1, or ``write`` is not a supported writer.
        ImportError: if transformers has not been imported.
    """
    base = _find_class("transformers", "TrainerCallback", "transformers")
    return type("GradientCallback", (_Callback, base), {})(every, write, prefix)


def _find_class(library: str, name: str, *modules: str) -> Any:
    """Return a class of a library. Raises ImportError if the caller has not imported the library."""
    module = next((sys.modules[path] for path in modules if sys.modules.get(path) is not None), None)
    if module is None:
        raise ImportError(f"{library} is not imported: import it first, or call explorer.log_gradients")
    return getattr(module, name)

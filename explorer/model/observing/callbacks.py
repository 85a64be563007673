"""Callbacks for Lightning and Hugging Face's Trainer that log the measures of an observation over time."""

from __future__ import annotations

import sys
from typing import Any

from explorer.model.observing.log import GradientLog, Scalars, find_write, require_every


class _Callback:
    """The base class of the callbacks for both libraries, which call its hooks during training.

    Attributes:
        log: the ``GradientLog`` of the current or latest training; None before the first one.
    """

    def __init__(self, every: int, write: Any, prefix: str) -> None:
        self._every, self._write, self._prefix = require_every(every), find_write(write), prefix
        self.log: Any = None

    def begin_step(self, *_arguments: Any, **_keywords: Any) -> None:
        """Start to observe the training step that begins, if it is one to log."""
        self.log.begin_step(self.log.step)

    def end_step(self, *_arguments: Any, **_keywords: Any) -> None:
        """Stop observing at the end of a training step, and write its scalars."""
        self.log.end_step()
        self.log.flush()


class _LightningCallback(_Callback):
    """A callback whose methods have the names that Lightning's Trainer calls."""

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Start a log that writes to the Trainer's loggers."""

        def write(scalars: Scalars, step: int) -> None:
            for logger in trainer.loggers:
                logger.log_metrics(dict(scalars), step)

        self.log = GradientLog(pl_module, self._every, write, self._prefix)

    on_train_batch_start, on_train_batch_end = _Callback.begin_step, _Callback.end_step


class _TrainerCallback(_Callback):
    """A callback whose methods have the names that Hugging Face's Trainer calls."""

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        """Start a log that writes to the Trainer's history."""

        def write(scalars: Scalars, step: int) -> None:
            state.log_history.append({**scalars, "step": step})
            if self._write is not None:
                self._write(scalars, step)

        self.log = GradientLog(model, self._every, write, self._prefix)

    on_step_begin, on_step_end = _Callback.begin_step, _Callback.end_step


def lightning_callback(every: int = 50, prefix: str = "explorer") -> Any:
    """Return a callback for Lightning's Trainer that logs as ``explorer.log_gradients`` does.

        Trainer(callbacks=[explorer.lightning_callback(every=50)])

    Each batch is one step. The scalars go to the Trainer's loggers and to ``callback.log.frame``.

    Raises:
        ValueError: if ``every`` is less than 1.
        ImportError: if Lightning has not been imported.
    """
    base = _find_class("Lightning", "Callback", "lightning.pytorch", "pytorch_lightning")
    return type("GradientCallback", (_LightningCallback, base), {})(every, None, prefix)


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
    return type("GradientCallback", (_TrainerCallback, base), {})(every, write, prefix)


def _find_class(library: str, name: str, *modules: str) -> Any:
    """Return a class of a library. Raises ImportError if the caller has not imported the library."""
    module = next((sys.modules[path] for path in modules if sys.modules.get(path) is not None), None)
    if module is None:
        raise ImportError(f"{library} is not imported: import it first, or call explorer.log_gradients")
    return getattr(module, name)

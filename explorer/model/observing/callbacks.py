"""Callbacks for Lightning and Hugging Face's Trainer, which log the measures of an observation over time."""

from __future__ import annotations

import sys
from typing import Any

from explorer.model.observing.log import GradientLog, Scalars, find_write, require_every


class _Callback:
    """The part of a callback that is alike in both libraries.

    Attributes:
        log: of the training that runs or has run; None before the first.
    """

    def __init__(self, every: int, write: Any, prefix: str) -> None:
        self._every, self._write, self._prefix = require_every(every), find_write(write), prefix
        self.log: GradientLog | None = None

    def _start(self, model: Any, write: Any) -> None:
        self.log = GradientLog(model, self._every, write, self._prefix)

    def _begin_step(self) -> None:
        assert self.log is not None
        self.log.begin_step(self.log.step)

    def _end_step(self) -> None:
        assert self.log is not None
        self.log.end_step()
        self.log.flush()


class _LightningCallback(_Callback):
    """The hooks that Lightning's Trainer calls."""

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Begin a log that writes to the loggers of the Trainer."""

        def write(scalars: Scalars, step: int) -> None:
            for logger in trainer.loggers:
                logger.log_metrics(dict(scalars), step)

        self._start(pl_module, write)

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        """Observe the batch if it is due."""
        self._begin_step()

    def on_train_batch_end(
        self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Write the scalars of the step."""
        self._end_step()


class _TrainerCallback(_Callback):
    """The hooks that Hugging Face's Trainer calls."""

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        """Begin a log that writes into the history of the Trainer."""

        def write(scalars: Scalars, step: int) -> None:
            state.log_history.append({**scalars, "step": step})
            if self._write is not None:
                self._write(scalars, step)

        self._start(model, write)

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Observe the step if it is due."""
        self._begin_step()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Write the scalars of the step."""
        self._end_step()


def lightning_callback(every: int = 50, prefix: str = "explorer") -> Any:
    """Return a callback for Lightning's Trainer that logs as ``explorer.log_gradients`` does.

        Trainer(callbacks=[explorer.lightning_callback(every=50)])

    A step is a batch. The scalars go to the loggers of the Trainer, and into ``callback.log.frame``.

    Raises:
        ValueError: ``every`` below 1.
        ImportError: Lightning is not imported.
    """
    base = _find_class("Lightning", "Callback", "lightning.pytorch", "pytorch_lightning")
    return type("GradientCallback", (_LightningCallback, base), {})(every, None, prefix)


def trainer_callback(every: int = 50, write: Any = None, prefix: str = "explorer") -> Any:
    """Return a callback for Hugging Face's Trainer that logs as ``explorer.log_gradients`` does.

        Trainer(..., callbacks=[explorer.trainer_callback(every=50, write=wandb.run)])

    A step is one of the optimizer, with all batches that it accumulates. The scalars go to ``write``, into
    the history of the Trainer, and into ``callback.log.frame``.

    Raises:
        ValueError: ``every`` below 1, or something that cannot be written to.
        ImportError: transformers is not imported.
    """
    base = _find_class("transformers", "TrainerCallback", "transformers")
    return type("GradientCallback", (_TrainerCallback, base), {})(every, write, prefix)


def _find_class(library: str, name: str, *modules: str) -> Any:
    """Return a class of a library that the caller has imported. Raises ImportError otherwise."""
    module = next((sys.modules[path] for path in modules if sys.modules.get(path) is not None), None)
    if module is None:
        raise ImportError(f"{library} is not imported: import it first, or call explorer.log_gradients")
    return getattr(module, name)

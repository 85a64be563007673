"""Fusion of similar training runs, which then take their steps in one computation."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from explorer.gradient.threads import use_one_thread
from explorer.training.runs.lockstep import split_positions
from explorer.training.runs.run import Run
from explorer.training.runs.stepper import Judgement


class FusedRuns:
    """Several training runs whose steps are computed together until ``copy_back`` is called.

    All have the same ``fusion_key``, and each gets bit for bit the values that it gets if trained alone.

    The nets are so small that the overhead of torch's calls dominates a step. Each run still draws its own
    batches, keeps its checkpoints and records its series. Only the parameters are stored here.

    Attributes:
        is_recording: whether a step has begun that some runs have not recorded yet.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        """Fuse two or more training runs that have the same ``fusion_key``."""
        first, *other_runs = self.runs = list(runs)
        self._nets, self._indices = first.nets.merge([run.nets for run in other_runs])
        self._recorder = first.recorder.merge(self._nets, [run.recorder for run in other_runs])
        self.is_recording = False

    def advance(self) -> bool:
        """Take the next step of every run and return True, or return False if a run cannot take it.

        No run takes a step if one of them has finished or has a value that is not finite.
        """
        if any(run.finished for run in self.runs):
            return False
        with use_one_thread():
            if not all(self._nets.run_pass().finite):
                return False
            self.is_recording = True
            self._step()
            self.is_recording = False
        return True

    def copy_back(self) -> None:
        """Copy the current parameters of the fused nets back to each run."""
        for index in range(len(self.runs)):
            self._copy_back_run(index)

    def _step(self) -> None:
        for index, run in enumerate(self.runs):
            if run.checkpoints.is_due(run.step):
                self._copy_back_run(index)
        rates = [run.prepare() for run in self.runs for _ in run.settings.rules]
        numbers = self._nets.step(rates)
        pairs = zip(self.runs, self._indices, strict=True)
        is_due_by_run = [run.record_step(numbers[:, indices]) for run, indices in pairs]
        self._nets.set_batch([run.nets for run in self.runs])
        self._judge([index for index, is_due in enumerate(is_due_by_run) if is_due])

    def _judge(self, due_runs: list[int]) -> None:
        if not self._nets.has_exact_readings:
            for index in due_runs:
                self._copy_back_run(index)
                self.runs[index].judge()
            return
        if not due_runs:
            return
        indices_by_run = [self._indices[index] for index in due_runs]
        nets, settings = self._nets, self.runs[due_runs[0]].settings
        if len(due_runs) < len(self.runs):
            selected, order = torch.cat(indices_by_run).sort()  # so that nets of one rule are adjacent
            nets = nets.select(selected)
            indices_by_run = split_positions(order, [len(indices) for indices in indices_by_run])
        judgement = Judgement.measure(nets, self._recorder.merge(nets, []), settings)
        for index, indices in zip(due_runs, indices_by_run, strict=True):
            self.runs[index].record_judgement(judgement.select(indices.tolist()))

    def _copy_back_run(self, index: int) -> None:
        self.runs[index].nets.ensemble.copy_back(self._nets.ensemble, self._indices[index])

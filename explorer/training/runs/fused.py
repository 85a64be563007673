"""Like runs that take their steps together, each bit for bit as it would alone."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from explorer.training.runs.lockstep import apart
from explorer.training.runs.run import Run
from explorer.training.runs.stepper import Judgement
from explorer.training.system import one_thread


class Together:
    """Some runs of one ``likeness`` as one, until they ``part``.

    Nets are so small that most of a step is the overhead of torch's calls. The runs draw, keep and record
    for themselves as ever; their parameters are here meanwhile.

    Attributes:
        is_noting: whether a step has begun that not every run has recorded yet.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        """``runs`` of the same likeness, two or more."""
        first, *others = self.runs = list(runs)
        self._nets, self._indices = first.nets.beside([run.nets for run in others])
        self._recorder = first.recorder.beside(self._nets, [run.recorder for run in others])
        self.is_noting = False

    def advance(self) -> bool:
        """Take the next step of every run; do nothing and return False where they cannot go together.

        So it is when a run is at its end, or a value is not finite: they must part then.
        """
        if any(run.finished for run in self.runs):
            return False
        with one_thread():
            if not all(self._nets.look().finite):
                return False
            self.is_noting = True
            self._step()
            self.is_noting = False
        return True

    def part(self) -> None:
        """Copy the present parameters back to the runs."""
        for index in range(len(self.runs)):
            self._hand_back(index)

    def _step(self) -> None:
        for index, run in enumerate(self.runs):
            if run.keeps:
                self._hand_back(index)
        rates = [run.prepare() for run in self.runs for _ in run.settings.rules]
        numbers = self._nets.step(rates)
        taken = zip(self.runs, self._indices, strict=True)
        due = [run.took(numbers[:, indices]) for run, indices in taken]
        self._nets.see([run.nets for run in self.runs])
        self._judge([index for index, is_due in enumerate(due) if is_due])

    def _judge(self, due: list[int]) -> None:
        if not self._nets.reads_together:
            for index in due:
                self._hand_back(index)
                self.runs[index].judge()
        elif due:
            self._judge_together(due)

    def _judge_together(self, due: list[int]) -> None:
        every = [self._indices[index] for index in due]
        nets, settings = self._nets, self.runs[due[0]].settings
        if len(due) < len(self.runs):
            chosen, order = torch.cat(every).sort()  # members of one rule stay side by side
            nets = nets.only(chosen)
            every = apart(order, [len(indices) for indices in every])
        judgement = Judgement.of(nets, self._recorder.beside(nets, []), settings)
        for index, indices in zip(due, every, strict=True):
            self.runs[index].note(judgement.only(indices.tolist()))

    def _hand_back(self, index: int) -> None:
        self.runs[index].nets.ensemble.put(self._nets.ensemble, self._indices[index])

"""Runs that are alike take their steps together, each bit for bit as it would alone."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from explorer.training.runs.lockstep import apart
from explorer.training.runs.run import Run
from explorer.training.runs.stepper import Judgement
from explorer.training.system import one_thread


class Together:
    """Some runs of one ``likeness`` as one, until they ``part``.

    Nets are so small that most of a step is what each call of torch takes by itself. What the runs draw,
    keep and note is theirs as ever; their parameters are here meanwhile.

    Attributes:
        is_noting: whether a step was begun that not every run has noted yet.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        """``runs`` of the same likeness, two or more."""
        first, *others = self.runs = list(runs)
        self._nets, self._places = first.nets.beside([run.nets for run in others])
        self._readings = first.readings.beside(self._nets, [run.readings for run in others])
        self.is_noting = False

    def advance(self) -> bool:
        """Take the next step of every run; False, and nothing is done, where they cannot go together.

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
        """Let the runs have their parameters back, as they are now."""
        for place in range(len(self.runs)):
            self._hand_back(place)

    def _step(self) -> None:
        for place, run in enumerate(self.runs):
            if run.keeps:
                self._hand_back(place)
        rates = [run.prepare() for run in self.runs for _ in run.settings.rules]
        numbers = self._nets.step(rates)
        taken = zip(self.runs, self._places, strict=True)
        due = [run.took(numbers[:, places]) for run, places in taken]
        self._nets.see([run.nets for run in self.runs])
        self._judge([place for place, is_due in enumerate(due) if is_due])

    def _judge(self, due: list[int]) -> None:
        """Judge the runs at these places, which are so far now that they are to be judged."""
        if not self._nets.reads_together:
            for place in due:
                self._hand_back(place)
                self.runs[place].judge()
        elif due:
            self._judge_together(due)

    def _judge_together(self, due: list[int]) -> None:
        every = [self._places[place] for place in due]
        nets, settings = self._nets, self.runs[due[0]].settings
        if len(due) < len(self.runs):
            chosen, order = torch.cat(every).sort()  # members of one rule stay side by side
            nets = nets.only(chosen)
            every = apart(order, [len(places) for places in every])
        found = Judgement.of(nets, self._readings.beside(nets, []), settings)
        for place, places in zip(due, every, strict=True):
            self.runs[place].note(found.only(places.tolist()))

    def _hand_back(self, place: int) -> None:
        self.runs[place].nets.ensemble.put(self._nets.ensemble, self._places[place])

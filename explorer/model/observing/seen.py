"""A site with all its calls."""

from __future__ import annotations

from torch import Tensor

from explorer.model.observing.record import Record, unit_axis
from explorer.model.observing.statistics import Statistics
from explorer.model.watching import Run, Site


class Seen:
    """A site with its calls: those that are added up, and those that still may meet a backward.

    Attributes:
        axis: the dimension of x that counts units.
        rule: the key of a rule that a swap put there, or "".
        parameters: those of the op in its last call, as far as they are numbers.
        kind: "detach trick" where it is one, or "".
        run: what its last call computed, of any x.
    """

    def __init__(self, site: Site, x: Tensor) -> None:
        self.site, self.axis = site, unit_axis(x)
        self.rule = ""
        self.kind = ""
        self.parameters: dict[str, float] = {}
        self.run: Run | None = None
        self.added = Statistics()
        self.records: list[Record] = []

    def statistics(self, turns: set[int]) -> Statistics:
        """Those of all calls; ``turns``: the forward passes that had a backward."""
        total = self.added.copy()
        for record in self.records:
            if not record.merged and not (record.again and record.g is None):
                total.add(record, record.turn in turns, self.axis)
        return total

    def add_up(self, turns: set[int]) -> None:
        """Add all calls up, and let go of their tensors."""
        self.added = self.statistics(turns)
        self.records.clear()

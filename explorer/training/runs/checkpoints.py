"""Checkpoints: states that a run can go back to, evenly spaced, as many as fit into memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from torch import Tensor

from explorer.training.limits import CHECKPOINT_BYTES

State = Mapping[str, Any]


def thinned(steps: Sequence[int], spacing: int, most: int) -> tuple[tuple[int, ...], int]:
    """At most so many steps, and their spacing, which doubles until they are few enough.

    Step 0 stays in any case. The same steps are left whether they are thinned once or as they come.
    """
    left = tuple(step for step in steps if step % spacing == 0)
    while len(left) > max(most, 1) and left != (0,):
        spacing *= 2
        left = tuple(step for step in left if step % spacing == 0)
    return left, spacing


def nearest(steps: Collection[int], step: int) -> int:
    """The nearest of some steps, the earlier one of two."""
    return min(steps, key=lambda each: (abs(each - step), each))


class Checkpoints:
    """States by their step, every ``spacing`` steps; every other one is dropped when memory is full.

    Attributes:
        spacing: steps from one to the next.
        bytes: the size of all of them.
    """

    def __init__(self, spacing: int, most: int = CHECKPOINT_BYTES) -> None:
        """``most``: bytes that all of them may take; the one at step 0 stays in any case."""
        self.spacing, self._most = spacing, most
        self._states: dict[int, State] = {}
        self.bytes = 0

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps of all states, ascending."""
        return tuple(self._states)

    def is_due(self, step: int) -> bool:
        """Whether a checkpoint is due at a step."""
        return step % self.spacing == 0 and step not in self._states

    def keep(self, step: int, state: State) -> None:
        """Add the state at a step."""
        self._states[step] = state
        its = size(state)
        self.bytes += its
        if self.bytes > self._most:
            self.thin(self._most // its)

    def thin(self, most: int) -> None:
        """Drop states until no more than so many are left."""
        left, self.spacing = thinned(self.steps, self.spacing, most)
        self._put({step: self._states[step] for step in left})

    def state(self, step: int) -> State:
        """The state at the step of a checkpoint."""
        return self._states[step]

    def until(self, step: int) -> Checkpoints:
        """A copy without the states after a step; both share their tensors."""
        same = Checkpoints(self.spacing, self._most)
        same._put({each: state for each, state in self._states.items() if each <= step})
        return same

    def _put(self, states: dict[int, State]) -> None:
        self._states = states
        self.bytes = sum(map(size, states.values()))


def size(state: Any) -> int:
    """Bytes of the tensors in a state."""
    if isinstance(state, Tensor):
        return state.nbytes
    parts = state.values() if isinstance(state, Mapping) else state if isinstance(state, list | tuple) else ()
    return sum(map(size, parts))

"""Checkpoints: evenly spaced states that a run can go back to, limited by the memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from torch import Tensor

from explorer.training.limits import CHECKPOINT_BYTES

State = Mapping[str, Any]


def select_steps(steps: Sequence[int], spacing: int, max_count: int) -> tuple[tuple[int, ...], int]:
    """Select at most ``max_count`` of some steps by doubling their spacing until they are few enough.

    Step 0 is always kept. The result does not depend on whether steps are dropped at once or gradually.

    Returns:
        The selected steps, and their spacing.
    """
    selected = tuple(step for step in steps if step % spacing == 0)
    while len(selected) > max(max_count, 1) and selected != (0,):
        spacing *= 2
        selected = tuple(step for step in selected if step % spacing == 0)
    return selected, spacing


def find_nearest(steps: Collection[int], step: int) -> int:
    """Return the element of ``steps`` that is nearest to a step, or the earlier one of two equally near."""
    return min(steps, key=lambda candidate: (abs(candidate - step), candidate))


class Checkpoints:
    """The checkpoints of a training run, one every ``spacing`` steps.

    If the memory is full, every other one is dropped.

    Attributes:
        spacing: the number of steps between two states.
        bytes: the size of all states in bytes.
    """

    def __init__(self, spacing: int, max_bytes: int = CHECKPOINT_BYTES) -> None:
        """Create an empty collection of checkpoints that may take up to ``max_bytes`` bytes.

        The checkpoint of step 0 is always kept.
        """
        self.spacing, self._max_bytes = spacing, max_bytes
        self._states: dict[int, State] = {}
        self.bytes = 0

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps at which there is a checkpoint, in ascending order."""
        return tuple(self._states)

    def is_due(self, step: int) -> bool:
        """Return whether a checkpoint must be stored at a step."""
        return step % self.spacing == 0 and step not in self._states

    def keep(self, step: int, state: State) -> None:
        """Store a run's state as the checkpoint of a step."""
        self._states[step] = state
        state_bytes = count_bytes(state)
        self.bytes += state_bytes
        if self.bytes > self._max_bytes:
            self.drop_excess(self._max_bytes // state_bytes)

    def drop_excess(self, max_count: int) -> None:
        """Drop checkpoints, evenly, until at most ``max_count`` are left."""
        selected, self.spacing = select_steps(self.steps, self.spacing, max_count)
        self._put({step: self._states[step] for step in selected})

    def state(self, step: int) -> State:
        """Return the state that was stored as the checkpoint of a step."""
        return self._states[step]

    def copy_until(self, step: int) -> Checkpoints:
        """Return a copy of the collection, which shares its tensors, without the checkpoints after a step."""
        copied = Checkpoints(self.spacing, self._max_bytes)
        copied._put({key: state for key, state in self._states.items() if key <= step})
        return copied

    def _put(self, states: dict[int, State]) -> None:
        self._states = states
        self.bytes = sum(map(count_bytes, states.values()))


def count_bytes(state: Any) -> int:
    """Return the number of bytes of all tensors in nested dicts and lists."""
    if isinstance(state, Tensor):
        return state.nbytes
    parts = state.values() if isinstance(state, Mapping) else state if isinstance(state, list | tuple) else ()
    return sum(map(count_bytes, parts))

"""Resources of the machine for training: memory, threads, and a clock that sleeps with it."""

from explorer.training.system.clock import WoundClock
from explorer.training.system.memory import bound
from explorer.training.system.threads import one_thread

__all__ = [
    "WoundClock", "bound", "one_thread",
]  # fmt: skip

"""Resources of the machine for training: memory, threads, and a clock that stops while the machine sleeps."""

from explorer.training.system.clock import WoundClock
from explorer.training.system.memory import limit_memory
from explorer.training.system.threads import use_one_thread

__all__ = [
    "WoundClock", "limit_memory", "use_one_thread",
]  # fmt: skip

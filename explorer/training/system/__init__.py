"""Resources of the machine for training: memory, and a clock that stops while the machine sleeps."""

from explorer.training.system.clock import WoundClock
from explorer.training.system.memory import limit_memory

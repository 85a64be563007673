"""A clock for leases and timeouts that does not count time during which nobody could act."""

import time
from collections.abc import Callable


class WoundClock:
    """A clock that runs for a while after it was wound, and then stops until it is wound again.

    A stopped process (on a laptop that sleeps, in a container that is paused) winds nothing, so it finds that
    no more time has passed when it continues.

    Args:
        clock: returns seconds, monotonic.
        most_s: seconds for which it runs after each winding.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, most_s: float = 1.0) -> None:
        self._clock = clock
        self._most_s = most_s
        self._wound = clock(), 0.0  # time and reading at the last winding: one tuple, so that threads agree

    def __call__(self) -> float:
        """Return the seconds so far."""
        wound, seconds = self._wound
        return seconds + min(self._clock() - wound, self._most_s)

    def wind(self) -> float:
        """Restart the clock from its current reading; return the seconds so far."""
        now, seconds = self._clock(), self()
        self._wound = now, seconds
        return seconds

"""A clock for leases and timeouts that stops while nobody could have acted."""

import time
from collections.abc import Callable


class WoundClock:
    """A clock that runs for some time after each winding and then stops until it is wound again.

    A stopped process (on a laptop that sleeps, in a container that is paused) winds nothing, so it finds that
    no more time has passed when it continues.

    Args:
        clock: returns seconds, monotonic.
        most_s: seconds for which it runs after each winding.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, most_s: float = 1.0) -> None:
        self._clock = clock
        self._most_s = most_s
        self._wound = (
            clock(),
            0.0,
        )  # time and reading of the last winding, in one tuple: threads read both at once

    def __call__(self) -> float:
        """Return the number of seconds that the clock has run."""
        wound, seconds = self._wound
        return seconds + min(self._clock() - wound, self._most_s)

    def wind(self) -> float:
        """Wind the clock, so that it runs on from its current reading, and return that reading in seconds."""
        now, seconds = self._clock(), self()
        self._wound = now, seconds
        return seconds

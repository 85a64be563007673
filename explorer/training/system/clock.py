"""A clock for leases and patience: it does not count what nobody could have been awake for."""

import time
from collections.abc import Callable


class WoundClock:
    """Seconds that go on for a while after the clock was wound, and then stand until it is wound again.

    Who is stopped (a laptop that sleeps, a container that is paused) winds nothing, and finds no more time
    gone when it goes on.

    Args:
        clock: seconds, monotonic.
        most_s: how long it goes on.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, most_s: float = 1.0) -> None:
        self._clock = clock
        self._most_s = most_s
        self._wound = clock(), 0.0  # when, and at how many seconds: one value for all threads

    def __call__(self) -> float:
        """Seconds so far."""
        wound, seconds = self._wound
        return seconds + min(self._clock() - wound, self._most_s)

    def wind(self) -> float:
        """Let it go on from here; seconds so far."""
        now, seconds = self._clock(), self()
        self._wound = now, seconds
        return seconds

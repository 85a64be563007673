"""A clock for leases and timeouts that stops while the process sleeps."""

import time
from collections.abc import Callable


class WoundClock:
    """A clock that runs for a limited time after each call of ``wind`` and then stops.

    A stopped process, as on a sleeping laptop or in a paused container, does not wind the clock. When it
    continues, no more time has passed.

    Args:
        clock: a monotonic clock in seconds.
        most_s: the number of seconds for which the clock runs after each winding.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, most_s: float = 1.0) -> None:
        self._clock = clock
        self._most_s = most_s
        self._wound = (
            clock(),
            0.0,
        )  # one tuple with the time and the last reading, so that threads read both together

    def __call__(self) -> float:
        """Return the seconds for which the clock has run."""
        wound, seconds = self._wound
        return seconds + min(self._clock() - wound, self._most_s)

    def wind(self) -> float:
        """Keep the clock running from its current reading, and return that reading in seconds."""
        now, seconds = self._clock(), self()
        self._wound = now, seconds
        return seconds

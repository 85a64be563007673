"""A bound on the memory of training: with little left no run is begun, and one that needs more fails."""

import ctypes
import logging
import math
import os
import re
import sys
from pathlib import Path

if sys.platform == "linux":
    import resource

MEMORY = "EXPLORER_TRAINER_MEMORY"  # the environment variable: MB that the training process may take
ROOM_MB = 300  # beside what is taken before the first run: 160 for the data of tasks, and some for runs
_BEGUN = 0.85  # of the bound, beyond which nothing more is begun
_LARGEST_IN_HEAP, _LARGEST_IN_HEAP_BYTES = -3, 256 * 1024  # larger blocks go back to the system when they end
_REFUSED = ("can't allocate memory", "not enough memory", "out of memory")  # in torch's words
_log = logging.getLogger(__name__)
FULL = "Training has no memory left for more: try again in about a minute."
USED_UP = "it needs more memory than is left. Try a smaller net or batch, or try again in about a minute"


def most_bytes() -> int | None:
    """The bytes that the environment lets the training process take, None without a limit.

    Raises:
        ValueError: the environment has something else than a whole number of MB.
    """
    text = os.environ.get(MEMORY, "")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise ValueError(f"{MEMORY} must be a whole number of MB, not {text!r}")
    return int(text) * 1_000_000


def bound() -> None:
    """Let this process take no more than the environment says; only on Linux, elsewhere it warns.

    Raises:
        ValueError: too little for any run, beside what has been taken: torch built for CUDA takes more.
    """
    most = most_bytes()
    if most is None:
        return
    if sys.platform != "linux":
        _log.warning("%s is passed over: only Linux bounds the memory of a process.", MEMORY)
        return
    taken = _counted_bytes()
    least = taken + ROOM_MB * 1_000_000
    if most < least:
        raise ValueError(
            f"{MEMORY} must be {math.ceil(least / 1e7) * 10} or more, not {most // 1_000_000}: "
            f"before the first run this torch takes {taken // 1_000_000} MB"
        )
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    ctypes.CDLL(None).mallopt(_LARGEST_IN_HEAP, _LARGEST_IN_HEAP_BYTES)


def is_short() -> bool:
    """Return whether so little is left below the bound that nothing more is to be begun."""
    if sys.platform != "linux":
        return False
    most, _ = resource.getrlimit(resource.RLIMIT_DATA)
    if most == resource.RLIM_INFINITY or _counted_bytes() < _BEGUN * most:
        return False
    ctypes.CDLL(None).malloc_trim(0)  # what was given back stays with the process until somebody asks
    return _counted_bytes() >= _BEGUN * most


def is_used_up(error: Exception) -> bool:
    """Whether an error says that no memory was left."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in _REFUSED)


def _counted_bytes() -> int:
    """The bytes of this process that the bound counts: more than it has written to."""
    line = re.search(r"VmData:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    return int(line[1]) * 1024 if line else 0

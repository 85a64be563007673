"""How much memory training may take: with little left no run is begun, and one that needs more fails."""

import ctypes
import os
import re
import resource
from pathlib import Path

MEMORY = "EXPLORER_TRAINER_MEMORY"  # the environment variable: MB that the training process may take
LEAST_MB = 600  # what the bound counts of the process once it trains, and 130; 1,040 of torch with CUDA
_BEGUN = 0.85  # of all memory, beyond which nothing more is begun
_REFUSED = ("can't allocate memory", "not enough memory")  # in torch's words
FULL = "Training has no memory left for more: try again in about a minute."
USED_UP = "it needs more memory than is left. Try a smaller net or batch, or try again in about a minute"


def most_bytes() -> int | None:
    """What the environment lets the training process take, None without a limit.

    Raises:
        ValueError: the environment has something else than a whole number of MB that is large enough.
    """
    text = os.environ.get(MEMORY, "")
    if not text:
        return None
    if not text.isdecimal() or int(text) < LEAST_MB:
        raise ValueError(f"{MEMORY} must be a whole number of MB, {LEAST_MB} or more, not {text!r}")
    return int(text) * 1_000_000


def bound() -> None:
    """Let this process take no more than the environment says."""
    if most := most_bytes():
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def is_short() -> bool:
    """Whether so little is left to this process that nothing more is to be begun."""
    most, _ = resource.getrlimit(resource.RLIMIT_DATA)
    if most == resource.RLIM_INFINITY or _taken_bytes() < _BEGUN * most:
        return False
    ctypes.CDLL(None).malloc_trim(0)  # what was given back stays with the process until somebody asks
    return _taken_bytes() >= _BEGUN * most


def is_used_up(error: Exception) -> bool:
    """Whether an error says that no memory was left."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in _REFUSED)


def _taken_bytes() -> int:
    taken = re.search(r"RssAnon:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    return int(taken[1]) * 1024 if taken else 0

"""The memory limit of training. Close to the limit no run may begin, and a run that exceeds it fails."""

import ctypes
import logging
import math
import os
import re
import sys
from pathlib import Path

if sys.platform == "linux":
    import resource

MEMORY = "EXPLORER_TRAINER_MEMORY"  # environment variable: limit of the training process in MB
MIN_ROOM_MB = 300  # memory needed above the use before the first run: 160 MB for data, the rest for runs
_MAX_USE = 0.85  # fraction of the limit above which no run may begin
# mallopt's M_MMAP_THRESHOLD: freed blocks above this size return to the system.
_MMAP_THRESHOLD, _MMAP_THRESHOLD_BYTES = -3, 256 * 1024
_OUT_OF_MEMORY = ("can't allocate memory", "not enough memory", "out of memory")  # parts of torch's messages
_log = logging.getLogger(__name__)
FULL = "The server's memory for training is full: try again in about a minute."
USED_UP = "it needs more memory than is free. Try a smaller net or batch, or try again in about a minute"


def read_limit_bytes() -> int | None:
    """Read the memory limit of the training process, in bytes, from the environment. None if it is not set.

    Raises:
        ValueError: if the environment variable is not a whole number of MB.
    """
    text = os.environ.get(MEMORY, "")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise ValueError(f"{MEMORY} must be a whole number of megabytes, not {text!r}")
    return int(text) * 1_000_000


def limit_memory() -> None:
    """Limit the memory of this process to the value set in the environment. Only Linux supports this.

    Raises:
        ValueError: if the limit leaves too little for any run. A torch built for CUDA takes more at the
            start.
    """
    limit = read_limit_bytes()
    if limit is None:
        return
    if sys.platform != "linux":
        _log.warning("%s is ignored: only Linux can limit the memory of a process.", MEMORY)
        return
    used = _read_used_bytes()
    required = used + MIN_ROOM_MB * 1_000_000
    if limit < required:
        raise ValueError(
            f"{MEMORY} must be {math.ceil(required / 1e7) * 10} or more, not {limit // 1_000_000}: "
            f"before the first run this torch takes {used // 1_000_000} MB"
        )
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _MMAP_THRESHOLD_BYTES)


def is_short() -> bool:
    """Return whether too little memory is left to begin another run. Without a limit it is False."""
    if sys.platform != "linux":
        return False
    limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
    if limit == resource.RLIM_INFINITY or _read_used_bytes() < _MAX_USE * limit:
        return False
    ctypes.CDLL(None).malloc_trim(0)  # returns freed memory to the system
    return _read_used_bytes() >= _MAX_USE * limit


def is_used_up(error: Exception) -> bool:
    """Return whether an error was raised because the memory is used up."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in _OUT_OF_MEMORY)


def _read_used_bytes() -> int:
    """Return how many bytes of this process count towards its memory limit.

    This is more than the memory that the process has written to.
    """
    line = re.search(r"VmData:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    return int(line[1]) * 1024 if line else 0

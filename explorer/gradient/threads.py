"""The number of threads on which torch computes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_IMPORTED_BY = os.getpid()


@contextmanager
def use_one_thread() -> Iterator[None]:
    """Limit torch to one thread inside the context.

    Another number of threads would change the last bits of results. A process that was forked after the
    import of this module keeps one thread: it lacks the other threads of its parent, and would wait for them.
    """
    before = torch.get_num_threads() if os.getpid() == _IMPORTED_BY else 1
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)

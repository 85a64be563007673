"""The number of threads on which torch computes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def use_one_thread() -> Iterator[None]:
    """Limit torch to one thread inside the context.

    Another number of threads would change the last bits of results.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)

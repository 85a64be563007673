"""The number of threads on which torch computes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def use_one_thread() -> Iterator[None]:
    """Use one torch thread inside the context, for this thread: another number would change the last bits."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)

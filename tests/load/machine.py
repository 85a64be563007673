"""The processes of a server, as Linux knows them."""

import os
import select
from contextlib import ExitStack, suppress
from pathlib import Path


def children(pid: int) -> list[int]:
    """The processes that a process has started, by whichever of its threads."""
    begun: list[int] = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # it ended meanwhile
            begun += map(int, (thread / "children").read_text("ascii").split())
    return begun


def ended(processes: list[int], within_s: float) -> bool:
    """Whether processes end before so many seconds have passed without the end of one."""
    with ExitStack() as files:
        waiting = {os.pidfd_open(process) for process in processes}
        for file in waiting:
            files.callback(os.close, file)
        while waiting and (over := select.select(list(waiting), [], [], within_s)[0]):
            waiting -= set(over)
    return not waiting

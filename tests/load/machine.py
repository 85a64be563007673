"""Memory, threads and files of a process and its children, as Linux counts them."""

import os
import select
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Figures:
    """The figures of one process: memory in MB, threads, open files, and the seconds it has computed."""

    memory_mb: int
    threads: int
    files: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.memory_mb} MB, {self.threads} threads, {self.files} files, "
            f"{self.seconds:.1f} s of processor"
        )


def figures(pid: int) -> list[Figures]:
    """Of a process, and then of each of its children."""
    return [_figures(each) for each in [pid, *children(pid)]]


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


def _figures(pid: int) -> Figures:
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    status = dict(line.split(":", 1) for line in lines)
    spent = Path(f"/proc/{pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()[11:13]
    return Figures(
        memory_mb=int(status["VmRSS"].split()[0]) // 1024,
        threads=int(status["Threads"]),
        files=len(os.listdir(f"/proc/{pid}/fd")),
        seconds=sum(map(int, spent)) / os.sysconf("SC_CLK_TCK"),
    )

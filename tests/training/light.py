"""The training process with an engine that needs no torch: it is there at once.

Run as ``python light.py FD HOME`` in place of ``explorer.training.engine.process``, whose own code
it executes.
"""

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

PROCESS = Path(__file__).parents[2] / "explorer" / "training" / "engine" / "process.py"


class Engine:
    """Knows by name what was started here, and nothing that was started elsewhere."""

    def __init__(self, lease_clock: object, home: str) -> None:
        self._states: dict[str, str] = {}

    def start(self, settings: object, owner: str | None = None, *, paused: bool = False, **_: object) -> str:
        identity = f"{settings} {len(self._states)}"
        self._states[identity] = "ready" if paused else "running"
        return identity

    def snapshot(self, identity: str, shown: tuple[str, ...] = ()) -> str:
        return self._states.get(identity, "gone")

    def command(self, identity: str, command: str) -> str:
        return self.snapshot(identity)

    def list(self) -> list[str]:
        return list(self._states.values())

    def close(self) -> None:
        self._states.clear()


class Run:
    """Nothing that would have to be warmed up."""

    def __init__(self, settings: object) -> None:
        self.settings = settings

    def advance(self) -> None: ...

    def snapshot(self) -> None: ...


def main() -> None:
    for name, stand_in in {
        "torch": SimpleNamespace(set_num_threads=lambda _number: None),
        "explorer.training.system": SimpleNamespace(
            **runpy.run_path(str(PROCESS.parents[1] / "system" / "clock.py")),
            limit_memory=runpy.run_path(str(PROCESS.parents[1] / "system" / "memory.py"))["limit_memory"],
        ),
        "explorer.training.engine.engine": SimpleNamespace(Engine=Engine),
        "explorer.training.engine.host": SimpleNamespace(BEAT=None, HELLO=0),
        "explorer.training.runs": SimpleNamespace(Run=Run, compare_devices=str),
        "explorer.training.settings": SimpleNamespace(Settings=dict),
        "explorer.training.tasks": SimpleNamespace(FIRST="first"),
    }.items():
        sys.modules[name] = stand_in  # type: ignore[assignment]
    runpy.run_path(str(PROCESS), run_name="__main__")


if __name__ == "__main__":
    main()

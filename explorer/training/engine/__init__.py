"""The engine that advances runs in the background, in a separate process or in this one."""

from explorer.training.engine.engine import Engine
from explorer.training.engine.host import EngineProcess, open_engine, shared_engine

__all__ = [
    "Engine", "EngineProcess", "open_engine", "shared_engine",
]  # fmt: skip

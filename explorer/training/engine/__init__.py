"""The training engine, which advances training runs in the background."""

from explorer.training.engine.engine import Engine
from explorer.training.engine.host import EngineProcess, open_engine, shared_engine

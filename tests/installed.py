"""Try the package where it is installed: ``python -W error tests/installed.py FOLDER``, FOLDER being where.

Nothing of the project's own folder is used.
"""

import importlib.metadata
import runpy
import sys
from unittest.mock import patch

import torch

import explorer
from explorer.training import Run, Settings

assert explorer.__file__.startswith(sys.argv[1]), explorer.__file__
assert "streamlit" not in sys.modules

frame = explorer.sample("sign", ["clipped", "approx_sign"])
assert len(explorer.figure(frame).data) >= 3
assert explorer.describe(frame)
assert "<script" in explorer.instrument("sign", ["clipped"]).html()

names: dict[str, object] = {}
exec(explorer.snippet("sign", "clipped"), names)  # our own text
assert names["sign_clipped"]

run = Run(Settings(hidden=2, batch=2))
run.advance(1)
assert run.snapshot().step == 1

said = ""
try:
    with patch.dict(sys.modules, {"streamlit": None}):  # as where it is not installed
        runpy.run_module("explorer", run_name="__main__")
except SystemExit as told:
    said = str(told)
assert said.startswith("The app needs Streamlit"), said

version = importlib.metadata.version("gradient-explorer")
print(f"gradient-explorer {version} beside torch {torch.__version__}")

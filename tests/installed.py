"""Try the package where it is installed: ``python -W error tests/installed.py FOLDER``, FOLDER being where.

Prints how long the import took beside that of torch. Nothing of the project's own folder is used.
"""

import importlib.metadata
import runpy
import sys
import time
from unittest.mock import patch

begun = time.perf_counter()
import torch  # noqa: E402

between = time.perf_counter()
import explorer  # noqa: E402

ended = time.perf_counter()

from explorer.training import Run, Settings  # noqa: E402

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
print(
    f"gradient-explorer {version} beside torch {torch.__version__}: imported in {ended - between:.2f} s, "
    f"torch in {between - begun:.2f} s"
)

"""The public names of the package, and that they need no Streamlit."""

from __future__ import annotations

import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import explorer

ROOT = Path(__file__).parents[1]
CORE = [
    module.name
    for module in pkgutil.walk_packages(explorer.__path__, "explorer.")
    if not module.name.startswith("explorer.ui") and not module.name.endswith("__main__")
]


def test_the_names_other_people_lean_on():
    promised = {"OPS", "RULES", "Formula", "FormulaError", "apply", "figure", "parse", "sample"}
    assert promised <= set(explorer.__all__)
    assert len(set(explorer.__all__)) == len(explorer.__all__)


@pytest.mark.parametrize("name", explorer.__all__)
def test_every_public_name_is_there_and_says_what_it_is(name: str):
    thing = getattr(explorer, name)
    if callable(thing):
        assert inspect.getdoc(thing)
    else:
        with pytest.raises(TypeError):
            thing["round"] = None


def test_the_examples_of_the_package_run():
    x = torch.tensor([-0.6, 2.2], requires_grad=True)
    y = explorer.apply("formula: x**3", "formula: 3*x**2*g", x)
    y.sum().backward()
    torch.testing.assert_close(x.grad, 3 * x.detach() ** 2)
    frame = explorer.sample("clamp", ["default", "masked"], start=-2, stop=2, points=401, g=2.0, lo=0, hi=1)
    curves = [trace.meta for trace in explorer.figure(frame).data if trace.meta]
    assert curves == ["forward", "default", "masked"]
    assert explorer.parse("g * (abs(x) <= 1)").variables == ("g", "x")
    with pytest.raises(explorer.FormulaError) as caught:
        explorer.parse("g + z")
    assert (caught.value.column, "z" in caught.value.message) == (5, True)


def _modules_after(code: str) -> set[str]:
    """Names of the modules a fresh interpreter has loaded after running some code."""
    command = [sys.executable, "-W", "error", "-c", f"{code}\nimport sys\nprint(*sys.modules)"]
    ended = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return set(ended.stdout.split())


def test_the_core_works_without_streamlit():
    loaded = _modules_after("\n".join(f"import {name}" for name in ["explorer", *CORE]))
    assert {"explorer.curves", "explorer.figures", "explorer.training"} <= loaded
    assert not {name for name in loaded if name.split(".")[0] in ("streamlit", "starlette")}
    assert not {name for name in loaded if name.startswith("explorer.ui")}

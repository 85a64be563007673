"""The public names of the package, and that they need no Streamlit."""

import inspect
import os
import pkgutil
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from packaging.requirements import Requirement

import explorer
from explorer.training import Run, Settings
from tests.test_layers import EVERYWHERE, files_of, imports_of, part_of

ROOT = Path(__file__).parents[1]
CORE = [
    module.name
    for module in pkgutil.walk_packages(explorer.__path__, "explorer.")
    if not module.name.startswith(("explorer.ui", "explorer.site")) and not module.name.endswith("__main__")
]


def test_the_names_other_people_lean_on():
    promised = {"OPS", "RULES", "Formula", "FormulaError", "Op", "Parameter", "Rule"}
    promised |= {"apply", "describe", "figure", "parse", "rank", "read_source", "sample", "snippet"}
    assert promised <= set(explorer.__all__)
    assert len(set(explorer.__all__)) == len(explorer.__all__)


@pytest.mark.parametrize(
    ("name", "instead"),
    [("detach_snippet", "explorer.snippet,"), ("mlx_snippet", "jax_snippet"), ("a", "'a'")],
)
def test_a_function_that_was_removed_says_what_to_take_instead(name: str, instead: str):
    with pytest.raises(AttributeError, match=instead):
        getattr(explorer.snippets, name)


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


@pytest.mark.parametrize("call", [explorer.sample, explorer.snippet, explorer.instrument])
def test_every_call_names_the_part_of_its_argument_that_cannot_be_parsed(call: Callable[..., object]) -> None:
    with pytest.raises(explorer.FormulaError) as caught:
        call("round", "formula: g * q(x)")
    sentence, text, caret = str(caught.value).split("\n")
    assert sentence == caught.value.message
    assert (text, caret) == ("g * q(x)", "    ^")


TRAINED = """import explorer.study, explorer.training.engine.process
from explorer.training import Run, Settings
run = Run(Settings(task="digits", device="cpu"))
run.advance()
run.snapshot()
"""
SAMPLED = "explorer.sample('round', ['default', 'straight_through'])"


@pytest.fixture(scope="module")
def loaded() -> list[set[str]]:
    """The modules that a fresh interpreter loads: by a training and a study, then by the core and a curve."""
    prints = "import sys; print(*sys.modules)"
    code = "\n".join([TRAINED, prints, *(f"import {name}" for name in ["explorer", *CORE]), SAMPLED, prints])
    command = [sys.executable, "-W", "error", "-c", code]
    ended = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    assert (ended.stderr, ended.stdout.count("\n")) == ("", 2), "importing prints nothing"
    return [set(line.split()) for line in ended.stdout.splitlines()]


def test_the_core_works_without_streamlit(loaded: list[set[str]]):
    _, everything = loaded
    assert {"explorer.curves", "explorer.description.figures", "explorer.training"} <= everything
    assert not {name for name in everything if name.split(".")[0] in ("streamlit", "starlette")}
    assert not {name for name in everything if name.startswith("explorer.ui")}


@pytest.mark.parametrize("package", ["black", "sklearn", "scipy", "distributed", "sympy"])
def test_rarely_needed_modules_are_imported_lazily(loaded: list[set[str]], package: str):
    assert package not in loaded[-1]


def test_a_training_or_a_study_loads_neither_pandas_nor_plotly_nor_scikit_learn(loaded: list[set[str]]):
    """Tables and figures take 80 MB and half a second of every process that trains, the digits a second."""
    first, _ = loaded
    assert "explorer.training.engine.process" in first
    assert not {"pandas", "plotly.graph_objects", "sklearn", "scipy"} & first


def test_an_own_rule_or_op_works_wherever_a_key_does():
    width = explorer.Parameter("w", 1.0, 0.1, 5.0, "window half-width")
    op = explorer.Op("bent", "Bent", "abs(x) + x")
    rule = explorer.Rule("outside", "Outside", "g * (abs(x) > w)", parameters=(width,))
    x = torch.tensor([-2.0, 0.5, 3.0], requires_grad=True)
    explorer.apply(op, rule, x, w=2.5).sum().backward()
    assert x.grad.tolist() == [0, 0, 1]
    frame = explorer.sample(op, ["default", rule], w=2.5, start=-4, stop=4)
    assert {-2.5, 0.0, 2.5} <= set(frame.loc[frame["rule"] == "outside", "x"])
    assert "Outside" in explorer.describe(frame)
    assert explorer.figure(frame).data
    names: dict[str, object] = {}
    exec(explorer.snippet(op, rule, w=2.5), names)  # our own text
    again = x.detach().clone().requires_grad_()
    names["bent_outside"](again).sum().backward()
    assert again.grad.tolist() == x.grad.tolist()
    assert "Outside" in explorer.instrument(op, [rule]).html()
    settings = Settings(op=op, rules=(rule, "default"), parameters={"w": 0.1}, hidden=4, batch=4)
    run = Run(settings)
    run.advance(2)
    assert {key: len(losses) for key, losses in run.snapshot().losses.items()} == {"outside": 2, "default": 2}
    Run(settings).load_state_dict(run.state_dict())
    with pytest.raises(explorer.FormulaError, match="unknown name"):
        explorer.apply(op, explorer.Rule("wrong", "Wrong", "g * z"), x)


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
IMPORTED_AS = {"sklearn": "scikit-learn", "PIL": "pillow"}  # its name where packages are listed
EXTRAS = PROJECT["optional-dependencies"]
DECLARED = {r.name: r for r in map(Requirement, [*PROJECT["dependencies"], *EXTRAS["app"]])}


def test_the_pins_of_the_app_fit_the_bounds_of_the_package():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    assert {pin.name for pin in pins} == set(DECLARED)
    for pin in pins:
        (exact,) = pin.specifier
        bounds = DECLARED[pin.name].specifier
        assert exact.operator == "=="
        assert exact.version in bounds
        assert {bound.operator for bound in bounds} == {">=", "<"}, (
            "open-ended bounds break when a library does"
        )


def test_every_imported_package_is_declared():
    core, cluster, notebook = ({Requirement(line).name for line in lines} for lines in
                               (PROJECT["dependencies"], EXTRAS["cluster"], EXTRAS["notebook"]))  # fmt: skip
    notebook |= core | {"ipywidgets", "traitlets", "IPython"}  # which anywidget requires
    allowed = {"ui": {*DECLARED}, "app": {*DECLARED}, "study": core | cluster, "notebook": notebook}
    for path in files_of(ROOT):
        first = {name.split(".")[0] for name in imports_of(path, ROOT)} - EVERYWHERE - {"explorer"}
        assert {IMPORTED_AS.get(name, name) for name in first} <= allowed.get(part_of(path, ROOT), core), path


SMALL_PLOTLY = "node_modules/plotly.js-basic-dist-min"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as pip installs it: built from a copy, without network, into a folder of its own."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("target")
    shutil.copytree(ROOT / "explorer", source / "explorer", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (".streamlit", "deploy", SMALL_PLOTLY):
        shutil.copytree(ROOT / folder, source / folder)
    for name in ("app.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-index", "--no-build-isolation", "--target", str(target)]
    ended = subprocess.run([*pip, *offline, str(source)], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return target


def test_the_installed_package_holds_every_file(installed: Path):
    for path in (ROOT / "explorer").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert (installed / path.relative_to(ROOT)).is_file(), path
    small = (ROOT / SMALL_PLOTLY / "plotly-basic.min.js").read_bytes()
    name = f"explorer/instrument/{Path(SMALL_PLOTLY).name}/plotly-basic.min.js"
    assert (installed / name).read_bytes() == small


def test_the_installed_package_works_from_anywhere(installed: Path, tmp_path: Path):
    ended = subprocess.run(
        [sys.executable, "-W", "error", ROOT / "tests" / "installed.py", str(installed)],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(installed)}, capture_output=True, text=True,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr


def test_the_version_is_that_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert explorer.__version__ == project["version"]


def test_a_run_and_a_snapshot_are_one_short_line():
    run = Run(Settings(task="xor", op="relu", rules=("default", "zero"), seeds=2, steps=10))
    run.advance(4)
    assert repr(run) == "Run(xor, relu with default, zero, 2 seeds, step 4 of 10)"
    loss = run.snapshot().loss["default"]
    assert repr(run.snapshot()).startswith(f"Snapshot(xor, step 4 of 10, loss: default {loss:.4g}, zero ")


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (explorer.sample, "start stop points g dtype learns"), (explorer.instrument, "start stop g learns"),
        (explorer.nearest, "start stop"), (explorer.check, "input"), (explorer.assert_rule, "input"),
    ],
)  # fmt: skip
def test_options_are_keywords_with_a_type_and_a_default(function: Callable[..., object], names: str) -> None:
    known = inspect.signature(function).parameters
    for name in names.split():
        assert known[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert inspect.Parameter.empty not in (known[name].annotation, known[name].default)

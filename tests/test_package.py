"""The public names of the package, and that they need no Streamlit."""

import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from packaging.requirements import Requirement
from packaging.version import Version

import explorer
from explorer.curves import sample_curves
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


def test_the_core_works_without_streamlit_and_imports_rarely_needed_modules_lazily(loaded: list[set[str]]):
    _, everything = loaded
    assert {"explorer.curves", "explorer.description.figures", "explorer.training"} <= everything
    assert not {"streamlit", "starlette", "black", "sklearn", "scipy", "distributed", "sympy"} & everything
    assert not {name for name in everything if name.startswith("explorer.ui")}


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
        assert {bound.operator for bound in bounds} == {">=", "<"}, "open ends break when a library does"


def test_every_imported_package_is_declared():
    core, cluster, notebook = ({Requirement(line).name for line in lines} for lines in
                               (PROJECT["dependencies"], EXTRAS["cluster"], EXTRAS["notebook"]))  # fmt: skip
    notebook |= core | {"ipywidgets", "traitlets", "IPython"}  # which anywidget requires
    allowed = {"ui": {*DECLARED}, "app": {*DECLARED}, "study": core | cluster, "notebook": notebook}
    for path in files_of(ROOT):
        first = {name.split(".")[0] for name in imports_of(path, ROOT)} - EVERYWHERE - {"explorer"}
        assert {IMPORTED_AS.get(name, name) for name in first} <= allowed.get(part_of(path, ROOT), core), path


def test_the_newest_entry_of_the_changes_is_this_version():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (\S+?),? ", changes, flags=re.MULTILINE)
    assert versions[0] == PROJECT["version"] == explorer.__version__
    assert sorted(versions, key=Version, reverse=True) == versions


def test_every_page_that_names_the_torch_that_works_is_right():
    (torch,) = (r for r in map(Requirement, PROJECT["dependencies"]) if r.name == "torch")
    bounds = {bound.operator: Version(bound.version) for bound in torch.specifier}
    lowest, beyond = bounds[">="], bounds["<"]
    newest = f"{beyond.major}.{beyond.minor - 1}"
    pages = {path.name: path.read_text("utf-8") for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"))}
    named = {name: {*re.findall(r"torch ([\d.]+\d) to ([\d.]+\d)", text)} for name, text in pages.items()}
    right = {(str(lowest), newest)}
    assert {name: each for name, each in named.items() if each} == dict.fromkeys(
        ("README.md", "library.md", "CHANGELOG.md"), right
    )


def observe() -> object:
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())
    with explorer.observe(model) as seen:
        model(torch.ones(2, 3)).sum().backward()
    return seen


def test_what_a_notebook_shows_of_an_object_is_one_short_line():
    run = Run(Settings(task="xor", op="relu", rules=("default", "zero"), seeds=2, steps=10))
    run.advance(4)
    loss = run.snapshot().loss["default"]
    for thing, words in (
        (run, "Run(xor, relu with default, zero, 2 seeds, step 4 of 10)"),
        (run.snapshot(), f"Snapshot(xor, step 4 of 10, loss: default {loss:.4g}, zero "),
        (sample_curves("round", ["straight_through"]), "Curves(round with straight_through"),
        (explorer.lens("round"), "Lens(round, uniform noise of width 1"),
        (explorer.rule_map("round", "straight_through"), "RuleMap(round"),
        (observe(), "Observation(Sequential, sites: 1"),
    ):
        assert repr(thing).startswith(words)
        assert len(repr(thing)) < 120
        assert "\n" not in repr(thing)


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

"""How generated code is laid out: ruff has nothing to say about it, and laying out changes no meaning."""

import ast
import subprocess
import sys

import pytest
from hypothesis import given

from explorer.catalogue import find_rule
from explorer.snippets import custom_op_snippet, jax_snippet, notebook
from explorer.snippets.layout import WIDTH, format_code, format_module, make_docstring
from tests.catalogue.cases import usual_op
from tests.catalogue.fixed import OPS, RULES
from tests.formula.strategies import few, formulas
from tests.selection import take_part
from tests.snippets.cases import OWN, PAIRS, code_of

CHECKS = "E,F,W,I,B,UP,SIM,C4,RET,PT,PIE,PLC,PLE,PLW,N,D,RUF,PERF"
IGNORED = ",".join((
    "N803", "N806",  # parameters are called what they are called in the formula
    "D100", "D102", "D107",  # the function says it all
    "RUF001", "RUF002", "RUF003",  # signs in the catalogue's sentences
))  # fmt: skip

# A name and a formula of each, and how long they are together.
LAID_OUT = take_part(PAIRS) + OWN


def _ruff(*arguments: str, folder) -> subprocess.CompletedProcess[str]:
    common = f"--isolated --no-cache --line-length {WIDTH} .".split()
    command = [sys.executable, "-m", "ruff", *arguments, *common]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All code of a part of the pairs and of what is awkward, and notebooks."""
    folder = tmp_path_factory.mktemp("code")
    for number, (op, rule) in enumerate(LAID_OUT):
        for kind, code in (
            ("torch", code_of(op, rule)),
            ("jax", jax_snippet(op, rule)),
            # A derivative that is written out has chains such as -3 < x < 3.
            ("operator", None if rule == "default" else custom_op_snippet(op, rule)),
        ):
            if code is not None:
                (folder / f"{kind}_{number}.py").write_text(code)
    for rule in take_part(RULES):
        op = usual_op(find_rule(rule)).key
        (folder / f"{rule}.ipynb").write_text(notebook(op, rule, kinks=[k / 7 for k in range(-30, 30)]))
    return folder


def test_ruff_accepts_all_generated_code(folder):
    words = f"check --select {CHECKS} --ignore {IGNORED} --config".split()
    done = _ruff(*words, 'lint.pydocstyle.convention="google"', folder=folder)
    assert done.returncode == 0, done.stdout[:3000] + done.stderr


def test_ruff_would_format_nothing_differently(folder):
    done = _ruff("format", "--diff", folder=folder)
    assert done.returncode == 0, done.stdout[:3000] + done.stderr


def test_ruff_does_look(folder, tmp_path):
    (tmp_path / "bad.py").write_text("import os\nx = ( 1)\n")
    assert _ruff("check", folder=tmp_path).returncode == 1
    assert _ruff("format", "--check", folder=tmp_path).returncode == 1
    assert len(list(folder.iterdir())) > 2 * len(LAID_OUT)


@few
@given(formulas)
def test_layout_keeps_the_expression(formula):
    for text in (formula.torch_source, formula.jax_source):
        (laid_out,) = ast.parse(format_code(f"value = {text}")).body
        assert ast.dump(laid_out.value) == ast.dump(ast.parse(text, mode="eval").body)


@few
@given(formulas)
def test_layout_keeps_within_the_width(formula):
    code = format_code(f"def f():\n    return {formula.torch_source}, None")
    assert max(map(len, code.splitlines())) <= WIDTH


def test_a_docstring_takes_no_quotes_or_backslashes():
    text = format_code("def f():\n    " + make_docstring(['a """ b \\ c\x00d', "x " * 60]))
    (function,) = ast.parse(text).body
    assert ast.get_docstring(function).startswith("a ''' b / c d\n\nx x")
    assert max(map(len, text.splitlines())) <= WIDTH


def test_the_longest_labels_together_fit_the_first_line_of_a_docstring():
    longest = [max((entry.label for entry in entries.values()), key=len) for entries in (OPS, RULES)]
    assert "\n" not in make_docstring([", backward rule ".join(longest) + "."])


def test_a_module_imports_what_it_reads():
    groups = ({"math": "import math"}, {"torch": "import torch", "Tensor": "from torch import Tensor"})
    assert format_module("y = math.pi", *groups) == "import math\n\ny = math.pi\n"
    assert format_module("y = torch.abs(x)", *groups) == "import torch\n\ny = torch.abs(x)\n"
    assert format_module("y = x", *groups) == "y = x\n"

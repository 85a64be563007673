"""The short form of exported code: what a person would write, with the bits of the whole."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
import torch

from explorer.catalogue import OPS, RULES, adapt_rule, find_op, find_rule
from explorer.snippets import layout
from explorer.snippets.pair import Pair, make_pair
from explorer.snippets.short_code import make_short_code
from explorer.snippets.torch_code import make_torch_code
from tests.catalogue import fixed
from tests.catalogue.cases import usual_op
from tests.selection import PARTS, take_part
from tests.snippets import short_runner
from tests.snippets.cases import OWN, code_of
from tests.snippets.drawing import PAIRS as RANDOM
from tests.snippets.runner import defined

ROUND = """\
import torch


class RoundStraightThrough(torch.autograd.Function):
    \"""Round, backward rule Straight-through.\"""

    @staticmethod
    def forward(ctx, x):
        return torch.round(x)

    @staticmethod
    def backward(ctx, g):
        return g


def round_straight_through(x):
    return RoundStraightThrough.apply(x)


# y = round_straight_through(x)
"""


def find_learned(op: str, rule: str) -> tuple[str, ...]:
    return tuple(each.name for each in adapt_rule(find_op(op), find_rule(rule)).learned)


def find_differing(cases: Sequence[tuple[str, str, tuple[str, ...]]], folder: Path) -> list[list[object]]:
    """The cases whose two forms differ in a bit, executed where explorer cannot be imported."""
    pairs = [(case, make_pair(case[0], case[1], {}, case[2])) for case in cases]
    jobs = [
        (
            list(map(str, case)),
            (make_torch_code(pair), make_short_code(pair)),
            pair.name,
            [pair.parameters[name] for name in pair.learns],
            list(pair.extras),
        )
        for case, pair in pairs
    ]
    imports = {
        module for _, codes, *_ in jobs for module in re.findall(r"^(?:import|from) (\w+)", codes[1], re.M)
    }
    assert imports <= {"torch", "math", "collections"}
    torch.save(jobs, folder / "jobs.pt")
    command = [sys.executable, "-I", str(Path(short_runner.__file__)), "jobs.pt", "differ.json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "differ.json").read_text())


def test_the_short_form_of_round_with_straight_through_has_twelve_lines() -> None:
    code = make_short_code(make_pair("round", "straight_through"))
    assert code == ROUND
    assert sum(map(bool, code.splitlines())) == 12


# Own formulas are left out whose constants Python may refuse: there the short form raises an error.
@pytest.mark.parametrize("part", take_part(range(PARTS)))
def test_both_forms_of_every_pair_give_the_same_bits(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "format_code", lambda code: code)
    pairs = list(product(OPS, RULES))[part::PARTS]
    own = [(*pair, ()) for pair in OWN if "_ieee" not in code_of(*pair) and "_divided" not in code_of(*pair)]
    learning = [(op, rule, find_learned(op, rule)) for op, rule in pairs]
    cases = [(op, rule, ()) for op, rule in pairs] + [case for case in learning if case[2]]
    assert find_differing([*cases, *own, *RANDOM], tmp_path) == []


def test_two_forms_that_differ_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys.modules[__name__],
        "make_short_code",
        lambda pair: make_torch_code(pair).replace("g / ", "g / 2 / "),
    )
    case = ("sign", "fast_sigmoid", ())
    assert find_differing([case, ("sign", "clipped", ())], tmp_path) == [list(map(str, case))]


# torch.compile itself makes an instance of Function, about which torch warns.
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_short_code_compiles_whole_with_and_without_gradient() -> None:
    chosen = [
        (usual_op(rule).key if key in fixed.RULES else "bernoulli", key)
        for key, rule in take_part(RULES.items())
    ]
    chosen += [("round", "straight_through"), ("quantize", "lsq"), ("bernoulli", "arm"), ("clamp", "default")]
    pairs = [make_pair(op, rule, {}, find_learned(op, rule)) for op, rule in chosen]
    functions = [(pair, defined(make_short_code(pair))[pair.name]) for pair in pairs]
    draw = {"u": torch.linspace(0.1, 0.9, 13), "f": lambda y: (y - 0.45) ** 2}

    def call(pair: Pair, x: torch.Tensor) -> dict[str, object]:
        return {name: torch.tensor(pair.parameters[name]) for name in pair.learns} | {
            name: draw[name] for name in pair.extras
        }

    def several(x: torch.Tensor) -> torch.Tensor:
        return torch.stack([function(x, **call(pair, x)) for pair, function in functions])

    results = []
    for run in (several, torch.compile(several, fullgraph=True, backend="aot_eager")):
        x = torch.linspace(-2.3, 2.9, 13, requires_grad=True)
        y = run(x)
        results.append((y.detach(), *torch.autograd.grad(y, x, torch.ones_like(y)), run(x.detach())))
    for own, compiled in zip(*results, strict=True):
        torch.testing.assert_close(compiled, own, rtol=1e-5, atol=1e-5, equal_nan=True)


def test_a_parameter_called_as_the_class_does_not_hide_it() -> None:
    pair = make_pair("formula: My = x * My", "formula: My = g * My", {"My": 3.0})
    x = torch.ones(2, requires_grad=True)
    function = defined(make_short_code(pair))[pair.name]
    function(x, My=3.0).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [3, 3]

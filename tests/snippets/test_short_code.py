"""The short form of exported code: what a person would write, with the bits of the whole."""

import re
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import pytest
import torch

from explorer.catalogue import OPS, RULES, adapt_rule, find_op, find_rule
from explorer.snippets import layout, snippet
from explorer.snippets.pair import Pair, make_pair
from explorer.snippets.short_code import make_short_code
from explorer.snippets.torch_code import make_torch_code
from tests.catalogue import fixed
from tests.catalogue.cases import usual_op
from tests.selection import PARTS, take_part
from tests.snippets.cases import OWN, assert_compiles_whole
from tests.snippets.drawing import LOSS_CODE
from tests.snippets.drawing import PAIRS as RANDOM
from tests.snippets.runner import defined, execute_alone

X = torch.cat([torch.linspace(-4.5, 4.5, 73), torch.tensor([-0.0, 0.26, -30.7, 3e38, 1e-45])])
EXTREMES = torch.tensor([float("inf"), -float("inf"), float("nan")])
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


def find_differing(cases: Sequence[tuple[str, str, tuple[str, ...]]], folder: Path) -> list[object]:
    """Return the cases whose two forms differ in a bit, executed where explorer cannot be imported."""
    pairs = [make_pair(op, rule, {}, learns) for op, rule, learns in cases]
    codes = [(make_torch_code(pair), make_short_code(pair)) for pair in pairs]
    imports = {name for _, short in codes for name in re.findall(r"^(?:import|from) (\w+)", short, re.M)}
    assert imports <= {"torch", "math", "collections"}
    together = zip(pairs, codes, strict=True)
    jobs = [(code, pair.name, {}, list(trials(pair))) for pair, both in together for code in both]
    bits = execute_alone(jobs, folder)()
    return [case for case, long, short in zip(cases, bits[::2], bits[1::2], strict=True) if long != short]


def trials(pair: Pair) -> Iterator[dict[str, object]]:
    """Yield what a pair is given, in both dtypes, with and without extreme x."""
    for dtype, x in product((torch.float32, torch.float64), (X, torch.cat([X, EXTREMES]))):
        learned = [torch.tensor(pair.parameters[name], dtype=dtype) for name in pair.learns]
        given = {"leaves": [x.to(dtype), *learned], "g": torch.linspace(-2, 1.5, len(x), dtype=dtype)}
        draw = {"u": torch.linspace(0.01, 0.99, len(x), dtype=dtype)} if "u" in pair.extras else {}
        yield given | draw | {"loss": LOSS_CODE if "f" in pair.extras else ""}


def test_the_short_form_of_round_with_straight_through_has_twelve_lines() -> None:
    code = make_short_code(make_pair("round", "straight_through"))
    assert code == ROUND
    assert sum(map(bool, code.splitlines())) == 12


# Each rule with an op that it is for, and each op with torch's own.
USUAL = [(usual_op(rule).key if key in fixed.RULES else "bernoulli", key) for key, rule in RULES.items()]
USUAL += [(op, "default") for op in OPS]
# Faster for the sweep of all: the usual pairs, as the code of a pair is that of its op and that of its rule.
SWEEP = [pytest.param(list(product(OPS, RULES))[part::PARTS], marks=pytest.mark.thorough, id=str(part))
         for part in take_part(range(PARTS))]  # fmt: skip


# Own formulas are left out whose constants Python may refuse: there the short form raises an error.
@pytest.mark.parametrize("pairs", [pytest.param(take_part(USUAL), id="usual"), *SWEEP])
def test_both_forms_of_every_pair_give_the_same_bits(
    pairs: list[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "format_code", lambda code: code)
    own = [(*pair, ()) for pair in OWN if not re.search("_ieee|_divided", snippet(*pair))]
    learning = [(op, rule, find_learned(op, rule)) for op, rule in pairs]
    cases = [(op, rule, ()) for op, rule in pairs] + [case for case in learning if case[2]]
    assert find_differing([*cases, *own, *RANDOM], tmp_path) == []


# torch.compile itself makes an instance of Function, about which torch warns.
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_short_code_compiles_whole_with_and_without_gradient() -> None:
    chosen = take_part(USUAL[: len(RULES)])
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

    assert_compiles_whole(several)


def test_a_parameter_called_as_the_class_does_not_hide_it() -> None:
    pair = make_pair("formula: My = x * My", "formula: My = g * My", {"My": 3.0})
    x = torch.ones(2, requires_grad=True)
    function = defined(make_short_code(pair))[pair.name]
    function(x, My=3.0).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [3, 3]

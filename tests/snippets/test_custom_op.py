"""Code by ``torch.library.custom_op``: executed it gives the bits of the snippet, compiled or not."""

import functools
from functools import partial

import pytest
import torch

import explorer
from explorer.catalogue import find_op, find_rule, resolve_values
from explorer.gradient import apply, bind
from explorer.snippets import custom_op_snippet
from explorer.snippets.pair import make_pair
from tests.catalogue.cases import usual_op
from tests.catalogue.fixed import OPS, RULES
from tests.catalogue.oracles.learned import LEARNED
from tests.selection import take_part
from tests.snippets.cases import OWN, trials
from tests.snippets.runner import defined, digest_of, trials_at

RULED = take_part([(usual_op(rule).key, key) for key, rule in RULES.items() if rule.formula])
_TAUGHT = [(op, rule) for op, rule in LEARNED if rule != "default"]
TEACHING = take_part((op, rule, tuple(each.name for each in find_rule(rule).learned)) for op, rule in _TAUGHT)


@functools.cache
def code_of(op, rule, learns=()):
    return custom_op_snippet(op, rule, None, learns)


@functools.cache  # it defines an operator of torch's
def function_of(op, rule, learns=()):
    return defined(code_of(op, rule, learns))[make_pair(op, rule, {}, learns).name]


@pytest.mark.parametrize(("op", "rule"), RULED + [pair for pair in OWN if pair[1] != "default"])
def test_a_rule_with_a_formula_gives_the_bits_of_explorer(op, rule):
    function = function_of(op, rule)
    for parameters, points in trials(find_op(op), find_rule(rule)):
        chosen = {name: parameters[name] for name in make_pair(op, rule, {}).parameters}
        own, expected = (
            digest_of(f, trials_at(points)) for f in (partial(function, **chosen), bind(op, rule, chosen))
        )
        assert own == expected, (op, rule)


@pytest.mark.parametrize("op", take_part(OPS))
def test_the_ops_own_derivative_is_torchs(op):
    function, x = function_of(op, "default"), torch.linspace(-2.37, 2.91, 25, dtype=torch.float64)
    results = []
    for each in (function, bind(op, "default", {})):
        at = x.clone().requires_grad_()
        y = each(at)
        results.append((y.detach(), torch.autograd.grad(y, at, torch.full_like(y, 1.5))[0]))
    torch.testing.assert_close(*results, rtol=1e-6, atol=1e-7, equal_nan=True)


@pytest.mark.parametrize(("op", "rule", "names"), TEACHING)
@pytest.mark.parametrize("shape", [(), (2, 1)], ids=str)
def test_learned_parameters_get_the_explorers_gradient(op, rule, names, shape):
    function, x = function_of(op, rule, names), torch.linspace(-2.3, 2.9, 26).reshape(2, 13)
    defaults, results = resolve_values(find_op(op), find_rule(rule), {}), []
    for each in (function, lambda x, *tensors: apply(op, rule, x, **dict(zip(names, tensors, strict=True)))):
        leaves = [x.clone(), *(torch.full(shape, float(defaults[name])) for name in names)]
        y = each(*(leaf.requires_grad_() for leaf in leaves))
        results.append((y.detach(), *torch.autograd.grad(y, leaves, torch.cos(x))))
    for one, other in zip(*results, strict=True):
        assert torch.equal(one, other)


def test_compiled_it_gives_the_same_bits_in_one_graph():
    functions = [function_of(op, rule) for op, rule in RULED]
    teaching = [function_of(*case) for case in TEACHING]

    def several(x, s):
        learned = [
            function(x, *[s] * len(names)) for function, (_, _, names) in zip(teaching, TEACHING, strict=True)
        ]
        return torch.stack([function(x) for function in functions] + learned)

    results = []
    for run in (several, torch.compile(several, fullgraph=True, backend="aot_eager")):
        x = torch.linspace(-2.3, 2.9, 26).reshape(13, 2).T.requires_grad_()
        s = torch.tensor(0.7, requires_grad=True)
        y = run(x, s)
        rows = [torch.autograd.grad(row.sum(), x, retain_graph=True)[0] for row in y]
        results.append((y.detach(), *rows, torch.autograd.grad(y, s, torch.ones_like(y))[0]))
    for own, compiled in zip(*results, strict=True):
        assert torch.equal(own.nan_to_num(), compiled.nan_to_num())


@pytest.mark.parametrize(
    ("op", "rule"), [("round", "straight_through"), ("clamp", "masked"), ("identity", "scale")]
)
def test_torch_finds_the_operator_sound(op, rule):
    names = defined(custom_op_snippet(op, rule))
    operator, numbers = names[f"_{op}_{rule}"], make_pair(op, rule, {}).numbers.values()
    torch.library.opcheck(operator, (torch.randn(4, 3).T.requires_grad_(), *numbers))


def test_the_checks_cover_it_and_its_text_may_be_run_again():
    function_of("clamp", "masked")
    again = defined(code_of("clamp", "masked"))[make_pair("clamp", "masked", {}).name]
    found = {result.name: result for result in explorer.check(again)}
    assert found["compile"].verdict == "holds"
    assert not [result for result in found.values() if result.verdict == "fails"]


def test_two_of_one_name_stand_side_by_side():
    pairs = [("formula: x**2", "formula: g"), ("formula: x**3", "formula: 2 * g")]
    assert {make_pair(*pair, {}).name for pair in pairs} == {"custom_activation"}
    square, cube = (function_of(*pair) for pair in pairs)
    x = torch.tensor([3.0], requires_grad=True)
    assert [square(x).item(), cube(x).item()] == [9, 27]
    assert torch.autograd.grad(square(x) + cube(x), x)[0].item() == 3

"""The PyTorch code: executed where there is only torch, it gives the bits that explorer gives."""

import ast
import re
from dataclasses import replace
from itertools import product

import pytest
import torch

import explorer
from explorer.catalogue import Op, adapt_rule, find_op, find_rule, resolve_values
from explorer.catalogue.custom import parse_custom_op, parse_custom_rule
from explorer.gradient import apply, bind
from explorer.snippets import custom_op_snippet, snippet
from explorer.snippets.pair import make_pair
from explorer.snippets.short_code import make_short_code
from explorer.snippets.torch_code import make_torch_code
from tests.catalogue.cases import usual_op
from tests.catalogue.fixed import OPS, RULES
from tests.selection import take_part
from tests.snippets.cases import OWN, PAIRS, assert_compiles_whole, code_of, trials
from tests.snippets.runner import defined, digest_of, execute_alone, trials_at

EVERY = PAIRS + OWN
NAMED_OP = replace(parse_custom_op("clamp(x, -1, 1)"), label="BinaryClamp")
NAMED_RULE = replace(parse_custom_rule("g * (abs(x) <= 1)"), label="BinaryClamp")


def test_code_of_every_pair_gives_the_same_bits_in_a_clean_process(tmp_path):
    cases, jobs = [], []
    for op, rule in EVERY:
        pair = make_pair(op, rule, {})
        for parameters, points in trials(find_op(op), find_rule(rule)):
            for name, some in ((pair.name, points), (pair.layer, points[:3])):
                cases.append((op, rule, parameters))
                jobs.append((code_of(op, rule), name, parameters, trials_at(some)))
    results = execute_alone(jobs, tmp_path)
    expected = [digest_of(bind(*case), job[-1]) for case, job in zip(cases, jobs, strict=True)]
    assert [case for case, *both in zip(cases, results(), expected, strict=True) if both[0] != both[1]] == []
    assert len(cases) > 2 * len(EVERY)


def test_the_digest_notices_one_bit():
    points = trials_at([0.0, 0.5, 1.5])
    exact = digest_of(torch.round, points)
    assert exact == digest_of(lambda x: torch.round(x), points)
    assert exact != digest_of(lambda x: torch.round(x) + 0.0, points)  # -0.0 becomes 0.0
    assert exact != digest_of(lambda x: torch.round(x) + (x - x.detach()), points)


def test_code_imports_nothing_but_torch_and_the_standard_library():
    codes = [code_of(*pair) for pair in EVERY]
    ruled = [(usual_op(rule).key, key) for key, rule in RULES.items() if rule.formula]
    for code in codes + [custom_op_snippet(*pair) for pair in ruled]:
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Import):
                assert {alias.name for alias in node.names} <= {"torch", "math"}
            if isinstance(node, ast.ImportFrom):
                assert node.module in ("torch", "types")


def test_parameters_become_the_defaults_of_the_signature():
    code = snippet("clamp", "clipped", {"lo": -1.5, "clipped.c": 0.25, "of another rule": 3})
    assert "lo: float = -1.5, hi: float = 1.0, c: float = 0.25" in code
    assert explorer.snippet("clamp", "clipped", lo=-1.5, c=0.25) == code
    x = torch.linspace(-3, 3, 61)
    names = defined(code)
    assert torch.equal(names["clamp_clipped"](x), explorer.apply("clamp", "clipped", x, lo=-1.5, c=0.25))
    assert names["ClampClipped"](hi=0.5).extra_repr() == "lo=-1.5, hi=0.5, c=0.25"


def test_invalid_arguments_are_refused():
    for value in (float("inf"), float("nan")):
        with pytest.raises(ValueError, match="parameter lo must be a finite number"):
            snippet("clamp", "masked", {"lo": value})
    with pytest.raises(ValueError, match="unknown parameter 'z': clamp with masked takes hi, lo"):
        snippet("clamp", "masked", z=1.0)


@pytest.mark.parametrize("rule", take_part(RULES))
def test_code_keeps_for_backward_only_what_the_rule_reads(rule):
    formula = find_rule(rule).parsed
    if formula is None:
        assert "torch.autograd.Function" not in code_of("clamp", rule)
        return
    chosen = make_pair("abs", rule, {})
    x = torch.linspace(-2, 2, 5).requires_grad_()
    y = defined(code_of("abs", rule))[chosen.name](x)
    saved = len(y.grad_fn.saved_tensors)
    assert saved == len({"x", "y"} & set(formula.variables))
    (saved,) = re.findall(r"ctx\.numbers = (.*)", code_of("quantize", rule)) or [""]
    named = adapt_rule(find_op("quantize"), find_rule(rule)).parsed
    assert set(re.findall(r"\w+", saved)) == set(named.parameters)


def test_a_constant_that_torch_refuses_is_refused_by_the_code_too():
    code, name = snippet("formula: softshrink(x, width)", "default", width=-1), "custom_default"
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="lambda"):
        defined(code)[name](x)
    assert defined(code)[name](x, width=0.25).tolist() == [0.75, 0.75]


# torch itself calls torch.jit.script, about which it warns, when forward mode is first used.
@pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")
@pytest.mark.parametrize("rule", take_part(RULES))
def test_code_works_under_transforms_as_explorer_does(rule):
    op = usual_op(find_rule(rule)).key
    function = defined(code_of(op, rule))[make_pair(op, rule, {}).name]
    x = torch.tensor([[-1.3, 0.2, 0.5], [0.0, 1.0, 2.7]], dtype=torch.float64)
    vmap, grad, forward = torch.func.vmap, torch.func.grad, torch.func.jacfwd
    several = (vmap, forward, lambda f: vmap(forward(f)), lambda f: vmap(grad(lambda row: f(row).sum())))
    for transform in several:
        own, theirs = transform(function)(x), transform(bind(op, rule, {}))(x)
        assert torch.equal(own.nan_to_num(), theirs.nan_to_num())


# torch.compile itself makes an instance of Function, about which torch warns.
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_code_compiles_whole():
    chosen = [(usual_op(find_rule(rule)).key, rule) for rule in take_part(RULES) if rule != "default"]
    functions = [defined(code_of(*pair))[make_pair(*pair, {}).name] for pair in chosen]

    def several(x):
        return torch.stack([function(x) for function in functions])

    assert_compiles_whole(several)


@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_code_that_needs_no_gradient_compiles_whole():
    step, draw = torch.tensor(0.5), torch.linspace(0.1, 0.9, 13)
    plain = defined(snippet("round", "straight_through"))["round_straight_through"]
    numbers = defined(snippet("quantize", "masked"))["quantize_masked"]
    learned = defined(snippet("round", "lsq", learns=["s"]))["round_lsq"]
    drawn = defined(snippet("bernoulli", "straight_through"))["bernoulli_straight_through"]

    def several(x):
        return torch.stack([plain(x), numbers(x), learned(x, step), drawn(x, u=draw)])

    for mode in (torch.enable_grad, torch.no_grad, torch.inference_mode):
        with mode():
            x = torch.linspace(-2.3, 2.9, 13)
            compiled = torch.compile(several, fullgraph=True, backend="eager")(x)
            torch.testing.assert_close(compiled, several(x), rtol=0, atol=0)


@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_code_gives_the_rules_gradient_or_an_error_under_torch_func_inside_torch_compile():
    function = defined(snippet("round", "straight_through"))["round_straight_through"]
    slope, x = torch.func.grad(lambda x: function(x).sum()), torch.linspace(-1, 1, 5)
    with pytest.raises(Exception, match=r"torch\.func inside torch\.compile"):
        torch.compile(slope, fullgraph=True, backend="eager")(x)
    assert torch.equal(torch.compile(slope, backend="eager")(x), torch.ones(5))


@pytest.mark.parametrize("rule", take_part(RULES))
def test_code_is_differentiable_again_as_explorer_is(rule):
    def second(function):
        x = torch.linspace(-1.7, 1.9, 9, dtype=torch.float64).requires_grad_()
        (first,) = torch.autograd.grad(function(x).sum() * 1.5, x, create_graph=True)
        if not first.requires_grad:
            return None
        return torch.autograd.grad(first.sum(), x, materialize_grads=True)[0]

    op = usual_op(find_rule(rule)).key
    ours = second(defined(code_of(op, rule))[make_pair(op, rule, {}).name])
    theirs = second(bind(op, rule, {}))
    assert (ours is None) == (theirs is None)
    assert ours is None or torch.equal(ours, theirs)


def test_text_of_an_entry_stays_in_its_docstring():
    hostile = 'ends """ here\n"""\nimport os\nos.system("touch x")\\'
    op = Op(key="formula: x", label=hostile, family="own", formula="x", purpose=hostile, source=hostile)
    tree = ast.parse(snippet(op, "straight_through"))
    kinds = [type(node).__name__ for node in tree.body]
    assert kinds == ["Import", "ImportFrom", "ClassDef", "ClassDef", "FunctionDef", "ClassDef"]
    assert [type(node).__name__ for node in tree.body[4].body] == ["Expr", "If", "Assign", "Return"]


@pytest.mark.parametrize(
    ("op", "rule"),
    [
        *take_part([("identity", key) for key, rule in RULES.items() if rule.formula or key == "default"]),
        ("formula: detach(x)", "default"),
    ],
)
def test_exported_code_never_returns_x_itself(op, rule):
    x = torch.ones(3)
    defined(code_of(op, rule))[make_pair(op, rule, {}).name](x).add_(1)
    assert x.tolist() == [1, 1, 1]


@pytest.mark.parametrize("rule", ["formula: x", "formula: y", "formula: detach(x)"])
def test_a_gradient_is_never_what_was_kept_for_backward(rule):
    x = torch.tensor([-0.6, 0.4, 1.6], requires_grad=True)
    y = defined(snippet("tanh", rule))[make_pair("tanh", rule, {}).name](x)
    before = x.tolist(), y.tolist()
    (gradient,) = torch.autograd.grad(y, x, torch.ones(3))
    gradient.zero_()
    assert (x.tolist(), y.tolist()) == before


NAMES = (
    ("round", "straight_through", "round_straight_through"), ("round", "formula: g", "round_custom"),
    ("soft_round", "soft_round", "soft_round_soft_round"), ("formula: x", "formula: g", "custom_activation"),
    (NAMED_OP, NAMED_RULE, "binary_clamp"), (NAMED_OP, "masked", "binary_clamp_masked"),
    ("formula: BinaryClamp = clamp(x, -1, 1)", "formula: BinaryClamp = g * (x == y)", "binary_clamp"),
    ("formula: MySign = sign(x)", "formula: box_2 = g * (abs(x) < w)", "my_sign_box_2"),
    ("round", "formula: Max = g / (1 + x**2)", "round_max"),
    ("formula: _ = x", "formula: __ = g", "custom_activation"),
    ("formula: x = 2 * x", "formula: x = 2 * g", "custom_activation"),
    (replace(NAMED_OP, label="Lambda"), replace(NAMED_RULE, label="Lambda"), "custom_activation"),
    (replace(NAMED_OP, label="Größe"), replace(NAMED_RULE, label="2 steps"), "custom_activation"),
    # A pasted class keeps its name if it is free.
    ("round", "formula: ClippedRoundSTE = g * (abs(x) <= 2)", "clipped_round_ste ClippedRoundSTE"),
    ("round", "formula: Box_2 = g * (abs(x) < w)", "box_2 Box_2"),
    ("round", "formula: Drawn = g * through(x, 0, 0, 1, 1)", "round_drawn RoundDrawn"),
)  # fmt: skip


@pytest.mark.parametrize(("op", "rule", "names"), NAMES)
def test_names_are_made_from_keys_and_labels(op, rule, names):
    chosen, (name, *layer) = make_pair(op, rule, {}), names.split()
    assert (chosen.name, chosen.layer) == (name, *(layer or ["".join(map(str.capitalize, name.split("_")))]))
    for code in (snippet(op, rule), make_short_code(chosen)) if layer else (snippet(op, rule),):
        assert {name, chosen.layer} <= {*defined(code)}


def test_own_formulas_have_docstrings_that_say_so():
    assert make_pair("formula: x", "formula: g", {}).title == "Custom op, custom backward rule"
    assert make_pair(NAMED_OP, "masked", {}).title == "BinaryClamp, backward rule Masked"
    assert "Your own" not in snippet("formula: x", "formula: g")


@pytest.mark.parametrize(
    "name", ["forward", "training", "half", "name", "apply", "saved_tensors", "settings"]
)
def test_a_parameter_may_have_any_name_of_torchs_own(name):
    names = defined(snippet(f"formula: x * {name}", f"formula: g * {name}"))
    x = torch.ones(2, requires_grad=True)
    layer = names["CustomActivation"](**{name: 3.0})
    layer(x).sum().backward()
    assert x.grad.tolist() == [3, 3]
    assert layer.extra_repr() == f"{name}=3.0"


def test_the_plain_op_needs_no_function_where_torch_differentiates_it():
    for key, op in OPS.items():
        y = op.parsed.bind(resolve_values(op, None, {}))(torch.ones(1, requires_grad=True))
        assert ("torch.autograd.Function" in code_of(key, "default")) != y.requires_grad


CONSTANTS = (
    "x / (a - 1)", "x * (a - 1)**(-1)", "x * min(a, log(b))", "x * log(a - 1)", "x * a**b",
    "x * exp(a * 1000)", "x * round(a / b)", "x * where(b > 0, 1 / b, a / b)",
)  # fmt: skip


@pytest.mark.parametrize("rule", ["default", "formula: g * x"])
@pytest.mark.parametrize("op", CONSTANTS)
def test_code_gives_what_apply_gives_at_every_value_even_where_python_refuses_it(op, rule):
    pair = make_pair(f"formula: {op}", rule)
    function, x = defined(make_torch_code(pair))[pair.name], torch.tensor([-1.0, 0.0, 2.0])
    for numbers in product((1.0, 0.0, -1.0, 2.0, 1e6, -0.5), repeat=len(pair.parameters)):
        settings = dict(zip(pair.parameters, numbers, strict=True))
        wanted = apply(f"formula: {op}", rule, x, **settings)
        torch.testing.assert_close(function(x, **settings), wanted, rtol=0, atol=0, equal_nan=True)


def test_a_parameter_called_shape_learns():
    layer = defined(snippet("formula: x * shape", "default", learns=["shape"]))["CustomDefault"]
    assert layer(shape=2.0, learned_shape=(3, 1))(torch.ones(3, 2)).tolist() == [[2, 2]] * 3

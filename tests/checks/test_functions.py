"""Users' own Functions: each fault fails the check of that name, and correct code fails none."""

import functools
import re
from pathlib import Path

import pytest
import torch
from torch.autograd import Function

import explorer
from explorer.checks import CHECKS, VERDICTS, check
from explorer.lessons import ClampGradient, FixedClampGradient, MulConstant, MyReLU, RoundGradient
from tests.checks.cases.case import find_results, make_function
from tests.checks.doubles import DOUBLES
from tests.checks.published import PUBLISHED
from tests.selection import take_part

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", DOUBLES)
def test_a_fault_is_named_by_a_check_of_its_kind(name):
    function, arguments, names = DOUBLES[name]
    failures = check(function, *arguments).failures
    assert {result.name for result in failures} & set(names), failures
    assert all(result.sentence.endswith(".") for result in failures)


@pytest.mark.parametrize("name", take_part(PUBLISHED))
def test_a_function_without_a_fault_raises_no_alarm(name):
    function, arguments = PUBLISHED[name]
    before = [a.clone() if isinstance(a, torch.Tensor) else a for a in arguments]
    results = check(function, *arguments)
    assert not results.failures
    assert {result.verdict for result in results} <= set(VERDICTS)
    torch.testing.assert_close(before, [*arguments], rtol=0, atol=0)
    assert all(a.grad is None for a in arguments if isinstance(a, torch.Tensor))


@pytest.mark.parametrize(
    ("wrong", "part"),
    [
        (lambda x: x > 2, "above 2."),
        (lambda x: x < -2, "below −2."),
        (lambda x: x.abs() < 1, "between −0.99"),
        (lambda x: x.abs() > 50, " % of the checked x"),
        (lambda x: x.abs() > 0.001, "at 95 % of the checked x"),
    ],
)
def test_where_a_gradient_is_wrong_is_said_without_the_ends_of_what_was_checked(wrong, part, choose_checks):
    choose_checks("true derivative")
    (found,) = check(make_function(torch.square, lambda x, g: g * (2 * x + wrong(x) * (1 + x.abs()))))
    assert f"it is not the derivative {'at ' * (' % ' in part)}" in found.sentence
    assert part in found.sentence
    assert ("99" in found.sentence.partition("derivative")[2]) == ("0.99" in part)


WRONG_TANH = torch.tanh, lambda x, g: g * (1 - x**2)
DOUBLED = lambda x, g: 2 * x * g  # noqa: E731


@pytest.mark.parametrize(
    ("pair", "name", "words", "absent"),
    [
        (WRONG_TANH, "true derivative", "At x = 5.90", "e7"),
        ((torch.square, lambda x, g: g * (2 * x + (x > 50))), "true derivative", "above 5", "At x = 5."),
        (WRONG_TANH, "double backward", "that backward's own derivative.", "right"),
        ((torch.square, lambda x, g: g * x.sign()), "double backward", "own derivative, 0 between", "right"),
        ((torch.square, DOUBLED), "double backward", "second derivative is right.", "own"),
        ((torch.sign, lambda x, g: -g * (x.abs() < 1)), "kinks", "right: within its two limits (1", "own"),
        ((torch.sign, lambda x, g: g * (x.abs() <= 1)), "kinks", "At 1, g = 1, the gradient is 1, 1", "own"),
        ((lambda x: 1e8 * x.sin(), lambda x, g: 1e8 * g * x.cos()), "area", "The op does not jump", "leaves"),
        ((torch.relu, lambda x, g: g * (x > 0)), "kinks", "right: within its two limits, as in torch", "("),
        ((torch.square, DOUBLED), "kinks", "Neither the op nor the gradient has a kink.", "such"),
        ((torch.round, DOUBLED), "kinks", "The gradient is continuous at every kink of", "right"),
        ((torch.round, lambda x, g: 0 * g), "true derivative", "rightly 0: nothing before it learns.", "and"),
        ((torch.abs, DOUBLED), "kinks", "at every kink of op or gradient, such as 0.", "right"),
    ],
)  # fmt: skip
def test_a_sentence_claims_what_was_compared(pair, name, words, absent, choose_checks):
    choose_checks(name)
    (found,) = check(make_function(*pair))
    assert words in found.sentence
    assert absent not in found.sentence


def test_an_exact_function_passes_the_checks():
    results = find_results(PUBLISHED["Cube"][0])
    assert results.pop("devices").verdict in ("unknown", "holds")
    assert {result.verdict for result in results.values()} == {"holds"}


def test_the_fault_of_the_published_clamp_is_described():
    for subject, place, where in (
        ((ClampGradient,), "Above about 1 ", 1.0),
        (explorer.read_source(ClampGradient), "Above about 1 ", 1.0),
        (("clamp", "published_clamp"), "Above hi ", 1.5),
    ):
        found = next(result for result in check(*subject).failures if result.name == "linear in g")
        assert f"{place}the gradient is 1 whatever g is" in found.sentence
        assert found.where == pytest.approx(where, abs=0.1)
    for function in (FixedClampGradient, MyReLU, RoundGradient):
        assert not check(function).failures
    assert [*check(MulConstant, 3.0)] == [*check(MulConstant, constant=3.0)]
    assert not check(MulConstant, 3.0).failures


def test_compile_is_checked_for_functions_but_not_in_the_app(choose_checks):
    choose_checks("compile")
    for function, verdict in (
        (torch.tanh, "holds"),
        (RoundGradient, "holds"),
        (PUBLISHED["RoundToday"][0], "by design"),  # its jvp breaks the graph
        (lambda x: (torch._dynamo.graph_break(), x * 2)[1], "by design"),
    ):
        (found,) = check(function)
        breaks = "fullgraph=True raises Unsupported: " in found.sentence
        assert (found.verdict, breaks) == (verdict, verdict == "by design"), found
    assert not next(check for check in CHECKS if check.name == "compile").in_app


def test_a_class_its_apply_and_a_callable_get_the_same_verdicts():
    function = PUBLISHED["RoundToday"][0]
    assert [*check(function)] == [*check(function.apply)]
    assert [r.verdict for r in check(lambda x: function.apply(x))] == [r.verdict for r in check(function)]


@pytest.mark.parametrize("name", ["draws in backward", "dithers"])
def test_a_random_backward_fails_only_the_check_of_determinism(name):
    function, arguments, (only,) = DOUBLES[name]
    found = find_results(function, *arguments)
    assert [result.name for result in found.values() if result.verdict == "fails"] == [only]
    repeated = {each.name for each in CHECKS if each.needs_repeatable}
    assert {each.verdict for each in found.values() if each.name in repeated} == {"unknown"}
    assert "two backwards of the same x and g differ" in found["memory"].sentence


def test_an_assertion_has_a_line_per_failure_and_code_that_reproduces_it():
    explorer.assert_rule(MyReLU)
    explorer.assert_rule("round", "straight_through")
    with pytest.raises(AssertionError) as raised:
        explorer.assert_rule(ClampGradient)
    failures = check(ClampGradient).failures
    title, *lines = str(raised.value).splitlines()
    assert title == f"ClampGradient: {len(failures)} checks failed"
    assert lines[: len(failures)] == [f"{result.name}: {result.sentence}" for result in failures]
    assert lines[len(failures) :] == [
        "", "import explorer, torch", "results = explorer.check(ClampGradient)", "print(results)",
    ]  # fmt: skip
    explorer.assert_rule(ClampGradient, allow={result.name for result in failures})
    with pytest.raises(ValueError, match="allow contains 'kink', but the checks are"):
        explorer.assert_rule(MyReLU, allow=("kink",))


def test_the_documentation_names_every_check_in_order():
    text = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    names = text.split("The checks are called ")[1].split(". A deliberate")[0]
    assert re.findall("`([^`]*)`", names) == [check.name for check in CHECKS]


@functools.cache  # an operator's name counts in the whole process
def operators():
    """An operator of torch.library, and one whose fake has not the shape that it returns."""

    def halved(x: torch.Tensor) -> torch.Tensor:
        return x.round()

    sound = torch.library.custom_op("explorer_tests::round", halved, mutates_args=())
    wrong = torch.library.custom_op("explorer_tests::round_of_other_shape", halved, mutates_args=())
    sound.register_fake(torch.empty_like)
    wrong.register_fake(lambda x: x.new_empty(x.shape[0] + 1))
    for each in (sound, wrong):
        each.register_autograd(lambda ctx, g: g * 1)
    return sound, wrong


def test_operators_of_torch_library_are_also_checked_compiled(choose_checks):
    choose_checks("compile", "transforms", "linear in g")
    sound, wrong = operators()
    results = find_results(sound)
    assert [results[name].verdict for name in ("compile", "linear in g")] == ["holds", "holds"]
    assert results["transforms"].verdict == "by design"
    assert results["transforms"].sentence.startswith("It is an operator of torch.library")
    (compiled,) = [result for result in check(wrong) if result.name == "compile"]
    assert compiled.verdict in ("fails", "unknown")
    assert "ompiled it" in compiled.sentence


def test_steps_of_16_bits_are_no_kinks(choose_checks):
    """Of IR-Net's rule, computed in 16 bits."""
    choose_checks("kinks")
    (result,) = check(make_function(torch.sign, lambda x, g: g * (1 - torch.tanh(x.half().to(g)) ** 2)))
    assert result.verdict == "holds"
    assert result.sentence.startswith("Apart from small steps, as of 16-bit numbers, the gradient is")


@pytest.mark.parametrize(
    ("pull", "words"),
    [
        (lambda x, w, g, h: (None if w else g, h), "x alone .* gets 0.7, and 0 together with"),
        (lambda x, w, g, h: (g if w else None, h), "x alone .* gets 0, and 0.7 together with"),
        (lambda x, w, g, h: (g, h if x else 2 * h), "argument 1 alone requires grad, it gets .* with x"),
    ],
)
def test_a_gradient_that_depends_on_the_need_of_another_input_fails(pull, words, choose_checks):
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return pull(*ctx.needs_input_grad, g * w, (g * x).sum())

    choose_checks("backward")
    forward = lambda ctx, x, w: (ctx.save_for_backward(x, w), x * w)[1]  # noqa: E731
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    with pytest.raises(AssertionError, match=words):
        explorer.assert_rule(type("Scale", (Function,), methods), torch.tensor(0.7, requires_grad=True))


@pytest.mark.parametrize(("k", "words"), [(0, "If ctx.kept changes in place"), (1, "ctx.kept holds")])
def test_x_or_y_as_an_attribute_of_ctx_fails_memory(k, words, choose_checks):
    choose_checks("memory")
    methods = {
        "forward": lambda x: x.tanh(),
        "setup_context": lambda ctx, inputs, output: setattr(ctx, "kept", (*inputs, output)[k]),
        "backward": lambda ctx, g: g * (1 - ctx.kept**2),
    }
    (result,) = check(type("Keeps", (Function,), {name: staticmethod(way) for name, way in methods.items()}))
    assert (result.verdict, result.sentence.startswith(words)) == ("fails", True), result

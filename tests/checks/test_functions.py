"""Anybody's own Functions: faults are named, what is right raises no alarm, what cannot be tried is said."""

import functools
import re
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.autograd import Function
from torch.utils.checkpoint import checkpoint

import explorer
from explorer.checks import CHECKS, VERDICTS, check
from explorer.lessons import ClampGradient, FixedClampGradient, MulConstant, MyReLU, RoundGradient
from tests.checks.cases.case import Case
from tests.checks.cases.literature import CASES
from tests.checks.doubles import DOUBLES, Style
from tests.checks.published import PUBLISHED
from tests.selection import take_part

ROOT = Path(__file__).parents[2]


def verdicts(function, *arguments):
    return {result.name: result.verdict for result in check(function, *arguments)}


@pytest.mark.parametrize("name", DOUBLES)
@pytest.mark.usefixtures("skip_compile")
def test_a_fault_is_named_by_a_check_of_its_kind(name):
    function, arguments, names = DOUBLES[name]
    failures = check(function, *arguments).failures
    assert {result.name for result in failures} & set(names), failures
    assert all(result.sentence.endswith(".") for result in failures)


@pytest.mark.parametrize("name", take_part(PUBLISHED))
@pytest.mark.usefixtures("skip_compile")
def test_a_function_without_a_fault_raises_no_alarm(name):
    function, arguments = PUBLISHED[name]
    before = [a.clone() if isinstance(a, torch.Tensor) else a for a in arguments]
    results = check(function, *arguments)
    assert not results.failures
    assert {result.verdict for result in results} <= set(VERDICTS)
    assert all(
        torch.equal(torch.as_tensor(a), torch.as_tensor(b)) for a, b in zip(before, arguments, strict=True)
    )
    assert all(a.grad is None for a in arguments if isinstance(a, torch.Tensor))


def function_of(forward, backward):
    """A Function with this forward and this backward of x and g."""

    class Own(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx, g):
            return backward(*ctx.saved_tensors, g)

    return Own


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
@pytest.mark.usefixtures("skip_compile")
def test_where_a_gradient_is_wrong_is_said_without_the_ends_of_what_was_checked(wrong, part):
    own = function_of(torch.square, lambda x, g: g * (2 * x + wrong(x) * (1 + x.abs())))
    (found,) = (result for result in check(own) if result.name == "true derivative")
    assert f"it is not the derivative {'at ' * (' % ' in part)}" in found.sentence
    assert part in found.sentence
    assert ("99" in found.sentence.partition("derivative")[2]) == ("0.99" in part)


@pytest.mark.parametrize(
    ("forward", "words"),
    [
        (torch.square, "Neither the op nor the gradient has a kink."),
        (torch.round, "It is continuous at every kink of op or gradient, such as 0.5."),
        (torch.abs, "It is continuous at every kink of op or gradient, such as 0."),
    ],
)
@pytest.mark.usefixtures("skip_compile")
def test_a_smooth_bend_is_no_kink(forward, words):
    own = function_of(forward, lambda x, g: 2 * x * g)
    assert next(result for result in check(own) if result.name == "kinks").sentence == words


WRONG_TANH = torch.tanh, lambda x, g: g * (1 - x**2)


@pytest.mark.parametrize(
    ("pair", "name", "words", "absent"),
    [
        (WRONG_TANH, "true derivative", "At x = 5.90", "e7"),
        ((torch.square, lambda x, g: g * (2 * x + (x > 50))), "true derivative", "above 5", "At x = 5."),
        (WRONG_TANH, "double backward", "that backward's own derivative.", "right"),
        ((torch.square, lambda x, g: g * x.sign()), "double backward", "own derivative, 0 between", "right"),
        ((torch.square, lambda x, g: 2 * x * g), "double backward", "second derivative is right.", "own"),
        ((torch.sign, lambda x, g: -g * (x.abs() < 1)), "kinks", "−1 to the left, 0 to the right (1", "own"),
        ((lambda x: 1e8 * x.sin(), lambda x, g: 1e8 * g * x.cos()), "area", "The op does not jump", "leaves"),
        ((torch.relu, lambda x, g: g * (x > 0)), "kinks", "1 to the right, as torch's own relu gives", "("),
    ],
)  # fmt: skip
def test_a_sentence_claims_what_was_compared(pair, name, words, absent, choose_checks):
    choose_checks(name)
    (found,) = check(function_of(*pair))
    assert words in found.sentence
    assert absent not in found.sentence


@pytest.mark.usefixtures("skip_compile")
def test_an_exact_function_passes_the_checks():
    result = verdicts(PUBLISHED["Cube"][0])
    assert result.pop("devices") in ("unknown", "holds")
    assert set(result.values()) == {"holds"}


@pytest.mark.usefixtures("skip_compile")
def test_an_old_style_function_is_told_to_add_setup_context():
    found = {result.name: result for result in check(PUBLISHED["ExpSavingItsOutput"][0])}
    assert found["transforms"].verdict == "by design"
    assert "setup_context" in found["transforms"].sentence


@pytest.mark.usefixtures("skip_compile")
@pytest.mark.parametrize(
    ("case", "of", "words"),
    [
        (CASES["Zenke with beta"], "area", "k = 100"),
        (CASES["Hinton's sign"], "antiderivative", "Straight-through"),
        (CASES["EWGS"], "linear in g", "sign of g"),
        (Case(MyReLU), "kinks", "relu gives 0"),
        (Case(*PUBLISHED["QuantizedPACT"]), "parameter gradients", "PACT"),
        (Case(*PUBLISHED["LSQ"]), "parameter gradients", "autograd"),
        (Case(*PUBLISHED["SinhOnce"]), "double backward", "once_differentiable"),
        (Case(*PUBLISHED["GradientReversalOfTensor"]), "parameter gradients", "None"),
    ],
    ids=str.split("SuperSpike Hinton EWGS ReLU PACT LSQ sinh reversal"),
)
def test_a_result_names_what_was_probably_meant(case, of, words):
    found = {result.name: result for result in check(case.function, *case.arguments)}
    assert words in found[of].sentence


@pytest.mark.usefixtures("skip_compile")
def test_the_fault_of_the_published_clamp_is_described():
    failures = {result.name: result for result in check(ClampGradient).failures}
    assert "Above about 1 the gradient is 1 whatever g is" in failures["linear in g"].sentence
    assert failures["linear in g"].where == pytest.approx(1.0, abs=0.1)
    for function in (FixedClampGradient, MyReLU, RoundGradient):
        assert not check(function).failures
    assert [*check(MulConstant, 3.0)] == [*check(MulConstant, constant=3.0)]
    assert not check(MulConstant, 3.0).failures


def test_compile_is_checked_for_functions_but_not_in_the_app():
    assert verdicts(torch.tanh)["compile"] == verdicts(RoundGradient)["compile"] == "holds"
    assert verdicts(PUBLISHED["RoundToday"][0])["compile"] == "by design"  # its jvp breaks the graph
    assert not next(check for check in CHECKS if check.name == "compile").in_app


def test_a_graph_break_under_compile_is_reported_as_by_design():
    def breaks(x):
        torch._dynamo.graph_break()
        return x * 2

    found = {result.name: result for result in check(breaks)}["compile"]
    assert (found.verdict, "fullgraph=True raises" in found.sentence) == ("by design", True), found


@pytest.mark.usefixtures("skip_compile")
def test_a_class_its_apply_and_a_callable_get_the_same_verdicts():
    function = PUBLISHED["RoundToday"][0]
    assert [*check(function)] == [*check(function.apply)]
    assert [r.verdict for r in check(lambda x: function.apply(x))] == [r.verdict for r in check(function)]


class Raises(Style):
    @staticmethod
    def forward(x):
        raise KeyError("nothing here")


class NeedsCuda(Style):
    @staticmethod
    def forward(x):
        return x.cuda()


class NeedsSlope(Function):
    """A Function in the new style that takes an argument after x."""

    @staticmethod
    def forward(x, slope):
        return slope * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.slope = inputs[1]


def round_bfloat16(x):
    if x.dtype != torch.bfloat16:
        raise TypeError("give it bfloat16")
    return x.round()


@pytest.mark.usefixtures("skip_compile")
def test_a_forward_that_always_raises_fails():
    (failure,) = check(Raises).failures
    assert (failure.name, failure.sentence) == (
        "finite",
        "It could not be tried: it raises KeyError: 'nothing here'.",
    )


@pytest.mark.parametrize("name", ["draws in backward", "dithers"])
def test_a_random_backward_fails_only_the_check_of_determinism(name):
    function, arguments, (only,) = DOUBLES[name]
    found = {result.name: result for result in check(function, *arguments)}
    assert [result.name for result in found.values() if result.verdict == "fails"] == [only]
    repeated = [check.name for check in CHECKS if check.needs_repeatable and check.pairs != "drawn"]
    assert {found[name].verdict for name in repeated} == {"unknown"}
    assert "two backwards of the same x and g differ" in found["memory"].sentence


@pytest.mark.usefixtures("skip_compile")
@pytest.mark.parametrize(
    ("function", "arguments", "words"),
    [
        (NeedsCuda, (), "It could not be tried"), (lambda x: None, (), "returns None"),
        (lambda x: "text", (), "str"), (lambda x: x, (1, 2), "positional"),
        (NeedsSlope, (), "as in check(NeedsSlope, slope)"),
        (lambda x, low, high: x.clamp(low, high), (), "as in check(f, low, high)"), (42, (), "int"),
        (torch.nn.ReLU, (), "ReLU"), (round_bfloat16, (), "only in bfloat16"),
        (lambda x: checkpoint(torch.sin, x, use_reentrant=True), (), "pass use_reentrant=False"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)  # fmt: skip
def test_a_function_that_cannot_be_tried_is_unknown_with_its_reason(function, arguments, words):
    if function is NeedsCuda and torch.cuda.is_available():
        pytest.skip("there is CUDA here")
    results = check(function, *arguments)
    assert {result.verdict for result in results} == {"unknown"}
    assert words in results[0].sentence
    assert f"? unknown  {len(results)} checks  {results[0].sentence}" in repr(results).splitlines()
    assert words in results[0].sentence


@pytest.mark.usefixtures("skip_compile")
@pytest.mark.parametrize("where", ["forward", "backward"])
def test_a_function_that_does_not_return_is_abandoned(where, monkeypatch):
    released = threading.Event()

    class Hangs(Function):
        @staticmethod
        def forward(ctx, x):
            if where == "forward":
                released.wait()
            return x * 2

        @staticmethod
        def backward(ctx, g):
            released.wait()
            return g * 2

    monkeypatch.setattr(explorer.checks, "TIME_LIMIT_S", 0.2)
    limited = tuple(replace(check, limit_s=0.2) for check in explorer.checks.CHECKS)
    monkeypatch.setattr(explorer.checks, "CHECKS", limited)
    started = time.monotonic()
    try:
        results = check(Hangs)
    finally:
        released.set()
    assert time.monotonic() - started < 5
    assert {result.verdict for result in results} == {"unknown"}
    assert "keeps running in a daemon thread" in results[0].sentence


@pytest.mark.usefixtures("skip_compile")
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


class PerChannel(torch.nn.Module):
    """Needs three channels, after the first dimension."""

    def forward(self, x):
        if x.shape[-3] != 3:
            raise RuntimeError("expected 3 channels")
        return torch.where(x > 0, x, x.new_tensor([[[0.1]], [[0.2]], [[0.3]]]) * x)


class Membrane(torch.nn.Module):
    """A spiking neuron that keeps its potential from call to call."""

    potential = 0.0

    def forward(self, x):
        self.potential = 0.9 * self.potential + x
        return PUBLISHED["RoundToday"][0].apply(self.potential)


@pytest.mark.usefixtures("skip_compile")
def test_a_module_that_keeps_state_begins_anew_for_each_check():
    neuron, kept = Membrane(), Membrane()
    found = {result.name: result for result in check(neuron)}
    assert {each.name for each in found.values() if each.verdict in ("fails", "unknown")} <= {"devices"}
    assert found["deterministic"].sentence.startswith("It keeps state between calls")
    assert neuron.potential == 0.0
    results = check(lambda x: kept(x))
    assert {result.verdict for result in results} == {"unknown"}
    assert "if it keeps state between calls, give check a function that begins anew" in results[0].sentence


class Codebook(torch.nn.Module):
    """Adds a learned offset, and returns a second output beside y."""

    def __init__(self):
        super().__init__()
        self.offset = torch.nn.Parameter(torch.tensor(0.5))

    def forward(self, x):
        return x + self.offset, x.square().mean()


@pytest.mark.usefixtures("skip_compile")
def test_a_learned_argument_is_checked_at_the_first_of_several_outputs():
    assert verdicts(Codebook())["parameter gradients"] == "holds"


@pytest.mark.usefixtures("skip_compile")
def test_a_check_leaves_torch_with_as_many_threads_as_before():
    threads = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        seen = set()
        check(lambda x: (seen.add(torch.get_num_threads()), x.sin())[1])
        assert (seen, torch.get_num_threads()) == ({1}, 3)
    finally:
        torch.set_num_threads(threads)


@pytest.mark.usefixtures("skip_compile")
def test_a_module_that_needs_a_shape_is_given_an_example():
    results = check(PerChannel())
    assert {result.verdict for result in results} == {"unknown"}
    expected = "It could not be tried: it raises IndexError: tuple index out of range; if x must have a shape"
    assert results[0].sentence.startswith(expected)
    assert "give check an example such as input=torch.randn(" in results[0].sentence
    found = {result.name: result.verdict for result in check(PerChannel(), input=torch.randn(8, 3, 2, 2))}
    assert found["true derivative"] == "holds"
    assert "fails" not in found.values()


def test_a_result_is_shown_as_a_line_and_as_a_table_row():
    (first, *_) = check("round", "straight_through")
    assert repr(first) == f"{first.mark} {first.verdict}  {first.name}  {first.sentence}"
    assert first._repr_html_().count("<td") == 3


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
    results = {result.name: result for result in check(sound)}
    assert [results[name].verdict for name in ("compile", "linear in g")] == ["holds", "holds"]
    assert results["transforms"].verdict == "by design"
    assert results["transforms"].sentence.startswith("It is an operator of torch.library")
    (compiled,) = [result for result in check(wrong) if result.name == "compile"]
    assert compiled.verdict in ("fails", "unknown")
    assert "ompiled it" in compiled.sentence


def test_an_example_must_be_a_tensor_for_a_function():
    for call in (lambda: check(torch.tanh, input=3), lambda: check("round", "zero", input=torch.ones(2))):
        with pytest.raises(ValueError, match="input must be a tensor"):
            call()


LATE_IMPORT = """
import sys, torch, explorer, explorer.checks as checks
seen, run = [], checks.run_within
checks.CHECKS = checks.CHECKS[:2]
checks.run_within = lambda limit_s, work: (seen.append("torch._dynamo" in sys.modules), run(limit_s, work))[1]
explorer.check(torch.round)
assert seen and all(seen)
"""


@pytest.mark.usefixtures("skip_compile")
def test_a_random_module_of_torch_fails_no_check():
    assert not check(torch.nn.RReLU()).failures


@pytest.mark.usefixtures("skip_compile")
def test_the_antiderivative_of_an_op_that_jumps_holds_between_its_jumps_only():
    (result,) = [each for each in check("formula: x - floor(x)", "default") if each.name == "antiderivative"]
    assert (result.verdict, result.where is not None) == ("by design", True)
    assert result.sentence.startswith("The op is an antiderivative between its jumps")


@pytest.mark.usefixtures("skip_compile")
def test_the_gradient_at_a_bound_is_compared_with_the_ops_own():
    results = check("formula: 0 * x + 1", "formula: g*(x>=0)*(x<=2)")
    (sentence,) = [each.sentence for each in results if each.name == "kinks"]
    assert sentence.startswith("At 0 the gradient is 1, ")
    assert sentence.endswith("own derivative of this op gives 0.")


class RoundedGradient(Function):
    """IR-Net's rule, computed in 16 bits."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (1 - torch.tanh(x.half().to(g)) ** 2)


@pytest.mark.usefixtures("skip_compile")
def test_steps_of_16_bits_are_no_kinks():
    (result,) = [each for each in check(RoundedGradient) if each.name == "kinks"]
    assert result.verdict == "holds"
    assert result.sentence.startswith("Apart from small steps, as of numbers of 16 bits, it is continuous")


class GradientForAnotherInput(Function):
    """The gradient of x is returned only if the weight needs one."""

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(weight)
        return x.round() * weight

    @staticmethod
    def backward(ctx, g):
        (weight,) = ctx.saved_tensors
        return (g * weight if ctx.needs_input_grad[1] else None), None


@pytest.mark.usefixtures("skip_compile")
def test_a_gradient_that_depends_on_the_need_of_another_input_fails():
    with pytest.raises(AssertionError, match="Its backward returns None for x"):
        explorer.assert_rule(lambda x: GradientForAnotherInput.apply(x, torch.tensor(2.0)))


def test_torch_dynamo_is_imported_before_the_first_check():
    subprocess.run([sys.executable, "-W", "ignore", "-c", LATE_IMPORT], cwd=ROOT, check=True)

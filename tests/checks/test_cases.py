"""Functions that people could have written: right ones raise no alarm, and each fault is named by its check.

Plain torch confirms that each case is as described.
"""

import math

import numpy as np
import pytest
import torch
from torch.autograd import Function

import explorer
from explorer.checks import check
from explorer.checks.result import format_unequal
from tests.checks.cases import bugs, composed, dtypes, finiteness, literature, mixing, raising, slips
from tests.checks.cases.case import make_function
from tests.checks.cases.literature import VectorQuantiser
from tests.selection import take_part

pytestmark = pytest.mark.usefixtures("skip_compile")
MOST_UNKNOWN = 2
assert bugs.CASES is slips.CASES  # each continues the other's
assert literature.CASES is composed.CASES


def check_case(case):
    return {result.name: result for result in check(case.function, *case.arguments, **case.options)}


def run_plainly(case, x):
    function = case.function.apply if isinstance(case.function, type) else case.function
    return function(x, *case.arguments)


@pytest.mark.parametrize("name", raising.CASES)
def test_a_backward_without_a_gradient_fails_and_no_check_holds(name):
    case = raising.CASES[name]
    found = check_case(case)
    assert found["backward"].verdict == "fails"
    assert case.words in found["backward"].sentence
    assert not [each for each in found.values() if each.verdict in ("holds", "by design")]


@pytest.mark.parametrize("name", [name for name in raising.CASES if "outer product" not in name])
def test_torch_gives_no_gradient_for_the_raising_cases(name):
    x = torch.linspace(-1.0, 2.0, 7, requires_grad=True)
    y = run_plainly(raising.CASES[name], x)
    if not y.requires_grad:
        return
    try:
        (gradient,) = torch.autograd.grad(y, x, torch.ones_like(y), allow_unused=True)
    except Exception:
        return
    assert gradient is None


@pytest.mark.parametrize("name", take_part(mixing.CASES | literature.CASES))
def test_a_correct_function_fails_no_check_and_leaves_few_unknown(name):
    found = check_case((mixing.CASES | literature.CASES)[name])
    assert not [each for each in found.values() if each.verdict == "fails"]
    open_questions = [each for each in found.values() if each.verdict == "unknown" and each.name != "devices"]
    assert len(open_questions) <= MOST_UNKNOWN, open_questions


@pytest.mark.parametrize("name", [name for name, case in mixing.CASES.items() if "by hand" in name])
def test_gradcheck_confirms_functions_that_mix_elements(name):
    case = mixing.CASES[name]
    x = case.options.get("input", torch.linspace(-1.3, 1.7, 6)).double().requires_grad_()
    arguments = [each.detach().double().requires_grad_() for each in case.arguments]
    assert torch.autograd.gradcheck(lambda *inputs: case.function.apply(*inputs), (x, *arguments))


@pytest.mark.parametrize("name", dtypes.CASES)
def test_a_fixed_output_dtype_does_not_affect_other_checks(name):
    case = dtypes.CASES[name]
    found = check_case(case)
    verdicts = {each: found[each].verdict for each in case.verdicts}
    assert verdicts == case.verdicts, [found[each] for each in case.verdicts]
    if case.verdicts["dtype and shape"] == "by design":
        x = torch.linspace(-1.0, 1.0, 5)
        assert any(run_plainly(case, x.to(dtype)).dtype != dtype for dtype in (torch.float64, torch.float16))


@pytest.mark.parametrize("name", finiteness.CASES)
def test_nan_is_found_and_safe_forms_hold(name):
    case = finiteness.CASES[name]
    found = check_case(case)["finite"]
    assert found.verdict == case.verdicts["finite"], found
    assert case.words in found.sentence


def test_a_pole_between_samples_has_no_area_and_is_no_kink():
    found = check_case(finiteness.CASES["pole between samples"])
    assert (found["area"].verdict, "towards x = 0.8," in found["area"].sentence) == ("unknown", True)
    assert found["kinks"].sentence == "It is continuous at every kink of op or gradient, such as 1."


@pytest.mark.parametrize("name", take_part(bugs.CASES))
def test_a_subtle_bug_fails_one_of_its_checks(name):
    case = bugs.CASES[name]
    failures = [each for each in check_case(case).values() if each.verdict == "fails"]
    assert {each.name for each in failures} & {*case.verdicts}, failures


def test_a_factor_on_a_catalogue_curve_is_by_design_and_named():
    found = check_case(literature.CASES["Bellec"])["area"]
    assert found.verdict == "by design"
    assert "0.3 times the catalogue's Triangle" in found.sentence


def test_the_line_that_raised_is_quoted():
    sentence = check_case(raising.CASES["raises"])["backward"].sentence
    assert "raising.py:" in sentence
    assert 'raise ValueError("not written yet")' in sentence


def test_reading_a_global_in_backward_fails():
    found = check_case(bugs.GLOBAL)["memory"]
    assert (found.verdict, "the global x" in found.sentence) == ("fails", True)


def test_a_domain_bounds_the_x_that_are_tried():
    seen = []

    class Root(Function):
        @staticmethod
        def forward(ctx, x):
            if x.device.type == "cpu":
                seen.append(x.detach().double().aminmax())
            y = x.sqrt()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g / (2 * y)

    for options in ({"domain": (0.25, 1.0)}, {"input": torch.linspace(0.25, 1.0, 64)}):
        seen.clear()
        assert not check(Root, **options).failures
        lows, highs = zip(*seen, strict=True)
        assert min(lows) >= 0.24
        assert max(highs) <= 1.01
    for bad in ((1, 0), (0,), (0, 0)):
        with pytest.raises(ValueError, match="two ascending numbers"):
            check(Root, domain=bad)


def test_a_factor_is_suggested_only_if_it_repairs_the_area():
    scaled = check_case(bugs.CASES["forgotten step"])["area"]
    assert "multiply by 10" in scaled.sentence
    unmendable = check_case(bugs.CASES["mask of x for levels"])
    assert not [each for each in unmendable.values() if "multiply" in each.sentence]


FACTORS = {
    "x² with g·x": (lambda x: x**2, lambda x, g: g * x, "unknown", "a factor 2 is missing"),
    "clipped 3x": (lambda x: 3 * x, lambda x, g: g.clamp(-1, 1), "unknown", "a factor 3 is missing"),
    "given": (lambda x, s: x.sin(), lambda x, g, s: s * g * x.cos(), "by design", "It is 0.25 times", 0.25),
    "clipped slope": (lambda x: 3 * x, lambda x, g: (3 * g).clamp(-0.5, 0.5), "by design", "for small g"),
}


@pytest.mark.parametrize("name", FACTORS)
def test_an_unexplained_factor_may_be_a_missing_part(name):
    forward, backward, verdict, words, *arguments = FACTORS[name]
    results = check(make_function(forward, backward), *arguments)
    found = {each.name: each for each in results}["true derivative"]
    assert (found.verdict, words in found.sentence) == (verdict, True), found


def test_sentences_on_the_sign_of_g_and_on_a_norm_are_true():
    found = {each.name: each for each in check(make_function(torch.round, lambda x, g: g.sign()))}
    assert found["linear in g"].sentence.startswith("It keeps the sign of g and drops its size.")
    found = check(make_function(torch.round, lambda x, g: g / g.norm()))
    assert {each.name for each in found.failures} == {"linear in g", "finite"}  # 0 / 0 for g = 0
    assert not [each for each in found if "multiply by" in each.sentence]


@pytest.mark.parametrize(
    ("one", "other", "texts"),
    [
        (0.5, 2.0, ("0.5", "2")), (0.4341, 0.4342, ("0.4341", "0.4342")),
        (1.0, 1.0000001, ("1", "1.0000001")), (-1e-6, -1.0001e-6, ("−1e−6", "−1.0001e−6")),
    ],
)  # fmt: skip
def test_unequal_numbers_are_formatted_with_enough_digits_to_differ(one, other, texts):
    assert format_unequal(one, other) == texts


def test_advice_for_pact_suggests_autograd_of_the_forward():
    """Of PACT there is no rounding to be replaced."""
    sentence = check_case(bugs.CASES["PACT learns from below"])["parameter gradients"].sentence
    assert sentence.endswith("Compare with autograd of the forward in plain torch.")


def test_a_transform_that_torch_lacks_is_by_design():
    found = check(lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -8, 7))
    verdicts = {each.name: each.verdict for each in found}
    assert verdicts["transforms"] == "by design"
    assert check_case(literature.CASES["VQ module"])["transforms"].verdict == "by design"
    assert isinstance(literature.CASES["VQ module"].function, VectorQuantiser)


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
@pytest.mark.parametrize("module", [torch.nn.SiLU(), torch.nn.Linear(4, 3)])
def test_a_scripted_module_is_checked(module):
    found = {each.name: each.verdict for each in check(torch.jit.script(module), input=torch.randn(5, 4))}
    assert found["true derivative"] == "holds"
    assert "fails" not in found.values()


def test_a_forward_through_numpy_does_not_fail_the_device_check():
    class ByNumpy(Function):
        @staticmethod
        def forward(ctx, x):
            return torch.from_numpy(x.detach().cpu().numpy().round()).to(x)

        @staticmethod
        def backward(ctx, g):
            return g

    found = {each.name: each for each in check(ByNumpy)}
    assert found["devices"].verdict in ("unknown", "holds")


def test_a_missing_mask_is_not_reported_as_an_error():
    found = check_case(literature.CASES["DoReFa with its clamp inside"])["antiderivative"]
    assert (found.verdict, "a forgotten mask if it clips" in found.sentence) == ("unknown", True)


@pytest.mark.parametrize("at", [37.0, 137.0, 5003.0, -777.7])
def test_a_jump_far_out_on_a_slope_is_found(at):
    class Jumps(torch.nn.Module):
        def forward(self, x):
            return torch.where(x > at, x + 1, x)

    found = {each.name: each for each in check(Jumps())}
    assert found["area"].verdict == found["antiderivative"].verdict == "by design"
    assert found["antiderivative"].where == pytest.approx(at)


def test_a_root_and_a_steep_slope_are_not_reported_as_jumps():
    for function in (lambda x: x.abs().sqrt(), lambda x: torch.tanh(300 * x), lambda x: x.float() ** 3):
        sentences = {each.name: each.sentence for each in check(function)}
        assert sentences["area"].startswith("The op does not jump"), sentences["area"]


def test_a_kink_of_a_steep_gradient_far_out_is_not_called_one_sided():
    found = check(lambda x: explorer.apply("ceil", "soft_round", x))
    assert next(each for each in found if each.name == "kinks").verdict == "holds"


def test_a_gradient_in_half_precision_overflows_and_is_no_fault_of_its_formula():
    class Half(Function):
        @staticmethod
        def forward(ctx, x):
            return torch.sign(x)

        @staticmethod
        def backward(ctx, g):
            return 2 * g.half().to(g.dtype)

    by_name = {result.name: result for result in check(Half).failures}
    assert by_name["linear in g"].sentence.startswith("It overflows, as numbers of 16 bits do")
    assert "double backward" not in by_name


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_torchs_own_cast_to_a_short_format_is_by_design(dtype):
    found = check(lambda x: x.to(dtype).to(x.dtype))
    assert not found.failures


def test_the_first_of_several_outputs_is_checked_with_a_remark():
    def round_both(x):
        return x.round(), x.floor()

    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return round_both(x)

        @staticmethod
        def backward(ctx, g, h):
            return g + h

    class Forgets(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x, x.abs().mean()

        @staticmethod
        def backward(ctx, g, h):
            return 2 * g

    (failure,) = check(Forgets).failures
    assert failure.sentence.startswith("Output 2 of forward changes with x, but its upstream gradient never")
    found = check(Two)
    assert not found.failures
    assert "Forward returns 2 outputs: only the first is checked" in found[0].sentence
    assert {each.name for each in found if each.verdict == "unknown"} <= {"devices"}


def test_a_fault_in_a_script_is_quoted_with_its_line():
    code = compile("def fail(ctx, g):\n    raise KeyError('x')\n", "script.py", "exec")
    names = {"__package__": None}
    exec(code, names)
    function = type(
        "Fails",
        (Function,),
        {"forward": staticmethod(lambda ctx, x: x.sign()), "backward": staticmethod(names["fail"])},
    )
    (backward, *_) = check(function)
    assert backward.verdict == "fails"
    assert "script.py:2" in backward.sentence


def test_the_checks_use_a_dtype_in_which_backward_works():
    class Single(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.tanh()

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            if x.dtype == torch.float64:
                raise RuntimeError("float32 alone")
            return g * (1 - x.tanh() ** 2)

    found = {each.name: each.verdict for each in check(Single)}
    assert found["backward"] == found["true derivative"] == "holds"
    assert found["dtype and shape"] == "fails"


def test_numpy_in_forward_does_not_fail_the_dtype_check():
    def run_by_numpy(x):
        values = x.detach().cpu().reshape(-1).numpy()
        return torch.from_numpy(np.sign(values)).to(x).reshape(x.shape)

    found = check(make_function(run_by_numpy, lambda x, g: g))
    assert {each.name: each.verdict for each in found}["dtype and shape"] == "holds"


def test_a_gradient_of_other_elements_is_not_matched_with_the_catalogue():
    found = check_case(bugs.CASES["mean of g taken off"])
    assert found["true derivative"].verdict == "unknown"
    assert "depends on the g of other elements" in found["linear in g"].sentence
    assert not [each for each in found.values() if "the catalogue's" in each.sentence]


def test_nan_at_g_0_is_quoted_with_the_gradient_at_g_1():
    found = check_case(finiteness.CASES["power of g"])["linear in g"]
    assert (found.verdict, "g = 0 gives nan, not 0" in found.sentence) == ("fails", True)
    at, one = (
        float(found.sentence.split(word)[1].split()[0].rstrip(",").replace("−", "-"))
        for word in ("x = ", "gives ")
    )
    assert one == pytest.approx(math.cos(at), rel=1e-2)


def test_assert_rule_fails_if_nothing_could_be_tried():
    with pytest.raises(AssertionError, match="nothing was tried\nbackward: It could not be tried"):
        explorer.assert_rule(lambda x: {"y": "x"})

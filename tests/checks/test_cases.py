"""Functions that people could have written: right ones raise no alarm, each fault is named by its check."""

import math

import numpy as np
import pytest
import torch
from torch.autograd import Function

import explorer
from explorer.checks import check
from explorer.checks.result import format_unequal
from explorer.lessons import MyReLU
from tests.checks.cases import bugs, composed, dtypes, finiteness, literature, mixing, raising
from tests.checks.cases.case import Case, find_results, make_function
from tests.checks.published import PUBLISHED
from tests.selection import take_part

MOST_UNKNOWN = 2
assert literature.CASES is composed.CASES


def check_case(case):
    return find_results(case.function, *case.arguments, **case.options)


@pytest.mark.parametrize("name", raising.CASES | dtypes.CASES | finiteness.CASES)
def test_a_case_gets_the_verdicts_that_are_due(name):
    """Where backward gives no gradient, no other check holds."""
    case = (raising.CASES | dtypes.CASES | finiteness.CASES)[name]
    found = check_case(case)
    assert {each: found[each].verdict for each in case.verdicts} == case.verdicts, found
    assert case.words in found[next(iter(case.verdicts))].sentence
    if name in raising.CASES:
        assert not [each for each in found.values() if each.verdict in ("holds", "by design")]


@pytest.mark.parametrize("name", take_part(mixing.CASES | literature.CASES))
def test_a_correct_function_fails_no_check_and_leaves_few_unknown(name):
    found = check_case((mixing.CASES | literature.CASES)[name])
    assert not [each for each in found.values() if each.verdict == "fails"]
    open_questions = [each for each in found.values() if each.verdict == "unknown" and each.name != "devices"]
    assert len(open_questions) <= MOST_UNKNOWN, open_questions


@pytest.mark.parametrize("name", take_part(bugs.CASES))
def test_a_subtle_bug_fails_one_of_its_checks(name):
    case = bugs.CASES[name]
    failures = [each for each in check_case(case).values() if each.verdict == "fails"]
    assert {each.name for each in failures} & {*case.verdicts}, failures


SENTENCES = [
    (literature.CASES["Bellec"], "area", "by design", "0.3 times the catalogue's Triangle"),
    (literature.CASES["Zenke with beta"], "area", "by design", "k = 100"),
    (literature.CASES["Hinton's sign"], "antiderivative", "by design", "Straight-through"),
    (literature.CASES["EWGS"], "linear in g", "by design", "sign of g"),
    (literature.CASES["DoReFa with its clamp inside"], "antiderivative", "unknown", "mask if it clips"),
    (literature.CASES["PACT quantised"], "parameter gradients", "by design", "PACT"),
    (literature.CASES["VQ module"], "transforms", "by design", ""),
    (Case(torch.fake_quantize_per_tensor_affine, (0.1, 0, -8, 7)), "transforms", "by design", ""),  # lacks it
    (Case(lambda x: x + 0 * x.detach().view(torch.int64)), "autocast", "unknown", "was not tried"),
    (Case(MyReLU), "kinks", "by design", "relu gives 0"),
    (Case(*PUBLISHED["LSQ"]), "parameter gradients", "holds", "autograd"),
    (Case(*PUBLISHED["SinhOnce"]), "double backward", "by design", "once_differentiable"),
    (Case(*PUBLISHED["ExpSavingItsOutput"]), "transforms", "by design", "setup_context"),
    (Case(*PUBLISHED["GradientReversalOfTensor"]), "parameter gradients", "by design", "None"),
    (Case(make_function(torch.square, lambda x, g: g * x)), "true derivative", "unknown", "a factor 2 is"),
    (Case(make_function(lambda x: 3 * x, lambda x, g: g.clamp(-1, 1))), "true derivative", "unknown",
     "a factor 3 is missing"),
    (Case(make_function(lambda x, s: x.sin(), lambda x, g, s: s * g * x.cos()), (0.25,)), "true derivative",
     "by design", "It is 0.25 times"),
    (Case(make_function(lambda x: 3 * x, lambda x, g: (3 * g).clamp(-0.5, 0.5))), "true derivative",
     "by design", "for small g"),
    *((Case(each), "area", "holds", "The op does not jump")
      for each in (lambda x: x.abs().sqrt(), lambda x: torch.tanh(300 * x), lambda x: x.float() ** 3)),
    (raising.CASES["raises"], "backward", "fails", 'raise ValueError("not written yet")'),
    (raising.CASES["raises"], "backward", "fails", "raising.py:"),
    (bugs.GLOBAL, "memory", "fails", "the global x"),
    (bugs.CASES["forgotten step"], "area", "fails", "multiply by 10"),
    (bugs.CASES["PACT learns from below"], "parameter gradients", "fails", "autograd of the forward"),
    (Case(make_function(lambda x: (x + 3.06).sign(), lambda x, g: g * (-x * x).exp())), "antiderivative",
     "fails", "lies around 0: shift it by −3.06"),
    *((Case(make_function(lambda x: 1.0 * (x > 0.4) + (x > 1.2), lambda x, g, a=at: g * (abs(x - a) < 1))),
       "antiderivative", verdict, words) for at, verdict, words in (
        (0.0, "fails", "The op jumps at 0.4 and 1.2, but the gradient lies around 0: shift it by 0.8."),
        (-0.3, "fails", "No gradient lies around the op's jump at 1.2, so"),
        (0.8, "holds", "rises around 0.8, and the op jumps at 0.4 and 1.2."))),
    (finiteness.CASES["pole between samples"], "area", "unknown", "towards x = 0.8,"),
    (finiteness.CASES["pole between samples"], "kinks", "holds", "every kink of op or gradient, such as 1."),
]  # fmt: skip


@pytest.mark.parametrize(("case", "name", "verdict", "words"), SENTENCES)
def test_a_sentence_names_what_was_probably_meant_or_what_is_wrong(case, name, verdict, words):
    found = check_case(case)[name]
    assert (found.verdict, words in found.sentence) == (verdict, True), found


def test_a_domain_bounds_the_x_that_are_tried():
    seen = []

    def take_root(x):
        if x.device.type == "cpu":
            seen.append(x.detach().double().aminmax())
        return x.sqrt()

    root = make_function(take_root, lambda x, g: g / (2 * x.sqrt()))
    for options in ({"domain": (0.25, 1.0)}, {"input": torch.linspace(0.25, 1.0, 64)}):
        seen.clear()
        assert not check(root, **options).failures
        lows, highs = zip(*seen, strict=True)
        assert min(lows) >= 0.24
        assert max(highs) <= 1.01
    for bad in ((1, 0), (0,), (0, 0)):
        with pytest.raises(ValueError, match="two ascending numbers"):
            check(root, domain=bad)


def test_a_factor_is_suggested_only_if_it_repairs_the_area():
    unmendable = check_case(bugs.CASES["mask of x for levels"])
    assert not [each for each in unmendable.values() if "multiply" in each.sentence]


def test_sentences_on_the_sign_of_g_and_on_a_norm_are_true():
    found = find_results(make_function(torch.round, lambda x, g: g.sign()))
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


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
@pytest.mark.parametrize("module", [torch.nn.SiLU(), torch.nn.Linear(4, 3)])
def test_a_scripted_module_is_checked(module):
    found = find_results(torch.jit.script(module), input=torch.randn(5, 4))
    assert found["true derivative"].verdict == "holds"
    assert "fails" not in {each.verdict for each in found.values()}


@pytest.mark.parametrize("at", [37.0, 137.0, 5003.0, -777.7])
def test_a_jump_far_out_on_a_slope_is_found(at):
    found = find_results(lambda x: torch.where(x > at, x + 1, x))
    assert found["area"].verdict == found["antiderivative"].verdict == "by design"
    assert found["antiderivative"].where == pytest.approx(at)


def test_a_kink_of_a_steep_gradient_far_out_is_not_called_one_sided():
    found = find_results(lambda x: explorer.apply("ceil", "soft_round", x))
    assert found["kinks"].verdict == "holds"


def test_a_gradient_in_half_precision_overflows_and_is_no_fault_of_its_formula():
    half = make_function(torch.sign, lambda x, g: 2 * g.half().to(g.dtype))
    by_name = {result.name: result for result in check(half).failures}
    assert by_name["linear in g"].sentence.startswith("It overflows, as numbers of 16 bits do")
    assert "double backward" not in by_name


def test_the_first_of_several_outputs_is_checked_with_a_remark():
    forward = staticmethod(lambda ctx, x: (x.round(), x.floor()))
    two = type("Two", (Function,), {"forward": forward, "backward": staticmethod(lambda ctx, g, h: g + h)})
    forward = staticmethod(lambda ctx, x: (2 * x, x.abs().mean()))
    forgets = type("Forgets", (two,), {"forward": forward, "backward": staticmethod(lambda ctx, g, h: 2 * g)})
    (failure,) = check(forgets).failures
    assert failure.sentence.startswith("Output 2 of forward changes with x, but its upstream gradient never")
    found = check(two)
    assert not found.failures
    assert "Forward returns 2 outputs: only the first is checked" in found[0].sentence
    assert {each.name for each in found if each.verdict == "unknown"} <= {"devices"}


def test_a_fault_in_a_script_is_quoted_with_its_line():
    code = compile("def fail(x, g):\n    raise KeyError('x')\n", "script.py", "exec")
    names = {"__package__": None}
    exec(code, names)
    backward, *_ = check(make_function(torch.sign, names["fail"]))
    assert backward.verdict == "fails"
    assert "script.py:2" in backward.sentence


def test_the_checks_use_a_dtype_in_which_backward_works():
    def pull(x, g):
        if x.dtype == torch.float64:
            raise RuntimeError("float32 alone")
        return g * (1 - x.tanh() ** 2)

    found = {each.name: each.verdict for each in check(make_function(torch.tanh, pull))}
    assert found["backward"] == found["true derivative"] == "holds"
    assert found["dtype and shape"] == "fails"


def test_numpy_in_forward_does_not_fail_the_checks_of_dtype_and_device():
    def run_by_numpy(x):
        return torch.from_numpy(np.sign(x.detach().cpu().reshape(-1).numpy())).to(x).reshape(x.shape)

    found = find_results(make_function(run_by_numpy, lambda x, g: g))
    assert found["dtype and shape"].verdict == "holds"
    assert found["devices"].verdict == "holds" or "It copies x to the CPU" in found["devices"].sentence


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

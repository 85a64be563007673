"""Parameter bugs that libraries released, pasted: each is named, by the reader or by the check."""

import inspect

import pytest
import torch

from explorer.catalogue import find_op, find_rule
from explorer.checks import check_pair
from explorer.gradient import apply
from explorer.reading import Reading, read_sources
from tests.checks import doubles, published
from tests.reading.learned import PUBLISHED


def pasted(*names: str) -> Reading:
    """The reading of a double, whose bases are pasted with it."""
    source = "\n\n".join(inspect.getsource(getattr(doubles, name)) for name in ("Style", *names))
    return next(one for one in read_sources(source) if one.name == names[-1])


def said(reading: Reading, **parameters: float) -> tuple[str, str]:
    """The verdict and the sentence on the gradients of its parameters."""
    assert reading.problem is None, reading.problem
    results = {one.name: one for one in check_pair(reading.op, reading.rule, parameters)}
    result = results["parameter gradients"]
    return result.verdict, result.sentence


LEVELS = {"s": 0.3, "low": -4.0, "high": 3.0}
BUGS = {
    "mean for sum": (("PReLUWithMean",), {"w": 0.25}, "sum over them, do not average"),
    "mean for sum, wherever w starts": (("PReLUWithMean",), {}, "sum over them, do not average"),
    "part left out": (("LSQ", "LSQFromSaturatedOnly"), LEVELS, "a part is missing"),
    "branch on y": (("PReLUByY",), {}, "At w = −1: w gets"),
    "branch on y at a negative slope": (
        ("PReLUByY",), {"w": -0.5}, "a part is missing, or in the wrong place",
    ),
    "sign": (
        ("PReLUWithMean", "PReLUOfWrongSign"), {"w": 0.25}, "w gets −1 times what is due: turn the sign",
    ),
    "wrong order": (("GradientsInWrongOrder",), {"a": 0.5, "b": 2.0}, "a gets"),
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_in_a_parameter_s_gradient_is_named_when_it_is_pasted(bug: str) -> None:
    names, parameters, sentence = BUGS[bug]
    verdict, words = said(pasted(*names), **parameters)
    assert verdict == "fails", words
    assert sentence in words


def test_a_mean_is_read_as_the_mean_it_is() -> None:
    assert pasted("PReLUWithMean").rule.endswith("w: (1 / N) * sum(where(x > 0, 0, g * x))")


def test_the_wrong_shape_is_named() -> None:
    (note,) = pasted("LSQ", "LSQOfWrongShape").notes
    assert note == (
        "the gradient for s has shape (): torch raises an error where s has another, such as (1,); "
        ".reshape(s.shape) suits both"
    )
    assert pasted("LSQ").notes == ()


def test_one_value_for_two_is_named() -> None:
    assert pasted("OneValueForTwo").notes == (
        "backward returns 1 gradient for 2 inputs: torch raises an error",
    )


def test_none_for_a_tensor_that_y_depends_on_is_named() -> None:
    note = "backward returns None for w, a tensor that y depends on: it never learns"
    assert pasted("PReLUWithMean", "PReLUWithNone").notes == (note,)


@pytest.mark.parametrize("name", ["LSQ"])
def test_correct_code_passes_when_pasted(name: str) -> None:
    assert said(pasted(name), **LEVELS)[0] == "holds"


@pytest.mark.parametrize("sample", PUBLISHED, ids=lambda sample: sample.name)
def test_no_published_function_is_reported_as_wrong(sample: object) -> None:
    """Whatever values its parameters have, those it begins with too."""
    (reading,) = read_sources(sample.source)  # type: ignore[attr-defined]
    values = {
        sample.names.get(name, name): float(str(value).split()[-1])  # type: ignore[attr-defined]
        for name, value in sample.arguments.items()  # type: ignore[attr-defined]
        if name != "per_channel"
    }
    for parameters in ({}, values):
        verdict, words = said(reading, **parameters)
        assert verdict != "fails", words


def _taught() -> dict[str, tuple[type[torch.autograd.Function], tuple[object, ...]]]:
    """The Functions of the checks' tests that teach a tensor, right and wrong ones."""
    result = {}
    for module, held in ((doubles, doubles.DOUBLES), (published, published.PUBLISHED)):
        for name, (function, arguments, *_) in held.items():
            learns = any(isinstance(one, torch.Tensor) and one.requires_grad for one in arguments)
            if learns and inspect.isclass(function) and issubclass(function, torch.autograd.Function):
                result[f"{module.__name__} {name}"] = function, arguments
    return result


def _source(function: type) -> str:
    """A class below its bases."""
    classes = [base for base in function.__mro__[::-1] if base.__module__.startswith("tests.")]
    return "\n\n".join(map(inspect.getsource, classes))


TAUGHT = _taught()


@pytest.mark.parametrize("double", TAUGHT)
def test_right_or_wrong_it_is_read_as_what_torch_runs(double: str) -> None:
    """Where anything is read of what a parameter gets, that is what it gets; where not, it is said."""
    function, arguments = TAUGHT[double]
    reading = read_sources(_source(function))[-1]
    if reading.problem:
        assert "line" in reading.problem.message
        return
    op, rule = find_op(reading.op), find_rule(reading.rule)
    takes = [*inspect.signature(function.forward).parameters]
    given = dict(zip(takes[len(takes) - len(arguments) :], arguments, strict=True))
    tensors = {n: one for n, one in given.items() if isinstance(one, torch.Tensor)}
    if any(one.numel() > 1 for one in tensors.values()):
        return
    learned = {one.name for one in rule.learned}
    single = {n: one.detach().double().flatten()[:1] for n, one in tensors.items()}
    theirs = {n: one.clone().requires_grad_() for n, one in single.items()}
    mine = {n: one.clone().requires_grad_(n in learned) for n, one in single.items()}
    x = torch.cat([torch.linspace(-3, 3, 61), torch.tensor([0.3, -1.2, 0.9, 0.0])]).double()
    g = torch.sin(torch.arange(len(x))).double()
    try:
        function.apply(x, *{**given, **theirs}.values()).backward(g)
    except RuntimeError:
        assert "torch raises an error" in " ".join(reading.notes)
        return
    known = {p.name for p in (*op.parameters, *rule.parameters)}
    apply(
        op, rule, x.requires_grad_(), **{n: one for n, one in {**given, **mine}.items() if n in known}
    ).backward(g)
    for name in tensors:
        if name in learned:
            torch.testing.assert_close(mine[name].grad, theirs[name].grad, rtol=1e-12, atol=1e-12)
        else:
            assert theirs[name].grad is None or any(name in note for note in reading.notes)

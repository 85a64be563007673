"""Parameter bugs that libraries released, pasted: each is named, by the reader or by the check."""

import inspect

import pytest

from explorer.checks import check_pair
from explorer.reading import Reading, read_sources
from tests.checks import doubles


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


BUGS = {
    "mean for sum": (("PReLUWithMean",), {"w": 0.25}, "sum over them, do not average"),
    "mean for sum, wherever w starts": (("PReLUWithMean",), {}, "sum over them, do not average"),
    "branch on y": (("PReLUWithMean", "PReLUByY"), {}, "At w = −1: w gets"),
    "branch on y at a negative slope": (
        ("PReLUWithMean", "PReLUByY"), {"w": -0.5}, "a part is missing, or in the wrong place",
    ),
    "wrong order": (("GradientsInWrongOrder",), {"a": 0.5, "b": 2.0}, "a gets"),
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_in_a_parameter_s_gradient_is_named_when_it_is_pasted(bug: str) -> None:
    names, parameters, sentence = BUGS[bug]
    verdict, words = said(pasted(*names), **parameters)
    assert verdict == "fails", words
    assert sentence in words


def test_correct_code_passes_when_pasted() -> None:
    assert said(pasted("LSQ"), s=0.3, low=-4.0, high=3.0)[0] == "holds"

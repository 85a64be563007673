"""Functions that are no formula, wherever a key is taken: their values, their kinks, and what is refused."""

import functools
import time
import warnings

import numpy as np
import pytest
import torch
from torch import nn

import explorer
import explorer.curves.user_functions.entries
from explorer.curves.user_functions.entries import UserOp
from explorer.lessons import ClampGradient, MyReLU, RoundGradient
from explorer.snippets import jax_snippet
from tests.checks.cases.case import make_function
from tests.selection import loop_over, take_part

# A function, and the pair of the catalogue that computes the same.
SAME = {
    "a function of torch": (torch.round, "round", "default"),
    "a module": (nn.ReLU(), "relu", "default"),
    "a module with settings": (nn.Hardtanh(-0.5, 2), "formula: hardtanh(x, -0.5, 2)", "default"),
    "a module with weights of a shape": (nn.PReLU(3, 0.25), "formula: where(x > 0, x, x / 4)", "default"),
    "a Function": (RoundGradient, "round", "straight_through"),
    "its apply": (RoundGradient.apply, "round", "straight_through"),
    "a published Function": (ClampGradient, "clamp", "published_clamp"),
    "a lambda": (lambda x: x.sigmoid() * x, "silu", "default"),
    "a partial": (functools.partial(torch.clamp, min=0, max=1), "clamp", "default"),
    "what has no gradient": (lambda x: (x > 0).float(), "formula: 1 * (x > 0)", "zero"),
    "what gives conditions": (lambda x: x > 0, "formula: 1 * (x > 0)", "zero"),
    "what refuses float64": (lambda x: _single(x).tanh(), "tanh", "default"),
}


def _single(x):
    if x.dtype == torch.float64:
        raise RuntimeError("expected float32")
    return x


@loop_over(
    ("function", "op", "rule", "g"),
    [(*same, 1.0) for same in SAME.values()] + take_part([(*same, -2.5) for same in SAME.values()]),
)
def test_a_function_is_sampled_as_the_pair_that_computes_the_same(function, op, rule, g):
    own = explorer.sample(function, "default", g=g)
    both = explorer.sample(op, [rule, function], g=g)
    expected = explorer.sample(op, rule, g=g)
    found = np.isin(expected["x"], own["x"])  # kinks, and the floats beside them
    assert found.all() or (function, g) == (ClampGradient, 1), "a corner is found where backward jumps"
    for frame in (own, both[both["rule"] != rule]):
        (mine, *_), values = frame["rule"], frame.set_index("x").reindex(expected["x"])
        assert mine == "default" or mine.startswith("sampled: ")
        columns = ["gradient"] if mine.startswith("sampled: ") else ["y", "gradient"]
        for name in columns:
            one, other = values[name].to_numpy()[found], expected[name].to_numpy()[found]
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6, err_msg=name)
    assert own["x"].dtype == np.float32


def test_y_in_a_rule_is_that_of_the_function():
    frame = explorer.sample(torch.tanh, ["default", "formula: g * (1 - y**2)"])
    one, other = (rows["gradient"].to_numpy() for _, rows in frame.groupby("rule", sort=False))
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_functions_with_the_same_name_get_different_labels():
    twice = nn.Tanh()
    frame = explorer.sample("sign", [lambda x: x.tanh(), lambda x: x.atan(), twice, twice])
    assert list(frame["rule"].unique()) == ["sampled: lambda", "sampled: lambda 2", "sampled: Tanh()"]
    names = [trace.name for trace in explorer.figure(frame).data if trace.meta]
    assert names == ["Sign", "lambda", "lambda 2", "Tanh()"]


def test_the_parameters_of_a_module_stay_as_they_were_when_it_was_sampled():
    module = nn.PReLU(init=0.25)
    frame = explorer.sample(module, "default")
    before = explorer.describe(frame)
    module.weight.data.fill_(-3.0)
    assert explorer.describe(frame) == before
    assert module.weight.grad is None


def test_a_sampled_function_is_described_only_for_the_plotted_range():
    words = explorer.describe(explorer.sample(RoundGradient, ["default", "zero"]))
    assert "RoundGradient is flat almost everywhere in this picture." in words
    assert "Zero: the gradient is 0 everywhere" in words
    assert "sampled" in repr(explorer.curves.user_functions.entries.resolve_op(RoundGradient))


def test_the_nearest_rules_of_a_function_are_found():
    assert explorer.nearest("clamp", ClampGradient)[0].rule == "published_clamp"
    assert explorer.nearest(MyReLU, "default")[0].distance < 1e-7


def raise_error(x, g):
    raise RuntimeError("no way back.")


REFUSED = {
    "it is not elementwise: y at one x depends on the other elements": lambda x: x.softmax(0),
    r"it is not elementwise: x of shape \(64,\) gives y of shape \(\)": lambda x: x.sum(),
    "it is not elementwise: the gradient at one x depends on the other elements": make_function(
        torch.clone, lambda x, g: g.mean().expand_as(g) * torch.arange(len(g))
    ),
    "it is random: two calls with the same x give different y": torch.rand_like,
    "its backward is random: it returns two different gradients for the same x and g": make_function(
        torch.clone, lambda x, g: g * torch.rand_like(g)
    ),
    "it raises ZeroDivisionError: integer division or modulo by zero": lambda x: x * (1 // 0),
    "its backward raises RuntimeError: no way back": make_function(torch.clone, raise_error),
    "its backward returns None for x": make_function(torch.clone, lambda x, g: None),
    "it returns a ndarray, not a tensor": lambda x: x.detach().numpy(),
    "it returns complex numbers": lambda x: x + 1j,
    "it raises TypeError: .*softmax": torch.softmax,
}


@pytest.mark.parametrize(("words", "function"), REFUSED.items(), ids=[words[:50] for words in REFUSED])
def test_a_function_that_cannot_be_sampled_is_refused_with_the_reason(words, function):
    calls = (
        lambda: explorer.sample(function, "default"), lambda: explorer.sample("round", ["zero", function]),
        lambda: explorer.nearest("round", function), lambda: explorer.instrument(function, "default"),
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in calls:
            with pytest.raises(ValueError, match=f"cannot be sampled: {words}"):
                call()


DEPENDENT = {
    "the standard deviation": lambda x, g: g * (x.abs() <= 2 * x.std()),
    "the largest x": lambda x, g: g * (x.abs() < 0.9 * x.abs().max()),
    "the median": lambda x, g: g * (x.abs() <= x.abs().median()),
    "the place": lambda x, g: g * (torch.arange(g.numel()) % 2),
    "the first place": lambda x, g: torch.cat([g[:1] * 0, g[1:]]),
    "the mean of g": lambda x, g: g - g.mean(),
    "a mask by the mean of g": lambda x, g: g * (x > g.mean()),
    "the largest g": lambda x, g: g * (g.abs() < g.abs().max()),
    "the norm of g": lambda x, g: g / g.norm().clamp_min(1),
}


@pytest.mark.parametrize("what", DEPENDENT)
def test_a_gradient_that_depends_on_other_elements_is_not_sampled(what):
    with pytest.raises(ValueError, match="the gradient at one x depends on the other elements"):
        explorer.sample("round", make_function(torch.round, DEPENDENT[what]))


def test_a_function_that_hangs_is_refused(monkeypatch):
    monkeypatch.setattr(explorer.curves.user_functions.entries, "TIME_LIMIT_S", 0.05)

    def slow(x):
        time.sleep(0.5)
        return x

    with pytest.raises(ValueError, match=r"^'slow' cannot be sampled: it did not return within 0\.15 s"):
        explorer.sample(slow, "default")


@pytest.mark.parametrize("value", [None, 3, [torch.round], "rounf"])
def test_a_value_that_is_not_a_function_is_an_unknown_key(value):
    with pytest.raises(ValueError, match="unknown op"):
        explorer.sample(value, "default")


def test_a_function_has_no_code_and_its_parameters_do_not_learn():
    op = explorer.sample(torch.round, "default").attrs["curves"].op
    assert isinstance(op, UserOp)
    for write in (explorer.snippet, jax_snippet):
        with pytest.raises(ValueError, match="round is not a formula"):
            write(op, "straight_through")
    assert op.parsed.latex == r"\mathrm{round}\left(x\right)"
    with pytest.raises(ValueError, match=r"unknown parameter 's': .* takes no parameters"):
        explorer.sample(torch.round, "default", s=1)
    with pytest.raises(ValueError, match="has no such parameter"):
        explorer.sample(torch.round, "default", learns="s")


def test_functions_can_be_sampled_together_with_rules_that_have_parameters():
    frame = explorer.sample("clamp", [ClampGradient, "masked"], lo=-1, hi=2)
    masked = frame[frame["rule"] == "masked"]
    assert masked.loc[masked["gradient"] > 0, "x"].agg(["min", "max"]).tolist() == [-1, 2]

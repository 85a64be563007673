"""Modules of layers, parameters and buffers around a Function: no false alarm, and reasons that are true."""

import pytest
import torch
from torch import nn

from explorer.checks import check
from explorer.checks.lines import make_lines
from explorer.curves.user_functions.curve import Curve
from explorer.curves.user_functions.subject import prepare_function
from explorer.lessons import RoundGradient
from tests.checks.cases.case import find_results, make_function

SPIKE = make_function(lambda x: (x > 0).to(x.dtype), lambda x, g: g / (25 * x.abs() + 1) ** 2)


class Apply(nn.Module):
    """Applies a Function, to x times a parameter for each channel if ``channels`` is given."""

    def __init__(self, function, channels=0):
        super().__init__()
        self.function = function
        if channels:
            self.gain = nn.Parameter(torch.ones(channels, 1, 1))

    def forward(self, x):
        return self.function.apply(x * self.gain if hasattr(self, "gain") else x)


class Observed(nn.Module):
    """Rounds to 127 steps of the largest value seen, which a buffer keeps, as observers of quantisers do."""

    def __init__(self):
        super().__init__()
        self.register_buffer("largest", torch.tensor(1.0))

    def forward(self, x):
        self.largest.copy_(0.9 * self.largest + 0.1 * x.detach().abs().max())
        return RoundGradient.apply(x / self.largest * 127) * self.largest / 127


def test_a_function_behind_a_layer_of_another_width_is_checked(choose_checks):
    choose_checks("backward", "dtype and shape", "kinks", "linear in g")
    results = check(nn.Sequential(nn.Linear(3, 4), Apply(RoundGradient)))
    assert {each.verdict for each in results} == {"holds"}, results


def test_a_parameter_in_front_of_a_surrogate_raises_no_alarm(choose_checks):
    choose_checks("parameter gradients")
    (result,) = check(Apply(SPIKE, channels=2), input=torch.randn(3, 2, 4, 4))
    assert result.verdict == "by design"
    assert "chain rule" in result.sentence


@pytest.mark.parametrize("make", [Observed, lambda: nn.BatchNorm1d(3)])
def test_a_buffer_that_forward_changes_is_named_as_the_reason(make, choose_checks):
    choose_checks("true derivative", "kinks", "double backward", "transforms")
    results = find_results(make())
    assert "unknown" not in {each.verdict for each in results.values()}, results
    assert results["transforms"].verdict == "by design"
    assert "in place" in results["transforms"].sentence


def test_batch_norm_may_refuse_other_numbers_of_dimensions(choose_checks):
    choose_checks("dtype and shape")
    (result,) = check(nn.BatchNorm1d(3).eval())
    assert result.verdict == "holds"


def test_vmap_of_a_random_module_is_told_about_randomness(choose_checks):
    choose_checks("transforms")
    assert "randomness=" in check(nn.Dropout(0.3))[0].sentence


def test_rounding_in_float32_alone_is_level_between_its_jumps(choose_checks):
    def round_single(x):
        if x.dtype != torch.float32:
            raise TypeError("only float32")
        return x.round()

    choose_checks("true derivative")
    (result,) = check(make_function(round_single, lambda x, g: g))
    assert result.verdict == "by design"
    assert "level between its jumps" in result.sentence


def test_integers_and_classes_of_modules_are_refused_with_advice(choose_checks):
    choose_checks("kinks")
    assert "pass ReLU(), not the class" in check(nn.ReLU)[0].sentence
    with pytest.raises(ValueError, match="int64 has no gradient"):
        check(nn.Embedding(5, 4), input=torch.arange(3))


@pytest.mark.parametrize(
    ("module", "is_independent"),
    [
        (nn.Sequential(nn.Linear(3, 4), Apply(SPIKE)), True),
        (nn.BatchNorm1d(3), False),
        (nn.Softmax(0), False),
    ],
)
def test_positions_on_a_line_share_a_call_only_if_rows_are_independent(module, is_independent):
    line = make_lines(Curve(prepare_function(module, (), {})))[0]
    together, alone = line.subject.y(line.x), [line.subject.y(t[None]) for t in line.x]
    assert line.stacks is is_independent
    torch.testing.assert_close(together, torch.cat(alone))


@pytest.mark.parametrize("seed", [0, 7, 14])
def test_the_many_kinks_of_a_net_are_no_wrong_derivative(seed, choose_checks):
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(3, 256), nn.ReLU(), nn.Linear(256, 4))
    choose_checks("true derivative")
    (result,) = check(net)
    assert result.verdict in ("holds", "unknown"), result

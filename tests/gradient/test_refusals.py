import math

import pytest
import torch

from explorer.formula import FormulaError
from explorer.gradient import apply, bind
from tests.catalogue.fixed import OPS, RULES
from tests.gradient.gradient_cases import compute_gradient


def test_op_and_rule_share_a_parameter_of_the_same_name():
    x = torch.tensor([-0.9, 0.5, 1.5])
    assert compute_gradient("hardtanh", "masked", x).tolist() == [1, 1, 0]
    assert compute_gradient("hardtanh", "masked", x, lo=0.0, hi=2.0).tolist() == [0, 1, 1]
    assert apply("hardtanh", "masked", x, lo=0.0, hi=2.0).tolist() == [0, 0.5, 1.5]


def test_a_parameter_may_be_given_to_the_rule_by_its_full_name():
    x = torch.tensor([0.5, 1.5])
    assert compute_gradient("round", "clipped", x, **{"clipped.c": 2.0}).tolist() == [1, 1]
    assert compute_gradient("round", "clipped", x, **{"clipped.c": 2.0, "c": 1.0}).tolist() == [1, 1]


def test_own_formulas_take_parameters():
    x = torch.tensor([2.0])
    assert apply("formula: k*x", "formula: k*m*g", x, k=3).item() == 6
    assert compute_gradient("formula: k*x", "formula: k*m*g", x, g=2, k=3, m=5).item() == 30


def test_records_are_accepted_in_place_of_keys():
    x = torch.tensor([0.5, 1.5])
    found = compute_gradient(OPS["round"], RULES["clipped"], x).tolist()
    assert found == compute_gradient("round", "clipped", x).tolist()
    bound = bind("round", "clipped", {"c": 2.0, "unheard_of": 1.0})
    assert torch.func.grad(lambda x: bound(x).sum())(x).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("arguments", "parameters", "sentence"),
    [
        (("rond", "masked"), {}, "unknown op 'rond': did you mean 'round'"),
        (("round", "ste"), {}, "unknown rule 'ste': did you mean 'straight_through'"),
        (("round", "masked"), {"c": 1}, "unknown parameter 'c': round with masked takes hi, lo"),
        (("round", "zero"), {"c": 1}, "unknown parameter 'c': round with zero takes no parameters"),
        (("round", "masked"), {"clipped.c": 1}, "unknown parameter 'clipped.c'"),
        (("round", RULES["masked"]), {"low": 1.0}, "unknown parameter 'low'"),
        (("clamp", "masked"), {"lo": math.nan}, "parameter lo must be a finite number, not nan"),
        (("clamp", "masked"), {"hi": math.inf}, "parameter hi must be a finite number, not inf"),
        (("round", "masked"), {"masked.hi": -math.inf}, "parameter masked.hi must be a finite number"),
    ],
)
def test_invalid_arguments_are_refused_with_a_sentence(arguments, parameters, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        apply(*arguments, torch.ones(1), **parameters)
    keys = [repr(getattr(entry, "key", entry)) for entry in arguments]
    assert str(caught.value).startswith(f"apply({', '.join(keys)}): ")


@pytest.mark.parametrize(
    ("op", "rule", "text", "column"),
    [("formula: x +* 2", "masked", "x +* 2", 4), ("round", "formula: g * q(x)", "g * q(x)", 5)],
)
def test_an_error_in_a_formula_points_at_its_place(op, rule, text, column):
    with pytest.raises(FormulaError) as caught:
        apply(op, rule, torch.ones(1))
    first, *place = str(caught.value).split("\n")
    assert first.startswith(f"apply('{op}', '{rule}'): ")
    assert (place, caught.value.column) == ([text, " " * (column - 1) + "^"], column)


@pytest.mark.parametrize(
    ("x", "kind"),
    [
        (torch.tensor([1, 2]), "torch.int64"), (torch.tensor([True]), "torch.bool"),
        (torch.tensor([1j]), "torch.complex64"), (1.5, "float"), ([1.5], "list"),
    ],
    ids=["integers", "booleans", "complex", "number", "list"],
)  # fmt: skip
def test_x_must_be_a_floating_tensor(x, kind):
    words = rf"apply\('round', 'straight_through'\): x must be a floating tensor, got {kind}: use "
    with pytest.raises(TypeError, match=words):
        apply("round", "straight_through", x)

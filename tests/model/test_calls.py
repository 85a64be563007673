"""The functions of torch that compute ops of the catalogue, with their arguments."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional

from explorer.catalogue import OPS
from explorer.model.tape.calls import CALLS, op_key_of, parameters_of

x_grid = torch.linspace(-3, 3, 121)


@pytest.mark.parametrize("function", CALLS, ids=lambda f: getattr(f, "__qualname__", str(f)))
def test_a_function_of_torch_computes_the_op_it_is_listed_for(function):
    call = CALLS[function]
    numbers = {"min": -0.5, "max": 0.75, "min_val": -0.5, "max_val": 0.75}
    numbers |= {"scale": 0.25, "zero_point": 0, "quant_min": -4, "quant_max": 3}
    keywords = {name: numbers.get(name, 0.3) for name in call.keywords} if call.op else {"exponent": 3}
    if call.op == "prelu":
        keywords = {"weight": torch.tensor([0.3])}
    try:
        y = function(x_grid.clone(), **keywords)
    except TypeError:  # a builtin that takes positions alone
        y = function(x_grid.clone(), *keywords.values())
    key = op_key_of(call, (x_grid,), keywords)
    expected = OPS[key].parsed.bind(parameters_of(call, (x_grid,), keywords))(x_grid)
    torch.testing.assert_close(y, expected, equal_nan=True)
    positional = parameters_of(call, (x_grid, *keywords.values()), {})
    assert positional == parameters_of(call, (x_grid,), keywords)


def test_omitted_arguments_have_torchs_defaults():
    for name in ("hardtanh", "leaky_relu", "elu", "celu", "softshrink"):
        function = getattr(functional, name)
        op = OPS[CALLS[function].op]
        defaults = {p.name: p.default for p in op.parameters} | parameters_of(CALLS[function], (x_grid,), {})
        torch.testing.assert_close(function(x_grid.clone()), op.parsed.bind(defaults)(x_grid))
    assert parameters_of(CALLS[torch.clamp], (x_grid,), {"min": 0}) == {"lo": 0, "hi": math.inf}

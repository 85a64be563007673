"""What a pasted Function teaches its parameters, against the Function itself as torch runs it."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from explorer.catalogue import contribution, find_op, find_rule
from explorer.gradient import apply
from explorer.reading import read_source, read_sources
from tests.reading.learned import PUBLISHED, REFUSED, REFUSED_LINE, Published
from tests.reading.samples import function

SHAPES = [(1,), (37,), (6, 5), (2, 3, 4)]


def executed(source: str) -> Any:
    namespace: dict[str, Any] = {"torch": torch, "math": math}
    exec(source, namespace)
    return namespace["Fn"]


def arguments(sample: Published, shape: tuple[int, ...] = (1,)) -> dict[str, Any]:
    """What the Function is called with behind x: tensors of a shape learn."""
    return {
        name: torch.full(shape, float(value.split()[1]), dtype=torch.float64, requires_grad=True)
        if isinstance(value, str)
        else value
        for name, value in sample.arguments.items()
    }


def given(sample: Published, values: dict[str, Any]) -> dict[str, Any]:
    """The same by the names of what was read; what no formula names is left out."""
    op, rule = map_records(read_source(sample.source))
    known = {p.name for p in (*op.parameters, *rule.parameters)}
    named = {sample.names.get(name, name): value for name, value in values.items()}
    return {name: value for name, value in named.items() if name in known}


def map_records(keys: tuple[str, str]) -> tuple[Any, Any]:
    return find_op(keys[0]), find_rule(keys[1])


def spread(sample: Published, size: int) -> Tensor:
    """The kinks, their neighbours and random x; float64."""
    kinks = torch.tensor(sample.kinks, dtype=torch.float64)
    beside = torch.cat([kinks, torch.nextafter(kinks, kinks + 1), torch.nextafter(kinks, kinks - 1)])
    random = 2 * torch.randn(max(size, 400), dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    return torch.cat([beside, random])[:size] if size else torch.cat([beside, random])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("sample", PUBLISHED, ids=lambda sample: sample.name)
def test_what_learns_gets_what_the_code_gives_it(sample: Published, shape: tuple[int, ...]) -> None:
    keys = read_source(sample.source)
    values, own = arguments(sample), arguments(sample)
    x = spread(sample, math.prod(shape)).reshape(shape)
    g = torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    leaf, mine = x.clone().requires_grad_(), x.clone().requires_grad_()
    y = executed(sample.source).apply(leaf, *values.values())
    y.backward(g)
    found = apply(*keys, mine, **given(sample, own))
    found.backward(g)
    torch.testing.assert_close(found, y, rtol=1e-12, atol=0)
    torch.testing.assert_close(mine.grad, leaf.grad, rtol=1e-12, atol=0)
    learned = {name for name, value in values.items() if isinstance(value, Tensor)}
    assert learned == set(sample.learns)
    for name in learned:
        torch.testing.assert_close(own[name].grad, values[name].grad, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("sample", PUBLISHED, ids=lambda sample: sample.name)
def test_each_element_contributes_what_it_does_in_the_code(sample: Published) -> None:
    """With a gradient for one element at a time: at kinks, beside them and at random x."""
    op, rule = map_records(read_source(sample.source))
    x = spread(sample, 0)[:60]
    fn, values = executed(sample.source), arguments(sample)
    numbers = {name: float(torch.as_tensor(value).detach()) for name, value in given(sample, values).items()}
    g = torch.linspace(-2, 3, len(x), dtype=torch.float64)
    for name in sample.learns:
        found = contribution(op, rule, name)
        assert found.origin == "rule"
        y = fn.apply(x, *values.values())
        mine = found.formula.bind(numbers)(x, y.detach(), g) * found.factor(numbers, len(x))
        for place, part in enumerate(mine):
            one = torch.zeros_like(g)
            one[place] = g[place]
            (due,) = torch.autograd.grad(fn.apply(x, *values.values()), values[name], one)
            torch.testing.assert_close(part, due.reshape(()), rtol=1e-12, atol=0)


def test_what_is_read_stays_readable() -> None:
    rules = {sample.name: find_rule(read_source(sample.source)[1]) for sample in PUBLISHED}
    parts = {name: {one.name: (one.formula, one.scale) for one in rule.learned} for name, rule in rules.items()}
    assert parts["pact"] == {"alpha": ("g * (x >= alpha)", None)}
    assert parts["bounds_by_masks_in_place"] == {
        "lo": ("where(x >= lo, 0, g)", None), "hi": ("where(x <= hi, 0, g)", None),
    }  # fmt: skip
    assert parts["lsq_with_its_own_scale"]["s"][1] == "1 / sqrt(N * high)"
    assert parts["prelu_where_it_is_needed"] == {"w": ("g * clamp_max(x, 0)", None)}


def test_the_one_that_multiplies_matrices_is_left_out_with_its_line() -> None:
    keys = read_source(REFUSED)
    assert find_rule(keys[1]).learned == ()
    (note,) = keys.notes
    assert f"line {REFUSED_LINE}: torch.einsum('nc,nc->c', grad_output, error) multiplies matrices" in note
    assert "gradient for s, which is left out" in note

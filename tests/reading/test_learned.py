"""The gradients of a pasted Function for its parameters, against the Function itself as torch runs it."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from explorer.catalogue import find_op, find_rule
from explorer.gradient import apply
from explorer.reading import ReadingError, read_source
from explorer.reading.definitions import COMPOSED
from tests.reading.learned import PUBLISHED, Published
from tests.reading.sample import function

SHAPES = [(1,), (37,), (6, 5), (2, 3, 4)]


def executed(source: str) -> Any:
    namespace: dict[str, Any] = {"torch": torch, "math": math}
    exec(source, namespace)
    return namespace["Fn"]


def arguments(sample: Published, shape: tuple[int, ...] = (1,)) -> dict[str, Any]:
    """The arguments of the Function behind x: tensors of a shape learn."""
    return {
        name: torch.full(shape, float(value.split()[1]), dtype=torch.float64, requires_grad=True)
        if isinstance(value, str)
        else value
        for name, value in sample.arguments.items()
    }


def given(sample: Published, values: dict[str, Any]) -> dict[str, Any]:
    """The same by the names of what was read; what no formula names is left out."""
    op, rule = read_source(sample.source)
    known = {p.name for p in (*find_op(op).parameters, *find_rule(rule).parameters)}
    named = {sample.names.get(name, name): value for name, value in values.items()}
    return {name: value for name, value in named.items() if name in known}


def spread(sample: Published, size: int) -> Tensor:
    """The kinks, their neighbours and random x; float64."""
    kinks = torch.tensor(sample.kinks, dtype=torch.float64)
    beside = torch.cat([kinks, torch.nextafter(kinks, kinks + 1), torch.nextafter(kinks, kinks - 1)])
    random = 2 * torch.randn(max(size, 400), dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    return torch.cat([beside, random])[:size]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("sample", PUBLISHED, ids=lambda sample: sample.name)
def test_parameters_get_the_gradients_of_the_pasted_code(sample: Published, shape: tuple[int, ...]) -> None:
    keys = read_source(sample.source)
    values, own = arguments(sample), arguments(sample)
    x = spread(sample, math.prod(shape)).reshape(shape)
    g = torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    leaf, mine = x.clone().requires_grad_(), x.clone().requires_grad_()
    y = executed(sample.source).apply(leaf, *values.values())
    y.backward(g)
    result = apply(*keys, mine, **given(sample, own))
    result.backward(g)
    torch.testing.assert_close(result, y, rtol=1e-12, atol=0)
    torch.testing.assert_close(mine.grad, leaf.grad, rtol=1e-12, atol=0)
    for name in [name for name, value in values.items() if isinstance(value, Tensor)]:
        torch.testing.assert_close(own[name].grad, values[name].grad, rtol=1e-12, atol=1e-14)


def test_learned_parts_of_published_code_are_read_as_short_formulas() -> None:
    rules = {sample.name: find_rule(read_source(sample.source)[1]) for sample in PUBLISHED}
    parts = {name: {p.name: (p.formula, p.scale) for p in rule.learned} for name, rule in rules.items()}
    assert parts["pact"] == {"alpha": ("g * (x >= alpha)", None)}
    assert parts["bounds_by_masks_in_place"] == {
        "lo": ("where(x >= lo, 0, g)", None), "hi": ("where(x <= hi, 0, g)", None),
    }  # fmt: skip
    assert parts["lsq_with_its_own_scale"]["s"][1] == "1 / sqrt(N * high)"
    assert parts["prelu_where_it_is_needed"] == {"w": ("g * clamp_max(x, 0)", None)}


def source_of(backward: str, takes: str = "ctx, x, s") -> str:
    """Return a Function of x and s with a mask m of x; `backward` is its body or the gradient for s."""
    start = "x, s = ctx.saved_tensors\nm = (x > s).float()\ng = grad_output\n"
    body = backward if "return" in backward else f"return g * s, {backward}"
    return function("ctx.save_for_backward(x, s)\nreturn x * s", start + body, takes=takes)


def parts_of(*text: str) -> tuple[dict[str, tuple[str, str | None]], tuple[str, ...]]:
    """Return the parameters that learn in such a Function, and the notes."""
    keys = read_source(source_of(*text))
    return {one.name: (one.formula, one.scale) for one in find_rule(keys[1]).learned}, keys.notes


SUMS = {
    "(g * x).sum().view(-1)": ("g * x", None),
    "torch.sum(input=g * x, dtype=torch.float64).reshape(s.shape)": ("g * x", None),
    "torch.tensor([(g * x).sum()])": ("g * x", None),
    "(g * x).flatten().sum().unsqueeze(dim=0).to(s.device).type_as(s)": ("g * x", None),
    "-((g * x).sum() * 2).view(-1)": ("-(g * x * 2)", None),
    "((g * x).sum() - (g * m).sum()).view(-1)": ("g * x - g * (x > s)", None),
    "sum([(g * x).sum(), (g * m).sum()]).view(-1)": ("g * x + g * (x > s)", None),
    "(g[x > 0] * x[x > 0]).sum().view(-1)": ("where(x > 0, g * x, 0)", None),
    "(g * m).sum().view(-1) * s / 3": ("g * (x > s) * s / 3", None),
    "(x > s).sum().view(-1)": ("where(x > s, 1, 0)", None),
    "g * x": ("g * x", None),  # torch itself sums it to the shape of s
    "(g * x).sum_to_size(s.shape)": ("g * x", None),
    "torch.zeros_like(s)": ("0 * g", None),
    "0 + (g * x).sum(0).sum().view(-1)": ("g * x", None),
    "(g * x).mean().view(-1)": ("g * x", "1 / N"),
    "((g * x).mean() - (g * m).mean()).view(-1) / s": ("(g * x - g * (x > s)) / s", "1 / N"),
    "((g * x).mean() * x.numel()).view(-1)": ("g * x", None),
    "((g * x).sum() / x.numel()).view(-1)": ("g * x", "1 / N"),
    "((g * x).sum() / math.sqrt(math.prod(x.shape) * 3)).view(-1)": ("g * x", "1 / sqrt(N * 3)"),
    "((g * x).sum() * (x.size().numel() * s) ** -0.5).view(-1)": ("g * x", "(N * s) ** -0.5"),
    "(g * x).sum_to_size(s.shape) / (x.numel() / s.numel())": ("g * x", "1 / N"),
    "torch.where(x > s, g * x.numel(), 0).sum().view(-1)": ("where(x > s, g, 0)", "N"),
    # In steps, some of them in place.
    "t = g.clone()\nt[x > s] = 0\nt *= x\nt = t.sum()\nt *= 3\nreturn g * s, t.view(-1)":
        ("where(x > s, 0, g) * x * 3", None),
    "t = (g * x).sum()\nu = t.view(-1)\nt *= 2\nreturn g * s, u": ("g * x * 2", None),
    "t = (g * x).sum().view(-1)\nt.mul_(2).neg_()\nreturn g * s, t": ("-(g * x * 2)", None),
    "t = None\nif ctx.needs_input_grad[1]:\n  t = (g * x).sum().view(-1)\nreturn g * s, t": ("g * x", None),
    "if not ctx.needs_input_grad[1]:\n  return g * s, None\nreturn g * s, (g * x).sum().view(-1)":
        ("g * x", None),
}  # fmt: skip


@pytest.mark.parametrize("text", SUMS)
def test_a_sum_knows_what_it_is_taken_of(text: str) -> None:
    assert parts_of(text) == ({"s": SUMS[text]}, ())


@pytest.mark.parametrize("shape", [(7,), (4, 3)], ids=str)
@pytest.mark.parametrize("text", SUMS)
def test_a_sum_is_the_one_that_torch_takes(text: str, shape: tuple[int, ...]) -> None:
    source = source_of(text)
    x, g = torch.randn(2, *shape, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    mine, theirs = (torch.tensor([0.3], dtype=torch.float64, requires_grad=True) for _ in range(2))
    executed(source).apply(x, theirs).backward(g)
    apply(*read_source(source), x, s=mine).backward(g)
    torch.testing.assert_close(mine.grad, theirs.grad, rtol=1e-12, atol=1e-14)


LEFT_OUT = {
    "sum, then mask": ("g.sum() * m", "line 12: g.sum() * m mixes the elements"),
    "not linear": ("(g * x).sum().abs()", "line 12: (g * x).sum().abs() mixes the elements"),
    "product of sums": ("(g * x).sum() * g.sum()", "mixes the elements"),
    "two dimensions": ("(g * x).sum(0) + (g * m).sum(1)", "mixes the elements"),
    "sum and mean": ("(g * x).sum() + (g * m).mean()", "mixes the elements"),
    "once an element": ("torch.ones_like(x) * (g * x).sum()", "mixes the elements"),
    "spread over x": ("(g * x).sum().expand_as(x)", "mixes the elements"),
    "sum of a parameter": ("s.sum()", "line 12: s.sum() mixes the elements"),
    "norm": ("(g * x).norm()", "line 12: (g * x).norm() mixes the elements"),
    "by the number of another": ("(g * x).sum() / s.numel()", "depends on the shape of a tensor"),
    "by the first dimension": ("(g * x).sum() / x.size(0)", "depends on the shape of a tensor"),
    "by channels": ("(g * x).sum() / x.shape[1]", "line 12: x.shape[1] asks for a dimension beyond"),
    "all, by channel": ("(g * x).sum(0) / x.numel()", "it counts all elements, but"),
    "all, unsummed": ("g * x / x.numel()", "it counts all elements, but"),
    "counted within": ("(g * x + x.numel()).sum()", "it counts elements elsewhere than in a factor"),
    "counted in a test": ("torch.where(x * x.numel() > 3, g, 0).sum()", "it counts elements elsewhere"),
    "a constant": ("torch.ones_like(s)", "it is neither a sum over elements nor a value for each"),
    "picked out": ("(g * x)[x > 0]", "it is picked out by a mask: sum it"),
    "matrices": ("torch.einsum('n,n->', g, x)", "line 12: torch.einsum('n,n->', g, x) multiplies matrices"),
    "too long": (f"({' + '.join(['g * x'] * 40)}).sum().view(-1)", "it becomes a formula of 159 parts"),
    "a number added": ("t = (g * x).sum()\nt += 1\nreturn g * s, t", "mixes the elements"),
    "x added": ("t = (g * x).sum()\nt += x\nreturn g * s, t", "mixes the elements"),
    "added to x": ("t = torch.zeros_like(x)\nt += (g * x).sum()\nreturn g * s, t", "mixes the elements"),
    "added to a view": ("u = (g * x).sum()\nt = u.view(-1)\nu += 1\nreturn g * s, t", "mixes the elements"),
    "divided by g": ("t = (g * x).sum()\nt /= g\nreturn g * s, t", "mixes the elements"),
    "scaled by data": ("(g * x).sum() / (x.numel() * x.abs().mean())", "by a value that depends on the data"),
}


@pytest.mark.parametrize("what", LEFT_OUT)
def test_a_gradient_that_is_not_a_plain_sum_is_left_out_and_named(what: str) -> None:
    text, reason = LEFT_OUT[what]
    learned, (note,) = parts_of(text)
    assert learned == {}
    assert note.startswith("backward also returns a gradient for s, which is left out: ")
    assert reason in note


NOTES = {
    "(g * x).sum()": "the gradient for s has shape (): torch raises an error where s has another, such as "
                     "(1,); .reshape(s.shape) suits both",
    "(g * x).sum(dim=0)": "backward sums the gradient for s along a dimension",
    "(g * x).reshape(-1, s.numel()).sum(0)": "backward sums the gradient for s along a dimension",
    "(g * x).sum().expand_as(s)": "each value of s gets the sum over all elements",
    "(g * x).sum().expand(s.shape)": "each value of s gets the sum over all elements",
}  # fmt: skip


@pytest.mark.parametrize("text", NOTES)
def test_the_meaning_of_a_sums_shape_is_explained(text: str) -> None:
    learned, (note,) = parts_of(text)
    assert learned == {"s": ("g * x", None)}
    assert note.startswith(NOTES[text])


NEVER = "backward returns None for s, a tensor that y depends on: it never learns"


def test_returned_gradients_are_paired_with_the_arguments_of_forward() -> None:
    swapped, notes = parts_of("return g * s, (g * m).sum().view(-1), (g * x).sum().view(-1)", "ctx, x, s, b")
    assert swapped == {"s": ("g * (x > s)", None), "b": ("g * x", None)}
    assert notes == ()
    far, notes = parts_of("return g * s, None, None, None, (g * x).sum().view(-1)", "ctx, x, s, k, n, b")
    assert (far, notes) == ({"b": ("g * x", None)}, (NEVER,))


@pytest.mark.parametrize(("returned", "takes", "counts"), [
    ("g * s", "ctx, x, s", "1 gradient for 2"), ("g * s, None", "ctx, x, s, b", "2 gradients for 3"),
    ("g * s, None, g", "ctx, x, s", "3 gradients for 2"),
])  # fmt: skip
def test_a_wrong_number_of_gradients_is_reported(returned: str, takes: str, counts: str) -> None:
    note = f"backward returns {counts} inputs: torch raises an error"
    assert parts_of(f"return {returned}", takes)[1][-1] == note


@pytest.mark.parametrize("returned", ["g * s, None", "g * s, None, None, None"])
def test_none_for_a_tensor_is_reported_and_trailing_nones_are_not(returned: str) -> None:
    assert parts_of(f"return {returned}") == ({}, (NEVER,))


@pytest.mark.parametrize("forward", ["return x * s", "ctx.save_for_backward(s)\nreturn x"])
def test_none_for_what_may_be_a_number_or_is_not_in_y_is_nothing_to_say(forward: str) -> None:
    assert read_source(function(forward, "return grad_output, None", takes="ctx, x, s")).notes == ()


def test_an_input_with_a_value_keeps_it() -> None:
    source = function("ctx.save_for_backward(x)\nreturn x * s", "return grad_output, grad_output.sum()",
                      takes="ctx, x, s=0.5")  # fmt: skip
    keys = read_source(source)
    assert keys == ("formula: Fn = x * 0.5", "formula: Fn = g")
    assert "write s without one" in keys.notes[0]


def test_a_sum_is_no_gradient_for_x() -> None:
    with pytest.raises(ReadingError, match="returns a sum, but a curve needs a value for each element"):
        parts_of("return (g * x).sum(), g")


def test_a_parameter_called_n_is_not_the_number_of_elements() -> None:
    source = function("ctx.save_for_backward(x)\nctx.n = N\nreturn x * s * N",
                      "(x,) = ctx.saved_tensors\ngrad_s = (grad_output * x * ctx.n).sum() / x.numel()\n"
                      "return grad_output, grad_s.view(1), None", takes="ctx, x, s, N")  # fmt: skip
    op, rule = read_source(source)
    assert op == "formula: Fn = x * s * N2"
    assert rule == "formula: Fn = g; s: (1 / N) * sum(g * x * N2)"
    assert read_source(source.replace("grad_s.view(1)", "None"))[0] == "formula: Fn = x * s * N"


def branching(first: str, other: str) -> str:
    """Return a Function with one gradient for s where a parameter k is above 8, and another elsewhere."""
    backward = f"if ctx.k > 8:\n  return g * s, {first}, None\nreturn g * s, {other}, None"
    return source_of(backward, "ctx, x, s, k").replace("return x", "ctx.k = k\n        return x")


@pytest.mark.parametrize(
    ("first", "other", "expected"),
    [
        ("(g * x).sum().view(-1)", "(g * m).sum().view(-1)", ("where(k > 8, g * x, g * (x > s))", None)),
        ("None", "(g * x).sum().view(-1)", ("where(k > 8, 0 * g, g * x)", None)),
        ("(g * x).sum().view(-1)", "(g * x).mean().view(-1)",
         ("g * x", "where(k > 8, 1, 1 / N)")),
        ("(g * x).sum().view(-1)", "(x * g).sum().view(-1)", ("where(k > 8, g * x, x * g)", None)),
    ],
)  # fmt: skip
def test_branches_of_a_parameter_are_read(first: str, other: str, expected: tuple[str, str | None]) -> None:
    (one,) = find_rule(read_source(branching(first, other))[1]).learned
    assert (one.formula, one.scale) == expected


def test_a_gradient_unreadable_on_one_branch_is_left_out() -> None:
    """It would else be taken for no gradient at all."""
    keys = read_source(branching("(g * x).norm()", "(g * x).sum().view(-1)"))
    assert find_rule(keys[1]).learned == ()
    assert "norm() mixes the elements" in keys.notes[0]


@pytest.mark.parametrize(
    ("returned", "unread"),
    [
        ("((torch.clamp(x / s, -2, 1).round() - x / s).detach() + x / s) * s", ["s"]),
        ("x + (torch.round(x / s) * s - x).detach()", ["s"]),
        ("torch.tanh(s * x)", []),
        ("x.detach() * s", []),
    ],
    ids=["quantised", "straight through", "autograd's own", "nothing else for s"],
)
def test_composed_code_names_parameters_without_autograds_gradient(returned: str, unread: list[str]) -> None:
    text = f"import torch\ndef f(x, s):\n  return {returned}\n"
    assert list(read_source(text).notes) == [COMPOSED.format(name) for name in unread]

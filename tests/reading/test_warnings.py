"""Faults of a backward that no curve shows, as notes; each is one for torch as well."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from explorer.catalogue import find_rule
from explorer.reading import read_source
from tests.reading.samples import function
from tests.reading.test_learned import executed

X = torch.tensor([-1.5, -0.5, 0.0, 0.5, 2.0])
CHANGED = "changes g itself, which others may still need: change a copy, such as g.clone()"

WRITES = {
    "g[x <= 0] = 0\nreturn g": "g[x <= 0] = 0",
    "h = g\nh[x <= 0] = 0\nreturn h": "h[x <= 0] = 0",
    "return g.masked_fill_(x <= 0, 0)": "return g.masked_fill_(x <= 0, 0)",
    "g *= x > 0\nreturn g": "g *= x > 0",
    "return g.mul_((x > 0).to(g.dtype))": "return g.mul_((x > 0).to(g.dtype))",
    "h = g.view(-1)\nh[x.view(-1) <= 0] = 0\nreturn h.view_as(x)": "h[x.view(-1) <= 0] = 0",
    "torch.mul(g, x > 0, out=g)\nreturn g": "torch.mul(g, x > 0, out=g)",
    "h = g.detach()\nh[x <= 0] = 0\nreturn h": "h[x <= 0] = 0",
    "if True:\n  g[x <= 0] = 0\nreturn g": "g[x <= 0] = 0",
}
KEEPS = (
    "h = g.clone()\nh[x <= 0] = 0\nreturn h",
    "g = g.clone()\ng[x <= 0] = 0\nreturn g",
    "return g.masked_fill(x <= 0, 0)",
    "h = torch.zeros_like(g)\nm = x > 0\nh[m] = g[m]\nreturn h",
    "h = g * 1\nh *= x > 0\nreturn h",
    "h = torch.mul(g, x > 0)\nh[x <= 0] = 0\nreturn h",
    "h = g + 0\nh[x <= 0] = 0\nreturn h",
)


def source(backward: str, forward: str = "return x.clamp(min=0)", takes: str = "ctx, x") -> str:
    saved = ", ".join(takes.split(", ")[1:])
    return function(
        f"ctx.save_for_backward({saved})\n{forward}", f"{saved}, = ctx.saved_tensors\n{backward}", takes=takes
    ).replace("grad_output", "g")


def is_changed(text: str) -> bool:
    """Whether torch's g is another tensor after the backward."""
    g = torch.full_like(X, 3.0)
    executed(text).apply(X.clone().requires_grad_()).backward(g)
    return not torch.equal(g, torch.full_like(X, 3.0))


@pytest.mark.parametrize(("backward", "line"), WRITES.items())
def test_who_writes_to_g_is_told_so_with_the_line(backward: str, line: str) -> None:
    text = source(backward)
    assert is_changed(text)
    (note,) = read_source(text).notes
    assert note.endswith(f": {line} {CHANGED}")
    number = int(note.split(":")[0].removeprefix("line "))
    assert text.splitlines()[number - 1].strip() == line


@pytest.mark.parametrize("backward", KEEPS)
def test_who_changes_a_tensor_of_its_own_is_told_nothing(backward: str) -> None:
    text = source(backward)
    assert not is_changed(text)
    assert read_source(text).notes == ()


def learned(backward: str) -> tuple[dict[str, str], Any]:
    keys = read_source(source(backward, "return x * s", "ctx, x, s"))
    return {each.name: each.formula for each in find_rule(keys[1]).learned}, keys


def test_who_asks_for_a_gradient_is_a_tuple_as_long_as_the_inputs() -> None:
    unpacked = "_, asks = ctx.needs_input_grad\nt = (g * x).sum().view(-1) if asks else None\nreturn g * s, t"
    assert learned(unpacked)[0] == {"s": "g * x"}
    last = "return g * s, (g * x).sum().view(-1) if ctx.needs_input_grad[-1] else None"
    assert learned(last)[0] == {"s": "g * x"}
    parts, keys = learned("return g * s, (g * x).sum() if ctx.needs_input_grad[2] else None")
    assert parts == {}
    assert "asks for a position that does not exist among 2 values" in keys.notes[0]


def test_none_for_x_is_said_where_another_input_gets_its_sum() -> None:
    parts, keys = learned("return None, (g * x).sum().view(-1)")
    assert parts == {"s": "g * x"}
    assert find_rule(keys[1]).formula == "0 * g"
    assert "the gradient for x is None: nothing before it learns" in keys.notes

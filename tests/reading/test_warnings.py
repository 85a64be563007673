"""Faults of a backward that no curve shows, as notes; each is one for torch as well."""

from typing import Any

import pytest
import torch

from explorer.catalogue import find_rule
from explorer.reading import Input, Reading, read_source, read_sources
from tests.reading.sample import function
from tests.reading.test_learned import executed

X = torch.tensor([-1.5, -0.5, 0.0, 0.5, 2.0])
CHANGED = "changes g itself, which others may still need: change a copy, such as g.clone()"

WRITES = {
    "g[x <= 0] = 0\nreturn g": "g[x <= 0] = 0",
    "h = g\nh[x <= 0] = 0\nreturn h": "h[x <= 0] = 0",
    "return g.masked_fill_(x <= 0, 0)": "return g.masked_fill_(x <= 0, 0)",
    "return g.mul_((x > 0).to(g.dtype))": "return g.mul_((x > 0).to(g.dtype))",
    "h = g.view(-1)\nh[x.view(-1) <= 0] = 0\nreturn h.view_as(x)": "h[x.view(-1) <= 0] = 0",
    "torch.mul(g, x > 0, out=g)\nreturn g": "torch.mul(g, x > 0, out=g)",
}
KEEPS = (
    "h = g.clone()\nh[x <= 0] = 0\nreturn h",
    "return g.masked_fill(x <= 0, 0)",
    "h = torch.zeros_like(g)\nm = x > 0\nh[m] = g[m]\nreturn h",
    "h = torch.mul(g, x > 0)\nh[x <= 0] = 0\nreturn h",
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
def test_writing_to_g_is_reported_with_its_line(backward: str, line: str) -> None:
    text = source(backward)
    assert is_changed(text)
    (note,) = read_source(text).notes
    assert note.endswith(f": {line} {CHANGED}")
    number = int(note.split(":")[0].removeprefix("line "))
    assert text.splitlines()[number - 1].strip() == line


def test_writing_to_x_is_reported_unless_torch_is_told() -> None:
    text = source("return g", "return x.clamp_(min=0)")
    executed(text).apply(x := X + 0)
    assert (x >= 0).all()
    (note,) = read_source(text).notes
    assert (
        note
        == f"line 5: return x.clamp_(min=0) {CHANGED.replace('g itself', 'x itself').replace('g.c', 'x.c')}"
    )
    assert read_source(source("return g", "ctx.mark_dirty(x)\nreturn x.clamp_(min=0)")).notes == ()


@pytest.mark.parametrize("backward", KEEPS)
def test_changing_a_new_tensor_in_place_is_not_reported(backward: str) -> None:
    text = source(backward)
    assert not is_changed(text)
    assert read_source(text).notes == ()


def test_none_for_x_is_reported_if_another_input_gets_the_sum() -> None:
    keys = read_source(source("return None, (g * x).sum().view(-1)", "return x * s", "ctx, x, s"))
    rule = find_rule(keys[1])
    assert (rule.formula, [each.formula for each in rule.learned]) == ("0 * g", ["g * x"])
    assert "the gradient for x is None: nothing before it learns" in keys.notes


def called(backward: str, tensor: bool = False) -> Reading:
    """What is read of a Function that is called with one input after x."""
    (reading,) = read_sources(source(backward, "return x * s", "ctx, x, s"), [Input("s", tensor)])
    return reading


def raised(text: str, *more: Any) -> str:
    """The name of the error that torch or Python raises for a Function on these inputs, "" for none."""
    try:
        executed(text).apply(X.clone().requires_grad_(), *more).sum().backward()
    except Exception as error:
        return type(error).__name__
    return ""


def keeping(backward: str) -> str:
    """A Function of x and a number, which it keeps on the context."""
    text = source(backward, "return x * s", "ctx, x, s")
    text = text.replace("save_for_backward(x, s)", "save_for_backward(x); ctx.s = s")
    return text.replace("x, s, = ", "x, = ")


RAISES = {
    "return g * ctx.s, 0.0": "returns a gradient for s, which is a number",
    "return None, g * ctx.s": "returns a gradient for s, which is a number",
    "return [g * ctx.s, None]": "returns a list",
    "return g * ctx.s": "returns 1 gradient for 2 inputs",
}


@pytest.mark.parametrize(("backward", "words"), RAISES.items())
def test_gradients_that_torch_refuses_are_reported(backward: str, words: str) -> None:
    text = keeping(backward)
    assert raised(text, 2.0) == "RuntimeError"
    (reading,) = read_sources(text, [Input("s")])
    assert reading.problem is None, reading.problem
    assert any(words in note and note.kind == "raises" for note in reading.notes), reading.notes


REFUSED = {
    "x = ctx.saved_tensors\nreturn g * (x > 0), None": "needs a tensor or a number, not several values",
    "x, y = ctx.saved_tensors\nreturn g * x, None": "unpacks 1 values into 2 names",
    "return g * (0 <= x <= 1), None": "one yes or no of a whole tensor",
    "return g * (1 - (x < 0)), None": "subtracts a mask",
    "return g * inside, None": "inside is not defined in this text",
    "a = (None,) * 2\na[0] = g\nreturn a": "puts an item into a tuple",
    "a = [None]\na[1] = g\nreturn tuple(a)": "is no valid index of a list of 1 items",
    "return g * torch.sqrt(ctx.s), None": "takes a tensor, not a number",
    "return g * math.exp(x), None": "takes a single number, not a tensor",
    "return g.masked_fill(x > 0, x), None": "fills with a tensor",
}


@pytest.mark.parametrize(("backward", "words"), REFUSED.items())
def test_code_that_surely_raises_is_distinguished_from_unreadable_code(backward: str, words: str) -> None:
    text = keeping(backward)
    assert raised(text, 2.0)
    (reading,) = read_sources(text, [Input("s")])
    assert reading.problem is not None
    assert words in reading.problem.message
    assert reading.problem.raises


def test_a_number_that_is_saved_as_a_tensor_raises_and_a_tensor_does_not() -> None:
    text = source("return g * s, None", "return x * s", "ctx, x, s")
    assert raised(text, 2.0) == "TypeError"
    problem = called("return g * s, None").problem
    assert problem is not None
    assert problem.raises
    assert "saves a number, but torch takes only tensors" in problem.message
    assert raised(text, torch.tensor(2.0)) == ""
    assert called("return g * s, None", tensor=True).problem is None


def test_the_names_of_the_call_are_those_of_the_formula() -> None:
    (reading,) = read_sources(keeping("return g * ctx.s, None").replace("s)", "slope=0.1)", 1), [Input("a")])
    assert reading.problem is not None
    text = function("ctx.k = slope\nreturn x * slope", "return g * ctx.k, None", takes="ctx, x, slope=0.1")
    (reading,) = read_sources(text.replace("grad_output", "g"), [Input("a")])
    assert (reading.op, reading.rule) == ("formula: Fn = x * a", "formula: Fn = g * a")
    (reading,) = read_sources(text.replace("grad_output", "g"), [Input("a"), Input("b")])
    assert reading.problem is not None
    assert reading.problem.raises
    assert "takes 2 inputs and is called with 3" in reading.problem.message


LISTS = {
    "a = [None] * 2\na[0] = g * s\nreturn tuple(a)": "g * s",
    "a = [None, None]\nb = a\nb[0] = g * s\nreturn tuple(a)": "g * s",
    "a = []\na.append(g * s)\na.append(None)\nreturn a[0], a[1]": "g * s",
    "a = [g, g]\na[-1] = None\na[0] = a[0] * s\nreturn tuple(a)": "g * s",
    "a = [g]\na += [None]\nreturn a[0] * s, a[1]": "g * s",
}


@pytest.mark.parametrize(("backward", "formula"), LISTS.items())
def test_items_of_a_list_change_for_all_its_names(backward: str, formula: str) -> None:
    text = source(backward, "return x * s", "ctx, x, s")
    x = X.clone().requires_grad_()
    executed(text).apply(x, torch.tensor(2.0)).backward(torch.full_like(X, 3.0))
    assert torch.equal(x.grad, torch.full_like(X, 6.0))
    reading = called(backward, tensor=True)
    assert reading.problem is None, reading.problem
    assert find_rule(reading.rule).formula == formula


def test_a_list_that_a_module_changes_is_followed() -> None:
    text = "A = [1]\nA[-1] = 6\n" + function("return x * A[-1]", "return grad_output")
    assert read_source(text)[0] == "formula: Fn = x * 6"


def test_gradients_guarded_by_needs_input_grad_are_found_and_checked() -> None:
    asked = "return g * s, (g * x).sum() if ctx.needs_input_grad[1] else None"
    alias = "needs = ctx.needs_input_grad\nreturn g * s, (g * x).sum() if needs[1] else None"
    assert called(asked, tensor=True).guarded == called(alias, tensor=True).guarded == {"s"}
    assert called("return g * s, (g * x).sum()", tensor=True).guarded == frozenset()
    other = called("return g * s, (g * x).sum() if ctx.needs_input_grad[0] else None", tensor=True)
    assert "for s the test is ctx.needs_input_grad[1]" in other.notes[0]
    crossed = called("return (g * s if ctx.needs_input_grad[1] else None), (g * x).sum()", tensor=True)
    assert any("x depends on whether another input needs a gradient" in note for note in crossed.notes)


KEPT = "ctx.save_for_backward(x)\nreturn x ** 3"
CONSTANT = {  # backward, forward: the line that loses the second derivative, "" where none does
    ("x, = ctx.saved_tensors\nreturn 3 * x ** 2 * g", KEPT): "",
    ("x, = ctx.saved_tensors\nx = x.detach()\nreturn 3 * x ** 2 * g", KEPT): "x = x.detach()",
    ("x, = ctx.saved_tensors\nreturn 3 * x.data ** 2 * g", KEPT): "return 3 * x.data ** 2 * g",
    ("x, = ctx.saved_tensors\nwith torch.no_grad():\n  a = 3 * x ** 2\nreturn a * g", KEPT): "a = 3 * x ** 2",
    ("x, = ctx.saved_tensors\nreturn 3 * x * x.detach() * g", KEPT): "return 3 * x * x.detach() * g",
    ("x, = ctx.saved_tensors\nreturn 3 * x ** 2 * g * (x.detach() < 9)", KEPT): "",
    ("return ctx.a * g", "ctx.a = 3 * x ** 2\nreturn x ** 3"): "ctx.a = 3 * x ** 2",
    ("a, = ctx.saved_tensors\nreturn a * g", "ctx.save_for_backward(3 * x ** 2)\nreturn x ** 3"):
        "ctx.save_for_backward(3 * x ** 2)",
    ("x, = ctx.saved_tensors\nreturn 3 * x ** 2 * g", "ctx.save_for_backward(x.detach())\nreturn x ** 3"):
        "ctx.save_for_backward(x.detach())",
    ("return 3 * ctx.x ** 2 * g", "ctx.x = x\nreturn x ** 3"): "",
    ("x, = ctx.saved_tensors\nreturn ctx.k * x ** 2 * g", "ctx.k = 2 + 1\n" + KEPT): "",
    ("x, y = ctx.saved_tensors\nreturn 3 * y / x * g",
     "y = x ** 3\nctx.save_for_backward(x, y)\nreturn y"): "",
}  # fmt: skip


@pytest.mark.parametrize(("bodies", "line"), CONSTANT.items())
def test_values_constant_for_a_second_derivative_are_named(bodies: tuple[str, str], line: str) -> None:
    text = function(bodies[1], bodies[0]).replace("grad_output", "g")
    x = (X + 0.25).requires_grad_()
    (first,) = torch.autograd.grad(executed(text).apply(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x) if first.requires_grad else (torch.zeros_like(x),)
    assert torch.allclose(second, 6 * x) == (line == "")
    (reading,) = read_sources(text)
    assert reading.problem is None, reading.problem
    assert reading.second is not None
    scope = x.detach(), x.detach() ** 3, torch.ones_like(x)
    assert torch.allclose(reading.second.bind({})(*scope), second)
    assert len(reading.notes) == bool(line)
    for note in reading.notes:
        assert note.kind == "constant"
        assert (
            f"{line} makes a constant of it" in note or f"{line} saves a value that forward computes" in note
        )
        assert text.splitlines()[note.line - 1].strip() == line


def test_once_differentiable_loses_the_second_derivative() -> None:
    text = function(KEPT, "x, = ctx.saved_tensors\nreturn 3 * x ** 2 * grad_output")
    (note,) = read_sources(text.replace("    def back", "    @once_differentiable\n    def back"))[0].notes
    assert note.kind == "constant"


def test_a_default_without_a_gradient_and_another_function_are_named():
    text = source("return g").replace("ctx, x)", "ctx, x, bits=4)", 1)
    first, second = read_sources(text + "\ndef ste(x):\n    return x + (x.round() - x).detach()\n")
    assert first.notes[-1].endswith("where a call gives bits too: return None for it")
    assert second.name == "ste"

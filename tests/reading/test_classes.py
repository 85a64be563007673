"""How classes are read: which names their methods see, what their modules do when they are called."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  # as everybody writes it
from torch import nn

from explorer.gradient import apply
from explorer.lessons import MyReLU
from explorer.reading import ReadingError, read_source, read_sources
from tests.checks import doubles
from tests.reading.sample import function

X = torch.linspace(-4, 4, 81)
G = torch.linspace(-2, 3, 81)

CALLS = "\n    def forward(self, x):\n        return self.F.apply(x)\n"
IMPORT = "import torch.nn.functional as F\n\n"


def _mish(name: str = "F", functional: str = "F", indent: str = "") -> str:
    slope = f"return grad_output * {functional}.softplus(grad_output)"
    text = function(f"return x * {functional}.softplus(x)", slope, name=name)
    return text.replace("\n", f"\n{indent}").rstrip(" ")


NESTED = {
    "in a module": f"{IMPORT}class Mish(nn.Module):\n    {_mish(indent='    ')}{CALLS}",
    "without its import": f"class Mish(nn.Module):\n    {_mish(indent='    ')}{CALLS}",
    "in a module in a module": "class Net:\n    class Mish(nn.Module):\n        " + _mish(indent=" " * 8),
    "under another name": "import torch.nn.functional as T\n\nclass Mish(nn.Module):\n    "
    + _mish(functional="T", indent="    "),
    "after the class": f"{_mish('Inner')}\nclass F:\n    pass\n\n{IMPORT}",
}


def _executed(function: Any) -> tuple[torch.Tensor, torch.Tensor]:
    x = X.clone().requires_grad_()
    y = function(x)
    y.backward(G)
    assert x.grad is not None
    return y.detach(), x.grad


@pytest.mark.parametrize("source", NESTED.values(), ids=NESTED)
def test_a_name_in_a_class_body_does_not_hide_one_of_the_module_from_its_methods(source: str) -> None:
    namespace: dict[str, Any] = {"torch": torch, "nn": nn, "F": F}
    exec(source, namespace)
    outer = namespace.get("Net", namespace.get("Mish"))
    inner = namespace.get("Inner") or getattr(outer, "Mish", outer).F
    op, rule = read_source(source)
    for result, wanted in zip(_executed(lambda x: apply(op, rule, x)), _executed(inner.apply), strict=True):
        assert torch.equal(result, wanted)


@pytest.mark.parametrize(
    "source", [_mish(), f"{IMPORT}{_mish()}", f"def make():\n    {_mish(indent='    ')}    return F\n"]
)
def test_methods_find_the_class_that_hides_a_module(source: str) -> None:
    with pytest.raises(ReadingError, match=r"F.softplus is never given a value in this text"):
        read_source(source)


LAYER = "class Layer(nn.Module):\n  def __init__(self):\n    super().__init__()\n    self.a = 3\n"
MODULES = {
    "a call of its own": LAYER + "  def forward(self, x):\n    return x\n"
    "  def __call__(self, x):\n    return self.forward(x) * self.a\n",
    "a call of its own within another": LAYER
    + "  def forward(self, x):\n    return x\n  def __call__(self, x):\n    return -x\n"
    "class Net(nn.Module):\n  def __init__(self):\n    super().__init__()\n    self.f = Layer()\n"
    "  def forward(self, x):\n    return self.f(x) * 2\n",
    "evaluation": LAYER
    + "    self.eval()\n  def forward(self, x):\n    return x if self.training else x * self.a\n",
    "a base with numbers": "class Base(nn.Module):\n  def __init__(self, a):\n    super().__init__()\n"
    "    self.a = a\n  def forward(self, x):\n    return x * self.a\n"
    "class Layer(Base):\n  def __init__(self):\n    super(Layer, self).__init__(0.5)\n"
    "  def forward(self, x):\n    return super().forward(x) + 1\n",
}


@pytest.mark.parametrize("source", MODULES.values(), ids=MODULES)
def test_a_module_does_what_it_does_when_it_is_called(source: str) -> None:
    namespace: dict[str, Any] = {"torch": torch, "nn": nn}
    exec(source, namespace)
    last = source.rpartition("class ")[2].partition("(")[0]
    reading = read_sources(source)[-1]
    assert reading.problem is None
    for result, wanted in zip(
        _executed(lambda x: apply(reading.op, reading.rule, x)), _executed(namespace[last]()), strict=True
    ):
        assert torch.equal(result, wanted)


def test_of_several_outputs_the_first_is_read_and_a_note_says_so() -> None:
    code = function("return x.round(), x.floor()", "return grad_output + h", name="Two")
    keys = read_source(code.replace("ctx, grad_output", "ctx, grad_output, h"))
    assert keys == ("formula: Two = round(x)", "formula: Two = g")
    assert [note for note in keys.notes if note.startswith("forward returns 2 outputs")]


def test_a_class_is_read_from_its_file_with_its_base_classes() -> None:
    assert read_source(MyReLU)[1].startswith("formula: MyReLU = ")
    keys = read_source(doubles.PReLUByY)
    assert keys[1].startswith("formula: PReLUByY = where(")
    assert not keys.notes
    with pytest.raises(ReadingError, match="the source of MadeHere is in no file"):
        read_source(type("MadeHere", (), {}))


def test_of_two_functions_the_first_is_read_and_a_note_names_the_other() -> None:
    keys = read_source(function("return x.round()") + function("return x.floor()", name="Other"))
    assert keys[0] == "formula: Fn = round(x)"
    assert "Fn is read here: the text also defines Other" in keys.notes


def test_an_unknown_keyword_is_not_called_an_error_of_the_code() -> None:
    with pytest.raises(ReadingError, match="the keyword device_map, which is not supported here"):
        read_source("def f(x):\n    return torch.relu(x, device_map=1)")


def test_a_forward_that_ends_in_float_has_a_note() -> None:
    text = "class Spike(nn.Module):\n    def forward(self, x):\n        return (x > 0).float()"
    words = "line 3: (x > 0).float() makes y float32 for x of any dtype, where the formula keeps x's dtype"
    assert read_source(text).notes == (words,)
    assert read_source(text.replace(".float()", ".type_as(x)")).notes == ()


def test_a_function_that_stops_gradients_is_offered_next_to_the_net_that_calls_it() -> None:
    helper = "def ste(x):\n    return x + (x.round() - x).detach()\n"
    net = "class Net(nn.Module):\n  def forward(self, x):\n    return ste(x.tanh())\n"
    assert [reading.name for reading in read_sources(helper + net)] == ["Net", "ste"]


@pytest.mark.parametrize("shape", ["1", "1, 1", "(1,)", "-1"])
def test_a_sum_may_be_expanded_to_one_place(shape: str) -> None:
    backward = f"(x,), g = ctx.saved_tensors, grad_output\nreturn g, (g * x).sum().expand({shape})"
    code = function("ctx.save_for_backward(x)\nreturn x * s", backward, takes="ctx, x, s")
    assert read_source(code)[1] == "formula: Fn = g; s: sum(g * x)"


def test_a_statistic_too_long_to_be_written_out_becomes_a_parameter() -> None:
    forward = (
        "alpha = 3.212 * torch.sqrt(torch.mean(x ** 2)) - 2.178 * torch.mean(torch.abs(x))\n"
        "out = (x.clamp(-alpha, alpha) + alpha) / (2 * alpha)\nout = torch.round(out * n) / n\n"
        "return out * 2 * alpha - alpha"
    )
    code = function(forward, "return grad_output, None, None", takes="ctx, x, n=3, least=-9.0")
    keys = read_source(code)
    stays, least, note = keys.notes
    assert stays == "n stays at 3, its default: without the default it becomes a parameter with a slider"
    assert least.startswith("least stays at -9.0, its default")
    alpha = "3.212 * sqrt(mean(x ** 2)) - 2.178 * mean(abs(x))"
    assert note.startswith(f"statistic is short for {alpha}, which is too long to write out")
    x = torch.linspace(-2, 2, 41, dtype=torch.float64)
    value = 3.212 * x.square().mean().sqrt() - 2.178 * x.abs().mean()
    y = apply(*keys, x, statistic=float(value))
    due = ((x.clamp(-value, value) + value) / (2 * value) * 3).round() / 3 * 2 * value - value
    assert torch.allclose(y, due)

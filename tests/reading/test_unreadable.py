"""Unreadable code is named in a sentence, with its line."""

import pickle

import pytest

from explorer.reading import ReadingError, read_source, read_sources
from explorer.reading.errors import DeadEndError


def _fn(forward: str, backward: str = "return g", takes: str = "ctx, x") -> str:
    """A Function whose forward begins in line 3."""
    return (
        f"class Fn(Function):\n  def forward({takes}):\n    "
        + forward.replace("\n", "\n    ")
        + "\n  def backward(ctx, g):\n    "
        + backward.replace("\n", "\n    ")
        + "\n"
    )


def _layer(start: str) -> str:
    """A layer that multiplies by the ``a`` that its ``__init__``, from line 3 on, sets."""
    before = "class Layer(nn.Module):\n  def __init__(self):\n    "
    after = "\n  def reset(self):\n    self.a.data.fill_(6)\n  def forward(self, x):\n    return x * self.a\n"
    return before + start.replace("\n", "\n    ") + after


UNREADABLE = {
    "matrix sign": (_fn("return x @ x"), 3, "multiplies matrices"),
    "two steps": (_fn("y = x.t() * 2\ny = y + 1\nreturn y"), 3, "x.t() rearranges the tensor"),
    "loop": (_fn("for i in range(n):\n  x = x * 2\nreturn x", takes="ctx, x, n"), 3, "is a loop"),
    "while": (_fn("y = x\nwhile y.sum() > 1:\n  y = y / 2\nreturn y"), 4, "is a loop"),
    "data decides": (_fn("if x > 0:\n  return x\nreturn -x"), 3, "asks one yes or no of a whole tensor"),
    "and of masks": (_fn("return x * (x > 0 and x < 1)"), 3, "use torch.where, or & | ~ on masks"),
    "unknown function": (_fn("y = quantize(x)\nreturn y"), 3, "quantize(x) is not among the functions"),
    "unknown method": (_fn("return x.sharpen()"), 3, "x.sharpen() is not among the functions"),
    "unknown name": (_fn("return x * args.scale"), 3, "args is not defined in this text"),
    "foreign module": ("import mylib\n" + _fn("return mylib.round(x)"), 4, "comes from mylib"),
    "foreign name": ("from .utils import r\n" + _fn("return r(x)"), 4, "cannot be read here"),
    "random": (_fn("return x + torch.empty_like(x).exponential_()"), 3, "draws otherwise than"),
    "sum": (_fn("return x / x.sum()"), 3, "x.sum() mixes the elements"),
    "largest and where": (_fn("return x / torch.max(x, 1)"), 3, "a number, not several values"),
    "where the largest is": (_fn("return x * x.max(1)[1]"), 3, "the position of the largest"),
    "largest of some": (_fn("return x / x[x > 0].max()"), 3, "over elements selected by a mask"),
    "number of some": (_fn("return x / x[x > 0].numel()"), 3, "counts the elements picked out"),
    "another deviation": (_fn("return x / x.std(unbiased=False)"), 3, "divides by the number of elements"),
    "deviation of an array": (_fn("return x / x.numpy().std()"), 3, "divides by the number of elements"),
    "deviation of one": (_fn("return x / x.mean().std()"), 3, "standard deviation of a single number"),
    "two shapes": (_fn("return x * x.view(x.size(0), -1)"), 3, "mixes tensors of different shapes"),
    "another gelu": (_fn("return F.gelu(x, approximate=m)", takes="ctx, x, m"), 3, "an approximation that"),
    "remainder of tensors": (_fn("return x % x"), 1, "makes no formula: the argument of remainder"),
    "convolution": (_fn("return F.conv2d(x, w)", takes="ctx, x, w"), 3, "slides a kernel"),
    "single element": (_fn("return x * x[0]"), 3, "takes single elements"),
    "slice": (_fn("return x * x[1:]"), 3, "takes a piece of a tensor"),
    "half precision": (_fn("return x.half()"), 3, "rounds to another number format"),
    "another half": (_fn("return x.bfloat16()"), 3, "rounds to another number format"),
    "two masks": (_fn("y = x.clone()\ny[x > 0] = x[x < 0]\nreturn y"), 4, "selected by another mask"),
    "numbers as mask": (_fn("return x.masked_fill(x, 0)"), 3, "used as a mask"),
    "autograd inside": (_fn("return x", "return torch.autograd.grad(g, g)"), 5, "asks autograd"),
    "no backward": ("class Fn(Function):\n  def forward(ctx, x):\n    return x\n", 1, "has no backward"),
    "attribute never set": (_fn("return x", "return g * ctx.slope"), 5, "ctx.slope is never given a value"),
    "nothing saved": (_fn("return x", "x, = ctx.saved_tensors\nreturn g * x"), 5, "unpacks 0 values into 1"),
    "raises": (_fn("raise NotImplementedError"), 3, "raises an error here"),
    "global": (_fn("global k\nreturn x"), 3, "global k changes a name of the whole file"),
    "match": (_fn("match x:\n  case 1:\n    return x"), 3, "is a match, which cannot be read here: write if"),
    "try": (_fn("try:\n  y = x\nexcept ValueError:\n  y = -x\nreturn y"), 3, "waits for errors"),
    "no value": (_fn("x = x + 1"), 1, "needs a tensor or a number, not None"),
    "text": (_fn("return x * 'two'"), 3, "needs a tensor or a number, not text"),
    "text against parameter": (_fn("return x if m == 'a' else -x", takes="ctx, x, m"), 3, "compares"),
    "too large": (_fn("x = x * x * x * x\n" * 3 + "return x"), 1, "at most 96"),
    "far too large": (_fn("x = x * x\n" * 30 + "return x"), 9, "becomes 255 parts"),
    "not finite": (_fn("return x * 1e999"), 3, "is not a finite number"),
    "deep": (_fn("return " + "-" * 400 + "x"), 1, "is nested too deeply to be read"),
    "dictionary": (_fn("return {v: v for v in x}"), 3, "is Python that cannot be read"),
    "loop over elements": (_fn("return [v for v in x]"), 3, "it is not a tuple or list"),
    "object as a number": (_fn("return x * ctx"), 3, "needs a tensor or a number, not an object"),
    "member of an input": (_fn("return q.f(x)", takes="ctx, x, q"), 3, "q.f(x) is not among the functions"),
    "in place under no_grad": ("def f(x):\n  y = 2 * x\n  with torch.no_grad():\n    y.round_()\n", 4,
                               "under no_grad"),
    "behind autograd": ("def f(x):\n  y = 2 * x\n  y.data.round_()\n", 3, "behind autograd's back"),
    "infinity twice signed": (_fn("return x * float('--inf')"), 3, "depends on text"),
    "detached before": ("def f(x):\n  z = x.detach()\n  x += 1\n  return z\n", 3, "behind autograd"),
    "applies itself": (_fn("return Fn.apply(x)"), 3, "calls too deeply, or itself"),
    "matrix in place": (_fn("x @= w\nreturn x", takes="ctx, x, w"), 3, "multiplies matrices"),
    "channels of a shape": (_fn("n, c, h, w = x.shape\nreturn x"), 3, "channels: it is not elementwise"),
    "number of channels": (_fn("return x / x.size(1)"), 3, "channels: it is not elementwise"),
    "batch norm": (_fn("return F.batch_norm(x, None, None)"), 3, "treats each channel in its own way"),
    "whole division": (_fn("return x // 0.3"), 3, "write torch.floor(a / b)"),
    "bits of a byte": (_fn("return ~(x > 0).byte()"), 3, "flips the bits of a byte"),
    "index by numbers": (_fn("x[(x > 0).long()] = 0\nreturn x"), 3, "takes single elements"),
    "shape decides": (_fn("if x.stride(0) > 9:\n  return x\nreturn -x"), 3, "different curves for different"),
    "some elements": (_fn("return x[x > 0]"), 1, "returns only the elements selected"),
    "layer that drops": (_fn("return nn.AlphaDropout()(x)"), 3, "draws otherwise than by one uniform"),
    "layer of a number": (_fn("return nn.Sequential(0.5)(x)"), 3, "calls a number, which is not a function"),
    "too many inputs": (_fn("return torch.maximum(x, 1, 2)"), 3, "too many positional arguments"),
    "none is multiplied": (_fn("return x * w", takes="ctx, x, w=None"), 3, "a number, not None"),
    "loop too long": (_fn("for i in range(99):\n  x = x + 1\nreturn x"), 3, "holds more than 64 values"),
    "whole numbers": (_fn("return (x > 0) * 1"), 1, "torch sends no gradient back through them"),
    "mask": (_fn("return x > 0"), 1, "returns no floats"),
    "marked": (_fn("y = x.round()\nctx.mark_non_differentiable(y)\nreturn y"), 1, "as non-differentiable"),
    "bytes below 0": (_fn("return -(x > 0).byte().float() - -(x > 0).byte()"), 3, "begin again at 255"),
    "chained on a tensor": (_fn("return x", "return g * (-1 < g < 1)"), 5, "one yes or no of a whole tensor"),
    "beyond the inputs": (_fn("return x", "return g * ctx.needs_input_grad[1]"), 5, "does not exist among 1"),
    "x not first": (_fn("return x * k", "return None, g", takes="ctx, k, x"), 1, "put the tensor first"),
    "custom op": ("@torch.library.custom_op('a::b')\ndef f(x):\n  return x.round()\n\ndef f_back(ctx, g):\n"
                  "  return g\n\nf.register_autograd(f_back)\n", 2, "gets its gradient elsewhere"),
    "one answer": (_fn("return x * torch.equal(x, x)"), 3, "mixes the elements"),
    "hook": (_layer("self.a = 1\nself.register_full_backward_hook(f)"), 4, "register_full_backward_hook"),
    "helper left out": (_fn("return heaviside(x)"), 3, "paste the definition of heaviside too"),
    "eight bits": (_fn("return x.to(torch.float8_e4m3fnuz).to(x.dtype)"), 3, "another number format"),
    "values of a parameter": (_fn("return x / (x.numel() / s.numel())", "return g, None", "ctx, x, s"), 1,
                              "counts the values of a parameter"),
    "scale of eight bits": (_fn("return x.to(torch.float8_e8m0fnu).to(x.dtype)"), 3, "another number format"),
    "eight bits of g": (_fn("return x.round()", "return g.to(torch.float8_e5m2fnuz).to(g.dtype)"), 5,
                        "another number format"),
    "bits decide": (_fn("if bits == 1: x = -x\nif bits == 2: x = -x\nif bits == 3: x = -x\n"
                        "if layerwise: x = -x\nif bits == 5: x = -x\nreturn x",
                        takes="ctx, x, bits, layerwise"), 7,
                    "give bits and layerwise a value in the signature, such as bits=4"),
    "nested tests": (_fn("if k == 1: x = -x\nif k == 2: x = -x\nif k == 3: x = -x\nif k == 4: x = -x\n"
                         "if k == 5: x = -x\nreturn x", takes="ctx, x, k"), 7, "too often to be drawn"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "line", "words"), UNREADABLE.values(), ids=UNREADABLE)
def test_unreadable_code_is_named_with_its_line(source: str, line: int, words: str) -> None:
    with pytest.raises(ReadingError) as caught:
        read_source(source)
    assert words in caught.value.message
    assert caught.value.message.startswith(f"line {line}: ")
    assert caught.value.line == line
    assert str(caught.value) == caught.value.message


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        ("nn.init.constant_(self.a, 6)", 1), ("self.a.data.fill_(6)", 1),
        ("with torch.no_grad():\n  self.a.fill_(6)", 2), ("self.a[0] = 6", 1), ("setattr(self, 'a', 6)", 1),
        ("self.__dict__['a'] = 6", 1), ("try:\n  self.a = 6\nexcept ValueError:\n  pass", 1),
        ("for i in range(99):\n  self.a += 1", 1), ("if is_six():\n  self.a = 6", 1), ("self.reset()", 3),
        ("self.half()", 1), ("self.to(torch.float16)", 1), ("self.apply(reset)", 1), ("self.load()", 1),
    ],
)  # fmt: skip
def test_untraceable_changes_by_a_layer_are_not_ignored(change: str, lines: int) -> None:
    with pytest.raises(ReadingError) as caught:
        read_source(_layer("self.a = nn.Parameter(torch.ones(1))\n" + change))
    assert caught.value.line == 3 + lines


@pytest.mark.parametrize(
    "change",
    [
        "for i in range(2):\n  A = [6]", "while A[0] < 6:\n  A = [6]",
        "try:\n  A = [6]\nexcept ValueError:\n  pass", "with torch.no_grad():\n  A = [6]",
        "if is_six():\n  A = [6]", "A.append(6)", "torch.nn.init.constant_(A, 6)",
        "def change():\n  global A\n  A = [6]",
    ],
)  # fmt: skip
def test_untraceable_changes_by_the_text_are_not_ignored(change: str) -> None:
    with pytest.raises(ReadingError, match=r"^line [23]: "):
        read_source(f"A = [1]\n{change}\n" + _fn("return x * A[-1]"))


@pytest.mark.parametrize("change", ["Fn.set(6)", "setattr(Fn, 'a', 6)"])
def test_attributes_assigned_to_a_class_later_are_not_ignored(change: str) -> None:
    setter = "  a = 1\n  @classmethod\n  def set(cls, a):\n    cls.a = a\n"
    with pytest.raises(ReadingError, match="may change values that the curve depends on"):
        read_source(_fn("return x * Fn.a") + setter + change)


def test_a_layer_with_a_weight_matrix_is_refused_and_what_follows_is_read() -> None:
    layer = _fn("y = x.mm(w.t())\nif b is not None:\n  y += b\nreturn y", takes="ctx, x, w, b=None")
    first, second = read_sources(layer + _fn("return x.round()"))
    assert first.problem is not None
    assert first.problem.line == 3
    assert (second.op, second.rule, second.line) == ("formula: Fn = round(x)", "formula: Fn = g", 9)
    assert read_source(layer + _fn("return x.round()")) == (second.op, second.rule)


def test_unneeded_code_may_be_unreadable() -> None:
    backward = "grad_w = g.mm(g.t())\ngrad_w += unknown(g)\nreturn g * 2, grad_w, g.sum(0)"
    assert read_source(_fn("return x.sign()", backward)) == ("formula: Fn = sign(x)", "formula: Fn = g * 2")


@pytest.mark.parametrize(
    "source", ["x = 3\n", "class Layer:\n  pass\n", "import torch\n", "def f():\n  return 1\n"]
)
def test_a_text_without_any_function_says_what_to_paste(source: str) -> None:
    with pytest.raises(ReadingError, match="paste a class with forward and backward"):
        read_source(source)


@pytest.mark.parametrize("kind", [ReadingError, DeadEndError])
def test_a_refusal_goes_through_pickle_as_pools_of_processes_send_it(kind):
    again = pickle.loads(pickle.dumps(kind("Line 3: cannot be read.", 3)))
    assert (type(again), str(again), again.line) == (kind, "Line 3: cannot be read.", 3)

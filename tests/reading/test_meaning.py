"""How the reader follows names, masks, memory and parameters."""

import pytest

from explorer.catalogue import find_op, find_rule
from explorer.reading import read_source
from tests.reading.test_unreadable import _fn


def _read(source: str) -> tuple[str | None, ...]:
    """The formulas of what is read, whatever they are called."""
    op, rule = read_source(source)
    return find_op(op).formula, find_rule(rule).formula


def _written(op: str, rule: str) -> tuple[str | None, ...]:
    """The same of two formulas as one would write them."""
    expected = rule if rule == "default" else f"formula: {rule}"
    return find_op(f"formula: {op}").formula, find_rule(expected).formula


@pytest.mark.parametrize(
    ("backward", "rule"),
    [
        ("h = g\nh[h > 1] = 1\nreturn g", "where(g > 1, 1, g)"),
        ("h = g.clone()\nh[h > 1] = 1\nreturn g", "g"), ("g.mul_(2)\nreturn g", "g * 2"),
        ("g += 1\nreturn g", "g + 1"), ("h = g.data\nh.zero_()\nreturn g", "0"), ("g[:] = 3\nreturn g", "3"),
        ("h = torch.empty_like(g)\nh.copy_(g)\nreturn h", "g"),
        ("h = torch.ones_like(g)\nh[g < 0] = 0\nreturn h * g", "where(g < 0, 0, 1) * g"),
        ("h = g[g > 0]\nreturn torch.clamp(g, max=2, min=float('-inf'))", "clamp_max(g, 2)"),
    ],
)  # fmt: skip
def test_names_share_a_tensor_until_it_is_cloned(backward: str, rule: str) -> None:
    assert _read(_fn("return x", backward)) == _written("x", rule)


@pytest.mark.parametrize(
    ("backward", "rule"),
    [
        ("m = g.gt(0)\nreturn g * m", "g * (g > 0)"),
        ("m = (g > 0) + (g < -1)\nreturn g * m", "g * ((g > 0) | (g < -1))"),
        ("m = (g > 0).float() + (g < -1).float()\nreturn g * m", "g * ((g > 0) + (g < -1))"),
        ("m = (g > 0) * (g < 1)\nreturn g * m.float()", "g * ((g > 0) & (g < 1))"),
        ("m = 1 - (g > 0).float()\ng[m.bool()] = 0\nreturn g", "where(~(g > 0), 0, g)"),
        ("m = g > 0\ng[m == 0] = 0\nreturn g", "where(~(g > 0), 0, g)"),
        ("m = g > 0\nm[g > 2] = False\nreturn g * m", "g * where(g > 2, 0, where(g > 0, 1, 0))"),
        ("m = (g > 0) ^ (g > 1)\nreturn g * ~m", "g * ~((g > 0) & ~(g > 1) | ~(g > 0) & (g > 1))"),
        ("m = torch.logical_not(g)\nreturn g.masked_fill(m, 2)", "where(~(g != 0), 2, g)"),
        ("return g * ((-1 < g) & (g < 1))", "g * ((-1 < g) & (g < 1))"),
        ("return (g > 0).int() * g", "(g > 0) * g"),
        ("m = (g > 0) & True | False\nreturn g * m * (0 < 1 < 2)", "g * (g > 0)"),
        ("m = (g > 0).float() * (g < 1).float()\ng[m.bool()] = 0\nreturn g",
         "where((g > 0) & (g < 1), 0, g)"),
        ("m = g > 0\nm[g > 2] = False\ng[m] = 7\nreturn g", "where(~(g > 2) & (g > 0), 7, g)"),
        ("m = -(g > 0).float()\nreturn -m + (g > 1).float()", "(g > 0) + (g > 1)"),
    ],
)  # fmt: skip
def test_masks_are_conditions_until_they_are_counted(backward: str, rule: str) -> None:
    assert _read(_fn("return x", backward)) == _written("x", rule)


@pytest.mark.parametrize(
    ("takes", "forward", "op"),
    [
        ("ctx, x, min, max", "return x.clamp(min, max)", "clamp(x, min_value, max_value)"),
        ("ctx, x, lambda_", "return x * lambda_", "x * lambda_value"),
        ("ctx, x, e, y, g", "return x * e + y - g", "x * e_value + y_value - g_value"),
        ("ctx, x, _a, a", "return x * _a + a", "x * a + a2"),
        ("ctx, x, a_name_that_is_far_too_long", "return a_name_that_is_far_too_long * x",
         "a_name_that_is_far_t * x"),
        ("ctx, x, bits=4, *, scale=0.5", "return x * scale * (2 ** bits - 1)", "x * 0.5 * 15"),
        ("ctx, x, mode='up'", "if mode == 'up':\n  return x.ceil()\nreturn x.floor()", "ceil(x)"),
        ("ctx, x, weight=None", "return x if weight is None else x * weight", "x"),
        ("ctx, x, on", "return x.round() if on else x", "where(on != 0, round(x), x)"),
        ("ctx, x, k", "if k > 8:\n  raise ValueError('k')\nreturn x * k", "x * k"),
        ("ctx, x, k", "assert k > 0\nif isinstance(x, torch.Tensor):\n  x = x / k[0]\nreturn x", "x / k"),
    ],
)  # fmt: skip
def test_further_inputs_keep_their_default_or_become_parameters(takes: str, forward: str, op: str) -> None:
    assert _read(_fn(forward, takes=takes)) == _written(op, "g")


@pytest.mark.parametrize(
    ("forward", "op"),
    [
        ("return (x / 2) // 1 % 3", "remainder(floor(x / 2), 3)"),
        ("return x * math.sqrt(2 / math.pi)", "x * sqrt(2 / pi)"),
        ("for k in reversed(range(1, 3)):\n  x = x * k * (5 & 3 | 4 ^ 1)\nreturn x", "x * 2 * 5 * 5"),
        ("return x * (7 // 2) * (1 << 3) * -2 ** 2", "x * 3 * 8 * -4"), ("return x / (1 / 3)", "x / (1 / 3)"),
        ("return torch.add(x, x, alpha=2) - torch.full_like(x, 0.5)", "x + 2 * x - 0.5"),
        ("return F.leaky_relu(x) + F.elu(x, alpha=0.5)", "leaky_relu(x, 0.01) + elu(x, 0.5)"),
        ("return torch.addcmul(x, x, x, value=2) + torch.lerp(x, x**2, 0.5)",
         "x + 2 * x * x + (x + 0.5 * (x**2 - x))"),
        ("return torch.atanh(x) + torch.log10(x)", "(log1p(x) - log1p(-x)) / 2 + log10(x)"),
        ("return torch.logical_xor(x, x > 1).float()",
         "where(((x != 0) & ~(x > 1)) | (~(x != 0) & (x > 1)), 1, 0)"),
        ("return F.softplus(x, beta=2)", "softplus(2 * x) / 2"),
        ("return torch.div(x, 3, rounding_mode='floor')", "floor(x / 3)"),
        ("return x.round(decimals=1)", "round(x * 10) / 10"),
        ("return x.to(torch.int32).float()", "trunc(x)"),
        ("return x.type(x.dtype).cuda().contiguous().view_as(x)", "x"),
        ("with torch.no_grad():\n  y = x.sign()\nreturn y", "sign(x)"),
        ("y: torch.Tensor = x\ndel x\nreturn y", "x"), ("return min(max(x, -1), 1)", "min(max(x, -1), 1)"),
        ("act = nn.Hardtanh(-2, 2)\nreturn act(x)", "hardtanh(x, -2, 2)"),
        ("return x.detach().sign().add(0.01).sign()", "sign(sign(x) + 0.01)"),
        ("return (x > 0).float(), x", "where(x > 0, 1, 0)"), ("return x + 0 - -x * 1", "x + x"),
        ("return torch.minimum(x, torch.as_tensor(1.0)) * torch.tensor(2.0).tolist()", "min(x, 1) * 2"),
        ("return F.leaky_relu(x, negative_slope=0.2)", "leaky_relu(x, 0.2)"),
    ],
)  # fmt: skip
def test_expressions_come_out_as_one_would_write_them(forward: str, op: str) -> None:
    assert _read(_fn(forward)) == _written(op, "g")


@pytest.mark.parametrize(
    ("takes", "forward", "op"),
    [
        ("ctx, x, q", "return torch.round(x / q.scale) * q.scale", "round(x / q_scale) * q_scale"),
        ("ctx, x, q", "return x * q.cfg.bits.item() - q.zero_point", "x * q_cfg_bits - q_zero_point"),
        ("ctx, x, k", "if k in (1, 32):\n  return x\nreturn x.round()",
         "where((k == 1) | (k == 32), x, round(x))"),
        ("ctx, x, k", "return x * (k or 0.5)", "where(k != 0, x * k, x * 0.5)"),
        ("ctx, x, s, training=True", "if training and s.requires_grad:\n  return x * s\nreturn x", "x * s"),
        ("ctx, x, s", "if s.shape == x.shape or s.numel() == 1:\n  y = x * s\nelse:\n  y = x * s\nreturn y",
         "x * s"),
        ("ctx, x, **options", "return x * options.get('scale', 2)", "x * 2"),
    ],
)  # fmt: skip
def test_attributes_of_inputs_and_tests_of_them(takes: str, forward: str, op: str) -> None:
    assert _read(_fn(forward, takes=takes)) == _written(op, "g")


@pytest.mark.parametrize(
    "before",
    [
        "if torch.cuda.is_available():\n  A = 1\nelse:\n  A = 2\n",
        "try:\n  import numpy as np\nexcept ImportError:\n  np = None\nA = np.array(2.0)\n",
        "A = 2\nif not torch.cuda.is_available():\n  raise RuntimeError\n",
        "A = 2\nfor i in range(3):\n  print(A)\n",
    ],
)
def test_surrounding_code_is_followed_if_it_affects_the_function(before: str) -> None:
    assert _read(before + _fn("return x * A")) == _written("x * 2", "g")


PROGRAMS = {
    "a test in the function around decides": (
        "def make(k):\n  s = 1\n  if k > 1:\n    s = 2\n  if k > 9:\n    return None\n  "
        + _fn("return x * s").replace("\n", "\n  ") + "\n  return Fn",
        "where(k > 1, x * 2, x)", "g"),
    "a decorator of the text is followed and any other passed over": (
        "def times(k):\n  def wrap(f):\n    @functools.wraps(f)\n    def inner(*inputs, **named):\n"
        "      return k * f(*inputs, **named)\n    return inner\n  return wrap\n\n"
        "@torch.jit.script\n@times(3)\ndef f(x):\n  return x.tanh()\n",
        "3 * tanh(x)", "default"),
    "detached in place": (
        "def f(x):\n  y = x.tanh()\n  y.detach_()\n  return x * y\n", "x * tanh(x)", "g * tanh(x)"),
    "detached, then a leaf": (
        "def f(x):\n  y = x.detach().requires_grad_()\n  return x * y\n", "x * x", "g * x"),
    "a layer in place": (
        "def f(x):\n  y = x * 2\n  nn.LeakyReLU(0.5, True)(y)\n  return y\n",
        "leaky_relu(x * 2, 0.5)", "default"),
    "a layer of layers": (
        "class Net(nn.Module):\n  slope = 0.1\n  def __init__(self, on=None):\n    super().__init__()\n"
        "    if on is None:\n      on = 2.0\n    self.register_buffer('on', torch.tensor(on))\n"
        "    self.f = nn.Sequential(nn.LeakyReLU(self.slope), nn.Tanh())\n"
        "  def forward(self, x):\n    return self.f(x) * self.on\n",
        "tanh(leaky_relu(x, 0.1)) * 2", "default"),
    "constants of the module, the class and the function around": (
        "from math import pi as PI\nA = 2\ndef make(b, c=3):\n  d = b * c\n"
        "  class Fn(torch.autograd.Function):\n    E = 4\n    @staticmethod\n    def forward(ctx, x):\n"
        "      return x * A * d * ctx.E * PI\n    @staticmethod\n    def backward(ctx, g):\n"
        "      return g * Fn.E\n  return Fn.apply\n",
        "x * 2 * (b * 3) * 4 * pi", "g * 4"),
    "unrelated code of a script": (
        "data = load('x.csv')\nfor epoch in range(10):\n  print(epoch)\nwith open('f') as f:\n  pass\n"
        + _fn("return x.round()") + "y = Fn.apply(data)\n",
        "round(x)", "g"),
    "a mask that was kept is no output though the output counts it": (
        _fn("m = x > 0\nctx.m, ctx.kept = m, m.float()\nreturn m.float()",
            "return torch.where(ctx.m, g, g * ctx.kept)"),
        "where(x > 0, 1, 0)", "where(x > 0, g, g * y)"),
    "the branches of a parameter are joined in op and rule": (
        _fn("ctx.k = k\nif k == 1:\n  return x.sign()\nreturn x.round()",
            "if ctx.k == 1:\n  return g * 2, None\nreturn g, None", takes="ctx, x, k"),
        "where(k == 1, sign(x), round(x))", "where(k == 1, g * 2, g)"),
    "a gradient stopped by a decorator": (
        "@torch.no_grad()\ndef hard(x):\n  return x.sign()\n"
        "def f(x):\n  s = x.tanh()\n  return hard(s) - s.detach() + s\n",
        "sign(tanh(x))", "g * (1 - tanh(x)**2)"),
    "the old instance style": (
        "class Fn(Function):\n  def __init__(self, bound):\n    super(Fn, self).__init__()\n"
        "    self.bound = bound\n  def forward(self, input):\n    self.save_for_backward(input)\n"
        "    return input.clamp(-self.bound, self.bound)\n  def backward(self, grad_output):\n"
        "    input, = self.saved_tensors\n    grad_input = grad_output.clone()\n"
        "    grad_input[input.abs() > self.bound] = 0\n    return grad_input\n",
        "clamp(x, -bound, bound)", "where(abs(x) > bound, 0, g)"),
    "the function that uses the others": (
        "def inner(x):\n  return x * 2\n\ndef outer(x):\n  return inner(x) + 1\n", "x * 2 + 1", "default"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "op", "rule"), PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_is_read_with_the_code_around(source: str, op: str, rule: str) -> None:
    assert _read(source) == _written(op, rule)


@pytest.mark.parametrize(
    "one", ["x.new_tensor(1)", "torch.tensor(1, dtype=x.dtype)", "torch.full((1,), 1, dtype=torch.float)"]
)
def test_a_constant_made_a_float_tensor_is_a_number(one: str) -> None:
    assert _read(_fn(f"return torch.where(x > 0, {one}, 0 * {one})")) == _written("where(x > 0, 1, 0)", "g")

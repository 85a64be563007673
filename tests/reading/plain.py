"""Plain functions and modules, with and without a stopped gradient, in our own words."""

from tests.reading.sample import Sample

PLAIN = (
    Sample("round_by_detaching", "def fn(x):\n    return x + (x.round() - x).detach()\n"),
    Sample(
        "round_with_a_helper",
        "def round_pass(x):\n    y = x.round()\n    y_grad = x\n    return (y - y_grad).detach() + y_grad\n\n"
        "def fn(x, s=0.5):\n    x = torch.clamp(x / s, -4, 3)\n    return round_pass(x) * s\n",
    ),
    Sample(
        "sign_with_a_clipped_way_back",
        "def fn(x):\n    hard = torch.sign(x)\n    soft = torch.clamp(x, -1.0, 1.0)\n"
        "    return hard.detach() - soft.detach() + soft\n",
    ),
    Sample(
        "pieces_put_together_by_masks",
        "def fn(x):\n    m1, m2 = (x < -1).float(), (x < 0.5).type(torch.float32)\n"
        "    low = (-1) * m1 + (x * x + 2 * x) * (1 - m1)\n"
        "    soft = m2 * low + (1 - m2)\n    return torch.sign(x).detach() - soft.detach() + soft\n",
    ),
    Sample("swish", "def fn(x):\n    return x * torch.sigmoid(1.702 * x)\n"),
    Sample("relu_by_clamp", "fn = lambda x: x.clamp(min=0)\n"),
    Sample("clamp_from_above", "def fn(x):\n    return torch.clamp_max(x, 1.0) * 2\n"),
    Sample("hard_swish", "def fn(x):\n    return x * F.relu6(x + 3, inplace=True) / 6\n"),
    Sample("stopped_gelu", "def fn(x):\n    return F.gelu(x) + x.detach() * torch.erf(x)\n"),
    Sample("stopped_elu", "def fn(x):\n    return F.elu(x, 0.5) * x.detach() + F.hardswish(x)\n"),
    Sample("cast", "def fn(x):\n    return x.to(torch.float8_e4m3fn).to(x.dtype)\n"),
    Sample(
        "bitnet",
        "def fn(w):\n    scale = 1.0 / w.abs().mean().clamp(min=1e-5)\n"
        "    u = (w * scale).round().clamp(-1, 1) / scale\n    return w + (u - w).detach()\n",
    ),
    Sample(
        "straight_through_a_cast",
        "def fn(x):\n    q = x.to(torch.float8_e4m3fn).to(x.dtype)\n    return x + (q - x).detach()\n",
    ),
    Sample(
        "fake_quantize", "def fn(x):\n    return torch.fake_quantize_per_tensor_affine(x, 0.25, 3, 0, 15)\n"
    ),
)

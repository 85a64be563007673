"""Functions of low-precision training after what is published of torchao, StableQAT, ParetoQ, QuEST, MS-AMP,
BitNet and others, in our own words, each with what it is called with.

What learns in them stands in ``learned.py``.
"""

from tests.reading.sample import written

LOW_PRECISION = (
    written(
        "scaled_and_saturated_e4m3",  # torchao, float8 training
        "largest = torch.finfo(torch.float8_e4m3fn).max\n"
        "scaled = torch.clamp(x * scale, min=-largest, max=largest)\n"
        "return scaled.to(torch.float8_e4m3fn).to(x.dtype) / scale",
        "return grad_output, None",
        (8.0,),
        {"scale": 8.0},
        takes="ctx, x, scale",
    ),
    written(
        "gradient_to_e5m2",  # torchao and TransformerEngine: what comes back is cast, what goes on is not
        "return x.clone()",
        "largest = torch.finfo(torch.float8_e5m2).max\n"
        "g = grad_output.clamp(-largest, largest)\nreturn g.to(torch.float8_e5m2).to(grad_output.dtype)",
    ),
    written("e5m2_by_type", "return x.type(torch.float8_e5m2).type_as(x)"),
    written(
        "torchs_fake_quantize_with_a_mask",
        "level = torch.round(x / scale) + zero_point\n"
        "ctx.mask = (level >= quant_min) & (level <= quant_max)\n"
        "return torch.fake_quantize_per_tensor_affine(x, scale, zero_point, quant_min, quant_max)",
        "return grad_output * ctx.mask, None, None, None, None",
        takes="ctx, x, scale=0.25, zero_point=2, quant_min=-8, quant_max=7",
    ),
    written(
        "torchaos_fake_quantize_affine",
        "inverse = 1.0 / scale\n"
        "shifted = torch.round(x * inverse) + zero_point\n"
        "kept = torch.clamp(shifted, quant_min, quant_max)\n"
        "inside = torch.logical_and(shifted >= quant_min, shifted <= quant_max)\n"
        "ctx.save_for_backward(inside)\nreturn (kept - zero_point) * scale",
        "(inside,) = ctx.saved_tensors\nreturn grad_output.mul(inside), None, None, None, None",
        takes="ctx, x, scale=0.5, zero_point=1, quant_min=-4, quant_max=3",
    ),
    written(
        "masked_by_trust",  # QuEST and Quartet
        "clipped = torch.clamp(x, -scale, scale)\n"
        "rounded = torch.round(clipped / step + 0.5) * step - 0.5 * step\n"
        "ctx.save_for_backward(torch.abs(rounded - x) <= std * trust)\nreturn rounded",
        "(mask,) = ctx.saved_tensors\nreturn torch.where(mask, grad_output, 0), None, None, None, None",
        takes="ctx, x, scale=2.5, step=0.3333333333333333, trust=0.16, std=1.1",
    ),
    written(
        "surrogate_of_stableqat",
        "ctx.save_for_backward(x)\nctx.other = alpha, qn, qp, amplitude\n"
        "return (x / alpha).round().clamp(qn, qp) * alpha",
        "(x,) = ctx.saved_tensors\nalpha, qn, qp, amplitude = ctx.other\nlevel = x / alpha\n"
        "small, big = (level < qn).float(), (level > qp).float()\nmiddle = 1.0 - small - big\n"
        "wave = math.sqrt(2) * math.pi * amplitude * torch.cos(torch.pi * (level + level.round()))\n"
        "return middle * grad_output * (1 - wave) / (1 + wave), None, None, None, None",
        takes="ctx, x, alpha=0.5, qn=-4, qp=3, amplitude=0.21",
    ),
    written(
        "magnitude_aware",  # MAD, symmetric
        "ctx.save_for_backward(x)\nctx.clip = clip\nstep = clip / levels\n"
        "return torch.clamp(torch.round(x / step), -levels, levels) * step",
        "(x,) = ctx.saved_tensors\n"
        "fades = ctx.clip / torch.clamp(x.abs(), min=ctx.clip)\nreturn grad_output * fades, None, None",
        takes="ctx, x, clip=0.75, levels=3",
    ),
    written(
        "numbers_of_e2m1_by_thresholds",
        "size = x.abs()\n"
        "fine, middle = torch.round(2 * size) / 2, torch.round(size)\n"
        "coarse = torch.clamp(2 * torch.round(size / 2), max=6)\n"
        "return torch.sign(x) * torch.where(size < 2, fine, torch.where(size < 4, middle, coarse))",
    ),
    written(
        "stretched_levels_of_two_bits",  # ParetoQ, with its branches; its scale is in learned.py
        "ctx.save_for_backward(x)\nctx.alpha = alpha\n"
        "if num_bits == 0:\n    count, shift = 1.5, 0\nelse:\n"
        "    count, shift = 2 ** (num_bits - 1), 0.5\n"
        "inside = torch.clamp(x / alpha, -0.99, 0.99)\n"
        "return (torch.round(inside * count - shift) + shift) / count * alpha",
        "(x,) = ctx.saved_tensors\nlevel = x / ctx.alpha\n"
        "below, above = (level < -0.99).float(), (level > 0.99).float()\n"
        "return (1.0 - below - above) * grad_output, None, None",
        takes="ctx, x, alpha=1.5, num_bits=2",
    ),
)

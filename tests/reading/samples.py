"""Functions in the shapes people publish them, in our own words, each with what it is called with."""

from tests.reading.documents import DOCUMENTS_CLAMP, DOCUMENTS_RELU
from tests.reading.sample import Sample, function, written

FUNCTIONS = (
    Sample("documents_round_and_clamp", DOCUMENTS_CLAMP),
    Sample("documents_relu", DOCUMENTS_RELU),
    written(
        "multiply_by_a_constant",
        "ctx.set_materialize_grads(False)\nctx.constant = constant\nreturn x * constant",
        "if grad_output is None:\n    return None, None\nreturn grad_output * ctx.constant, None",
        (2.5,),
        {"constant_value": 2.5},
        takes="ctx, x, constant",
    ),
    written(
        "binarize_into_fresh_memory",
        "output = x.new(x.size())\noutput[x >= 0] = 1\noutput[x < 0] = -1\nreturn output",
        "return grad_output.clone()",
    ),
    Sample(
        "quantiser_behind_a_parameter",
        'def uniform(k):\n    "Rounds to k bits."\n    class Quant(torch.autograd.Function):\n'
        "        @staticmethod\n        def forward(ctx, x):\n            if k == 32:\n"
        "                out = x\n            elif k == 1:\n                out = torch.sign(x)\n"
        "            else:\n"
        "                n = float(2 ** k - 1)\n                out = torch.round(x * n) / n\n"
        "            return out\n\n        @staticmethod\n        def backward(ctx, grad_output):\n"
        "            return grad_output.clone()\n    return Quant.apply\n\nFn = uniform(2)\n",
        parameters={"k": 2},
    ),
    written(
        "saved_output_of_tanh",
        "output = torch.tanh(x)\nctx.save_for_backward(output)\nreturn output",
        "output, = ctx.saved_tensors\nreturn grad_output * (1 - output ** 2)",
    ),
    written(
        "error_decay_with_tensors",
        "ctx.save_for_backward(x, k, t)\nreturn torch.sign(x)",
        "x, k, t = ctx.saved_tensors\n"
        "return k * t * (1 - torch.pow(torch.tanh(x * t), 2)) * grad_output, None, None",
        ("tensor 1.0", "tensor 2.0"),
        {"k": 1.0, "t": 2.0},
        takes="ctx, x, k, t",
    ),
    written(
        "element_wise_scaling_by_sign_of_g",
        "y = torch.round(x)\nctx.difference = x - y\nctx.delta = delta\nreturn y",
        "scale = 1 + ctx.delta * torch.sign(grad_output) * ctx.difference\nreturn grad_output * scale, None",
        takes="ctx, x, delta=0.2",
    ),
    Sample(
        "helper_in_the_class_and_lambda",
        "class Base(torch.autograd.Function):\n    WIDTH = 2.0\n\n    @staticmethod\n"
        "    def window(x, width):\n        return torch.max(1 - x.abs() / width, torch.zeros_like(x))\n\n"
        "    @staticmethod\n    def backward(ctx, grad_output):\n        x, = ctx.saved_tensors\n"
        "        square = lambda v: v * v\n"
        "        return square(Base.window(x, Base.WIDTH)) * grad_output\n\n\n"
        "class Fn(Base):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n"
        "        y = torch.where(x >= 0, 1., 0.)\n        return y.to(dtype=x.dtype)\n",
    ),
    Sample(
        "through_numpy",
        function(
            "ctx.mark_non_differentiable()\nresult = np.floor(x.detach().numpy())\n"
            "return torch.from_numpy(result)",
            "out = grad_output.data.new_ones(grad_output.shape)\nout = torch.mul(out, grad_output)\n"
            "return out",
        ).replace("ctx.mark_non_differentiable()\n        ", ""),
    ),
    written("blocked", "return torch.square(x)", "print('backward', grad_output.shape)\nreturn None"),
    # Low-precision training: torchao, TransformerEngine.
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
    written(
        "torchs_fake_quantize_with_a_mask",
        "level = torch.round(x / scale) + zero_point\n"
        "ctx.mask = (level >= quant_min) & (level <= quant_max)\n"
        "return torch.fake_quantize_per_tensor_affine(x, scale, zero_point, quant_min, quant_max)",
        "return grad_output * ctx.mask, None, None, None, None",
        takes="ctx, x, scale=0.25, zero_point=2, quant_min=-8, quant_max=7",
    ),
)

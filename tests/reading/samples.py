"""Functions in the shapes people publish them, in our own words, each with what it is called with."""

from tests.reading.documents import DOCUMENTS_CLAMP, DOCUMENTS_RELU
from tests.reading.low_precision import LOW_PRECISION
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
        "sign_with_hardtanh_window",
        "ctx.save_for_backward(x)\nreturn x.sign()",
        "x = ctx.saved_tensors[0]\ngrad_input = grad_output.clone()\n"
        "grad_input[x.ge(1)] = 0\ngrad_input[x.le(-1)] = 0\nreturn grad_input",
    ),
    written(
        "binarize_into_fresh_memory",
        "output = x.new(x.size())\noutput[x >= 0] = 1\noutput[x < 0] = -1\nreturn output",
        "return grad_output.clone()",
    ),
    written(
        "mask_made_in_forward",
        "mask = (x >= -1) & (x <= 1)\nctx.save_for_backward(mask)\nreturn torch.clamp(x, -1, 1)",
        "(mask,) = ctx.saved_tensors\nreturn grad_output * mask.type_as(grad_output)",
    ),
    Sample(
        "fast_sigmoid_spike",
        function(
            "ctx.save_for_backward(x)\nout = torch.zeros_like(x)\nout[x > 0] = 1.0\nreturn out",
            "x, = ctx.saved_tensors\ngrad_input = grad_output.clone()\n"
            "grad = grad_input/(Fn.scale*torch.abs(x)+1.0)**2\nreturn grad",
        ).replace("Function):\n", "Function):\n    scale = 10.0  # steepness\n\n", 1),
    ),
    written(
        "spike_with_slope_and_default",
        "ctx.save_for_backward(x)\nctx.slope = slope\nreturn (x > 1).float()",
        "(x,) = ctx.saved_tensors\ngrad = grad_output / (ctx.slope * torch.abs(x) + 1.0) ** 2\n"
        "return grad, None",
        takes="ctx, x, slope=25",
    ),
    Sample(
        "atan_spike_with_alpha",
        function(
            "if x.requires_grad:\n    ctx.save_for_backward(x)\nctx.alpha = alpha\nreturn (x >= 0).to(x)",
            "grad_x = None\nif ctx.needs_input_grad[0]:\n"
            "    grad_x = ctx.alpha / 2 / (1 + (math.pi / 2 * ctx.alpha * ctx.saved_tensors[0]).pow_(2)) "
            "* grad_output\nreturn grad_x, None",
            takes="ctx, x, alpha",
        ).replace("if x.requires_grad:\n            ctx", "if True:\n            ctx"),
        (2.0,),
        {"alpha": 2.0},
    ),
    written(
        "gaussian_spike",
        "ctx.save_for_backward(x)\nreturn x.gt(0.).float()",
        "inp, = ctx.saved_tensors\n"
        "bump = torch.exp(-(inp**2) / (2 * SIGMA**2)) / torch.sqrt(2 * torch.tensor(math.pi)) / SIGMA\n"
        "return grad_output * bump",
        before="SIGMA = 0.5\n\n",
    ),
    written(
        "pact",
        "ctx.save_for_backward(x, alpha)\ny = torch.clamp(x, min=0, max=alpha.item())\n"
        "scale = (2**k - 1) / alpha\nreturn torch.round(y * scale) / scale",
        "x, alpha = ctx.saved_tensors\nlower = x < 0\nupper = x > alpha\ninside = ~(lower | upper)\n"
        "grad_alpha = torch.sum(grad_output * torch.ge(x, alpha).float()).view(-1)\n"
        "return grad_output * inside.float(), grad_alpha, None",
        ("tensor 1.5", 3),
        {"alpha": 1.5, "k": 3},
        takes="ctx, x, alpha, k",
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
        "integer_quantiser_with_bit_shift",
        "top = (1 << bits) - 1\ny = torch.clamp(torch.round(x / step), -top - 1, top)\n"
        "ctx.save_for_backward(x / step)\nctx.bounds = -top - 1, top\nreturn y * step",
        "ratio, = ctx.saved_tensors\nlow, high = ctx.bounds\n"
        "inside = torch.logical_and(ratio >= low, ratio <= high)\n"
        "return torch.where(inside, grad_output, torch.zeros_like(grad_output)), None, None",
        takes="ctx, x, step=0.5, bits=2",
    ),
    written(
        "ternary",
        "out = x.clone()\nout[x > THRESHOLD] = 1\nout[x < -THRESHOLD] = -1\n"
        "out[(x >= -THRESHOLD) & (x <= THRESHOLD)] = 0\nreturn out",
        "return grad_output.clamp_(-1, 1) if CLIP else grad_output",
        before="THRESHOLD, CLIP = 0.7, True\n",
    ),
    written(
        "reversal",
        "ctx.alpha = alpha\nreturn x.view_as(x)",
        "output = grad_output.neg() * ctx.alpha\nreturn output, None",
        (0.3,),
        {"alpha": 0.3},
        takes="ctx, x, alpha",
    ),
    Sample(
        "mish_with_helpers",
        "def mish_fwd(x):\n    return x.mul(torch.tanh(F.softplus(x)))\n\n"
        "def mish_bwd(x, grad_output):\n    x_sigmoid = torch.sigmoid(x)\n"
        "    x_tanh_sp = F.softplus(x).tanh()\n"
        "    return grad_output.mul(x_tanh_sp + x * x_sigmoid * (1 - x_tanh_sp * x_tanh_sp))\n\n"
        + function(
            "ctx.save_for_backward(x)\nreturn mish_fwd(x)",
            "x = ctx.saved_tensors[0]\nreturn mish_bwd(x, grad_output)",
        ),
    ),
    written(
        "saved_output_of_tanh",
        "output = torch.tanh(x)\nctx.save_for_backward(output)\nreturn output",
        "output, = ctx.saved_tensors\nreturn grad_output * (1 - output ** 2)",
    ),
    Sample(
        "setup_context",
        "class Fn(torch.autograd.Function):\n    @staticmethod\n    def forward(x, power):\n"
        "        return torch.exp(x) * power\n\n    @staticmethod\n"
        "    def setup_context(ctx, inputs, output):\n        x, power = inputs\n"
        "        ctx.save_for_backward(output)\n        ctx.power = power\n\n    @staticmethod\n"
        "    @once_differentiable\n    def backward(ctx, grad_output):\n        (y,) = ctx.saved_tensors\n"
        "        return grad_output * y + 0. * ctx.power, None\n",
        (3.0,),
        {"power": 3.0},
    ),
    written(
        "arguments_as_a_tuple",
        "i = args[0]\nctx.save_for_backward(i)\nreturn i.mul(i)",
        "x = ctx.saved_tensors[0]\nreturn 2 * x * grad_output",
        takes="ctx, *args",
    ),
    written(
        "elu_on_picked_elements",
        "out = x.clone()\nneg = x < 0\nout[neg] = torch.exp(x[neg]) - 1\nctx.save_for_backward(x)\n"
        "return out",
        "x, = ctx.saved_tensors\ngrad = torch.ones_like(x)\nneg = x < 0\ngrad[neg] = x[neg].exp()\n"
        "grad *= grad_output\nreturn grad",
    ),
    written(
        "guided_backpropagation",
        "positive = (x > 0).type_as(x)\n"
        "output = torch.addcmul(torch.zeros(x.size()).type_as(x), x, positive)\n"
        "ctx.save_for_backward(x, output)\nreturn output",
        "x, output = ctx.saved_tensors\nfirst = (x > 0).type_as(grad_output)\n"
        "second = (grad_output > 0).type_as(grad_output)\n"
        "zero = torch.zeros(x.size()).type_as(x)\n"
        "return torch.addcmul(zero, torch.addcmul(zero, grad_output, first), second)",
    ),
    written(
        "clamp_that_lets_back_in",
        "ctx.min, ctx.max = low, high\nctx.save_for_backward(x)\nreturn x.clamp(low, high)",
        "x, = ctx.saved_tensors\nreturn (\n    grad_output\n"
        "    * (grad_output * (x - x.clamp(ctx.min, ctx.max)) >= 0),\n    None,\n    None,\n)",
        takes="ctx, x, low=-1.0, high=1.0",
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
    written(
        "floor_with_remainder_and_masks_as_numbers",
        "ctx.save_for_backward(x)\nreturn x - x % 1 + (x > 2) * 1.0",
        "x, = ctx.saved_tensors\nkeep = 1 - (x.abs() > 2).float()\nkeep.mul_(0.5).add_(0.25)\n"
        "grad_output = grad_output.clone()\ngrad_output.masked_fill_(x == 0, 0.)\n"
        "return grad_output * keep",
    ),
    written(
        "scaled_by_the_mean",
        "ctx.save_for_backward(x)\nscale = torch.mean(torch.abs(x))\nreturn torch.sign(x) * scale",
        "x, = ctx.saved_tensors\nscale = x.abs().mean().item()\n"
        "return grad_output * scale * (x.abs() < 1.0).float()",
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
    Sample(
        "instance_style",
        "class Fn(Function):\n    def __init__(self, bound):\n        super(Fn, self).__init__()\n"
        "        self.bound = bound\n\n    def forward(self, input):\n        self.save_for_backward(input)\n"
        "        return input.clamp(-self.bound, self.bound)\n\n    def backward(self, grad_output):\n"
        "        input, = self.saved_tensors\n        grad_input = grad_output.clone()\n"
        "        grad_input[input.abs() > self.bound] = 0\n        return grad_input\n",
        (1.5,),
        {"bound": 1.5},
        old=True,
    ),
    *LOW_PRECISION,
)

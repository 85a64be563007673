"""Constructs that published Functions use around the formula, each with what it is called with."""

from tests.reading.sample import BACK, Sample, function, written

ROUND = (
    "class Round(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
    "        return x.round()\n    @staticmethod\n    def backward(ctx, g):\n        return g * 0.5\n\n"
)

CONSTRUCTS = (
    written(
        "where_as_a_method",
        "return x.where(x > 0, torch.zeros_like(x))",
        "return grad_output.where(grad_output > 0, grad_output * 0.1)",
    ),
    written(
        "function_in_a_function",
        "ctx.save_for_backward(x)\nreturn Round.apply(x * 2) / 2",
        "x, = ctx.saved_tensors\nreturn grad_output * Round.apply(x)",
        before=ROUND,
    ),
    written(
        "element_of_one",
        "t = torch.tensor([0.5])\nreturn x * t[0]",
        "k = torch.ones(1)[0]\nreturn grad_output * k",
    ),
    written(
        "isinstance_of_a_parameter",
        "if isinstance(s, torch.Tensor):\n    s = s.item()\n"
        "elif not isinstance(s, (int, float)):\n    raise TypeError\nreturn x * s",
        "return grad_output, None",
        (2.0,),
        {"s": 2.0},
        takes="ctx, x, s",
    ),
    written(
        "shape_test",
        "if len(x.shape) == 4:\n    x = x.mean(dim=(2, 3))\nelif x.dim() == 2 or x.ndim > 2:\n"
        "    x = x.sum(1)\nif x.shape[0] > 1000:\n    x = x + 0\nreturn x.sign()",
    ),
    written(
        "loop_over_a_range",
        "y = torch.zeros_like(x)\nfor i in range(1, 4):\n    y += torch.sigmoid(x - i)\nreturn y",
        "out = 0\nfor s in (1.0, 2.0):\n    out = out + grad_output * s\nreturn out",
    ),
    written(
        "requires_grad",
        "if x.requires_grad or s.requires_grad:\n    y = x * s\nelse:\n    y = x * s\nreturn y",
        "return grad_output, None",
        ("tensor 2.0",),
        {"s": 2.0},
        takes="ctx, x, s",
    ),
    written(
        "string_and_flag",
        "ctx.mode = mode\nif not flag:\n    return x\nif mode.lower() == 'floor':\n"
        "    return torch.floor(x)\nif mode in ('ceil', 'up'):\n    return torch.ceil(x)\n"
        "return getattr(torch, mode)(x)",
        "return (grad_output * {'round': 1, 'trunc': 2}[ctx.mode],) + (None,) * 2",
        takes="ctx, x, mode='round', flag=True",
    ),
    written("a_copy_by_new", "y = x.new(x)\ny[y < 0] = 0\nreturn y", "return grad_output.new(grad_output)"),
    written("keywords_in_a_dictionary", "o = {'min': -1, 'max': 1}\nreturn torch.clamp(x, **o)"),
    Sample(
        "a_property_and_inheritance",
        "class Base:\n    @property\n    def width(self):\n        return 2.0\n\n"
        "class Config(Base):\n    scale: float = 0.5\n\nCFG = Config()\n"
        + function("return torch.round(x / CFG.scale) * CFG.scale * CFG.width", BACK),
    ),
    Sample(
        "value_set_on_the_class_later", function("return (x > 0) * Fn.height", BACK) + "\nFn.height = 3.0\n"
    ),
    written(
        "comprehensions",
        "ctx.save_for_backward(x)\nreturn sum([(x > t).float() for t in (-1, 0.5, 2) if t != 0.5])",
        "x, = ctx.saved_tensors\n"
        "steps = [torch.exp(-(x - s * t) ** 2) for s in (1, 2) for t in (-1, 0.5)]\n"
        "return grad_output * sum(step for step in steps)",
    ),
    Sample(
        "enumerate_and_zip",
        function(
            "ctx.save_for_backward(x)\nreturn sum(c * x ** i for i, c in enumerate(Fn.coefficients))",
            "x, = ctx.saved_tensors\nslope = 0\n"
            "for c, i in zip(Fn.coefficients[1:], range(1, 3)):\n    slope = slope + i * c * x ** (i - 1)\n"
            "return grad_output * slope",
        ).replace("Function):\n", "Function):\n    coefficients = [0.5, 0.25, -0.125]\n\n", 1),
    ),
    written(
        "starred_targets",
        "low, *rest = (-1.0, 0.5, 1.0)\nctx.bounds = low, *rest\nreturn x.clamp(low, rest[-1])",
        "*_, middle, high = ctx.bounds\nreturn (grad_output * middle + high, *[None for _ in range(1)])",
        takes="ctx, x, unused=None",
    ),
    written(
        "assigned_in_a_test",
        "if (mask := x > 0) is not None and mode in {'relu', 'x'}:\n    ctx.mask = mask\nreturn x.relu()",
        "return grad_output * ctx.mask, None",
        takes="ctx, x, mode='relu'",
    ),
    written("whole_division", "return torch.floor_divide(x, 0.5) + x % 2 + torch.fmod(x, 3)"),
)

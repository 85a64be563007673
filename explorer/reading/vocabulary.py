"""The words of torch, NumPy, math and Python that can be read, and why the others cannot.

A function and the method of the same name are one row; the tensor is the first argument, ``a``.
"""

from __future__ import annotations

from explorer.formula import FUNCTIONS

OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**", "floor_divide": "//", "remainder": "%",
    "gt": ">", "ge": ">=", "lt": "<", "le": "<=", "eq": "==", "ne": "!=",
    "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^",
}  # fmt: skip

ALIASES = {
    "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div", "float_power": "pow",
    "power": "pow", "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "equal": "eq",
    "not_equal": "ne", "logical_not": "invert", "bitwise_not": "invert", "negative": "neg", "absolute": "abs",
    "fabs": "abs", "clip": "clamp", "fmax": "maximum", "fmin": "minimum",
    "fix": "trunc", "rint": "round", "arctan": "atan", "expit": "sigmoid", "swish": "silu", "sgn": "sign",
}  # fmt: skip

# name: (signature, formula in its parameters)
TEMPLATES = {
    **{row.name: ("a", f"{row.name}(a)") for row in FUNCTIONS.values() if row.arity == 1},
    "add": ("a, other, alpha=1", "a + alpha * other"),
    "sub": ("a, other, alpha=1", "a - alpha * other"),
    "rsub": ("a, other", "other - a"),
    "neg": ("a", "-a"),
    "square": ("a", "a**2"),
    "rsqrt": ("a", "1 / sqrt(a)"),
    "exp2": ("a", "2**a"),
    "log2": ("a", "log(a) / log(2)"),
    "log10": ("a", "log(a) / log(10)"),
    "erfc": ("a", "1 - erf(a)"),
    "logit": ("a", "log(a / (1 - a))"),
    "frac": ("a", "a - trunc(a)"),
    "fmod": ("a, other", "a - other * trunc(a / other)"),
    "hypot": ("a, other", "sqrt(a**2 + other**2)"),
    "lerp": ("a, end, weight", "a + weight * (end - a)"),
    "addcmul": ("a, tensor1, tensor2, value=1", "a + value * tensor1 * tensor2"),
    "addcdiv": ("a, tensor1, tensor2, value=1", "a + value * tensor1 / tensor2"),
    "heaviside": ("a, values", "heaviside(a, values)"),
    "hardtanh": ("a, min_val=-1, max_val=1", "hardtanh(a, min_val, max_val)"),
    "leaky_relu": ("a, negative_slope=0.01", "leaky_relu(a, negative_slope)"),
    "prelu": ("a, weight", "where(a > 0, a, weight * a)"),
    "elu": ("a, alpha=1", "elu(a, alpha)"),
    "celu": ("a, alpha=1", "celu(a, alpha)"),
    "softplus": ("a, beta=1", "softplus(beta * a) / beta"),
    "softshrink": ("a, lambd=0.5", "softshrink(a, lambd)"),
    "hardshrink": ("a, lambd=0.5", "hardshrink(a, lambd)"),
    "tanhshrink": ("a", "a - tanh(a)"),
    "threshold": ("a, threshold, value", "where(a > threshold, a, value)"),
    "logsigmoid": ("a", "-softplus(-a)"),
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The same tensor under another name; masks among them become numbers where the name says so.
SAME = _words(
    "contiguous view_as expand_as reshape_as cuda cpu numpy from_numpy asarray Variable Parameter "
    "requires_grad retain_grad positive pin_memory"
)
NUMBERS = _words("float type_as float32")
INTEGERS = _words("int long short int32 int64")
COPIES = _words("clone deepcopy double float64")

# Tensors filled with one number. Where torch leaves memory as it was found, every element is
# written before it is read, or the published code would be at fault: zero stands there meanwhile.
FILLED = {
    "zeros_like": 0.0, "zeros": 0.0, "new_zeros": 0.0, "zero": 0.0,
    "ones_like": 1.0, "ones": 1.0, "new_ones": 1.0,
    "empty_like": 0.0, "empty": 0.0, "new_empty": 0.0, "new": 0.0,
}  # fmt: skip

SHAPES = _words("size dim numel nelement ndimension stride element_size get_device get_shape")
IGNORED_KEYWORDS = _words("dtype device layout requires_grad memory_format non_blocking copy inplace async")

# Statements that only say something or check something.
SILENT = _words(
    "print warn info debug warning mark_dirty mark_non_differentiable set_materialize_grads "
    "save_for_forward _assert manual_seed register_buffer register_parameter"
)

_REASONS = {
    "multiplies matrices: only elementwise functions of one tensor can be drawn": (
        "mm matmul bmm dot mv addmm addmv baddbmm einsum linear bilinear outer ger tensordot inner vdot"
    ),
    "slides a kernel over its input: only elementwise functions of one tensor can be drawn": (
        "conv1d conv2d conv3d conv_transpose1d conv_transpose2d unfold fold max_pool2d avg_pool2d "
        "adaptive_avg_pool2d interpolate pad conv2d_input conv2d_weight"
    ),
    "rearranges the tensor: only elementwise functions can be drawn": (
        "t transpose permute view reshape flatten unflatten squeeze unsqueeze expand repeat cat concat "
        "stack chunk split gather scatter scatter_add index_select index_add masked_select masked_scatter "
        "roll flip narrow select movedim diag tril triu nonzero concatenate index_put one_hot"
    ),
    "mixes the elements of a tensor: only elementwise functions can be drawn": (
        "sum prod std var norm argmax argmin any all cumsum cumprod sort argsort topk median mode "
        "quantile kthvalue amax amin softmax log_softmax logsumexp normalize layer_norm batch_norm "
        "group_norm sum_to_size"
    ),
    "draws random numbers: a curve is the same at every drawing": (
        "rand randn randint rand_like randn_like randint_like bernoulli normal uniform dropout "
        "multinomial exponential cauchy random poisson rrelu gumbel_softmax randperm"
    ),
    "takes a single number out of a tensor: only elementwise functions can be drawn": "item tolist",
    "asks autograd for a gradient: write the gradient out": "grad backward vjp jvp jacobian hessian",
    "rounds to another number format, which a formula does not have": (
        "half bfloat16 fake_quantize_per_tensor_affine quantize_per_tensor int8 uint8 float16 char byte"
    ),
}
REASONS = {name: reason for reason, names in _REASONS.items() for name in _words(names)}
UNKNOWN = "is not among the functions that can be read, nor defined in this text"

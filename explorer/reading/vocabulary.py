"""Names in torch, NumPy, math and Python, as data: operators, dtypes and reasons for rejection.

Functions defined as formulas are in ``formula.aliases``. A function and the method of the same name share an
entry, with the tensor as first argument.
"""

from explorer.formula.aliases import OPERATORS as NAMES
from explorer.formula.functions import FUNCTIONS
from explorer.formula.measured import e4m3_saturates


def split_words(text: str) -> frozenset[str]:
    """Return the set of words in text, split at spaces."""
    return frozenset(text.split())


MODULES = {
    "torch": "torch", "pytorch": "torch", "th": "torch", "math": "math", "np": "numpy", "numpy": "numpy",
    "nn": "torch.nn", "F": "torch.nn.functional", "Variable": "torch.autograd.Variable", "cmath": "math",
    "Tensor": "torch.Tensor", "Function": "torch.autograd.Function",
}  # fmt: skip

# For each operator: its sign in formulas, its class in Python's ast module, and torch's names for it.
_OPERATORS = (
    "+ Add", "- Sub", "* Mult", "/ Div", "** Pow", "// FloorDiv floor_divide", "% Mod",
    "& BitAnd bitwise_and", "| BitOr bitwise_or", "^ BitXor bitwise_xor", "<< LShift bitwise_left_shift",
    ">> RShift bitwise_right_shift", "< Lt lt less", "<= LtE le less_equal", "> Gt gt greater",
    ">= GtE ge greater_equal", "== Eq eq", "!= NotEq ne not_equal",
)  # fmt: skip
OPERATORS = [[*row.split(), *NAMES.get(row.split()[0], "").split()] for row in _OPERATORS]

_ALIASES = {
    "div": NAMES["/"], "pow": NAMES["**"], "invert": "bitwise_not", "neg": "negative",
    "to": "astype type_as", "clone": "copy deepcopy", "item": "tolist",
    "clamp": "clip", "view": "reshape flatten squeeze ravel", "tensor": "as_tensor scalar_tensor array",
    "full": "full_like fill", "numel": "nelement", "dim": "ndimension",
    "contiguous":  # calls that return the tensor unchanged
        "cuda cpu from_numpy asarray Variable Parameter requires_grad retain_grad positive pin_memory "
        "identity",
    "view_as": "reshape_as",
    # Uninitialised memory counts as zero: correct code writes every element before it reads it.
    "zeros": "zeros_like new_zeros zero empty_like empty new_empty", "ones": "ones_like new_ones",
}  # fmt: skip
ALIASES = {alias: name for name, aliases in _ALIASES.items() for alias in split_words(aliases)}

# All names of each kind of number in torch and NumPy.
_KINDS = {
    "float32": "float float32 double float64 float_", "int64": "int long int32 int64",
    "bool": "bool bool_", "uint8": "byte uint8", "narrow": "half bfloat16 float16 bfloat",
    "int16": "short int16", "int8": "char int8",
}  # fmt: skip
KINDS = {name: kind for kind, names in _KINDS.items() for name in split_words(names)}

# Casts to float8 with torch's overflow: E5M2 becomes infinite, E4M3 may become NaN.
_E4M3 = "float8_e4m3fn(a)"
FORMATS = {
    "float8_e4m3fn": _E4M3 if e4m3_saturates() else f"where(abs(a) > 464, 0 / 0, {_E4M3})",
    "float8_e5m2": "where(abs(a) >= 61440, sign(a) / 0, float8_e5m2(a))",
}
LARGEST = {name: row.format.largest for name, row in FUNCTIONS.items() if row.format}

IGNORED_KEYWORDS = split_words(
    "dtype device layout requires_grad memory_format non_blocking copy inplace async persistent generator"
)

# Calls without effect on values: they print, check or configure.
SILENT = split_words(
    "print warn info debug warning mark_dirty set_materialize_grads save_for_forward _assert manual_seed"
)

ELEMENTWISE = "it is not elementwise, and only elementwise functions can be plotted"
_REASONS = {
    f"multiplies matrices: {ELEMENTWISE}":
        "mm matmul bmm dot mv addmm addmv baddbmm einsum linear bilinear outer ger tensordot inner vdot",
    f"slides a kernel over its input: {ELEMENTWISE}":
        "conv1d conv2d conv3d conv_transpose1d conv_transpose2d unfold fold max_pool2d avg_pool2d "
        "adaptive_avg_pool2d interpolate pad conv2d_input conv2d_weight",
    f"rearranges the tensor: {ELEMENTWISE}":
        "unflatten cat concat T mT H chunk split gather "
        "scatter scatter_add index_select index_add masked_select masked_scatter roll flip narrow select "
        "movedim diag tril triu nonzero concatenate index_put one_hot",
    f"mixes the elements of a tensor: {ELEMENTWISE}":
        "sum prod var norm argmax argmin any all cumsum cumprod sort argsort topk median mode quantile "
        "kthvalue softmax log_softmax logsumexp normalize layer_norm sum_to_size equal allclose",
    f"treats each channel in its own way: {ELEMENTWISE}": "batch_norm group_norm instance_norm",
    "draws otherwise than by one uniform or normal number for each element: write it with torch.rand_like(x)":
        "randint randint_like multinomial exponential cauchy random poisson rrelu randperm alpha_dropout "
        "feature_alpha_dropout dropout1d dropout2d dropout3d",
    "gets its gradient elsewhere: write it as a class with forward and backward":
        "custom_op triton_op custom_vjp custom_jvp custom_gradient",
    "asks autograd for a gradient: write the gradient out": "grad backward vjp jvp jacobian hessian",
    "rounds to another number format, which a formula does not have":
        "quantize_per_tensor",
}  # fmt: skip
REASONS = {name: reason for reason, names in _REASONS.items() for name in split_words(names)}
UNKNOWN = "is not among the functions that can be read, nor defined in this text"

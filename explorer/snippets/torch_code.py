"""PyTorch source of an op with a rule: an autograd Function, a function that applies it, and a Module."""

from collections.abc import Sequence

from explorer.catalogue import Op, Rule, check_values, find_op, find_rule
from explorer.formula import Formula
from explorer.formula.operands import has_elements, replace_counts
from explorer.formula.printing import TORCH, Dialect, print_limited, print_source
from explorer.formula.tree import is_constant
from explorer.snippets import helpers, layout
from explorer.snippets.arguments import MEANINGS, expand_argument, make_signature, write_usage
from explorer.snippets.helpers import add_helpers
from explorer.snippets.layers import make_layer_code
from explorer.snippets.layout import find_names, join_lines, join_names, make_docstring
from explorer.snippets.pair import Pair, Values, make_pair

_STANDARD = {"math": "import math", "Callable": "from collections.abc import Callable"}
_NO_PATH = "torch sees no path from y back to x, so the gradient is 0."
# No parameter of a formula starts with an underscore, so none can hide the name of the class.
_FUNCTION_CLASS = '''

class _{layer}Function(torch.autograd.Function):
    """The op forward, the rule backward."""

    generate_vmap_rule = True

    @staticmethod
    def forward({inputs}):
        return {forward}

    @staticmethod
    def setup_context(ctx, inputs, output):
        {kept}

    @staticmethod
    def backward(ctx, g):
        {returned}
'''
# Forward mode has a class of its own, because torch.compile cannot trace a Function with a jvp.
_FORWARD_MODE = '''

class _{layer}ForwardMode(_{layer}Function):
    """The same with forward mode, which torch.compile does not read."""
{methods}'''
_REFUSED = """if torch.compiler.is_dynamo_compiling() and torch._C._are_functorch_transforms_active():
        raise RuntimeError(
            "torch.func inside torch.compile ignores backward rules: "
            "call grad, vmap and the like outside of torch.compile"
        )
    """
_TANGENT = """
    @staticmethod
    def jvp(ctx, tangent, *_):
        return _{layer}Function.backward(ctx, tangent){first}
"""
_TANGENTS = """
    @staticmethod
    def setup_context(ctx, inputs, output):
        _{layer}Function.setup_context(ctx, inputs, output)
        ctx.shape = output.shape

    @staticmethod
    def jvp(ctx, g, {changes}, *_):
        {lines}
        return _moved
"""
_CHANGED = """if _{name} is not None:
            g = ({factor}_{name}).expand(ctx.shape)
            _moved = _moved + {part}"""
_FUNCTION = """

def {name}({signature}) -> Tensor:
    {docstring}
    {body}
"""


def snippet(
    op: str | Op, rule: str | Rule, parameters: Values = None, learns: Sequence[str] = (), **named: float
) -> str:
    """Return PyTorch source of an op with a rule: a function ``round_straight_through`` and its layer.

    The code needs only torch. It reproduces ``explorer.apply`` bit for bit, kinks included. It supports
    double backward and torch.func where the rule is differentiable, and forward mode (``jvp``, ``jacfwd``).
    torch.compile makes one graph of it, with and without gradients, but without forward mode and torch.func.
    For the default rule, the code is the plain op. Constants that Python cannot compute, such as ``1 / a`` or
    ``log(a)`` at a = 0, are NaN or infinity, as in ``explorer.apply``. If op and rule use a parameter name
    with different meanings, the function has two arguments: ``elu_dsq(x, alpha, alpha_rule)``.

    The function of a stochastic pair takes u, one number in (0, 1) for each element, and, if the rule uses
    the loss, f, a function of y: ``name(x, *, u, f, **parameters)``. For the same u it returns the bits of
    ``explorer.apply(…, draw=u)``. Its layer draws new random numbers at each call.

    With ``learns``, the code defines ``quantize_lsq(x, s, *, **numbers)``. The tensor ``s`` gets the same
    gradient as in ``explorer.apply``, bit for bit, in its own shape. The layer stores it as an
    ``nn.Parameter``.

    Args:
        op: a key of ``OPS``, or ``"formula: …"`` in x.
        rule: a key of ``RULES``, or ``"formula: …"`` in x, y, g.
        parameters: values by name, which become the defaults of the signature; other names are ignored.
        learns: the names of parameters that learn; see ``catalogue.list_learnable``.
        **named: values of parameters as keywords; an unknown name is an error.

    Raises:
        ValueError: if a key or keyword is unknown, a value is not finite or outside the domain of its entry,
            or a parameter cannot learn. The subclass FormulaError if a formula cannot be parsed.
    """
    keywords = check_values(find_op(op), [find_rule(rule)], named)
    return make_torch_code(make_pair(op, rule, {**(parameters or {}), **keywords}, learns))


def make_torch_code(pair: Pair) -> str:
    """Return the PyTorch source of a module with a function ``pair.name`` and a layer ``pair.layer``."""
    return make_module(_write_code(pair) + make_layer_code(pair))


def _write_code(pair: Pair) -> str:
    gradient = write_backward(pair)
    if gradient is None:
        return write_function(pair, "\n    ".join(write_plain(pair)))
    remarks = [] if pair.backward else [_NO_PATH]
    call = (
        f"{_REFUSED}_function = _{pair.layer}Function if torch.compiler.is_compiling() "
        f"else _{pair.layer}ForwardMode\n"
        f"    return _function.apply({write_arguments(pair)})"
    )
    classes = _write_function_class(pair, gradient) + _write_forward_mode(pair, gradient)
    return classes + write_function(pair, call, *remarks)


def write_plain(pair: Pair, dialect: Dialect = TORCH) -> list[str]:
    """Return the lines of code that compute an op which torch differentiates itself."""
    expand_u = [f"u = {expand_argument('u')}"] if pair.forward.random_names else []
    return [*expand_u, f"return {write_unaliased(pair.forward, 'x', dialect)}"]


def write_arguments(pair: Pair) -> str:
    """Return the arguments, as code, with which the exported function applies its autograd Function."""
    tensors = [f"{name}.to(x.dtype)" for name in pair.learns]
    return ", ".join(["x", *tensors, *map(expand_argument, pair.extras), *pair.numbers])


def make_module(code: str) -> str:
    """Return the source of a module: ``code``, after the imports and helpers that it needs."""
    code = add_helpers(code, helpers.TORCH)
    layer = "from torch import Tensor, nn" if "nn.Module" in code else "from torch import Tensor"
    return layout.format_module(code, _STANDARD, {"torch": "import torch", "Tensor": layer})


def write_function(pair: Pair, body: str, *remarks: str) -> str:
    """Return the code of the exported function of x and the parameters, with its docstring."""
    tensors = [f"{name}: Tensor" for name in ("x", *pair.learns)]
    signature = make_signature(tensors, pair.numbers, pair.extras)
    usage = ["\n    ".join(["Usage:", *write_usage(pair)])] if pair.extras else []
    extras = [f"    {name}: {MEANINGS[name]}" for name in pair.extras]
    text = pair.describe("tensor", *remarks, *usage, extras=extras)
    docstring = make_docstring(text)
    return _FUNCTION.format(name=pair.name, signature=signature, docstring=docstring, body=body)


def write_unaliased(formula: Formula, like: str, dialect: Dialect = TORCH) -> str:
    """Return code for a formula whose value is a new tensor in the shape of ``like``, never an input."""
    if is_constant(replace_counts(formula.tree)):
        return f"torch.full_like({like}, {print_limited(formula.tree, dialect)})"
    source = print_source(formula.tree, dialect)
    if not has_elements(formula.tree):
        return f"torch.broadcast_to({source}, {like}.shape)"
    return source + ".clone()" * (formula.alias in ("x", "y", "u()", "ya()"))


def write_backward(pair: Pair, dialect: Dialect = TORCH) -> str | None:
    """Return code for the gradient that backward returns. None means torch's own derivative of the op."""
    if pair.backward is not None:
        return write_unaliased(pair.backward, "g", dialect)
    return None if pair.op.parsed.carries_gradient else "torch.zeros_like(g)"


def write_totals(pair: Pair, dialect: Dialect = TORCH) -> list[str]:
    """Return a code expression for the total gradient of each learned parameter, in order."""
    totals = []
    for name in pair.learns:
        part = write_unaliased(pair.contribution_of(name), "g", dialect)
        scale = pair.scale_of(name, f"(g.numel() / {name}.numel())")
        factor = f"({print_source(scale.tree, dialect)}) * " if scale else ""
        totals.append(f"{factor}({part}).sum_to_size({name}.shape)")
    return totals


def _write_function_class(pair: Pair, gradient: str) -> str:
    used = find_used_names(pair, gradient)
    return _FUNCTION_CLASS.format(
        layer=pair.layer,
        inputs=", ".join(["x", *pair.arguments]),
        forward=write_unaliased(pair.forward, "x"),
        kept=_write_setup(pair, used),
        returned=_write_returns(pair, gradient, used),
    )


def find_used_names(pair: Pair, gradient: str) -> set[str]:
    """Return the names that backward's code reads: in ``gradient``, in totals, and in the line for ``ya``."""
    used = find_names(" ".join(f"({text})," for text in (gradient, *write_totals(pair))))
    return used | find_names(write_twin(pair)) if _needs_twin(pair, used) else used


def _needs_twin(pair: Pair, used: set[str]) -> bool:
    return "ya" in used and "ya" in pair.random_names


def write_twin(pair: Pair, dialect: Dialect = TORCH) -> str:
    """Return a line of code that computes ``ya``, the op's output for 1 − u in place of u."""
    return f"ya = {write_unaliased(pair.twin, 'x', dialect)}"


def select_tensors(pair: Pair, used: set[str]) -> dict[str, str]:
    """Return a dict from the names that backward uses for tensors to the expressions that forward saves."""
    expressions = {"x": "x", "y": "output", **{name: name for name in pair.learns}}
    expressions |= {"u": "u"} if "u" in pair.random_names else {}
    return {name: saved for name, saved in expressions.items() if name in used}


def _write_setup(pair: Pair, used: set[str]) -> str:
    inputs = [name if name in used else "_" for name in ("x", *pair.arguments)]
    tensors = ", ".join(select_tensors(pair, used).values())
    lines = [f"{join_names(inputs)} = inputs"] if set(inputs) != {"_"} else []
    for method in ("save_for_backward", "save_for_forward") if tensors else ():
        lines.append(f"ctx.{method}({tensors})")
    lines += write_attributes(pair, used)
    return join_lines(*lines) if lines else '"""Keep nothing: backward needs g alone."""'


def write_attributes(pair: Pair, used: set[str]) -> list[str]:
    """Return the lines of code that keep the loss and numbers on ctx for backward."""
    numbers = [name for name in pair.numbers if name in used]
    lines = ["ctx.f = f"] if "f" in used and "f" in pair.extras else []
    return lines + ([f"ctx.numbers = {join_names(numbers)}"] if numbers else [])


def _write_returns(pair: Pair, gradient: str, used: set[str]) -> str:
    lines = write_unpacking(pair, used)
    returned = [gradient, *write_totals(pair)]
    if pair.learns:
        returned = [
            f"{text} if ctx.needs_input_grad[{index}] else None" for index, text in enumerate(returned)
        ]
    return join_lines(*lines, f"return {', '.join([*returned, *write_nones(pair)])}")


def write_nones(pair: Pair) -> list[str]:
    """Return the None values, as code, that backward returns for arguments without gradient."""
    return ["None"] * len((*pair.extras, *pair.numbers))


def write_unpacking(pair: Pair, used: set[str], dialect: Dialect = TORCH) -> list[str]:
    """Return the lines of code with which backward reads what forward saved, and computes ``ya`` if used."""
    tensors, numbers = list(select_tensors(pair, used)), [name for name in pair.numbers if name in used]
    lines = [f"{join_names(tensors)} = ctx.saved_tensors"] if tensors else []
    lines += [f"{join_names(numbers)} = ctx.numbers"] if numbers else []
    lines += ["f = ctx.f"] if "f" in used and "f" in pair.extras else []
    return lines + ([write_twin(pair, dialect)] if _needs_twin(pair, used) else [])


def _write_forward_mode(pair: Pair, gradient: str) -> str:
    if not pair.learns:
        methods = _TANGENT.format(layer=pair.layer, first="[0]" if pair.arguments else "")
        return _FORWARD_MODE.format(layer=pair.layer, methods=methods)
    lines = write_unpacking(pair, find_used_names(pair, gradient))
    lines.append(f"_moved = 0 if g is None else {gradient}")
    for name in pair.learns:
        scale = pair.scale_of(name, f"(ctx.shape.numel() / {name}.numel())")
        factor = f"({scale.torch_source}) * " if scale else ""
        part = write_unaliased(pair.contribution_of(name), "g")
        lines.append(_CHANGED.format(name=name, factor=factor, part=part))
    changes = ", ".join(f"_{name}" for name in pair.learns)
    methods = _TANGENTS.format(layer=pair.layer, changes=changes, lines=join_lines(*lines))
    return _FORWARD_MODE.format(layer=pair.layer, methods=methods)

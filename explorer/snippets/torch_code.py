"""PyTorch source of an op with a rule: a Function, the function that applies it, and a Module."""

from collections.abc import Sequence

from explorer.catalogue import Op, Rule, check_values, find_op, find_rule
from explorer.formula import Formula
from explorer.formula.operands import counted, has_elements
from explorer.formula.printing import TORCH, limited_source
from explorer.formula.tree import is_constant
from explorer.snippets import helpers, layout
from explorer.snippets.arguments import expanded, meanings, signature, usage
from explorer.snippets.helpers import helped
from explorer.snippets.layers import layer_code
from explorer.snippets.layout import block, docstring, names_in, several
from explorer.snippets.pair import Pair, Values, paired

_STANDARD = {
    "math": "import math",
    "Callable": "from collections.abc import Callable",
}
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
# torch.compile reads no Function that has a jvp, so forward mode has one of its own.
_FORWARD_MODE = '''

class _{layer}ForwardMode(_{layer}Function):
    """The same with forward mode, which torch.compile does not read."""
{methods}'''
_REFUSED = """if torch.compiler.is_dynamo_compiling() and torch._C._are_functorch_transforms_active():
        raise RuntimeError("torch.func inside torch.compile passes over backward rules")
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
    """PyTorch source that defines ``round_straight_through(x, **parameters)`` and its layer.

    Executed on its own, with torch alone, it reproduces ``explorer.apply`` bit for bit, kinks
    included, and works under double backward and torch.func where the rule is differentiable, in forward
    mode (``jvp``, ``jacfwd``) too. torch.compile makes one graph of it, with and without gradients, but
    without forward mode and torch.func. For the default rule it is the plain op. Where Python refuses a
    constant, such as ``1 / a`` or ``log(a)`` at a = 0, the code gives what ``explorer.apply`` gives, NaN or
    infinity. A name that op and rule
    have in two meanings is two arguments: ``elu_dsq(x, alpha, alpha_rule)``.

    The function of a pair that draws takes u, one number in (0, 1) for each element, and, where the rule
    names the loss, f, a function of y: ``name(x, *, u, f, **parameters)``. At the same u it gives the bits
    of ``explorer.apply(…, draw=u)``; its layer draws anew at each call.

    With ``learns`` it defines ``quantize_lsq(x, s, *, **numbers)``, whose tensor ``s`` gets the gradient that
    ``explorer.apply`` gives it, bit for bit, in its own shape; the layer holds it as an ``nn.Parameter``.

    Args:
        op: key of ``OPS``, or ``"formula: …"`` in x.
        rule: key of ``RULES``, or ``"formula: …"`` in x, y, g.
        parameters: values by name, which become the defaults of the signature; other names are
            passed over.
        learns: names of parameters that learn, see ``catalogue.learnable``.
        **named: the same as keywords.

    Raises:
        ValueError: an unknown key or keyword, a value that is not finite or outside the domain of its entry,
            a name that cannot learn; FormulaError is one too.
    """
    keywords = check_values(find_op(op), [find_rule(rule)], named)
    return torch_code(paired(op, rule, {**(parameters or {}), **keywords}, learns))


def torch_code(pair: Pair) -> str:
    """The text of a module that defines ``pair.name`` and ``pair.layer``."""
    return module(_code(pair, forward_mode=True) + layer_code(pair))


def _code(pair: Pair, forward_mode: bool) -> str:
    gradient = _gradient(pair)
    if gradient is None:
        drawn = f"u = {expanded('u')}\n    " if pair.forward.draws else ""
        return function(pair, f"{drawn}return {fresh(pair.forward, 'x')}")
    remarks = [] if pair.backward else [_NO_PATH]
    tensors = [f"{name}.to(x.dtype)" for name in pair.learns]
    arguments = ", ".join(["x", *tensors, *map(expanded, pair.given), *pair.numbers])
    if not forward_mode:
        return _function_class(pair, gradient) + function(
            pair, f"return _{pair.layer}Function.apply({arguments})", *remarks
        )
    call = (
        f"{_REFUSED}_function = _{pair.layer}Function if torch.compiler.is_compiling() "
        f"else _{pair.layer}ForwardMode\n"
        f"    return _function.apply({arguments})"
    )
    return _function_class(pair, gradient) + _forward_mode(pair, gradient) + function(pair, call, *remarks)


def function_code(
    op: str | Op, rule: str | Rule, parameters: Values, learns: Sequence[str] = ()
) -> tuple[str, str]:
    """The name and the code of the function alone, to stand among others in a script that imports torch.

    It has no forward mode, which no script uses.
    Arguments and errors are those of ``snippet``; of ``learns`` each is an argument behind x, in this order.
    """
    pair = paired(op, rule, parameters, learns)
    return pair.name, _code(pair, forward_mode=False)


def module(code: str) -> str:
    """The text of a module: the imports the code needs, the code."""
    code = helped(code, helpers.TORCH)
    layer = "from torch import Tensor, nn" if "nn.Module" in code else "from torch import Tensor"
    return layout.module(code, _STANDARD, {"torch": "import torch", "Tensor": layer})


def function(pair: Pair, body: str, *remarks: str) -> str:
    """The function of x and the parameters, with its docstring."""
    return _FUNCTION.format(
        name=pair.name,
        signature=signature(
            ["x: Tensor", *(f"{name}: Tensor" for name in pair.learns)], pair.numbers, pair.given
        ),
        docstring=docstring(pair.described("tensor", *remarks, *usage(pair), given=meanings(pair))),
        body=body,
    )


def shaped(formula: Formula, like: str) -> str:
    """The formula's expression, of the shape of ``like`` also where all elements share one value."""
    if is_constant(counted(formula.tree)):
        return f"torch.full_like({like}, {limited_source(formula.tree, TORCH)})"
    if not has_elements(formula.tree):
        return f"torch.broadcast_to({formula.torch_source}, {like}.shape)"
    return formula.torch_source


def fresh(formula: Formula, like: str) -> str:
    """As ``shaped``, in memory of its own: neither x nor y changes with it, nor u."""
    return shaped(formula, like) + ".clone()" * (formula.alias in ("x", "y", "u()", "ya()"))


def _gradient(pair: Pair) -> str | None:
    """The expression backward returns; None where torch's own derivative is wanted and exists."""
    if pair.backward is not None:
        return fresh(pair.backward, "g")
    return None if pair.op.parsed.carries_gradient else "torch.zeros_like(g)"


def _totals(pair: Pair) -> list[str]:
    """The expressions that backward returns for learned parameters, in the order of the arguments."""
    totals = []
    for name in pair.learns:
        part = fresh(pair.part(name), "g")
        scale = pair.scale(name, f"(g.numel() / {name}.numel())")
        factor = f"({scale.torch_source}) * " if scale else ""
        totals.append(f"{factor}({part}).sum_to_size({name}.shape)")
    return totals


def _function_class(pair: Pair, gradient: str) -> str:
    used = _used(pair, gradient)
    return _FUNCTION_CLASS.format(
        layer=pair.layer,
        inputs=", ".join(["x", *pair.arguments]),
        forward=fresh(pair.forward, "x"),
        kept=_saved(pair, used),
        returned=_returned(pair, gradient, used),
    )


def _used(pair: Pair, gradient: str) -> set[str]:
    used = names_in(" ".join(f"({text})," for text in (gradient, *_totals(pair))))
    return used | names_in(twin(pair)) if _needs_twin(pair, used) else used


def _needs_twin(pair: Pair, used: set[str]) -> bool:
    return "ya" in used and "ya" in pair.drawn


def twin(pair: Pair) -> str:
    """The line that draws the output of the twin."""
    return f"ya = {fresh(pair.twin, 'x')}"


def _tensors(pair: Pair, used: set[str]) -> dict[str, str]:
    """The tensors that backward needs: name -> the expression that is saved."""
    known = {"x": "x", "y": "output", **{name: name for name in pair.learns}}
    known |= {"u": "u"} if "u" in pair.drawn else {}
    return {name: saved for name, saved in known.items() if name in used}


def _saved(pair: Pair, used: set[str]) -> str:
    """The lines that save values for backward: tensors where autograd sees them, numbers beside them."""
    inputs = [name if name in used else "_" for name in ("x", *pair.arguments)]
    tensors, numbers = _tensors(pair, used).values(), [name for name in pair.numbers if name in used]
    lines = [f"{several(inputs)} = inputs"] if set(inputs) != {"_"} else []
    for kept in ("save_for_backward", "save_for_forward") if tensors else ():
        lines.append(f"ctx.{kept}({', '.join(tensors)})")
    lines += ["ctx.f = f"] if "f" in used and "f" in pair.given else []
    lines += [f"ctx.numbers = {several(numbers)}"] if numbers else []
    return block(*lines) if lines else '"""Keep nothing: backward needs g alone."""'


def _returned(pair: Pair, gradient: str, used: set[str]) -> str:
    """The lines that return the gradients of x and learned parameters, and None for numbers."""
    lines = _unpacked(pair, used)
    returned = [gradient, *_totals(pair)]
    if pair.learns:
        returned = [
            f"{text} if ctx.needs_input_grad[{index}] else None" for index, text in enumerate(returned)
        ]
    return block(*lines, f"return {', '.join([*returned, *['None'] * len((*pair.given, *pair.numbers))])}")


def _unpacked(pair: Pair, used: set[str]) -> list[str]:
    """The lines that take what was saved."""
    tensors, numbers = list(_tensors(pair, used)), [name for name in pair.numbers if name in used]
    lines = [f"{several(tensors)} = ctx.saved_tensors"] if tensors else []
    lines += [f"{several(numbers)} = ctx.numbers"] if numbers else []
    lines += ["f = ctx.f"] if "f" in used and "f" in pair.given else []
    return lines + ([twin(pair)] if _needs_twin(pair, used) else [])


def _forward_mode(pair: Pair, gradient: str) -> str:
    """The class that adds forward mode: what backward returns, for the tangents as upstream gradients."""
    if not pair.learns:
        methods = _TANGENT.format(layer=pair.layer, first="[0]" if pair.arguments else "")
        return _FORWARD_MODE.format(layer=pair.layer, methods=methods)
    lines = [*_unpacked(pair, _used(pair, gradient)), f"_moved = 0 if g is None else {gradient}"]
    for name in pair.learns:
        scale = pair.scale(name, f"(ctx.shape.numel() / {name}.numel())")
        factor, part = f"({scale.torch_source}) * " if scale else "", fresh(pair.part(name), "g")
        lines.append(_CHANGED.format(name=name, factor=factor, part=part))
    changes = ", ".join(f"_{name}" for name in pair.learns)
    methods = _TANGENTS.format(layer=pair.layer, changes=changes, lines=block(*lines))
    return _FORWARD_MODE.format(layer=pair.layer, methods=methods)

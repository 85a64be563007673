"""The short form of an op with a rule: the autograd Function that a person would write."""

from collections.abc import Sequence

from explorer.catalogue import Op, Rule
from explorer.formula.printing import PLAIN_TORCH, TORCH, Dialect
from explorer.snippets import torch_code
from explorer.snippets.arguments import write_usage
from explorer.snippets.layout import join_lines, make_docstring
from explorer.snippets.pair import Pair, Values, make_pair

_CLASS = """

class {layer}(torch.autograd.Function):
    {title}

    @staticmethod
    def forward(ctx, {inputs}):
        {forward}

    @staticmethod
    def backward(ctx, g):
        {returned}
"""
_FUNCTION = """

def {name}({signature}):
    {body}
"""


def make_short_code(pair: Pair) -> str:
    """Return the source that a person would write: one autograd Function, and a comment that calls it.

    The Function's name is ``pair.name``. The code needs only torch. It gives the bits of ``make_torch_code``
    and compiles as one graph, but it has no layer, no forward mode and no support for torch.func.
    """
    starts = [f"{name} = torch.tensor({pair.parameters[name]!r}, requires_grad=True)" for name in pair.learns]
    usage = "".join(f"# {line}\n" for line in [*starts, *write_usage(pair)])
    return torch_code.make_module(f"{_write_short(pair, PLAIN_TORCH)}\n\n{usage}")


def function_code(
    op: str | Op, rule: str | Rule, parameters: Values, learns: Sequence[str] = ()
) -> tuple[str, str]:
    """Return the name and source of an exported function without imports, for a script.

    The code is the short form. Arguments and errors are those of ``snippet``; each name in ``learns`` is an
    argument after x, in this order.
    """
    pair = make_pair(op, rule, parameters, learns)
    return pair.name, _write_short(pair)


def _write_short(pair: Pair, dialect: Dialect = TORCH) -> str:
    gradient = torch_code.write_backward(pair, dialect)
    numbers = [f"{name}={value!r}" for name, value in pair.numbers.items()]
    signature = ", ".join(["x", *pair.learns, *pair.extras, *numbers])
    if gradient is None:
        body = "\n    ".join([make_docstring([f"{pair.title}."]), *torch_code.write_plain(pair, dialect)])
        return _FUNCTION.format(name=pair.name, signature=signature, body=body)
    used = torch_code.find_used_names(pair, gradient)
    layer = "_" * (pair.layer in pair.arguments) + pair.layer
    returned = ", ".join([gradient, *torch_code.write_totals(pair, dialect), *torch_code.write_nones(pair)])
    function = _CLASS.format(
        layer=layer,
        title=make_docstring([f"{pair.title}."]),
        inputs=", ".join(["x", *pair.arguments]),
        forward=join_lines(*_write_forward(pair, used, dialect)),
        returned=join_lines(*torch_code.write_unpacking(pair, used, dialect), f"return {returned}"),
    )
    call = f"return {layer}.apply({torch_code.write_arguments(pair)})"
    return function + _FUNCTION.format(name=pair.name, signature=signature, body=call)


def _write_forward(pair: Pair, used: set[str], dialect: Dialect) -> list[str]:
    tensors = list(torch_code.select_tensors(pair, used))
    y = torch_code.write_unaliased(pair.forward, "x", dialect)
    lines = [f"y = {y}"] if "y" in tensors else []
    lines += [f"ctx.save_for_backward({', '.join(tensors)})"] if tensors else []
    return [*lines, *torch_code.write_attributes(pair, used), f"return {'y' if 'y' in tensors else y}"]

"""Source code of an op with a rule as custom operators, by ``torch.library.custom_op``."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from explorer.catalogue import Op, Rule, expand_losses
from explorer.formula import Formula
from explorer.snippets.arguments import expand_argument
from explorer.snippets.layout import find_names, join_names
from explorer.snippets.pair import Pair, Values, make_pair
from explorer.snippets.torch_code import make_module, write_function, write_unaliased

_REMARK = (
    "torch.compile and torch.export keep it as one operator, forward and backward: compiled it gives the "
    "same bits. There is no second derivative, and torch.func refuses it."
)
# Operators are registered for the whole process, so each name ends in a hash of the code. The result is
# contiguous because torch must know its memory layout in advance.
_OPERATOR = '''

@torch.library.custom_op("gradient_explorer::{name}_{digest}", mutates_args=())
def _{name}({signature}) -> Tensor:
    """{title}"""
    return ({body}).contiguous()


@_{name}.register_fake
def _({arguments}):
    return torch.empty_like({like}, memory_format=torch.contiguous_format)
'''
_AUTOGRAD = """

def _{name}_setup(ctx, inputs, output):
    {kept}


def _{name}_backward(ctx, g):
    {returned}


_{name}.register_autograd(_{name}_backward, setup_context=_{name}_setup)
"""


class _Operator(NamedTuple):
    """A custom operator of exported code; its result has the shape of the tensor ``like``."""

    name: str
    title: str
    tensors: tuple[str, ...]
    body: str
    like: str


def custom_op_snippet(
    op: str | Op, rule: str | Rule, parameters: Values = None, learns: Sequence[str] = ()
) -> str | None:
    """Return PyTorch source that defines an op with a rule as ``torch.library.custom_op`` operators.

    Forward and each gradient are separate operators with ``register_autograd`` and ``register_fake``.
    Compiled and eager code give the same bits; for a rule with a formula, the bits of ``snippet``. The
    default rule is written out as the op's derivative. There is no second derivative.

    Returns None if that derivative is too long to write out, or if a rule uses the loss: an operator cannot
    take a function as argument. Arguments and errors are those of ``snippet``.
    """
    return make_custom_op_code(make_pair(op, rule, parameters, learns))


def make_custom_op_code(pair: Pair) -> str | None:
    """Return the source of the custom operators, or None if the gradient cannot be written out."""
    if "f" in pair.extras:
        return None
    gradient = _write_gradient(pair)
    if gradient is None:
        return None
    gradients = {"x": gradient} | {name: _write_total(pair, name) for name in pair.learns}
    inputs, forward = ("x", *pair.learns, *pair.extras), write_unaliased(pair.forward, "x")
    operators = [_Operator(pair.name, "The op.", inputs, forward, "x")]
    for name, text in gradients.items():
        inputs, like = ("g", *_find_used_tensors(pair, [text])), "g" if name == "x" else name
        title = f"The gradient for {name}."
        operators.append(_Operator(_make_operator_name(pair, name), title, inputs, text, like))
    digest = sha256(repr((operators, list(pair.parameters))).encode()).hexdigest()[:8]
    code = "".join(_write_operator(pair, operator, digest) for operator in operators)
    tensors = [f"{name}.to(x.dtype)" for name in pair.learns]
    arguments = ["x", *tensors, *map(expand_argument, pair.extras), *pair.numbers]
    call = f"return _{pair.name}({', '.join(arguments)})"
    return make_module(code + _write_autograd(pair, gradients) + write_function(pair, call, _REMARK))


def _make_operator_name(pair: Pair, name: str) -> str:
    return f"{pair.name}_gradient_{name}"


def _write_gradient(pair: Pair) -> str | None:
    if pair.backward:
        return _write_cloned(pair.backward, pair.forward)
    if not pair.op.parsed.carries_gradient:
        return "torch.zeros_like(g)"
    derivative = pair.op.parsed.derive_gradient(pair.learns)
    return _write_cloned(derivative.with_tensors(pair.learns), pair.forward) if derivative else None


def _write_cloned(formula: Formula, op: Formula) -> str:
    """Return code for a formula whose value is a new tensor in the shape of g.

    ``op`` is the op's formula, which the loss takes. Operators must not return one of their inputs.
    """
    formula = expand_losses(formula, op, None)
    return write_unaliased(formula, "g") + ".clone()" * (formula.alias == "g")


def _write_total(pair: Pair, name: str) -> str:
    scale = pair.scale_of(name, f"(g.numel() / {name}.numel())")
    factor = f"({scale.torch_source}) * " if scale else ""
    return f"{factor}({_write_cloned(pair.contribution_of(name), pair.forward)}).sum_to_size({name}.shape)"


def _find_used_tensors(pair: Pair, texts: Sequence[str]) -> list[str]:
    used = find_names(" ".join(f"({text})," for text in texts))
    return [name for name in ("x", "y", *pair.learns, *pair.extras) if name in used]


def _write_operator(pair: Pair, operator: _Operator, digest: str) -> str:
    tensors = [f"{name}: Tensor" for name in operator.tensors]
    signature = [*tensors, *(f"{each}: float" for each in pair.numbers)]
    return _OPERATOR.format(
        signature=", ".join(signature),
        arguments=", ".join([*operator.tensors, *pair.numbers]),
        digest=digest,
        **operator._asdict(),
    )


def _write_autograd(pair: Pair, gradients: Mapping[str, str]) -> str:
    used, numbers = _find_used_tensors(pair, list(gradients.values())), list(pair.numbers)
    inputs = [name if name in {*used, *numbers} else "_" for name in ("x", *pair.arguments)]
    setup = [f"{join_names(inputs)} = inputs"] if set(inputs) != {"_"} else []
    backward, values = [], []
    if used:
        saved = ["output" if name == "y" else name for name in used]
        setup.append(f"ctx.save_for_backward({', '.join(saved)})")
        backward.append(f"{join_names(used)} = ctx.saved_tensors")
    if numbers:
        setup.append(f"ctx.numbers = {join_names(numbers)}")
        backward.append(f"{join_names(numbers)} = ctx.numbers")
    for index, (name, text) in enumerate(gradients.items()):
        arguments = ", ".join(["g", *_find_used_tensors(pair, [text]), *numbers])
        call = f"_{_make_operator_name(pair, name)}({arguments})"
        values.append(f"{call} if ctx.needs_input_grad[{index}] else None")
    backward.append(f"return {', '.join([*values, *['None'] * len((*pair.extras, *numbers))])}")
    setup = setup or ['"""Keep nothing: the gradient needs g alone."""']
    lines = {"kept": "\n    ".join(setup), "returned": "\n    ".join(backward)}
    return _AUTOGRAD.format(name=pair.name, **lines)

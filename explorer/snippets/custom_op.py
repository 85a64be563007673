"""An op with a rule as an operator of torch's own kind, by ``torch.library.custom_op``."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from explorer.catalogue import Op, Rule, expand_losses
from explorer.formula import Formula
from explorer.snippets.arguments import expanded
from explorer.snippets.layout import names_in, several
from explorer.snippets.pair import Pair, Values, paired
from explorer.snippets.torch_code import fresh, function, module

_REMARK = (
    "torch.compile and torch.export keep it as one operator, forward and backward: compiled it gives the "
    "same bits. There is no second derivative, and torch.func refuses it."
)
# A name of an operator counts in the whole process, so that it ends in a hash of what is computed. The result
# has a layout that torch must know beforehand: contiguous.
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
    """An operator: its name, docstring, tensors and expression, and a tensor of the result's shape."""

    name: str
    title: str
    tensors: tuple[str, ...]
    body: str
    like: str


def custom_op_snippet(
    op: str | Op, rule: str | Rule, parameters: Values = None, learns: Sequence[str] = ()
) -> str | None:
    """PyTorch source of the same function by ``torch.library.custom_op``; None where there is none.

    Forward and every gradient are an operator each, with ``register_autograd`` and ``register_fake``:
    compiled and eager give the same bits, for a rule with a formula those of ``snippet``. The default rule is
    the op's derivative, written out; None where that is too long, or where a rule names the loss, a function,
    which no operator takes. There is no second derivative. Arguments
    as for ``snippet``.
    """
    return custom_op_code(paired(op, rule, parameters, learns))


def custom_op_code(pair: Pair) -> str | None:
    """The text of that module for a pair; None where the gradient cannot be written out, or needs a loss."""
    if "f" in pair.given:
        return None
    gradient = _gradient(pair)
    if gradient is None:
        return None
    gradients = {"x": gradient} | {name: _total(pair, name) for name in pair.learns}
    operators = [
        _Operator(pair.name, "The op.", ("x", *pair.learns, *pair.given), fresh(pair.forward, "x"), "x")
    ]
    for name, text in gradients.items():
        inputs, like = ("g", *_used(pair, [text])), "g" if name == "x" else name
        operators.append(
            _Operator(_gradient_name(pair, name), f"The gradient for {name}.", inputs, text, like)
        )
    digest = sha256(repr((operators, list(pair.parameters))).encode()).hexdigest()[:8]
    code = "".join(_operator_code(pair, operator, digest) for operator in operators)
    tensors = [f"{name}.to(x.dtype)" for name in pair.learns]
    arguments = ["x", *tensors, *map(expanded, pair.given), *pair.numbers]
    call = f"return _{pair.name}({', '.join(arguments)})"
    return module(code + _autograd(pair, gradients) + function(pair, call, _REMARK))


def _gradient_name(pair: Pair, name: str) -> str:
    return f"{pair.name}_gradient_{name}"


def _gradient(pair: Pair) -> str | None:
    """The expression of the gradient for x; None where it cannot be written out."""
    if pair.backward:
        return _own(pair.backward, pair.forward)
    if not pair.op.parsed.carries_gradient:
        return "torch.zeros_like(g)"
    written = pair.op.parsed.gradient_with(pair.learns)
    return _own(written.varying(pair.learns), pair.forward) if written else None


def _own(formula: Formula, op: Formula) -> str:
    """A formula's expression of g's shape, in memory of its own: no operator returns what it was given."""
    formula = expand_losses(formula, op, None)
    return fresh(formula, "g") + ".clone()" * (formula.alias == "g")


def _total(pair: Pair, name: str) -> str:
    """The expression of the gradient for a learned parameter."""
    scale = pair.scale(name, f"(g.numel() / {name}.numel())")
    factor = f"({scale.torch_source}) * " if scale else ""
    return f"{factor}({_own(pair.part(name), pair.forward)}).sum_to_size({name}.shape)"


def _used(pair: Pair, texts: Sequence[str]) -> list[str]:
    """The tensors beside g that expressions read."""
    used = names_in(" ".join(f"({text})," for text in texts))
    return [name for name in ("x", "y", *pair.learns, *pair.given) if name in used]


def _operator_code(pair: Pair, operator: _Operator, digest: str) -> str:
    tensors = [f"{each}: Tensor" for each in operator.tensors]
    signature = [*tensors, *(f"{each}: float" for each in pair.numbers)]
    return _OPERATOR.format(
        signature=", ".join(signature),
        arguments=", ".join([*operator.tensors, *pair.numbers]),
        digest=digest,
        **operator._asdict(),
    )


def _autograd(pair: Pair, gradients: Mapping[str, str]) -> str:
    """The halves of the derivative, which call the operators of the gradients, and their registration."""
    used, numbers = _used(pair, list(gradients.values())), list(pair.numbers)
    inputs = [name if name in {*used, *numbers} else "_" for name in ("x", *pair.arguments)]
    kept = [f"{several(inputs)} = inputs"] if set(inputs) != {"_"} else []
    returned, values = [], []
    if used:
        saved = ["output" if name == "y" else name for name in used]
        kept.append(f"ctx.save_for_backward({', '.join(saved)})")
        returned.append(f"{several(used)} = ctx.saved_tensors")
    if numbers:
        kept.append(f"ctx.numbers = {several(numbers)}")
        returned.append(f"{several(numbers)} = ctx.numbers")
    for index, (name, text) in enumerate(gradients.items()):
        arguments = ", ".join(["g", *_used(pair, [text]), *numbers])
        call = f"_{_gradient_name(pair, name)}({arguments})"
        values.append(f"{call} if ctx.needs_input_grad[{index}] else None")
    returned.append(f"return {', '.join([*values, *['None'] * len((*pair.given, *numbers))])}")
    kept = kept or ['"""Keep nothing: the gradient needs g alone."""']
    lines = {"kept": "\n    ".join(kept), "returned": "\n    ".join(returned)}
    return _AUTOGRAD.format(name=pair.name, **lines)

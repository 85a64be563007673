"""PyTorch source of an op with a rule: a Function, the function that applies it, and a Module."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.formula import Formula
from explorer.formula.tree import is_constant
from explorer.snippets.layout import STEP, WIDTH, docstring, listing, literal, names_in, statement, unpacking
from explorer.snippets.pair import Pair, has_elements

BODY = 2 * STEP
_NO_PATH = "torch sees no path from y back to x, so the gradient is 0."
_CONSTANT = [
    "def constant(value: float) -> Tensor:",
    *docstring(STEP, ["A number as a tensor, whose arithmetic gives inf or nan where Python's raises."]),
    f"{STEP}return torch.tensor(value, dtype=torch.float64)",
]


def torch_code(pair: Pair) -> str:
    """The module's text; it needs torch alone and defines ``pair.name`` and ``pair.layer``."""
    gradient = _gradient(pair)
    if gradient is None:
        body = statement(STEP, "return ", shaped(pair.op.parsed, "x"))
        return module([*function(pair, body), *_layer(pair)])
    remarks = [] if pair.rule.parsed else [_NO_PATH]
    call = listing(STEP, f"return _{pair.layer}Function.apply(", ["x", *pair.parameters], ")")
    return module([*_function_class(pair, gradient), "", "", *function(pair, call, *remarks), *_layer(pair)])


def module(lines: Sequence[str]) -> str:
    """The text of a module: the imports the lines need, the helper they call, the lines."""
    code = "\n".join(lines)
    used = names_in(code)
    helper = [*_CONSTANT, "", ""] if "constant" in used else []
    imports = ["import math", ""] if "math" in used else []
    imports += ["import torch"] if helper or "torch" in used else []
    imports += [f"from torch import {'Tensor, nn' if 'nn' in used else 'Tensor'}", "", ""]
    return "\n".join([*imports, *helper, code, ""])


def function(pair: Pair, body: Sequence[str], *remarks: str) -> list[str]:
    """The function of x and the parameters, with its docstring."""
    return [
        *listing("", f"def {pair.name}(", _signature(pair, "x: Tensor"), ") -> Tensor:"),
        *docstring(STEP, pair.described("tensor", *remarks)),
        *body,
    ]


def shaped(formula: Formula, like: str) -> str:
    """The formula's expression, of the shape of ``like`` also where all elements share one value."""
    if is_constant(formula.tree):
        return f"torch.full_like({like}, {formula.torch_source})"
    if not has_elements(formula.tree):
        return f"({formula.torch_source}).expand_as({like})"
    return formula.torch_source


def _signature(pair: Pair, first: str) -> list[str]:
    typed = [f"{name}: float = {literal(value)}" for name, value in pair.parameters.items()]
    return [first, "*", *typed] if typed else [first]


def _gradient(pair: Pair) -> str | None:
    """The expression backward returns; None where torch's own derivative is wanted and exists."""
    if pair.rule.parsed is not None:
        return shaped(pair.rule.parsed, "g")
    return None if pair.op.parsed.carries_gradient else "torch.zeros_like(g)"


def _function_class(pair: Pair, gradient: str) -> list[str]:
    forward = shaped(pair.op.parsed, "x")
    used = names_in(gradient)
    return [
        # No parameter of a formula starts with an underscore, so none can hide this name.
        f"class _{pair.layer}Function(torch.autograd.Function):",
        f'{STEP}"""The op forward, the rule backward."""',
        "",
        f"{STEP}generate_vmap_rule = True",
        "",
        f"{STEP}@staticmethod",
        *listing(STEP, "def forward(", ["x", *pair.parameters], "):"),
        # What forward returns must not be its own input.
        *statement(BODY, "return ", "x.clone()" if forward == "x" else forward),
        "",
        f"{STEP}@staticmethod",
        f"{STEP}def setup_context(ctx, inputs, output):",
        *_kept(pair, used),
        "",
        f"{STEP}@staticmethod",
        f"{STEP}def backward(ctx, g):",
        *_recalled(pair, used),
        *_returned(gradient, len(pair.parameters)),
    ]


def _kept(pair: Pair, used: set[str]) -> list[str]:
    inputs = ["x" if "x" in used else "_"]
    inputs += [f"ctx.{name}" if name in used else "_" for name in pair.parameters]
    tensors = [name for name, variable in (("x", "x"), ("output", "y")) if variable in used]
    lines = unpacking(BODY, "", inputs, " = inputs") if set(inputs) != {"_"} else []
    if tensors:
        lines.append(f"{BODY}ctx.save_for_backward({', '.join(tensors)})")
    return lines or [f'{BODY}"""Keep nothing: backward needs g alone."""']


def _recalled(pair: Pair, used: set[str]) -> list[str]:
    tensors = [name for name in ("x", "y") if name in used]
    lines = unpacking(BODY, "", tensors, " = ctx.saved_tensors") if tensors else []
    return lines + [f"{BODY}{name} = ctx.{name}" for name in pair.parameters if name in used]


def _returned(gradient: str, parameters: int) -> list[str]:
    """Return the gradient of x, and None for what is no tensor."""
    lines = statement(BODY, "return ", gradient, ", None" * parameters)
    if not parameters or (len(lines) == 1 and len(lines[0]) <= WIDTH):
        return lines
    nones = ["None"] * parameters
    return [
        *statement(BODY, "gradient = ", gradient),
        *unpacking(BODY, "return ", ["gradient", *nones], ""),
    ]


def _layer(pair: Pair) -> list[str]:
    arguments = ["x", *(f"{name}=self.{name}" for name in pair.parameters)]
    return [
        "",
        "",
        f"class {pair.layer}(nn.Module):",
        f'{STEP}"""The function {pair.name} as a layer."""',
        "",
        *_settings(pair),
        f"{STEP}def forward(self, x: Tensor) -> Tensor:",
        *listing(BODY, f"return {pair.name}(", arguments, ")"),
        *_representation(pair),
    ]


def _settings(pair: Pair) -> list[str]:
    if not pair.parameters:
        return []
    return [
        *listing(STEP, "def __init__(", _signature(pair, "self"), ") -> None:"),
        f"{BODY}super().__init__()",
        *(f"{BODY}self.{name} = {name}" for name in pair.parameters),
        "",
    ]


def _representation(pair: Pair) -> list[str]:
    if not pair.parameters:
        return []
    texts = [f"{name}={{self.{name}}}" for name in pair.parameters]
    line = f'{BODY}return f"{", ".join(texts)}"'
    pieces = [f'f"{text}, "' for text in texts[:-1]] + [f'f"{texts[-1]}"']
    apart = [f"{BODY}return (", *(f"{BODY}{STEP}{piece}" for piece in pieces), f"{BODY})"]
    head = ["", f"{STEP}def extra_repr(self) -> str:"]
    return head + ([line] if len(line) <= WIDTH else apart)

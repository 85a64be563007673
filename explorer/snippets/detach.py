"""The detach trick: an ordinary function whose gradient is a rule's, where the rule allows it."""

from collections.abc import Mapping, Sequence

from explorer.catalogue import Op, Rule
from explorer.formula.printing import TORCH, source
from explorer.formula.tree import (
    Binary,
    Call,
    Name,
    Node,
    Number,
    Unary,
    is_constant,
    names,
)
from explorer.snippets.arguments import expanded
from explorer.snippets.layout import block
from explorer.snippets.pair import Pair, Values, paired
from explorer.snippets.torch_code import fresh, function, module, twin

_REMARK = (
    "The value is exactly the op's wherever the surrogate is finite. The first derivative is the rule's up "
    "to rounding, kinks included. There is no second derivative."
)
_ONE, _ZERO = Number(1.0), Number(0.0)


def detach_snippet(
    op: str | Op, rule: str | Rule, parameters: Values = None, learns: Sequence[str] = ()
) -> str | None:
    """The same function without a class, by ``detach``; None where that cannot express the rule.

    It can for rules, and contributions of what ``learns``, that are g times a factor free of g. Forward
    values are the op's bit for bit, gradients are the rule's up to rounding, kinks included; there is no
    second derivative. Arguments as for ``snippet``.
    """
    return detach_code(paired(op, rule, parameters, learns))


def detach_code(pair: Pair) -> str | None:
    """The text of that module for a pair; None where the trick cannot express it."""
    if pair.rule.parsed is None:
        return None
    trees = {"x": pair.rule.parsed.varying(pair.learns).tree}
    trees |= {name: pair.part(name).tree for name in pair.learns}
    factors = {name: local_gradient(tree) for name, tree in trees.items()}
    known = {name: factor for name, factor in factors.items() if factor is not None}
    if len(known) < len(factors):
        return None
    cast = "".join(f"{name} = {name}.to(x.dtype)\n    " for name in pair.learns)
    drawn = f"u = {expanded('u')}\n    " if "u" in pair.given else ""
    twins = [twin(pair)] if any({"ya()", "fa()"} & {*names(tree)} for tree in trees.values()) else []
    body = drawn + cast + block("with torch.no_grad():", f"y = {fresh(pair.forward, 'x')}", *twins)
    return module(function(pair, body + _surrogate(pair, known), _REMARK))


def local_gradient(node: Node) -> Node | None:
    """The factor f of a rule ``g * f``, a tree without g; None where the rule is no such product.

    The value of f is the rule's at g = 1, up to rounding.
    """
    match node:
        case Name("g"):
            return _ONE
        case Unary("-", operand):
            factor = local_gradient(operand)
            return factor and Unary("-", factor)
        case Binary("*" | "/" as sign, left, right) if "g" not in names(right):
            factor = local_gradient(left)
            return factor and (right if (sign, factor) == ("*", _ONE) else Binary(sign, factor, right))
        case Binary("*", left, right) if "g" not in names(left):
            factor = local_gradient(right)
            return factor and (left if factor == _ONE else Binary("*", left, factor))
        case Binary("+" | "-" as sign, left, right):
            first, second = local_gradient(left), local_gradient(right)
            return first and second and Binary(sign, first, second)
        case Call("where", (condition, *branches)) if "g" not in names(condition):
            then, otherwise = (_ZERO if branch == _ZERO else local_gradient(branch) for branch in branches)
            return then and otherwise and Call("where", (condition, then, otherwise))
        case _:
            return None


def _surrogate(pair: Pair, factors: Mapping[str, Node]) -> str:
    """The surrogate that carries y's gradients: x and each learned parameter, times its factor."""
    if factors == {"x": _ONE}:
        return "\n    return y - (x.detach() - x)"
    lines, terms = [], []
    for name, factor in factors.items():
        called = "gradient" if name == "x" else f"_gradient_{name}"
        scale = pair.scale(name, f"(x.numel() / {name}.numel())") if name != "x" else None
        if not is_constant(factor) or scale:
            before = f"({scale.torch_source}) * " if scale else ""
            lines.append(f"\n        {called} = {before}({source(factor, TORCH)})")
            factor = Name(called)
        terms.append(source(Binary("*", factor, Name(name)), TORCH))
    last = f"\n    surrogate = {' + '.join(terms)}\n    return y - (surrogate.detach() - surrogate)"
    return "".join(lines) + last

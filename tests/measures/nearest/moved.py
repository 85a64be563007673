"""Rules times a factor, made wider and moved, as a rule of anybody's own."""

from explorer.catalogue import Op, Rule
from explorer.formula import Formula
from explorer.formula.tree import Binary, Name, Node, Number, Unary, substitute


def number(value: float) -> Node:
    """A literal of any sign."""
    return Number(value) if value >= 0 else Unary("-", Number(-value))


def moved(op: Op, rule: Rule, factor: float, width: float, shift: float) -> Rule:
    """``factor * rule((x - shift) / width)``, however long its formula becomes; without declared kinks."""
    tree = (rule.parsed or op.parsed.gradient).tree
    inner = Binary("/", Binary("-", Name("x"), number(shift)), number(width))
    y = substitute(op.parsed.tree, {Name("x"): inner})
    made = Rule("own", "Own", "g", parameters=rule.parameters)
    vars(made)["parsed"] = Formula(
        Binary("*", number(factor), substitute(tree, {Name("x"): inner, Name("y"): y}))
    )
    return made

"""Small faults put into every rule's formula, to count how many the oracles notice.

Run ``python -m tests.catalogue.mutation`` for the count per kind and every fault that went unnoticed.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from explorer.catalogue import RULES, Rule
from explorer.formula import Formula, Node
from explorer.formula.tree import Binary, Call, Compare, Name, Number, Unary, children
from tests.catalogue.cases import Case, cases

_OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_PARTS = {"+": "-", "-": "+"}

# Faults no test can notice, because the faulty rule gives the same gradient: each with the reason.
EQUIVALENT = {
    ("zero", "1.001 * (0 * g)"): "1.001 times 0 is 0",
    ("zero", "-(0 * g)"): "minus 0 is 0",
    ("zero", "0 * 1"): "0 times anything finite is 0",
    ("guided", "g * (x > 0) * (g >= 0)"): "where g is 0 the gradient is g, and so 0 either way",
    ("deconvnet", "g * (g >= 0)"): "where g is 0 the gradient is g, and so 0 either way",
    ("toward_range", "g * ((x <= hi) | (g >= 0)) * ((x >= lo) | (g < 0))"): "as for guided",
    ("toward_range", "g * ((x <= hi) | (g > 0)) * ((x >= lo) | (g <= 0))"): "as for guided",
    ("tqt", "g * (qmin <= round(x / 2 ** ceil(log2_s)) <= qmax + 0.001)"): "levels are whole, as qmax is",
}


@dataclass(frozen=True)
class Mutant:
    """A rule's formula with one fault in it."""

    rule: Rule
    kind: str
    formula: Formula


def mutants(rule: Rule) -> Iterator[Mutant]:
    """Every fault of every kind, one at a time."""
    tree = rule.parsed.tree
    yield Mutant(rule, "scaled by 1.001", Formula(Binary("*", Number(1.001), tree)))
    yield Mutant(rule, "sign flipped", Formula(Unary("-", tree)))
    for kind, faulty in _faults(tree):
        yield Mutant(rule, kind, Formula(faulty))


def _faults(node: Node) -> Iterator[tuple[str, Node]]:
    """The node with a fault at its top, then with one in each of its operands."""
    yield from _own_faults(node)
    operands = children(node)
    for position, operand in enumerate(operands):
        for kind, faulty in _faults(operand):
            yield kind, _rebuilt(node, (*operands[:position], faulty, *operands[position + 1 :]))


def _own_faults(node: Node) -> Iterator[tuple[str, Node]]:
    match node:
        case Number(value):
            yield "constant moved by 0.001", Number(value + 1e-3)
        case Name("g"):
            yield "g dropped", Number(1.0)
        case Name(name) if name not in ("x", "y"):
            yield "constant moved by 0.001", Binary("+", node, Number(1e-3))
        case Unary("-", operand):
            yield "sign flipped", operand
        case Binary("+" | "-" as sign, left, right):
            yield "sign flipped", Binary(_PARTS[sign], left, right)
        case Compare(signs, operands):
            for position, sign in enumerate(signs):
                other = (*signs[:position], _OTHER[sign], *signs[position + 1 :])
                yield "bound opened or closed", Compare(other, operands)


def _rebuilt(node: Node, operands: tuple[Node, ...]) -> Node:
    match node:
        case Unary(sign):
            return Unary(sign, *operands)
        case Binary(sign):
            return Binary(sign, *operands)
        case Compare(signs):
            return Compare(signs, operands)
        case Call(function):
            return Call(function, operands)
        case _:
            raise TypeError(f"{node} has no operands")


def is_noticed(mutant: Mutant, grids: list[Case]) -> bool:
    """Whether one of the oracle's cases disagrees with the mutant."""
    for case in grids:
        parameters = {p.name: case.settings[p.name] for p in mutant.rule.parameters}
        if not case.agrees(mutant.formula.bind(parameters)(case.x, case.y, case.g)):
            return True
    return False


def survey() -> tuple[Counter[str], list[Mutant]]:
    """The number of mutants of each kind, and those no oracle noticed."""
    made: Counter[str] = Counter()
    survivors = []
    for rule in RULES.values():
        if rule.formula is None:
            continue
        grids = list(cases(rule))
        for mutant in mutants(rule):
            made[mutant.kind] += 1
            if not is_noticed(mutant, grids):
                survivors.append(mutant)
    return made, survivors


def main() -> None:
    """Print the table and the survivors with the reason why they are no fault, if there is one."""
    torch.set_num_threads(1)
    made, survivors = survey()
    missed = Counter(mutant.kind for mutant in survivors)
    write = sys.stdout.write
    for kind, number in made.items():
        write(f"{kind:24} {number - missed[kind]:5} of {number:5} noticed\n")
    total = made.total()
    share = 1 - len(survivors) / total
    write(f"{'all':24} {total - len(survivors):5} of {total:5} noticed: {share:.1%}\n")
    for mutant in survivors:
        reason = EQUIVALENT.get((mutant.rule.key, mutant.formula.text), "UNNOTICED, and not argued away")
        write(f"  {mutant.rule.key}: {mutant.formula.text} ({mutant.kind}): {reason}\n")


if __name__ == "__main__":
    main()

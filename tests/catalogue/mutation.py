"""Small faults put into every rule's formula, to count how many the oracles notice."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from explorer.catalogue import Rule
from explorer.formula import Formula, Node
from explorer.formula.tree import Binary, Compare, Name, Number, Unary, children, rebuild, substitute
from tests.catalogue.cases import Case, cases, is_whole
from tests.catalogue.fixed import RULES

_OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_PARTS = {"+": "-", "-": "+"}

_S2NN = "a * sigmoid(a * x) * (1 - sigmoid(a * x)), b / (max(x, 0) + 1))"
_WAVE = RULES["square_wave"].parsed.text

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
    ("fake_quantize", "g * (qmin <= round(x / s) + round(z) <= qmax + 0.001)"): "levels are whole",
    ("fake_quantize_strict", "g * (qmin + 0.001 < round(x / s) + round(z) < qmax)"): "levels are whole",
    (
        "rdfs",
        "g * (2 / (1 + sqrt(2) * pi * amp * cos(pi * (x / s - round(x / s)))) - 1) * (qmin <= x / s <= qmax)",
    ): "twice a whole number turns the cosine by whole turns",
    (
        "mad",
        "g * where(x < qmin * s, qmin * s / where(x <= qmin * s, x, 1), qmax * s / max(x, qmax * s))",
    ): "what stands within is not read at the bound",
    (
        "mad",
        "g * where(x < qmin * s, qmin * s / where(x < (qmin + 0.001) * s, x, 1), "
        "qmax * s / max(x, qmax * s))",
    ): "what stands within is not read beside the bound",
    (
        "mad",
        "g * where(x < qmin * s, qmin * s / where(x < qmin * s, x, 1.001), qmax * s / max(x, qmax * s))",
    ): "the number is not read: it stands where another branch is taken",
    (
        "dge",
        "g * min(max(abs(2 * remainder(abs(x / s) * 2 ** (round(m) - exponent(x / s, emin)), 1) - 1), "
        "0.001000001) ** (1 / k - 1) / k, cap) * (abs(x / s) <= top)",
    ): "what is so small has a power beyond cap either way",
    ("s2nn", f"g * where(x <= 0, {_S2NN}"): "both branches are equal at 0 at all settings: see test_sources",
    ("s2nn", f"g * where(x < 0.001, {_S2NN}"): "likewise",
    **{
        ("square_wave", _WAVE.replace(f"n > {number})", f"n > {number}.001)")): "n is a whole number"
        for number in range(2, 6)
    },
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
    whole = {p.name: Binary("+", Name(p.name), Number(1.0)) for p in rule.parameters if is_whole(p)}
    for name, moved in whole.items():
        yield Mutant(rule, "constant moved by 0.001", Formula(substitute(tree, {Name(name): moved})))
    for kind, faulty in _faults(tree, frozenset(whole)):
        yield Mutant(rule, kind, Formula(faulty))


def _faults(node: Node, whole: frozenset[str]) -> Iterator[tuple[str, Node]]:
    """The node with a fault at its top, then with one in each of its operands; whole numbers stay whole."""
    yield from _own_faults(node, whole)
    operands = children(node)
    for position, operand in enumerate(operands):
        for kind, faulty in _faults(operand, whole):
            yield kind, rebuild(node, (*operands[:position], faulty, *operands[position + 1 :]))


def _own_faults(node: Node, whole: frozenset[str]) -> Iterator[tuple[str, Node]]:
    match node:
        case Number(value):
            yield "constant moved by 0.001", Number(value + 1e-3)
        case Name("g"):
            yield "g dropped", Number(1.0)
        case Name(name) if name not in ("x", "y", *whole):
            yield "constant moved by 0.001", Binary("+", node, Number(1e-3))
        case Unary("-", operand):
            yield "sign flipped", operand
        case Binary("+" | "-" as sign, left, right):
            yield "sign flipped", Binary(_PARTS[sign], left, right)
        case Compare(signs, operands):
            for position, sign in enumerate(signs):
                other = (*signs[:position], _OTHER[sign], *signs[position + 1 :])
                yield "bound opened or closed", Compare(other, operands)


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

"""The section Formula as it comes along: each formula once, in MathML, and which an op and a rule have."""

from collections.abc import Collection, Iterator
from typing import Any

from explorer.catalogue import OPS, RULES, Op, Rule, learnable
from explorer.formula import name_latex
from explorer.site.mathml import mathml
from explorer.ui.sections.code import learned_with
from explorer.ui.sections.formulas import LEAD, forward_latex, gradient_latex, learned

Json = dict[str, Any]


def formulas(ops: Collection[Op], rules: Collection[Rule]) -> Json:
    """Those of ops with rules, by their keys; numbers are those of ``math``.

    What hangs on a parameter that was chosen to learn stands below its name, and below "" without one.
    """
    math = _Math()
    ruled = {rule.key: math.number(gradient_latex(OPS["identity"], rule)) for rule in rules if rule.parsed}
    names = {p.name for entry in (*ops, *rules) for p in entry.parameters}
    return {
        "lead": LEAD,
        "forward": {op.key: math.number(forward_latex(op)) for op in ops},
        "torch": {op.key: _torchs(op, math) for op in ops},
        "rules": ruled,
        "learned": {op.key: dict(_learned(op, rules, math)) for op in ops},
        "symbols": {name: math.number(name_latex(name)) for name in sorted(names)},
        "math": math.data,
    }


class _Math:
    """Formulas in MathML, each once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.data: list[Any] = []

    def number(self, latex: str) -> int:
        """The number of a formula."""
        number = self._numbers.setdefault(latex, len(self.data))
        if number == len(self.data):
            self.data.append(mathml(latex))
        return number


def _torchs(op: Op, math: _Math) -> dict[str, int]:
    """Torch's own derivative of an op, by what learns."""
    default = RULES["default"]
    names = ("", *(parameter.name for parameter in op.parameters))
    return {name: math.number(gradient_latex(op, default, name)) for name in names}


def _learned(op: Op, rules: Collection[Rule], math: _Math) -> Iterator[tuple[str, Json]]:
    """By rule and by what was chosen: each parameter that learns, with its formula's number and words."""
    for rule in rules:
        own = learned_with(op, rule, "")
        chosen = [name for name in learnable(op, rule) if name not in own]
        by_name = {name: list(_lines(op, rule, learned_with(op, rule, name), math)) for name in ("", *chosen)}
        if own or chosen:
            yield rule.key, {name: lines for name, lines in by_name.items() if lines}


def _lines(op: Op, rule: Rule, names: list[str], math: _Math) -> Iterator[list[Any]]:
    for latex, words in learned(op, rule, names):
        yield [math.number(latex), words]

"""The section Formula as it comes along: each formula once, in MathML, and which an op and a rule have."""

from collections.abc import Iterator
from typing import Any

from explorer.catalogue import OPS, RULES, Op, Rule, learnable
from explorer.formula import name_latex
from explorer.site.mathml import mathml
from explorer.ui import formulas
from explorer.ui.code import learned_with

Json = dict[str, Any]


def all_formulas() -> Json:
    """Those of all ops with all rules; numbers are those of ``math``.

    What hangs on a parameter that was chosen to learn stands below its name, and below "" without one.
    """
    math = _Math()
    ruled = {
        key: math.number(formulas.gradient_latex(OPS["identity"], rule))
        for key, rule in RULES.items()
        if rule.parsed
    }
    names = {p.name for entry in (*OPS.values(), *RULES.values()) for p in entry.parameters}
    return {
        "lead": formulas.LEAD,
        "forward": {key: math.number(formulas.forward_latex(op)) for key, op in OPS.items()},
        "torch": {key: _torchs(op, math) for key, op in OPS.items()},
        "rules": ruled,
        "learned": {key: dict(_learned(op, math)) for key, op in OPS.items()},
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
    return {name: math.number(formulas.gradient_latex(op, default, name)) for name in names}


def _learned(op: Op, math: _Math) -> Iterator[tuple[str, Json]]:
    """By rule and by what was chosen: each parameter that learns, with its formula's number and words."""
    for key, rule in RULES.items():
        own = learned_with(op, rule, "")
        chosen = [name for name in learnable(op, rule) if name not in own]
        found = {name: list(_told(op, rule, learned_with(op, rule, name), math)) for name in ("", *chosen)}
        if own or chosen:
            yield key, {name: lines for name, lines in found.items() if lines}


def _told(op: Op, rule: Rule, names: list[str], math: _Math) -> Iterator[list[Any]]:
    for latex, words in formulas.learned(op, rule, names):
        yield [math.number(latex), words]

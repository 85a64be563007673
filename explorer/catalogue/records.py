"""Records of the catalogue: op, rule, parameter, and gradients of parameters."""

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self

from explorer.catalogue.display import TORCH_OWN, html_table
from explorer.catalogue.kinks import Kink
from explorer.formula import OP_NAMES, Formula, FormulaError, parse, pieces, quoted

# Parameters are keyword arguments of sample, apply and snippet, which have these of their own.
TAKEN = frozenset({"op", "rule", "rules", "start", "stop", "points", "dtype", "parameters", "learns", "draw"})
_DECADES_TO_DRAG = 100
LARGEST_RANGE = 1e6  # of x on a chart, by size

COUNT = "N"  # in a scale: the number of elements that share the parameter
COUNT_ELSEWHERE = f"{COUNT} stands for the number of elements, which only a scale may name"

# Who gets the upstream gradient of an element that lies exactly at a bound which is learned.
AT_BOUND = {
    "published": "Exactly at the bound the parameter gets all of the gradient, as published.",
    "minimum": "Exactly at the bound x and the parameter get half each, as from torch.minimum.",
    "clamp": "Exactly at the bound x gets all of the gradient, the parameter none, as from torch.clamp up "
    "to version 2.13.",
}

OWN_FAMILY = "own"


@dataclass(frozen=True)
class Parameter:
    """A number an op or rule depends on.

    Attributes:
        name: as in the formulas of its entry.
        default: its value where none is given.
        low, high: the ends of the slider on screen. In Python, and by hand or link, a value may lie beyond
            them, as far as ``domain`` goes.
        meaning: a short noun phrase, which may be followed by a colon and a hint.
        below: a parameter this one must not exceed, in links and on screen.
        domain: where the formulas mean something, a condition such as ``0 < alpha < 1``; "" for everywhere.
            A value outside is refused by name.
        quantity: the quantity that the name stands for. An op and a rule that share a name share the value,
            unless both say a quantity and the two differ (see ``beside``). In the catalogue it is the
            meaning; "" in one's own records, which share by name.
        plain: the name in the rule's own formulas and in its domain, where ``beside`` gave it another; else
            "".

    Raises ValueError for a name that cannot be a keyword of ``explorer.sample``, for a default outside the
    bounds, and for bounds outside the domain.
    """

    name: str
    default: float
    low: float = -10.0
    high: float = 10.0
    meaning: str = "parameter of your formula"
    below: str | None = None
    domain: str = ""
    quantity: str = ""
    plain: str = ""

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or self.name in TAKEN:
            raise ValueError(f"a parameter cannot be called {quoted(self.name)}: choose another name")
        if not self.low <= self.default <= self.high:
            raise ValueError(f"{self.name} = {self.default} must lie between {self.low} and {self.high}")
        if not self.admits(self.low) or not self.admits(self.high):
            raise ValueError(f"{self.name} from {self.low} to {self.high} leaves its domain {self.domain}")

    @property
    def shown(self) -> str:
        """The name for people: that in the entry's own formulas."""
        return self.plain or self.name

    def admits(self, value: float, others: Mapping[str, float] = MappingProxyType({})) -> bool:
        """Whether the formulas mean something at a value; ``others``: the entry's parameters by their names.

        A condition on a further parameter that is not told holds.
        """
        if not self.domain:
            return True
        known = {**others, self.shown: value}
        return not known.keys() >= self.conditioned or bool(_condition(self.domain).value(known))

    @property
    def conditioned(self) -> set[str]:
        """The parameters that the domain is a condition on."""
        return {*_condition(self.domain).parameters} if self.domain else set()

    @property
    def scale(self) -> Literal["linear", "log"]:
        """The scale of the slider: logarithmic for positive bounds two decades or more apart."""
        return "log" if self.low > 0 and self.high / self.low >= _DECADES_TO_DRAG else "linear"


@dataclass(frozen=True)
class Learned:
    """The gradient of a parameter: ``scale`` times the sum of the contributions of all elements.

    Attributes:
        name: the parameter, one of the rule's.
        formula: the contribution of one element, in x, y, g and the rule's parameters.
        scale: a factor on the sum, in the rule's parameters and N, the number of elements that share the
            parameter; None for 1.
        at_bound: who gets g exactly at a bound that is learned, a key of ``AT_BOUND``; "" where there is
            no bound.
        note: where sources disagree; one sentence.
        start: its first value on a model's data, a formula of x and the rule's parameters; None for the
            default.

    Raises FormulaError for a formula that cannot be read, or that names N outside a scale.
    """

    name: str
    formula: str
    scale: str | None = None
    at_bound: str = ""
    note: str = ""
    start: str | None = None

    def __post_init__(self) -> None:
        if self.at_bound not in ("", *AT_BOUND):
            raise ValueError(f"at_bound must be one of {', '.join(AT_BOUND)}, not {quoted(self.at_bound)}")
        if COUNT in self.parsed.parameters:
            column = next(re.finditer(rf"\b{COUNT}\b", self.formula)).start() + 1
            raise FormulaError(f'"{COUNT}" at column {column}: {COUNT_ELSEWHERE}', column, self.formula)

    @cached_property
    def parsed(self) -> Formula:
        """The contribution of one element, as a tree."""
        return parse(self.formula, parameters=None)

    @cached_property
    def parsed_scale(self) -> Formula | None:
        """The factor on the sum as a tree."""
        return None if self.scale is None else parse(self.scale, variables=(), parameters=None)

    @property
    def text(self) -> str:
        """The gradient in one line: ``(1 / sqrt(N)) * sum(g * x)``."""
        before = f"({self.parsed_scale.text}) * " if self.parsed_scale else ""
        return f"{before}sum({self.parsed.text})"

    @property
    def named(self) -> set[str]:
        """The parameters that the formulas use, and the one that learns."""
        scale = self.parsed_scale.parameters if self.parsed_scale else ()
        return {self.name, *self.parsed.parameters, *scale} - {COUNT}


@dataclass(frozen=True, repr=False)
class Entry:
    """The common fields of ops and rules; shown as one line of text, in a notebook as a small table.

    Attributes:
        key: permanent name, used in links and code.
        label: name on screen.
        formula: what it computes, in the formula language.
        purpose: one sentence that says what it is for.
        parameters: the numbers it depends on.
        kinks: where it jumps or has a corner in x, as formulas in the parameters, ``()`` for nowhere;
            None where that is not declared and must be found numerically.
        source: paper or public file where the formula was read; empty for torch's own functions.
        note: where sources disagree, or what to watch; one sentence.
        also: other names people know it by.
    """

    key: str
    label: str
    formula: str | None
    purpose: str = ""
    parameters: tuple[Parameter, ...] = ()
    kinks: tuple[Kink, ...] | None = None
    source: str = ""
    note: str = ""
    also: tuple[str, ...] = ()

    result: ClassVar[str]  # what the formula is equal to

    @property
    def parsed(self) -> Formula | None:
        """The formula as a tree."""
        raise NotImplementedError

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """All formulas of the entry."""
        return (self.parsed,) if self.parsed else ()

    @property
    def drawn(self) -> tuple[str, ...]:
        """The draws that the formulas name, and what hangs on them, such as ``u()`` and ``f()``."""
        return tuple(dict.fromkeys(chain.from_iterable(formula.draws for formula in self.formulas)))

    @property
    def draws(self) -> bool:
        """Whether a number is drawn for each element, or the entry hangs on one that is."""
        return bool(self.drawn)

    @property
    def other_outputs(self) -> tuple[str, ...]:
        """The losses at outputs that were not drawn, such as ``f(1)``: in a net a pass for every unit."""
        named = (formula.other_outputs for formula in self.formulas)
        return tuple(dict.fromkeys(chain.from_iterable(named)))

    def known_degree(self, y: float = math.inf) -> float:
        """The highest degree in x of the polynomials that the formula consists of between its kinks.

        Inf for anything else, and where it may have kinks that were not found. ``y``: the degree of the op.
        """
        assert self.parsed
        return pieces.known_degree(self.parsed.tree, y, searched=self.kinks is None)

    def stated(self, **fields: Any) -> Self:
        """The entry as the catalogue has it, with further fields: each parameter stands for its meaning."""
        parameters = tuple(replace(p, quantity=p.quantity or p.meaning) for p in self.parameters)
        return replace(self, parameters=parameters, **fields)

    def __repr__(self) -> str:
        values = "".join(f", {p.name}={p.default:g}" for p in self.parameters)
        return f"<{type(self).__name__} {self.key}: {self.result} = {self.formula or TORCH_OWN}{values}>"

    def _repr_html_(self) -> str:
        parameters = [
            (
                f"{p.name} = {p.default:g}",
                f"{p.meaning} ({p.low:g} to {p.high:g}{p.domain and f'; {p.domain}'})",
            )
            for p in self.parameters
        ]
        words = [("", text) for text in (self.purpose, self.note, self.source) if text]
        head = [(self.key, self.label), (self.result, self.formula or TORCH_OWN)]
        return html_table([*head, *parameters, *words])


@dataclass(frozen=True, repr=False)
class Op(Entry):
    """An elementwise forward function ``y = f(x; parameters)``.

    Attributes:
        formula: f, in x and the parameters.
        family: what kind of function it is, a key of ``FAMILIES``; rules say which they suit. In the
            catalogue it follows from where the op stands.
        judged: the op where a net is judged, in x and what is drawn; None for the op as it trains.
        named: whether its label begins with a proper name, which keeps its capital inside a sentence.
        inner, outer: with both, ``y = outer(q(inner))``: ``inner`` in x and the parameters, ``outer`` in q
            and the parameters. The gradient of a parameter in the two then follows from the rule for x.
    """

    formula: str
    family: str = OWN_FAMILY
    inner: str | None = None
    outer: str | None = None
    judged: str | None = None
    named: bool = False

    result = "y"

    @property
    def inside(self) -> str:
        """The label inside a sentence: names keep their capitals, and an own op is as it was written."""
        first = self.label.split(" ")[0]
        keeps = self.named or self.family == OWN_FAMILY or not first[1:].islower()
        return self.label if keeps else self.label[0].lower() + self.label[1:]

    @cached_property
    def parsed(self) -> Formula:
        """The formula as a tree."""
        return parse(self.formula, variables=OP_NAMES, parameters=[p.name for p in self.parameters])

    @property
    def when_judged(self) -> "Op":
        """The op of a net that is judged; it has no parameters unless it is this one."""
        return self if self.judged is None else replace(self, formula=self.judged, parameters=(), judged=None)


@dataclass(frozen=True, repr=False)
class Rule(Entry):
    """A backward rule: the gradient ``r(x, y, g; parameters)`` returned in place of torch's own.

    Attributes:
        formula: r; None stands for torch's own autograd of the op.
        kinks: those of r. Where y stands in r, the op's kinks come on top.
        group: where the picker lists it, a key of ``GROUPS``; in the catalogue it follows from where the
            rule stands, and so do ``suits`` and ``otherwise`` unless the entry says more.
        suits: families of ops it makes sense for; empty: all.
        otherwise: why not for others, a sentence for the picker.
        linear: whether r is linear in g.
        antiderivative: formula in x whose derivative is r at g = 1, where one is known; linear rules only.
        area: integral of r over all x at g = 1, a formula in the parameters or "infinite"; linear
            rules only.
        fault: what is wrong with a rule that is here as a warning, one sentence; empty for all others.
        learned: the gradients of parameters that learn. One that is left out follows from the rule, or is
            torch's derivative of the op.

    Raises ValueError for a learned parameter that the rule does not have.
    """

    suits: tuple[str, ...] = ()
    otherwise: str = ""
    linear: bool = True
    antiderivative: str | None = None
    area: str | None = None
    fault: str = ""
    group: str = "general"
    learned: tuple[Learned, ...] = ()

    result = "gradient"

    def __post_init__(self) -> None:
        own = {p.name for p in self.parameters}
        if self.learned and COUNT in own:
            raise ValueError(f"a rule that learns has no parameter {COUNT}: {COUNT_ELSEWHERE}")
        for name, times in Counter(learned.name for learned in self.learned).items():
            if times > 1:
                raise ValueError(f"{name} of {self.key} learns twice")
        for learned in self.learned:
            if missing := sorted(learned.named - own):
                raise ValueError(f"{learned.name} learns by {', '.join(missing)}, no parameter of {self.key}")

    @cached_property
    def parsed(self) -> Formula | None:
        """The formula as a tree; None for torch's own autograd."""
        if self.formula is None:
            return None
        return parse(self.formula, parameters=[p.name for p in self.parameters])

    @property
    def hangs_on_loss(self) -> bool:
        """Whether the gradient for x hangs on a loss itself, not on its slope alone."""
        return bool(self.parsed and self.parsed.names_loss)

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """That of the rule, and those of the gradients of its parameters."""
        return (*super().formulas, *(learned.parsed for learned in self.learned))


@lru_cache
def _condition(text: str) -> Formula:
    """A condition as a formula, 1 where it holds and 0 elsewhere."""
    return parse(f"1 * ({text})", variables=(), parameters=None)

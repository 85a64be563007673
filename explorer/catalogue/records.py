"""The data classes of the catalogue: ops, backward rules, their parameters and how parameters learn."""

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self

from explorer.catalogue.display import TORCH_OWN, make_html_table
from explorer.catalogue.kinks import Kink
from explorer.formula import OP_NAMES, Formula, FormulaError, parse, pieces, quote

# Names of other keyword arguments of the functions that take parameters. No parameter may have them.
RESERVED_NAMES = frozenset(
    {"op", "rule", "rules", "start", "stop", "points", "dtype", "parameters", "learns", "draw"}
)
_DECADES_TO_DRAG = 100
_DRAWN = re.compile(r"g \* through\(x[^()]*\)( \* \([^()]*x[^()]*\))*")
MAX_ABS_X = 1e6  # the largest |x| on a chart

COUNT = "N"  # in formulas: the number of elements that share a parameter
COUNT_MESSAGE = f"{COUNT} is the number of elements, which only a scale may use"

# How the upstream gradient is divided between x and a trainable bound if x equals the bound.
AT_BOUND = {
    "published": "Exactly at the bound the parameter gets all of the gradient, as published.",
    "minimum": "Exactly at the bound x and the parameter get half each, as from torch.minimum.",
    "clamp": "Exactly at the bound x gets all of the gradient, the parameter none, as from torch.clamp up "
    "to version 2.13.",
}

CUSTOM_FAMILY = "own"


@dataclass(frozen=True)
class Parameter:
    """A number on which an op or a backward rule depends, with its default and its bounds.

    Attributes:
        name: the name in the formulas of the op or rule.
        default: the value if no other is set.
        low, high: the ends of the slider on screen. Python, links and fields accept any value in ``domain``.
        meaning: a short noun phrase, which may be followed by a colon and a hint.
        below: a parameter that this one must not exceed, in links and on screen.
        domain: the condition under which the formulas are defined, such as ``0 < alpha < 1``; "" for none.
            Other values raise an error that names the parameter.
        quantity: the quantity that the name denotes. An op and a rule with the same name share its value,
            unless both state a quantity and these differ (see ``adapt_rule``). In the catalogue the quantity
            is the meaning. In custom formulas it is "", so that equal names share a value.
        plain: if ``adapt_rule`` renamed the parameter, its name in the rule's own formulas and domain; else
            "".

    Raises ValueError for a name that cannot be a keyword of ``explorer.sample``, for a default outside the
    bounds, and for bounds outside the domain.
    """

    name: str
    default: float
    low: float = -10.0
    high: float = 10.0
    meaning: str = "in the formula"
    below: str | None = None
    domain: str = ""
    quantity: str = ""
    plain: str = ""

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or self.name in RESERVED_NAMES:
            raise ValueError(f"a parameter cannot be called {quote(self.name)}: choose another name")
        if not self.low <= self.default <= self.high:
            raise ValueError(f"{self.name} = {self.default} must lie between {self.low} and {self.high}")
        if not self.is_valid(self.low) or not self.is_valid(self.high):
            raise ValueError(
                f"the bounds {self.low} and {self.high} of {self.name} must satisfy {self.domain}"
            )

    @property
    def display_name(self) -> str:
        """The parameter's name on screen: the original one if ``adapt_rule`` has renamed the parameter."""
        return self.plain or self.name

    def is_valid(self, value: float, context: Mapping[str, float] = MappingProxyType({})) -> bool:
        """Return whether a value is in the domain of the parameter.

        ``context`` maps the names of other parameters of the op or rule to values. A condition on a parameter
        without a value in ``context`` counts as true.
        """
        if not self.domain:
            return True
        values = {**context, self.display_name: value}
        return not values.keys() >= self.domain_names or bool(_parse_condition(self.domain).value(values))

    @property
    def domain_names(self) -> set[str]:
        """The names of the parameters in the condition that defines the domain."""
        return {*_parse_condition(self.domain).parameters} if self.domain else set()

    @property
    def scale(self) -> Literal["linear", "log"]:
        """The scale of the parameter's slider: logarithmic for positive bounds with a large ratio."""
        return "log" if self.low > 0 and self.high / self.low >= _DECADES_TO_DRAG else "linear"


@dataclass(frozen=True)
class Learned:
    """The declared gradient of a parameter: ``scale`` times the sum of all elements' contributions.

    Attributes:
        name: the parameter, one of the rule's.
        formula: the contribution of one element, in x, y, g and the rule's parameters.
        scale: a factor on the sum, in the rule's parameters and N, the number of elements that share the
            parameter; None for 1.
        at_bound: the division of g exactly at a trainable bound, a key of ``AT_BOUND``; "" without a bound.
        note: a remark, for instance on sources that disagree; one sentence.
        start: the parameter's first value, given a model's data as x: a formula of x and the rule's
            parameters; None for the default.

    Raises FormulaError for a formula that cannot be parsed, or that uses N outside a scale.
    """

    name: str
    formula: str
    scale: str | None = None
    at_bound: str = ""
    note: str = ""
    start: str | None = None

    def __post_init__(self) -> None:
        if self.at_bound not in ("", *AT_BOUND):
            raise ValueError(f"at_bound must be one of {', '.join(AT_BOUND)}, not {quote(self.at_bound)}")
        if COUNT in self.parsed.parameters:
            column = next(re.finditer(rf"\b{COUNT}\b", self.formula)).start() + 1
            raise FormulaError(f'"{COUNT}" at column {column}: {COUNT_MESSAGE}', column, self.formula)

    @cached_property
    def parsed(self) -> Formula:
        """One element's contribution to the gradient, as a formula."""
        return parse(self.formula, parameters=None)

    @cached_property
    def parsed_scale(self) -> Formula | None:
        """The factor on the sum of all elements' contributions as a formula, or None for 1."""
        return None if self.scale is None else parse(self.scale, variables=(), parameters=None)

    @property
    def text(self) -> str:
        """The gradient in one line, such as ``(1 / sqrt(N)) * sum(g * x)``."""
        prefix = f"({self.parsed_scale.text}) * " if self.parsed_scale else ""
        return f"{prefix}sum({self.parsed.text})"

    @property
    def parameter_names(self) -> set[str]:
        """The names of the parameter that is trained and of all parameters in its formulas."""
        scale = self.parsed_scale.parameters if self.parsed_scale else ()
        return {self.name, *self.parsed.parameters, *scale} - {COUNT}


@dataclass(frozen=True, repr=False)
class Entry:
    """The common fields of ops and backward rules; displayed as one line of text or a small HTML table.

    Attributes:
        key: permanent name, used in links and code.
        label: name on screen.
        formula: the definition in the formula language.
        purpose: one sentence on its purpose.
        parameters: the parameters in the formulas.
        kinks: the x of jumps and corners, as formulas in the parameters; ``()`` for no kinks, None if they
            are not declared and must be found numerically.
        source: a paper or public file with the formula; "" for torch's own functions.
        note: a remark or warning, for instance on sources that disagree; one sentence.
        also: alternative names.
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

    result: ClassVar[str]  # the left side of the equation, "y" or "gradient"

    @property
    def parsed(self) -> Formula | None:
        """The definition of the op or rule as a parsed formula; None for torch's own autograd."""
        raise NotImplementedError

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """All formulas that belong to the op or rule."""
        return (self.parsed,) if self.parsed else ()

    @property
    def random_names(self) -> tuple[str, ...]:
        """The random numbers that the formulas use, such as ``u()``, and dependent names such as ``ya()``."""
        return tuple(dict.fromkeys(chain.from_iterable(formula.random_names for formula in self.formulas)))

    @property
    def is_random(self) -> bool:
        """True if the op or rule uses random numbers, directly or through y or a loss."""
        return bool(self.random_names)

    @property
    def other_outputs(self) -> tuple[str, ...]:
        """The losses in the formulas at outputs other than y, each of which needs a forward pass in a net."""
        outputs = (formula.other_outputs for formula in self.formulas)
        return tuple(dict.fromkeys(chain.from_iterable(outputs)))

    def compute_degree(self, y: float = math.inf) -> float:
        """Return the degree in x of the formula as a polynomial between two kinks, or inf if it is unknown.

        ``y`` is the degree of the op.
        """
        assert self.parsed
        return pieces.find_known_degree(self.parsed.tree, y, is_searched=self.kinks is None)

    def with_quantities(self, **fields: Any) -> Self:
        """Return a copy with new fields, in which each parameter's ``quantity`` is its meaning."""
        parameters = tuple(replace(p, quantity=p.quantity or p.meaning) for p in self.parameters)
        return replace(self, parameters=parameters, **fields)

    def __repr__(self) -> str:
        values = "".join(f", {p.name}={p.default:g}" for p in self.parameters)
        return f"<{type(self).__name__} {self.key}: {self.result} = {self.formula or TORCH_OWN}{values}>"

    def _repr_html_(self) -> str:
        parameters = []
        for p in self.parameters:
            span = f"{p.low:g} to {p.high:g}{p.domain and f'; {p.domain}'}"
            parameters.append((f"{p.name} = {p.default:g}", f"{p.meaning} ({span})"))
        texts = [("", text) for text in (self.purpose, self.note, self.source) if text]
        head = [(self.key, self.label), (self.result, self.formula or TORCH_OWN)]
        return make_html_table([*head, *parameters, *texts])


@dataclass(frozen=True, repr=False)
class Op(Entry):
    """An elementwise forward function ``y = f(x; parameters)``, such as round or sign.

    Attributes:
        formula: f, in x and the parameters.
        family: the kind of function, a key of ``FAMILIES``; rules declare the families that they suit. In the
            catalogue the op's module determines it.
        judged: the op's formula in the evaluation of a net, in x and random numbers; None for the same
            formula.
        named: whether the label begins with a proper name, which stays capitalized inside a sentence.
        inner, outer: if both are set, ``y = outer(q(inner))``, with ``inner`` in x and the parameters, and
            ``outer`` in q and the parameters. The gradient of a parameter in them then follows from the rule
            for x.
    """

    formula: str
    family: str = CUSTOM_FAMILY
    inner: str | None = None
    outer: str | None = None
    judged: str | None = None
    named: bool = False

    result = "y"

    @property
    def sentence_label(self) -> str:
        """The op's label for use inside a sentence, in lower case unless it is a name or a custom formula."""
        first = self.label.split(" ")[0]
        is_unchanged = self.named or self.family == CUSTOM_FAMILY or not first[1:].islower()
        return self.label if is_unchanged else self.label[0].lower() + self.label[1:]

    @cached_property
    def parsed(self) -> Formula:
        """The op's definition as a parsed formula in x, parameters and random numbers."""
        return parse(self.formula, variables=OP_NAMES, parameters=[p.name for p in self.parameters])

    @property
    def evaluation_op(self) -> "Op":
        """The op used for evaluating a net: this op itself, or one of another formula without parameters."""
        return self if self.judged is None else replace(self, formula=self.judged, parameters=(), judged=None)


@dataclass(frozen=True, repr=False)
class Rule(Entry):
    """A backward rule: the gradient ``r(x, y, g; parameters)`` returned instead of torch's own.

    Attributes:
        formula: r; None for torch's own autograd of the op.
        brief: r in about six words, shown after the label on a card. A factor on g is named without "times
            g".
        kinks: the kinks of r. If r uses y, those of the op are added.
        group: the section in the menu, a key of ``GROUPS``. In the catalogue the rule's module determines it,
            and also ``suits`` and ``otherwise`` unless the rule sets them.
        suits: the families of ops that the rule is meant for; empty for all.
        otherwise: a sentence for the menu that says why the rule does not suit other families.
        linear: whether r is linear in g.
        antiderivative: a formula in x whose derivative is r at g = 1, if one is known; linear rules only.
        area: the integral of r over all x at g = 1, a formula in the parameters or "infinite"; linear rules
            only.
        fault: one sentence about the fault of a rule that serves as a warning; "" for all other rules.
        learned: declared gradients of parameters that learn. Any other parameter gets its gradient from the
            rule, or from torch's derivative of the op.

    Raises ValueError for a learned parameter that the rule does not have.
    """

    brief: str = ""
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
        names = {p.name for p in self.parameters}
        if self.learned and COUNT in names:
            raise ValueError(f"a rule that learns cannot have a parameter {COUNT}: {COUNT_MESSAGE}")
        for name, times in Counter(learned.name for learned in self.learned).items():
            if times > 1:
                raise ValueError(f"{name} of {self.key} has two gradients: remove one")
        for learned in self.learned:
            if missing := sorted(learned.parameter_names - names):
                raise ValueError(
                    f"the gradient of {learned.name} uses {', '.join(missing)}, which is not among the "
                    f"parameters of {self.key}: add it to them"
                )

    @cached_property
    def parsed(self) -> Formula | None:
        """The rule's definition as a parsed formula, or None for torch's own autograd."""
        if self.formula is None:
            return None
        return parse(self.formula, parameters=[p.name for p in self.parameters])

    @property
    def is_drawn(self) -> bool:
        """True if the formula is g times a line through points, perhaps 0 outside a range."""
        return bool(_DRAWN.fullmatch(self.formula or ""))

    @property
    def needs_loss(self) -> bool:
        """True if the gradient for x depends on the value of a loss, not only on the loss's slope."""
        return bool(self.parsed and self.parsed.uses_loss)

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """The rule's formula and those of its parameters' gradients."""
        return (*super().formulas, *(learned.parsed for learned in self.learned))


@lru_cache
def _parse_condition(text: str) -> Formula:
    """Parse a condition such as ``0 < alpha`` as a formula that is 1 where it holds and 0 elsewhere."""
    return parse(f"1 * ({text})", variables=(), parameters=None)

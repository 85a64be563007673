"""The result of a check: a verdict, one plain sentence, a number and a position."""

import math
import re
from dataclasses import dataclass
from functools import partial
from html import escape
from operator import attrgetter
from typing import Any

import torch
from torch import Tensor

from explorer import formula
from explorer.catalogue.display import make_html_table

FAILS, UNKNOWN, BY_DESIGN, HOLDS = VERDICTS = ("fails", "unknown", "by design", "holds")  # the worst first
Number = float | Tensor
MEANINGS = {
    "antiderivative": "A function whose slope is the rule's gradient: the net learns as if it were the op.",
    "area": "The integral of a rule's gradient over x. If it equals the op's rise, the net learns at the"
    " op's own scale.",
    "by design": "A verdict: the rule deviates on purpose, which is no fault.",
    "linear in g": "Twice the upstream gradient gives twice the gradient, as in every true backward.",
}  # of terms, for the page and the glossary
_MARKS = dict(zip(VERDICTS, "✗?○✓", strict=True))


@dataclass(frozen=True, repr=False)
class Result:
    """The result of one check of a backward rule.

    Attributes:
        name: the name of the check, one of ``explorer.checks.CHECKS``; "" before it is known.
        verdict: "holds"; "by design" for a declared or intended deviation; "fails"; "unknown" if the check
            could not be tried.
        sentence: the observation, with a remedy if one is needed, as plain text.
        where: the x at which the observation is clearest, or None.
        figure: the number on which the verdict depends, or None.
    """

    name: str
    verdict: str
    sentence: str
    where: float | None = None
    figure: float | None = None

    @property
    def mark(self) -> str:
        """The symbol of the verdict, one character."""
        return _MARKS[self.verdict]

    @property
    def rank(self) -> int:
        """The rank of the verdict as a number, 0 for the worst."""
        return VERDICTS.index(self.verdict)

    @property
    def row(self) -> tuple[str, str, str]:
        """The verdict with its symbol, the name of the check, and the sentence."""
        return f"{self.mark} {self.verdict}", self.name, self.sentence

    def __repr__(self) -> str:
        return "  ".join(self.row)

    def _repr_html_(self) -> str:
        return make_html_table([self.row])


class Results(list[Result]):
    """The results of all checks of one function, displayed as text or, in a notebook, as a table."""

    def __init__(self, results: Any = (), title: str = "") -> None:
        super().__init__(results)
        self.title = title

    @property
    def failures(self) -> list[Result]:
        """The results whose verdict is "fails"; "unknown" is not a failure."""
        return [result for result in self if result.verdict == FAILS]

    @property
    def worst_first(self) -> list[Result]:
        """All results, sorted by verdict: fails, unknown, by design, holds."""
        return sorted(self, key=attrgetter("rank"))

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """The rows of the table, the worst first. Checks that are unknown for one reason share a row."""
        groups: dict[tuple[str, str], list[Result]] = {}
        for result in self.worst_first:
            groups.setdefault((result.sentence, "" if result.verdict == UNKNOWN else result.name), []).append(
                result
            )
        return [
            group[0].row if len(group) == 1 else (group[0].row[0], f"{len(group)} checks", sentence)
            for (sentence, _), group in groups.items()
        ]

    def __repr__(self) -> str:
        rows = self.rows
        widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
        lines = [f"{row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]}" for row in rows]
        return "\n".join([self.title, *lines] if self.title else lines)

    def _repr_html_(self) -> str:
        caption = f"<p><b>{escape(self.title)}</b></p>" if self.title else ""
        return caption + make_html_table(self.rows)


def _conclude(
    verdict: str, text: str, where: Number | None = None, figure: Number | None = None, **values: Any
) -> Result:
    """Return a result, without a name, for a text in which braces name ``at``, ``figure`` or a value."""
    at, size = (None if number is None else float(number) + 0.0 for number in (where, figure))
    values |= {"figure": size, "at": None if at is None else format_position(at)}

    def write(name: re.Match[str]) -> str:
        value = values.get(name[1], name[0])
        return format_number(value) if isinstance(value, Number) else str(value).removeprefix("torch.")

    return Result("", verdict, re.sub(r"{(\w+)}", write, text), at, size)


holds = partial(_conclude, HOLDS)
by_design = partial(_conclude, BY_DESIGN)
fails = partial(_conclude, FAILS)
unknown = partial(_conclude, UNKNOWN)


def name_dtype(dtype: torch.dtype) -> str:
    """Return the name of a dtype without its module, such as "float32"."""
    return str(dtype).removeprefix("torch.")


def format_number(number: Number, digits: int = 3) -> str:
    """Return a number as text, rounded to ``digits`` digits as by ``formula.format_number``."""
    return formula.format_number(float(number), digits)


def format_unequal(one: float, other: float) -> tuple[str, str]:
    """Return two numbers as texts with enough digits to distinguish them, at least three."""
    pairs = ((format_number(one, digits), format_number(other, digits)) for digits in range(3, 17))
    return next((pair for pair in pairs if pair[0] != pair[1]), (f"{one!r}", f"{other!r}"))


def format_position(x: Number, digits: int = 4) -> str:
    """Format an x for a sentence, with enough digits to reproduce the observation.

    Rounding moves an x less than the checks' points are away from round numbers, where kinks tend to be.
    """
    before_point = math.floor(math.log10(abs(float(x)))) if x else 0
    return format_number(x, max(digits, digits + before_point))

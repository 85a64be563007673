"""The result of a check: a verdict, one plain sentence, a number and a position."""

import math
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from typing import Any

import torch

from explorer.catalogue.display import make_html_table

FAILS, UNKNOWN, BY_DESIGN, HOLDS = "fails", "unknown", "by design", "holds"
VERDICTS = (FAILS, UNKNOWN, BY_DESIGN, HOLDS)  # the worst first
_MARKS = dict(zip(VERDICTS, "✗?○✓", strict=True))


@dataclass(frozen=True, repr=False)
class Result:
    """The result of one check of a rule.

    Attributes:
        name: of the check, one of ``explorer.checks.CHECKS``; "" before it is attached.
        verdict: "holds"; "by design" for a deviation that is declared or intended; "fails"; "unknown" if it
            could not be tried.
        sentence: the observation and the remedy, if one is needed; plain text.
        where: the x at which the observation is clearest; None if no x is.
        figure: the number on which the verdict depends; None if there is none.
    """

    name: str
    verdict: str
    sentence: str
    where: float | None = None
    figure: float | None = None

    @property
    def mark(self) -> str:
        """The verdict as one symbol."""
        return _MARKS[self.verdict]

    @property
    def row(self) -> tuple[str, str, str]:
        """Verdict with its symbol, name and sentence."""
        return f"{self.mark} {self.verdict}", self.name, self.sentence

    def attach(self, name: str) -> "Result":
        """Return a copy with the name of its check; a ``where`` of −0 becomes 0."""
        return replace(self, name=name, where=None if self.where is None else float(self.where) + 0.0)

    def __repr__(self) -> str:
        return "  ".join(self.row)

    def _repr_html_(self) -> str:
        return make_html_table([self.row])


class Results(list[Result]):
    """The results of one subject in the order of the checks; a table in a notebook and as text."""

    def __init__(self, results: Any = (), title: str = "") -> None:
        super().__init__(results)
        self.title = title

    @property
    def failures(self) -> list[Result]:
        """The results whose verdict is "fails"; "unknown" is not among them."""
        return [result for result in self if result.verdict == FAILS]

    @property
    def worst_first(self) -> list[Result]:
        """All results, sorted by verdict: fails, unknown, by design, holds."""
        return sorted(self, key=lambda result: VERDICTS.index(result.verdict))

    def __repr__(self) -> str:
        rows = [result.row for result in self.worst_first]
        widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
        lines = [f"{row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]}" for row in rows]
        return "\n".join([self.title, *lines] if self.title else lines)

    def _repr_html_(self) -> str:
        caption = f"<p><b>{escape(self.title)}</b></p>" if self.title else ""
        return caption + make_html_table(result.row for result in self.worst_first)


# Results that have no name yet; the arguments are sentence, where and figure.
holds = partial(Result, "", HOLDS)
by_design = partial(Result, "", BY_DESIGN)
fails = partial(Result, "", FAILS)
unknown = partial(Result, "", UNKNOWN)


def name_dtype(dtype: torch.dtype) -> str:
    """Return the name of a dtype without its module."""
    return str(dtype).removeprefix("torch.")


def format_number(number: float) -> str:
    """Return a number for a sentence, with three significant digits and − for a minus."""
    return _format(number, 3)


def format_unequal(one: float, other: float) -> tuple[str, str]:
    """Return two numbers for a sentence, with as many digits as tell them apart, three at least."""
    pairs = ((_format(one, digits), _format(other, digits)) for digits in range(3, 17))
    return next((pair for pair in pairs if pair[0] != pair[1]), (f"{one!r}", f"{other!r}"))


def format_position(x: float, digits: int = 4) -> str:
    """Return an x for a sentence, with enough digits to repeat the observation there.

    The checks try points off round numbers, where kinks are, by more than the rounding removes.
    """
    before_point = math.floor(math.log10(abs(x))) if x else 0
    return _format(x, max(digits, digits + before_point))


def _format(number: float, digits: int) -> str:
    text = f"{number + 0.0:.{digits}g}"
    return text.replace("-", "−").replace("e+0", "e").replace("e−0", "e−")

"""The choice that the query of a link asks for.

The instrument writes the query, into the address bar and into its requests to Python. Each value that
cannot be used has a notice.
"""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qs, urlencode

from explorer.instrument.limits import LONGEST_QUERY
from explorer.training import FIRST, TASKS, USUAL
from explorer.training.limits import MAX_BRANCHES
from explorer.ui.links.choice import Choice
from explorer.ui.links.curve_words import CurveReader
from explorer.ui.links.reader import Notice, Query, quoted
from explorer.ui.links.training_words import TrainingReader

_EMBED = re.compile(r"(?:^|&)embed=([^&]*)")
_LONGEST_TEXT = 3 * LONGEST_QUERY  # where every character is written as %XX
_TOO_LONG = f"The link is longer than {LONGEST_QUERY} characters and was not used."

_DEFAULT = Choice()


def query_length(query: Mapping[str, Sequence[str]]) -> int:
    """Characters of the query as it stands in the address bar."""
    return len(urlencode(query, doseq=True, errors="replace"))


def from_text(query: str) -> tuple[Choice, list[str]]:
    """The choice of a query as ``from_query`` reads it; one that is far too long is not parsed."""
    if len(query) > _LONGEST_TEXT:
        return _DEFAULT, [_TOO_LONG]
    return from_query(parse_qs(query, keep_blank_values=True))


def is_embedded(query: str) -> bool:
    """Whether a query asks for the page as a frame: any length of it is looked through once."""
    return [text.lower() for text in _EMBED.findall(query)][-1:] == ["true"]


def from_query(query: Mapping[str, Sequence[str]]) -> tuple[Choice, list[str]]:
    """The choice of a link, and a notice for each value that cannot be used.

    Never raises. Unknown and impossible values are at their default; a reversed range is swapped.
    """
    query, notices = _within_length(query)
    if query_length(query) > LONGEST_QUERY:
        return _DEFAULT, [_TOO_LONG]
    left: Query = {key: list(values) for key, values in query.items()}
    choice = TrainingReader(left, notices).added(CurveReader(left, notices).choice())
    rest = [f"The link sets {quoted(key)}, which nothing here uses." for key in left if left[key]]
    return choice, notices + rest


def corrected(query: Mapping[str, Sequence[str]], notice: str) -> dict[str, str]:
    """Return the query with each key that a notice suggests in place of the unknown one, by that key."""
    if not isinstance(notice, Notice):
        return {}
    word, text = notice.word, notice.text
    values = {key: [key if each == text else each for each in query[word]] for key in notice.meant}
    return {key: urlencode({**query, word: those}, doseq=True) for key, those in values.items()}


def _within_length(query: Mapping[str, Sequence[str]]) -> tuple[Mapping[str, Sequence[str]], list[str]]:
    """A query without its first branch points, as far as it is too long, and a sentence that says so."""
    branches = list(query.get("branch", ()))
    left = branches[-MAX_BRANCHES:]
    if query_length(query) <= LONGEST_QUERY or not branches:
        return query, []
    while left and query_length({**query, "branch": left}) > LONGEST_QUERY:
        left = left[1:]
    which = f"the last {len(left)} of its {len(branches)} branch points are taken"
    return {**query, "branch": left}, [f"The link is longer than {LONGEST_QUERY} characters: {which}."]


def unjudged(query: Mapping[str, Sequence[str]]) -> list[str]:
    """A sentence where a link to a page of studies names the task that holds nothing out."""
    task = TASKS[USUAL]
    if list(query.get("task", ()))[-1:] != [task.key] or task.metric:
        return []
    return [
        f"The link's task {quoted(task.key)} has no data to judge by, so rules cannot be studied on it: "
        f"{TASKS[FIRST].label} stands here instead."
    ]

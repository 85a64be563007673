"""Conversion of a link's query into the settings of a page.

The browser writes the query into the address bar and into its requests. For each value that cannot be used
there is a message to the user.
"""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qs, urlencode

from explorer.catalogue.entries import is_spelling
from explorer.formula import number_text
from explorer.instrument.limits import MAX_QUERY
from explorer.training import DEFAULT_TASK, FIRST, TASKS
from explorer.training.limits import MAX_BRANCHES
from explorer.ui.links.choice import Choice
from explorer.ui.links.curve_words import CurveReader
from explorer.ui.links.reader import Notice, Query, quote
from explorer.ui.links.training_words import TrainingReader

_EMBED = re.compile(r"(?:^|&)embed=([^&]*)")
_MAX_TEXT_LENGTH = 3 * MAX_QUERY  # a character may take three as %XX
_TOO_LONG_NOTICE = f"The link is longer than {MAX_QUERY} characters and was not used."

_DEFAULT = Choice()


def get_query_length(query: Mapping[str, Sequence[str]]) -> int:
    """Return the number of characters that a query takes in the address bar."""
    return len(urlencode(query, doseq=True, errors="replace"))


def from_text(query: str) -> tuple[Choice, list[str]]:
    """Parse a query string into the settings of a page and messages about unusable values.

    A string that is far too long is not parsed: the result is then the default settings and one message.
    """
    if len(query) > _MAX_TEXT_LENGTH:
        return _DEFAULT, [_TOO_LONG_NOTICE]
    return from_query(parse_qs(query, keep_blank_values=True))


def is_embedded(query: str) -> bool:
    """Return whether a query string asks for the page without navigation, to be embedded in a website.

    Takes linear time for a string of any length.
    """
    return [text.lower() for text in _EMBED.findall(query)][-1:] == ["true"]


def from_query(query: Mapping[str, Sequence[str]]) -> tuple[Choice, list[str]]:
    """Return the settings of a page for a parsed query, and messages about unusable values.

    Never raises. Unknown and impossible values are replaced by their defaults, and a reversed range is
    swapped. A query that is too long loses its earliest branch points; if it is still too long, the result is
    the default settings and one message.
    """
    query, notices = _drop_excess_branches(query)
    if get_query_length(query) > MAX_QUERY:
        return _DEFAULT, [_TOO_LONG_NOTICE]
    query, spelled = _correct_task(query)
    notices += spelled
    unread: Query = {key: list(values) for key, values in _fill_entries(query).items()}
    choice = TrainingReader(unread, notices).read_into(CurveReader(unread, notices).read_choice())
    unused = [f"The link sets {quote(key)}, which nothing here uses." for key in unread if unread[key]]
    return choice, notices + unused


def _correct_task(query: Mapping[str, Sequence[str]]) -> tuple[Mapping[str, Sequence[str]], list[str]]:
    """Return a query with the key of the task that it names in another spelling of a key or label.

    Also returns a message if it is neither.
    """
    text = (query.get("task") or [""])[-1]
    keys = [task.key for task in TASKS.values() if is_spelling(text, (task.key, task.label))]
    if text in TASKS or not keys:
        return query, []
    label = TASKS[keys[0]].label
    notices = [] if text == label else [f"The link's task {quote(text)} is read as {label}."]
    return {**query, "task": keys}, notices


def _fill_entries(query: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
    """Return a query with the op of a task on spiking nets if it names none: round would diverge there."""
    task = next((TASKS.get(name) for name in reversed(query.get("task", ()))), None)
    if "op" in query or not task or not task.net.site.fires:
        return query
    values = {name: [number_text(value)] for name, value in task.parameters.items()}
    return {"op": [task.op], **({} if "rule" in query else {"rule": task.rules, **values}), **query}


def make_corrections(query: Mapping[str, Sequence[str]], notice: str) -> dict[str, str]:
    """Return corrected query strings by the op or rule that a message suggests for an unknown one.

    The dict is empty for any other message.
    """
    if not isinstance(notice, Notice):
        return {}
    parameter, text = notice.parameter, notice.text
    others = {name: values for name, values in query.items() if name != "rules"}
    named = [*query.get(parameter, ()), *(query.get("rules", ()) if parameter == "rule" else ())]
    return {
        key: urlencode({**others, parameter: [key if name == text else name for name in named]}, doseq=True)
        for key in notice.suggestions
    }


def _drop_excess_branches(
    query: Mapping[str, Sequence[str]],
) -> tuple[Mapping[str, Sequence[str]], list[str]]:
    """Return a query without its earliest branch points, as many as are needed to make it short enough.

    Also returns a message if branch points were removed.
    """
    branches = list(query.get("branch", ()))
    remaining = branches[-MAX_BRANCHES:]
    if get_query_length(query) <= MAX_QUERY or not branches:
        return query, []
    while remaining and get_query_length({**query, "branch": remaining}) > MAX_QUERY:
        remaining = remaining[1:]
    clause = f"the last {len(remaining)} of its {len(branches)} branch points are taken"
    return {**query, "branch": remaining}, [f"The link is longer than {MAX_QUERY} characters: {clause}."]


def check_study_task(query: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a list with a message if a link to a study names a task without held-out data, else [].

    Only the default task has none.
    """
    task = TASKS[DEFAULT_TASK]
    if list(query.get("task", ()))[-1:] != [task.key] or task.metric:
        return []
    return [
        f"The link's task {quote(task.key)} has no held-out data, so it cannot be studied: "
        f"{TASKS[FIRST].label} is used instead."
    ]

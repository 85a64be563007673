"""The session's choice, kept in step with the address bar."""

from __future__ import annotations

import time
from typing import Any

import streamlit as st

from explorer.ui.link import LONGEST_QUERY, Choice, Query, from_query, query_length, to_query

_CONTROL = "control."  # takes its value from the choice
VIEW = "view."  # begins the key of every other widget: what is opened, which button was pressed
_ON_THE_WAY_S = 0.4  # how long a new address may take to the browser and back; nobody goes Back that fast


def current() -> Choice:
    """What is chosen now."""
    choice: Choice = st.session_state.setdefault("choice", Choice())
    return choice


def seeded(name: str, value: Any) -> str:
    """The session key of a control on this page; it starts with ``value`` when it is drawn first."""
    key = _key(name)
    st.session_state.setdefault(key, value)
    return key


def is_drawn(name: str) -> bool:
    """Whether a control of this page has its value already."""
    return _key(name) in st.session_state


def follow_link(page: str) -> None:
    """Take over what the address bar asks for, when anything but our own controls changed it.

    That is a first visit, a link, and the browser's Back and Forward. A move to another page brings
    an empty query and keeps the choice. Just after a change the browser may still send the query
    from before; then what the controls say counts.
    """
    asked = _address()
    first = "page" not in st.session_state
    moved = page != st.session_state.get("page")
    touched = not moved and _touched()
    st.session_state["page"] = page
    if moved:
        load(current())
    if asked == st.session_state.get("written") or touched or (moved and not first and not asked):
        return
    if not moved and asked in (query for query, at in _replaced() if time.monotonic() - at < _ON_THE_WAY_S):
        return
    choice, notices = from_query(asked)
    load(choice)
    st.session_state["notices"] = notices


def load(choice: Choice) -> None:
    """Replace the choice; every control takes its value from it when it is drawn next."""
    for key in [key for key in _widget_values() if key.startswith(_CONTROL)]:
        del st.session_state[key]
    st.session_state["choice"] = choice
    st.session_state["drawn"] = None


def keep(choice: Choice) -> None:
    """Remember the choice and write it into the address bar."""
    st.session_state["choice"] = choice
    query = to_query(choice)
    if query_length(query) > LONGEST_QUERY:
        st.caption(f"This choice is too long for a link: {LONGEST_QUERY} characters are the most.")
        query = {}
    if query != _address():
        st.session_state["replaced"] = [*_replaced()[-9:], (_address(), time.monotonic())]
        st.query_params.from_dict(query)
    st.session_state["written"] = query


def remember() -> None:
    """Note what every widget says, now that all are drawn: what differs next time was touched."""
    st.session_state["drawn"] = _widget_values()


def _touched() -> bool:
    """Whether a widget was used since the page was drawn. One that has gone was not; nor a button at rest."""
    drawn = st.session_state.get("drawn")
    if drawn is None:
        return True
    return any(value is not False and value != drawn.get(key) for key, value in _widget_values().items())


def _replaced() -> list[tuple[Query, float]]:
    """The queries that stood in the address bar until lately, and when they were replaced."""
    replaced: list[tuple[Query, float]] = st.session_state.get("replaced", [])
    return replaced


def _key(name: str) -> str:
    return f"{_CONTROL}{st.session_state['page']}.{name}"


def _address() -> Query:
    return {key: st.query_params.get_all(key) for key in st.query_params}


def _widget_values() -> dict[str, Any]:
    values = {str(key): value for key, value in st.session_state.items()}
    return {key: value for key, value in values.items() if key.startswith((_CONTROL, VIEW))}

"""The session's choice: what the address bar asks for at first, then what the instrument reports."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from explorer.ui.links.choice import Choice
from explorer.ui.links.link import from_query, from_text
from explorer.ui.links.reader import Query

BROWSERS_OWN = ("lesson", "present", "class")  # of a link to Learn: the page in the browser reads them
VIEW = "view."  # begins the key of every widget: open sections, pressed buttons


def arrive() -> tuple[Query, list[str]]:
    """Store the choice of the address bar on a visitor's first run; return its query and notices."""
    if "choice" in st.session_state:
        return {}, []
    query = {key: st.query_params.get_all(key) for key in st.query_params if key not in BROWSERS_OWN}
    choice, notices = from_query(query)
    keep(choice)
    return query, notices


def current() -> Choice:
    """The present choice."""
    choice: Choice = st.session_state.setdefault("choice", Choice())
    return choice


def keep(choice: Choice) -> None:
    """Remember the choice."""
    st.session_state["choice"] = choice


def reported(report: Mapping[str, Any]) -> None:
    """Take over the instrument's choice, ``query`` as in a link; ignore a report that is not understood."""
    if isinstance(query := report.get("query"), str):
        keep(from_text(query)[0])

"""The session's choice: what the address bar asks for at first; from then on the browser has it."""

import streamlit as st

from explorer.ui.links.choice import Choice
from explorer.ui.links.link import from_query
from explorer.ui.links.reader import Query

BROWSERS_OWN = (
    "lesson",
    "present",
    "class",
    "print",
)  # of a link to Learn: the page in the browser reads them


def arrive() -> tuple[Query, list[str]]:
    """Store the choice of the address bar on a visitor's first run; return its query and notices."""
    if "choice" in st.session_state:
        return {}, []
    query = {key: st.query_params.get_all(key) for key in st.query_params if key not in BROWSERS_OWN}
    choice, notices = from_query(query)
    st.session_state["choice"] = choice
    return query, notices


def current() -> Choice:
    """The present choice."""
    choice: Choice = st.session_state.setdefault("choice", Choice())
    return choice

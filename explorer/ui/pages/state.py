"""The choice stored in the session. It is read from the address bar once; then the browser holds it."""

import streamlit as st

from explorer.ui.links.choice import Choice
from explorer.ui.links.link import from_query
from explorer.ui.links.reader import Query

BROWSER_KEYS = ("lesson", "present", "class", "print")  # keys of links to Learn, read in the browser


def load_choice() -> tuple[Query, list[str]]:
    """Read the choice from the address bar on a visitor's first run. Returns the query and notices."""
    if "choice" in st.session_state:
        return {}, []
    query = {key: st.query_params.get_all(key) for key in st.query_params if key not in BROWSER_KEYS}
    choice, notices = from_query(query)
    st.session_state["choice"] = choice
    return query, notices


def get_choice() -> Choice:
    """Return the choice stored in the session."""
    choice: Choice = st.session_state.setdefault("choice", Choice())
    return choice

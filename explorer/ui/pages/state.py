"""The page settings in Streamlit's session.

They are read from the address bar once. Afterwards the browser keeps them.
"""

import streamlit as st

from explorer.ui.links.choice import Choice
from explorer.ui.links.link import from_query
from explorer.ui.links.reader import Query

# Query parameters that only the browser reads.
BROWSER_KEYS = ("lesson", "present", "slide", "class", "print")


def load_choice() -> tuple[Query, list[str]]:
    """Store the settings from the address bar in the session, at a visitor's first script run.

    Returns the query and messages about its unusable values; on later runs both are empty.
    """
    if "choice" in st.session_state:
        return {}, []
    query = {key: st.query_params.get_all(key) for key in st.query_params if key not in BROWSER_KEYS}
    choice, notices = from_query(query)
    st.session_state["choice"] = choice
    return query, notices


def get_choice() -> Choice:
    """Return the page settings stored in Streamlit's session, or the defaults."""
    choice: Choice = st.session_state.setdefault("choice", Choice())
    return choice

"""Navigation: what every page has in common."""

from __future__ import annotations

import streamlit as st

from explorer.ui import state

# The folder is not called "pages": Streamlit would take its files for pages of its own accord, and a
# link to /train would run one without what stands here.
PAGES = [
    st.Page("views/explore.py", title="Explore", icon=":material/show_chart:", default=True),
    st.Page("views/train.py", title="Train", icon=":material/play_circle:", url_path="train"),
]

MOST_NOTICES = 10
SIDEBAR_PX = 340  # room for a rule's name and formula in one line

st.set_page_config(
    page_title="Gradient explorer", page_icon="📉", layout="wide", initial_sidebar_state=SIDEBAR_PX
)
page = st.navigation(PAGES, position="hidden")
state.follow_link(page.url_path)
with st.container(horizontal=True, vertical_alignment="center"):
    st.markdown("##### Gradient explorer", width="content")
    for link in PAGES:
        st.page_link(link)
if notices := st.session_state.pop("notices", []):
    with st.container(border=True):
        st.markdown("**Not everything in the link could be used**")
        for notice in notices[:MOST_NOTICES]:
            st.text(notice)
        if len(notices) > MOST_NOTICES:
            st.text(f"… and {len(notices) - MOST_NOTICES} more.")
page.run()
state.remember()

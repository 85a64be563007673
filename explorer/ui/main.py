"""Navigation: what every page has in common."""

from __future__ import annotations

import streamlit as st

from explorer.ui import state
from explorer.ui.mount import mount, page_title

# The folder is not called "pages": Streamlit would take its files for pages of its own accord, and a
# link to /train would run one without what stands here.
PAGES = [
    st.Page("views/explore.py", title="Explore", icon=":material/show_chart:", default=True),
    st.Page("views/train.py", title="Train", icon=":material/play_circle:", url_path="train"),
    st.Page("views/learn.py", title="Learn", icon=":material/school:", url_path="learn"),
]
MOST_NOTICES = 10

notices = state.arrive()
st.set_page_config(page_title=page_title(), page_icon="📉", layout="wide")
page = st.navigation(PAGES, position="hidden")
if not st.context.is_embedded:
    with st.container(horizontal=True, vertical_alignment="center"):
        mount("heading")
        for link in PAGES:
            st.page_link(link)
if notices:
    with st.container(border=True):
        st.markdown("**Not everything in the link could be used**")
        for notice in notices[:MOST_NOTICES]:
            st.text(notice)
        if len(notices) > MOST_NOTICES:
            st.text(f"… and {len(notices) - MOST_NOTICES} more.")
page.run()

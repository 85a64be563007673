"""The script that Streamlit runs for every page: navigation, heading and messages."""

from contextlib import nullcontext

import streamlit as st

from explorer.ui.links.link import check_study_task, make_corrections
from explorer.ui.links.preview import make_title
from explorer.ui.pages import state
from explorer.ui.pages.mount import mount
from explorer.ui.server.admission.paths import PAGES

# The folder next to this file is not called "pages": Streamlit would register its files as pages
# automatically, and a link to /train would run one without the code below.
pages = {
    st.Page(
        f"views/{page.name}.py",
        title=page.title,
        icon=f":material/{page.icon}:",
        url_path=page.path.strip("/"),
        default=page is PAGES[0],
    ): page
    for page in PAGES
}
query, notices = state.load_choice()
st.set_page_config(page_title=make_title(state.get_choice()), page_icon="📉", layout="wide")
page = st.navigation(list(pages), position="hidden")
notices += check_study_task(query) if pages[page].needs_held_out_data else []
# Messages below the heading.
leading = st.container(key="leading") if pages[page].is_content_first else nullcontext()
if not st.context.is_embedded:
    with st.container(key="heading-line", horizontal=True, vertical_alignment="center"):
        mount("heading")
        for link in pages:
            st.page_link(link)
with leading:
    page.run()
if notices:  # last, because messages are over the page
    mount(
        "notices",
        notices=[{"text": str(notice), "links": make_corrections(query, notice)} for notice in notices],
    )

"""Navigation: what every page has in common."""

from contextlib import nullcontext

import streamlit as st

from explorer.ui.links.link import corrected, unjudged
from explorer.ui.pages import state
from explorer.ui.pages.mount import mount, page_title
from explorer.ui.server.admission.paths import PAGES

# The folder beside this file is not called "pages": Streamlit would take its files for pages of its own
# accord, and a link to /train would run one without what stands here.
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
query, notices = state.arrive()
st.set_page_config(page_title=page_title(), page_icon="📉", layout="wide")
page = st.navigation(list(pages), position="hidden")
notices += unjudged(query) if pages[page].needs_held_out_data else []
leading = (
    st.container(key="leading") if pages[page].is_content_first else nullcontext()
)  # shown below all the same
if not st.context.is_embedded:
    with st.container(key="heading-line", horizontal=True, vertical_alignment="center"):
        mount("heading")
        for link in pages:
            st.page_link(link)
with leading:
    page.run()
if notices:  # last, as they lie over the page
    mount("notices", notices=[{"text": str(each), "links": corrected(query, each)} for each in notices])

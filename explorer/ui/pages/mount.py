"""Streamlit components (version 2) that show a page's parts and survive reruns of the script."""

from typing import Any

import streamlit as st

from explorer.instrument.assets import read_skeleton
from explorer.ui.pages import state
from explorer.ui.server import answers

# An inline module is a blob and can import only absolute addresses. All pages are one level deep, so that
# ``document.baseURI`` resolves the same relative address on every page.
_JS = """
export default function (component) {
  const address = new URL(`assets/${component.data.folder}/pages/mount.js`, document.baseURI).href;
  const loaded = import(address);
  const sentence = "The instrument could not be loaded: reload the page.";
  const failed = () => {
    document.querySelector(".served")?.remove(); // which hides what stands here
    component.parentElement.textContent = sentence;
  };
  loaded.then((module) => module.mount(component)).catch(failed);
  return () => loaded.then((module) => module.ended(component.parentElement));
}
"""


_HTML = {part: read_skeleton(part) for part in ("heading", "instrument", "training", "study", "lesson")}
_HTML["notices"] = '<div class="notices"></div>'
_components = {
    part: st.components.v2.component(part, html=places, js=_JS, isolate_styles=False)
    for part, places in _HTML.items()
}


def mount(part: str, **extra: Any) -> None:
    """Show a part of the page, such as "instrument" or "training", as a Streamlit component.

    Args:
        part: the name of the part.
        extra: further data for the part's JavaScript.
    """
    data = answers.make_page_data(state.get_choice(), part) | extra
    _components[part](
        key=part, data=data, width="content" if part == "heading" else "stretch", height="content"
    )

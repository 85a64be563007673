"""The instrument on a page: components v2 keeps its element, whatever the script does."""

from typing import Any

import streamlit as st

from explorer.instrument.assets import skeleton
from explorer.ui.links.preview import title
from explorer.ui.pages import state
from explorer.ui.server import answers

# An inline module is a blob, which can import a whole address only. The pages lie one level deep, so a
# relative one is right on each of them.
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


_PLACES = {part: skeleton(part) for part in ("heading", "instrument", "training", "study", "lesson")}
_PLACES["notices"] = '<div class="notices"></div>'
_mounts = {
    part: st.components.v2.component(part, html=places, js=_JS, isolate_styles=False)
    for part, places in _PLACES.items()
}


def mount(part: str, **more: Any) -> None:
    """Mount a part of the instrument, named as its skeleton is; ``more`` is data of this part alone."""
    data = answers.page_data(state.current(), part) | more
    _mounts[part](key=part, data=data, width="content" if part == "heading" else "stretch", height="content")


def page_title() -> str:
    """The choice in the title of the page."""
    return title(state.current())

"""The instrument on a page: components v2 keeps its element, whatever the script does."""

from __future__ import annotations

from typing import Any

import streamlit as st

from explorer.instrument.assets import plotly_name, skeleton
from explorer.ui import answers, state
from explorer.ui.link import SECTIONS
from explorer.ui.presets import PRESETS, TRAINING

# An inline module is a blob, which can import a whole address only. The pages lie one level deep, so a
# relative one is right on each of them.
_JS = """
export default function (component) {
  const address = new URL(`assets/${component.data.folder}/mount.js`, document.baseURI).href;
  const loaded = import(address);
  const sentence = "The instrument could not be loaded: reload the page.";
  const failed = () => (component.parentElement.textContent = sentence);
  loaded.then((module) => module.mount(component)).catch(failed);
  return () => loaded.then((module) => module.unmount(component.parentElement));
}
"""


def _component(part: str) -> Any:
    return st.components.v2.component(part, html=skeleton(part), js=_JS, isolate_styles=False)


_presets = {"instrument": PRESETS, "training": TRAINING}
_mounts = {part: _component(part) for part in ("heading", "instrument", "training", "lesson")}


def mount(part: str, **more: Any) -> None:
    """Mount a part of the instrument, named as its skeleton is; what it reports becomes the choice.

    ``more`` is what this part alone is given.
    """

    def reported() -> None:
        state.reported(st.session_state[part]["report"])

    width = "content" if part == "heading" else "stretch"
    default: dict[str, Any] = {"report": {}}
    _mounts[part](
        key=part,
        data=_data(part) | more,
        default=default,
        on_report_change=reported,
        width=width,
        height="content",
    )


def page_title() -> str:
    """The choice in the title of the page."""
    op, rules = state.current().entries
    return f"{op.label}: {', '.join(rule.label for rule in rules)} · Gradient explorer"


def _data(part: str) -> dict[str, Any]:
    return {
        "folder": answers.folder(),
        "plotly": plotly_name(),
        "choice": answers.chosen(state.current()),
        "sections": SECTIONS,
        "examples": _examples(part),
    }


@st.cache_resource
def _examples(part: str) -> list[dict[str, Any]]:
    presets = _presets.get(part, ())
    return [{"name": p.name, "hint": p.hint, "choice": answers.chosen(p.choice)} for p in presets]

"""Explore: an op, backward rules, and what they look like."""

from explorer.ui.pages import sections, state
from explorer.ui.pages.mount import mount

mount("instrument")
sections.show(state.current())

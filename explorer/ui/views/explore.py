"""Explore: an op, backward rules, and what they look like."""

from explorer.ui import sections, state
from explorer.ui.mount import mount

mount("instrument")
sections.show(state.current())

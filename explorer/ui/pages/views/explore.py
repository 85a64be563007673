"""Explore: an op, backward rules, and their curves."""

from explorer.ui.pages.mount import mount

mount("instrument")

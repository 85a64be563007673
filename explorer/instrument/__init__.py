"""The browser's files, those of ``explorer/frontend``, and their data."""

from explorer.instrument.assets import Asset, assets
from explorer.instrument.choice import choice_data
from explorer.instrument.document import document
from explorer.instrument.entries import entry, own_entry
from explorer.instrument.page import Page

__all__ = ["Asset", "Page", "assets", "choice_data", "document", "entry", "own_entry"]

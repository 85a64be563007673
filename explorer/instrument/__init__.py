"""The interactive page: the browser's files from ``explorer/frontend``, and their data."""

from explorer.instrument.assets import Asset, make_assets
from explorer.instrument.choice import to_choice_data
from explorer.instrument.document import make_document
from explorer.instrument.entries import make_custom_entry, make_entry
from explorer.instrument.page import Page

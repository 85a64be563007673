"""Explore and Learn as plain files, for any web host or the disk.

The pages use the same modules as the app, in the form of a saved file. Answers from Python are computed in
advance and stored next to the pages; a page says which answers need the app.
"""

from explorer.site.pages import write

__all__ = ["write"]

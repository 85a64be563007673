"""Explore and Learn as plain files, for any web host or the disk: ``python -m explorer.site OUT``.

The same modules as in the app, in the form in which a saved file holds them. What Python would answer is
computed beforehand and lies beside the pages; what cannot be is said to need the app.
"""

from explorer.site.pages import write

__all__ = ["write"]

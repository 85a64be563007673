"""The pages Explore and Learn as static files, for any web host or for opening from disk.

The pages use the same modules as the app, in the form of a saved file. Answers from Python are computed in
advance and stored next to the pages. A page says so if an answer needs the app.
"""

from explorer.site.pages import write

__all__ = ["write"]

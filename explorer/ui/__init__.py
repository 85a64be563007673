"""The app: its pages in Streamlit, their links, and the server."""

from collections.abc import Callable
from pathlib import Path

from explorer.curves import sample
from explorer.snippets import snippet
from explorer.training import shared_engine

MAIN = Path(__file__).parent / "pages" / "main.py"  # the script that Streamlit runs for every page


def warm_up() -> Callable[[], None]:
    """Do work that the first visitor would otherwise wait for. Returns a function that stops the engine."""
    engine = shared_engine()
    sample("round", ["default", "straight_through"])
    snippet("round", "straight_through")
    return engine.close

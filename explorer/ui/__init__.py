"""The Streamlit app with its pages, links and HTTP server."""

from collections.abc import Callable
from pathlib import Path

from explorer.curves import sample
from explorer.snippets import snippet
from explorer.training import shared_engine

MAIN = Path(__file__).parent / "pages" / "main.py"  # the script that Streamlit runs for every page


def warm_up() -> Callable[[], None]:
    """Start the training engine and fill the caches; return a function that stops the engine."""
    engine = shared_engine()
    sample("round", ["default", "straight_through"])
    snippet("round", "straight_through")
    return engine.close
